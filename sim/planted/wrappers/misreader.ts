/**
 * Planted bugs at the edges of the server: what it makes of a request before anything else looks at it, and what it
 * prints. Nothing of this exists while none of them is planted.
 */
import type { ApiRequest, JsonObject, Payload, Responder, ResponseHeaders } from "../../contract/http-message.ts";
import type { ServerBugs } from "../server-bugs.ts";
import { answerMisreadings } from "./answer-misreadings.ts";
import { firstMisreadings } from "./first-misreadings.ts";
import { type Memory, type Misreading, type Seen, type ServerSeen, printedAs } from "./misreading.ts";
import { optionMisreadings } from "./option-misreadings.ts";
import { patchMisreadings } from "./patch-misreadings.ts";
import type { Planted } from "./planted.ts";
import { requestMisreadings } from "./request-misreadings.ts";
import { secondMisreadings } from "./second-misreadings.ts";
import { thirdMisreadings } from "./third-misreadings.ts";

const rows = {
  ...firstMisreadings,
  ...secondMisreadings,
  ...thirdMisreadings,
  ...requestMisreadings,
  ...optionMisreadings,
  ...patchMisreadings,
  ...answerMisreadings,
} as const satisfies Partial<Record<keyof ServerBugs, Misreading>>;

const misreadings: Readonly<Record<keyof typeof rows, Misreading>> = rows;

export const misreadingNames = Object.keys(misreadings) as readonly (keyof typeof rows)[];

export type Misread = (request: ApiRequest, responder: Responder) => readonly [ApiRequest, Responder];

/** Undefined when none of these bugs is planted. Which of them show is asked anew at each request. */
export function misreader({ bugs, mayShow }: Planted, server: ServerSeen): Misread | undefined {
  const names = misreadingNames.filter(mayShow);
  if (names.length === 0) return undefined;
  const memory: Memory = { count: 0, poisoned: new Set() };
  return (request, responder) => {
    const on = names.filter((name) => bugs[name]).map((name) => misreadings[name]);
    if (on.length === 0) return [request, responder];
    const before = on.some(({ asksBefore }) => asksBefore) ? server.stored(request.path) : undefined;
    const read = on.reduce((asked, one) => one.request?.(asked, memory, server) ?? asked, request);
    return [read, new Misprinter(responder, read, on, memory, { server, original: request, before })];
  };
}

class Misprinter implements Responder {
  readonly #to: Responder;
  readonly #request: ApiRequest;
  readonly #on: readonly Misreading[];
  readonly #memory: Memory;
  readonly #seen: Seen;
  readonly whenTaken?: NonNullable<Responder["whenTaken"]>;
  readonly tunnel?: NonNullable<Responder["tunnel"]>;

  constructor(to: Responder, request: ApiRequest, on: readonly Misreading[], memory: Memory, seen: Seen) {
    this.#to = to;
    this.#request = request;
    this.#on = on;
    this.#memory = memory;
    this.#seen = seen;
    if (to.whenTaken !== undefined) this.whenTaken = (resume) => to.whenTaken?.(resume);
    if (to.tunnel !== undefined) this.tunnel = to.tunnel.bind(to);
  }

  respond(status: number, headers: ResponseHeaders, payload: Payload): void {
    const code = this.#on.reduce(
      (said, one) => one.status?.(said, this.#request, this.#memory, payload.object) ?? said,
      status,
    );
    const sent = this.#on.reduce((said, one) => one.headers?.(said, this.#request, status) ?? said, headers);
    const printed = this.#printed(payload, code);
    this.#to.respond(
      code,
      sent,
      this.#on.reduce((said, one) => one.payload?.(said, code, this.#request, this.#seen) ?? said, printed),
    );
  }

  #printed(payload: Payload, status: number): Payload {
    if (!this.#on.some(({ answer }) => answer !== undefined)) return payload;
    const { object } = payload;
    if (object === undefined) return payload;
    const printed = this.#on.reduce(
      (said, one) => one.answer?.(said, status, this.#request, this.#memory, this.#seen) ?? said,
      object,
    );
    // What does not say its type can be told in JSON alone.
    const isTellable = payload.contentType === "application/json" || typeof printed["apiVersion"] === "string";
    return printed === object || !isTellable ? payload : printedAs(payload, printed, this.#seen.server);
  }

  open(status: number, headers: ResponseHeaders): void {
    this.#to.open(status, headers);
  }

  frame(payload: Payload): number {
    const { object, contentType } = payload;
    const events = this.#on.filter(({ event }) => event !== undefined);
    if (events.length === 0 || object === undefined || contentType !== "application/json")
      return this.#to.frame(payload);
    const told = object["object"] as JsonObject;
    const shown = events.reduce((said, one) => one.event?.(said) ?? said, told);
    const event = { ...object, object: shown };
    return this.#to.frame(shown === told ? payload : printedAs(payload, event, this.#seen.server));
  }

  close(): void {
    this.#to.close();
  }
}
