/** Published bugs of servers at their worst moments, as a wrapper of what they break. */
import { failureStatus } from "../contract/errors.ts";
import type { ApiHandler, ApiRequest, JsonObject, Payload, Responder } from "../contract/http-message.ts";
import { objectPayload } from "../contract/plain-payload.ts";
import { wrapped } from "../contract/responders.ts";
import type { Micros, Process } from "../kernel/types.ts";
import type { Store } from "../store/types.ts";
import type { SimulatedBugs } from "../planted/simulated-bugs.ts";

/** How long a cache takes to begin anew, and how long a server counts as just started. */
const reinitMicros: Micros = 1_500_000;
const youngMicros: Micros = 20_000_000;

export interface PlantedServer extends ApiHandler {
  /** The caches begin anew. */
  forgot(): void;
}

export interface PlantedServerParts {
  readonly handler: ApiHandler;
  readonly process: Process;
  readonly store: Store;
  readonly bugs: SimulatedBugs;
  /** The prefix under which the objects of a collection lie. */
  readonly prefixOf: (path: string) => string | undefined;
}

export function plantedServer({ handler, process, store, bugs, prefixOf }: PlantedServerParts): PlantedServer {
  const { clock } = process;
  const startedMicros = clock.nowMicros();
  const conversion = process.prng.stream("conversion");
  let newUntil = -1;

  const watch = (request: ApiRequest, responder: Responder): Responder => {
    const gapUntil = bugs.has("watch-reinit-gap") && clock.nowMicros() < newUntil ? newUntil : -1;
    const from = /(?:^|&)resourceVersion=(\d+)/.exec(request.query)?.[1];
    return wrapped(responder, {
      open(status, headers) {
        responder.open(status, headers);
        const isYoung = startedMicros > 0 && clock.nowMicros() < startedMicros + youngMicros;
        if (bugs.has("watch-time-travel-on-failover") && isYoung && from !== undefined)
          repeatPast(Number(from), request.path, responder);
      },
      frame(payload) {
        const { type } = (payload.object ?? {}) as { type?: string };
        const isChange = type !== "BOOKMARK" && type !== "ERROR";
        if (isChange && clock.nowMicros() < gapUntil) return 0;
        if (isChange && bugs.has("watch-decode-error-skips-event") && conversion.chance(1, 40)) return 0;
        return responder.frame(payload);
      },
    });
  };

  const repeatPast = (from: number, path: string, responder: Responder): void => {
    const prefix = prefixOf(path);
    const past = prefix === undefined ? "compacted" : store.since(Math.max(store.compactedRevision, from - 20), prefix);
    if (past === "compacted") return;
    const old = [...past].filter(({ revision, value }) => revision <= from && value !== undefined).slice(-2);
    for (const { value } of old) responder.frame(objectPayload({ type: "MODIFIED", object: value as JsonObject }));
  };

  return {
    forgot() {
      newUntil = clock.nowMicros() + reinitMicros;
    },
    start(request, responder) {
      const isWatch = /(?:^|&)watch=(?:true|1)/.test(request.query);
      if (isWatch && bugs.has("watch-at-compact-revision-rejected") && asksForCompacted(request, store)) {
        responder.respond(410, { "content-type": "application/json" }, objectPayload(expired));
        return () => {};
      }
      return handler.start(request, isWatch ? watch(request, responder) : whole(request, responder, bugs));
    },
  };
}

const expired = failureStatus(410, "Expired", "too old resource version");

const asksForCompacted = ({ query }: ApiRequest, store: Store): boolean =>
  store.compactedRevision > 0 && new RegExp(`(?:^|&)resourceVersion=${store.compactedRevision}(?:&|$)`).test(query);

function whole(request: ApiRequest, responder: Responder, bugs: SimulatedBugs): Responder {
  if (!bugs.has("continue-410-without-resume-token") || !/(?:^|&)continue=/.test(request.query)) return responder;
  return wrapped(responder, {
    respond: (status, headers, payload) =>
      responder.respond(status, headers, status === 410 ? withoutToken(payload) : payload),
  });
}

const withoutToken = (payload: Payload): Payload => objectPayload({ ...payload.object, metadata: {} });
