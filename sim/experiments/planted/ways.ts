/** Ways of a client to its server that are not quite the right one. */
import { keyOf } from "../../client/informer.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import type { Cancel } from "../../kernel/types.ts";
import type { ActorParts } from "../actors/actor.ts";

export type Api = ActorParts["api"];
type Call = Parameters<Api["call"]>;

/** Calls go another way. */
export const calling = (inner: Api, call: (...asked: [...Call, inner: Api]) => Cancel): Api => ({
  call: (...asked) => call(...asked, inner),
  watch: (...asked) => inner.watch(...asked),
});

/** Watches do. */
export const watching = (inner: Api, watch: Api["watch"]): Api => ({
  call: (...asked) => inner.call(...asked),
  watch,
});

/**
 * What a client is told of the one collection that it follows is known here, too: `copies` by namespace and name. `listed` may
 * change what a list has, given what was known before.
 */
export function following(
  inner: Api,
  listed: (items: readonly JsonObject[], before: ReadonlyMap<string, JsonObject>) => readonly JsonObject[],
  copies = new Map<string, JsonObject>(),
): Api {
  return {
    call: (request, deadlineMicros, done) =>
      inner.call(request, deadlineMicros, (answer) => {
        const items = answer.ok && answer.status === 200 ? answer.object["items"] : undefined;
        if (!answer.ok || !Array.isArray(items)) return done(answer);
        const told = listed(items as JsonObject[], copies);
        copies.clear();
        for (const object of told) copies.set(keyOf(object), object);
        done({ ...answer, object: { ...answer.object, items: told } });
      }),
    watch: (request, sink) =>
      inner.watch(request, {
        ...sink,
        event(type, object) {
          if (type === "DELETED") copies.delete(keyOf(object));
          else if (type !== "BOOKMARK" && type !== "ERROR") copies.set(keyOf(object), object);
          sink.event(type, object);
        },
      }),
  };
}
