/** Stands between a program and the server, counts what passes, and does at its places what a list of acts says. */
import { failureStatus } from "../../contract/errors.ts";
import { queryOf } from "../../checkers/query-words.ts";
import type { ApiHandler, ApiRequest, JsonObject, Payload, Responder } from "../../contract/http-message.ts";
import { objectPayload } from "../../contract/plain-payload.ts";
import type { Cancel, Micros, Prng } from "../../kernel/types.ts";
import type { Act, Seen, SeenRequest } from "./acts.ts";
import { ClientLaws } from "./client-laws.ts";
import { OpaqueVersions } from "./opaque-versions.ts";

/** What a disturber has of the cluster. */
export interface Disturbed {
  /** The program dies at once, and begins anew so much later. */
  crash(downMicros: Micros): void;
  /** History is forgotten up to now. */
  compact(): void;
  /** Whether the caches of the second server stand still. */
  holdCaches(isHeld: boolean): void;
  /** Outside of any event. */
  later(delayMicros: Micros, task: () => void): Cancel;
}

type AtRequest = Extract<Act, { readonly request: number }>;
type AtEvent = Extract<Act, { readonly event: number }>;

export class Disturber {
  readonly laws = new ClientLaws();
  readonly #acts: readonly Act[];
  readonly #opaque: OpaqueVersions | undefined;
  #disturbed: Disturbed | undefined;
  readonly #requests: SeenRequest[] = [];
  #eventCount = 0;
  #atHeldServer = false;
  #isOver = false;

  constructor(acts: readonly Act[], prng: Prng) {
    this.#acts = acts;
    this.#opaque = acts.some(({ act }) => act === "opaque-versions") ? new OpaqueVersions(prng) : undefined;
  }

  /** Before the program's first request. */
  begin(disturbed: Disturbed): void {
    this.#disturbed = disturbed;
  }

  get seen(): Seen {
    return { requests: this.#requests, eventCount: this.#eventCount };
  }

  /** Nothing goes wrong from here on, and the program is left to come to rest. */
  end(): void {
    this.#isOver = true;
  }

  /** For one life. */
  between(fresh: ApiHandler, held: ApiHandler): ApiHandler {
    const server = this.#atHeldServer ? held : fresh;
    const disturbed: ApiHandler = { start: (request, responder) => this.#start(server, request, responder) };
    return this.laws.wrap(this.#opaque?.wrap(disturbed) ?? disturbed);
  }

  #start(server: ApiHandler, request: ApiRequest, responder: Responder): Cancel {
    const query = queryOf(request.query);
    const isWatch = query.has("watch");
    this.#requests.push({
      method: request.method,
      path: request.query === "" ? request.path : `${request.path}?${request.query}`,
      isWatch,
      isExact: query.get("resourceVersionMatch") === "Exact",
      isProtobuf: (request.headers["accept"] ?? "").includes("protobuf"),
    });
    const number = this.#requests.length;
    const act = this.#actAt("request", number) as AtRequest | undefined;
    this.#holdFrom(number);
    if (act === undefined) return server.start(request, isWatch ? this.#watching(responder) : responder);
    return this.#actOn(act, server, request, isWatch ? this.#watching(responder) : responder);
  }

  #actAt(where: "request" | "event", number: number): Act | undefined {
    if (this.#isOver || this.#disturbed === undefined) return undefined;
    return this.#acts.find((act) => where in act && (act as unknown as Record<string, number>)[where] === number);
  }

  #holdFrom(number: number): void {
    if (this.#acts.some((act) => act.act === "stale" && act.heldFrom === number)) this.#disturbed?.holdCaches(true);
  }

  #actOn(act: AtRequest, server: ApiHandler, request: ApiRequest, responder: Responder): Cancel {
    const disturbed = this.#disturbed as Disturbed;
    switch (act.act) {
      case "crash":
        if (act.side === "after")
          return server.start(
            request,
            interrupted(responder, () => disturbed.crash(act.downMicros)),
          );
        disturbed.crash(act.downMicros);
        return nothing;
      case "stale":
        return server.start(
          request,
          interrupted(responder, () => {
            this.#atHeldServer = true;
            disturbed.crash(0);
            disturbed.later(act.forMicros, () => disturbed.holdCaches(false));
          }),
        );
      case "lost-answer":
        return server.start(
          request,
          interrupted(responder, () => responder.failed?.("disconnected")),
        );
      case "conflict":
        responder.respond(409, json, objectPayload(conflict(request.path)));
        return nothing;
      case "throttle":
        responder.respond(429, { ...json, "retry-after": "1" }, objectPayload(tooMany));
        return nothing;
      case "exact-ignored":
        return server.start({ ...request, query: withoutMatch(request.query) }, responder);
      case "unknown-protobuf":
        return server.start(request, {
          ...passing(responder),
          respond: (status, headers, payload) => responder.respond(status, headers, withUnknownPrefix(payload)),
        });
    }
  }

  #watching(responder: Responder): Responder {
    // What is late waits here, in order; `undefined` once nothing is late any more.
    let late: (() => void)[] | undefined;
    let silent = false;
    const pass = (deliver: () => void): void => {
      if (late === undefined) deliver();
      else late.push(deliver);
    };
    const breakOff = (): void => {
      silent = true;
      responder.failed?.("disconnected");
    };
    const acts: Readonly<Record<AtEvent["act"], (act: AtEvent, disturbed: Disturbed) => void>> = {
      expired(_, disturbed) {
        disturbed.compact();
        silent = true;
        responder.frame(objectPayload({ type: "ERROR", object: expired }));
        responder.close();
      },
      unobserved(act, disturbed) {
        silent = true;
        disturbed.later("forMicros" in act ? act.forMicros : 0, () => {
          disturbed.compact();
          breakOff();
        });
      },
      "late-events"(act, disturbed) {
        late ??= [];
        disturbed.later("forMicros" in act ? act.forMicros : 0, () => {
          const waiting = late ?? [];
          late = undefined;
          for (const deliver of waiting) deliver();
        });
      },
    };
    return {
      respond: (status, headers, payload) => responder.respond(status, headers, payload),
      open: (status, headers) => responder.open(status, headers),
      frame: (payload) => {
        if (silent) return 0;
        if ((payload.object as { type?: string } | undefined)?.type !== "BOOKMARK") {
          const act = this.#actAt("event", ++this.#eventCount) as AtEvent | undefined;
          if (act !== undefined) acts[act.act](act, this.#disturbed as Disturbed);
        }
        if (!silent) pass(() => void (silent || responder.frame(payload)));
        return 0;
      },
      close: () => pass(() => void (silent || responder.close())),
      failed: (failure) => void (silent || responder.failed?.(failure)),
    };
  }
}

const nothing: Cancel = () => {};

/** Once the server has answered, `instead` happens, and nothing of the answer arrives. */
function interrupted(responder: Responder, instead: () => void): Responder {
  let over = false;
  const once = (): void => {
    if (over) return;
    over = true;
    instead();
  };
  return {
    respond: once,
    open: once,
    frame: () => 0,
    close: () => {},
    failed: (failure) => void (over || responder.failed?.(failure)),
  };
}

const passing = (responder: Responder): Responder => ({
  respond: (status, headers, payload) => responder.respond(status, headers, payload),
  open: (status, headers) => responder.open(status, headers),
  frame: (payload) => responder.frame(payload),
  close: () => responder.close(),
  failed: (failure) => responder.failed?.(failure),
});

const withoutMatch = (query: string): string =>
  query
    .split("&")
    .filter((part) => !part.startsWith("resourceVersionMatch="))
    .join("&");

function withUnknownPrefix(payload: Payload): Payload {
  if (!payload.contentType.includes("protobuf")) return payload;
  const bytes = payload.bytes().slice();
  bytes[1] = 0x39;
  return { object: payload.object, contentType: payload.contentType, bytes: () => bytes };
}

const json = { "content-type": "application/json" };
const expired = failureStatus(410, "Expired", "The resourceVersion for the provided watch is too old.");
const tooMany = failureStatus(429, "TooManyRequests", "too many requests", { retryAfterSeconds: 1 });
const conflict = (path: string): JsonObject =>
  failureStatus(
    409,
    "Conflict",
    `Operation cannot be fulfilled on ${path.split("/").at(-1)}: the object has been modified; please apply your changes to the latest version and try again`,
  );
