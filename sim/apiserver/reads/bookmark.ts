/**
 * Bookmarks: the object that carries nothing but a version, and when one is due.
 * Source: document 1, Watch 4 and 5; the facts, section 2 and D7.
 */
import { encodeBase64 } from "../../../wire/base64.ts";
import type { Micros } from "../../kernel/types.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import type { Profile } from "../../contract/profile.ts";
import type { ReadTarget, WatchEncoder } from "./types.ts";

const INTERVAL_MICROS: Micros = 60_000_000;
const BEFORE_DEADLINE_MICROS: Micros = 2_000_000;

/** When the next one is due; undefined when none is any more. */
export function nextBookmarkAt(now: Micros, deadline: Micros): Micros | undefined {
  const due = Math.min(now + INTERVAL_MICROS, deadline - BEFORE_DEADLINE_MICROS);
  return due <= now ? undefined : due;
}

export function bookmarkObject(
  profile: Profile,
  target: ReadTarget,
  revision: number,
  annotations?: Readonly<Record<string, string>>,
): JsonObject {
  const { kind, apiVersion, zeroFields } = target;
  const zero = profile.bookmarkZeroFields;
  const metadata = {
    resourceVersion: String(revision),
    ...(zero ? { creationTimestamp: null } : {}),
    ...(annotations === undefined ? {} : { annotations }),
  };
  return { kind, apiVersion, metadata, ...(zero ? zeroFields : {}) };
}

/** What the bookmark says that ends the initial events. */
export function initialEventsEnd(profile: Profile, target: ReadTarget, encoder: WatchEncoder): Record<string, string> {
  const { initialEventsEnd: end, initialEventsBlueprint: blueprint } = profile.dialect;
  if (!profile.initialEventsBlueprint) return { [end]: "true" };
  return { [end]: "true", [blueprint]: encoder.emptyList ?? emptyListInJson(target) };
}

function emptyListInJson({ kind, apiVersion }: ReadTarget): string {
  const list = { kind: `${kind}List`, apiVersion, metadata: {}, items: null };
  return encodeBase64(new TextEncoder().encode(`${JSON.stringify(list)}\n`));
}
