/**
 * Objects made from one template have equal specs, and share one: the first of them that was stored. It is frozen,
 * digested and validated already, and a storm of pods keeps one copy of it.
 */
import type { JsonObject } from "../../contract/http-message.ts";
import { jsonEqual } from "../../objects/equality.ts";
import { type Draft, isObject } from "../../contract/objects.ts";
import type { ServedResource } from "../catalogue/served-resource.ts";

/** Templates in use at a time, for each resource: beyond that looking costs more than it saves. */
const recentMax = 4;

export class SharedSpecs {
  /** Frozen specs of objects that are or were stored, the last one used first. */
  private readonly recent = new WeakMap<ServedResource, JsonObject[]>();

  /** Gives a new object the spec of an earlier one when they are equal. Nothing may write into it after this. */
  share(resource: ServedResource, draft: Draft): void {
    const recent = this.recent.get(resource);
    const { spec } = draft;
    if (recent === undefined || !isObject(spec)) return;
    const at = recent.findIndex((other) => jsonEqual(other, spec));
    if (at < 0) return;
    const shared = recent[at] as JsonObject;
    if (at > 0) {
      recent.splice(at, 1);
      recent.unshift(shared);
    }
    draft["spec"] = shared;
  }

  /** `stored` is an object that has just been stored. */
  keep(resource: ServedResource, stored: JsonObject): void {
    const { spec } = stored;
    if (!isObject(spec) || !Object.isFrozen(spec)) return;
    const recent = this.recent.get(resource);
    if (recent === undefined) this.recent.set(resource, [spec]);
    else if (recent[0] !== spec) {
      recent.unshift(spec);
      recent.length = Math.min(recent.length, recentMax);
    }
  }
}
