/**
 * How an agent follows a collection.
 * Source: the facts, Clients and events (waits of 0.8 s that double to 30 s, up to twice as long by chance, forgotten
 * after two quiet minutes); client-go, tools/cache/reflector.go (watches of five to ten minutes, with bookmarks).
 */
import type { Interruption, ReflectorHabits } from "../../client/reflector.ts";
import type { Micros, Process } from "../../kernel/types.ts";

const retryMicrosMin: Micros = 800_000;
const retryMicrosMax: Micros = 30_000_000;
const quietMicros: Micros = 120_000_000;

/** Of one reflector: its pauses grow. `selector`: such as `fieldSelector=spec.nodeName%3Da`, or empty. */
export function agentsHabits({ prng: streams, clock }: Process, path: string, selector: string): ReflectorHabits {
  const prng = streams.stream(`reflector ${path}`);
  let retryMicros = retryMicrosMin;
  let failedMicros: Micros = 0;
  const pauseMicros = (why: Interruption, isTrusted: boolean): Micros => {
    if (why === "ended" && isTrusted) return 0;
    const nowMicros = clock.nowMicros();
    if (nowMicros - failedMicros > quietMicros) retryMicros = retryMicrosMin;
    failedMicros = nowMicros;
    const micros = retryMicros + prng.intInclusive(0, retryMicros);
    retryMicros = Math.min(2 * retryMicros, retryMicrosMax);
    return micros;
  };
  return {
    selector,
    // "0" is content with what the server's cache has.
    listQuery: (isNewest) => `limit=500&resourceVersion=${isNewest ? "" : "0"}`,
    watchQuery: () => `watch=true&allowWatchBookmarks=true&timeoutSeconds=${prng.intInclusive(300, 600)}`,
    afterRefusal: "watch",
    pauseMicros,
  };
}
