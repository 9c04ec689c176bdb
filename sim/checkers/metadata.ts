import type { JsonObject } from "../contract/http-message.ts";

/** `metadata` as checkers read it; every field may be absent. */
interface SeenMetadata {
  readonly name?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly deletionTimestamp?: string;
  readonly continue?: string;
  readonly finalizers?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly ownerReferences?: readonly { readonly uid?: string; readonly kind?: string }[];
}

const none: SeenMetadata = {};

export function metadataOf(object: JsonObject | undefined): SeenMetadata {
  return (object?.["metadata"] as SeenMetadata | undefined) ?? none;
}
