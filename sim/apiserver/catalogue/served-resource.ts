/** A resource as this server serves it, from the tables or from a definition: where it is stored, how it behaves. */
import { isLargeObject, rememberLarge } from "../../objects/value-limit.ts";
import type { ResourceRow } from "../../../wire/resources.ts";
import type { ResourceName } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import type { Target } from "../../contract/objects.ts";
import type { ScalePaths } from "../../kinds/custom/definition.ts";
import type { Printer } from "../../kinds/shared/printer.ts";
import type { Strategy } from "../../objects/strategy.ts";
import type { ObjectView } from "../encodings/object-views.ts";
import { keyOf } from "../reads/selection.ts";
import type { ReadTarget } from "../reads/types.ts";

export interface ServedResource {
  readonly row: ResourceRow;
  readonly target: Target;
  readonly strategy: Strategy;
  readonly read: ReadTarget;
  readonly name: ResourceName;
  /** In the dialect: "" for the core group. */
  readonly group: string;
  readonly apiVersion: string;
  /** The group that a refused object's kind is given: the storage's. */
  readonly kindGroup: string;
  /** When the stored object has another group's form. */
  readonly view: ObjectView | undefined;
  /** Of custom resources alone. */
  readonly custom?: CustomParts;
}

/** What only custom resources have. */
export interface CustomParts {
  readonly scale: ScalePaths | undefined;
  readonly printer: Printer;
  readonly listKind: string;
  /** As the definition has it, for API documents. */
  readonly schema: JsonObject;
  /** For requests of a version that is going away; undefined otherwise. */
  readonly warning: string | undefined;
  /** The definition is being deleted: nothing new is taken. */
  readonly terminating: boolean;
}

/** A stored object as clients of `resource` see it. */
export function viewed<Object extends object>(resource: ServedResource, stored: Object): Object {
  if (resource.view === undefined) return stored;
  const object = resource.view.fromStored(stored as never) as Object;
  if (isLargeObject(stored)) rememberLarge(object);
  return object;
}

export function storageKey(resource: ServedResource, namespace: string, name: string): string {
  return keyOf(resource.read, namespace, name);
}
