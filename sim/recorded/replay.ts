/** Plays a recorded topic against a server in this process, on virtual time, and keeps what came back. */
import type { Dialect } from "../../wire/dialect.ts";
import type { ApiHandler, ApiRequest, Json, JsonObject, Payload, ResponseHeaders } from "../contract/http-message.ts";
import { fromDialect, intoDialect } from "./brand.ts";
import type { Answer, Step, Topic } from "./exchanges.ts";
import { masked } from "./mask.ts";

export interface ReplayTarget {
  readonly dialect: Dialect;
  readonly server: ApiHandler;
  /** Lets virtual time pass: fires everything due on the way. */
  advance(millis: number): void;
}

export interface Replayed {
  readonly step: Step;
  /** Undefined: no answer within a minute and ten seconds, longer than any request but a watch may take. */
  readonly actual: Answer | undefined;
}

const administrator = "admintoken";
const namespace = "recorded";
const patienceMillis = 70_000;
const sliceMillis = 50;

/** Every step that has a published answer, with the answer that the target gave. */
export function replay(topic: Topic, target: ReplayTarget): readonly Replayed[] {
  const player: Player = {
    target,
    values: new Map([
      ["ns", namespace],
      ["big", "y".repeat(60_000)], // three of these make a list that is worth compressing
    ]),
    nowMillis: 0,
  };
  return topic.steps.flatMap((step) => {
    const actual = perform(step, player);
    return step.expect === undefined ? [] : [{ step, actual }];
  });
}

interface Player {
  readonly target: ReplayTarget;
  /** What `${…}` stands for. */
  readonly values: Map<string, string>;
  nowMillis: number;
}

/** Sends one step, lets time pass until it is answered or its watch is over, and captures what it asks for. */
function perform(step: Step, player: Player): Answer | undefined {
  if (step.waitBeforeMillis !== undefined) pass(player, step.waitBeforeMillis);
  const sentAt = player.nowMillis;
  const exchange = new Exchange();
  const cancel = player.target.server.start(requestOf(step, player.target.dialect, player.values), exchange);
  for (const write of step.meanwhile ?? []) perform(write, player);
  // A stream that nobody meant to open (`watch=garbage`) is read for a second.
  const patience = (): number => step.watchMillis ?? (exchange.streaming ? 1_000 : patienceMillis);
  while (!exchange.over && player.nowMillis < sentAt + patience()) pass(player, sliceMillis);
  cancel();
  capture(step, exchange, player.values);
  return exchange.answer(player.target.dialect);
}

function pass(player: Player, millis: number): void {
  player.target.advance(millis);
  player.nowMillis += millis;
}

function requestOf(step: Step, dialect: Dialect, values: ReadonlyMap<string, string>): ApiRequest {
  const written = (text: string): string =>
    intoDialect(dialect, text).replace(/\$\{(\w+)\}/g, (_, name: string) => values.get(name) ?? "");
  const [method = "", target = ""] = written(step.send).split(/ (.*)/s);
  const question = target.indexOf("?");
  const { body = step.items && Array<Json>(step.items.count).fill(step.items.each) } = step;
  const headers: Record<string, string> = {
    accept: "application/json",
    authorization: `Bearer ${step.as ?? administrator}`,
    ...(body === undefined ? {} : { "content-type": "application/json" }),
  };
  for (const [name, value] of Object.entries(step.headers ?? {})) headers[name] = written(value);
  if (step.as === "none") headers["authorization"] = "";
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return {
    method,
    path: question < 0 ? target : target.slice(0, question),
    query: question < 0 ? "" : target.slice(question + 1),
    headers: Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== "")),
    body: body === undefined ? undefined : new TextEncoder().encode(written(text)),
  };
}

function capture(step: Step, exchange: Exchange, values: Map<string, string>): void {
  for (const [name, path] of Object.entries(step.captures ?? {})) {
    const found = path
      .split(".")
      .reduce<Json | undefined>((value, key) => (value as JsonObject | undefined)?.[key], parseJson(exchange.text));
    if (typeof found === "string") values.set(name, found);
  }
}

/** One exchange as its client sees it: bytes, never the server's objects. */
class Exchange {
  over = false;
  streaming = false;
  text = "";
  private status = 0;
  private headers: ResponseHeaders = {};

  respond(status: number, headers: ResponseHeaders, payload: Payload): void {
    this.status = status;
    this.headers = headers;
    this.headers["content-type"] ??= payload.contentType;
    this.text = new TextDecoder().decode(payload.bytes());
    this.over = true;
  }

  open(status: number, headers: ResponseHeaders): void {
    this.status = status;
    this.headers = headers;
    this.streaming = true;
  }

  frame(payload: Payload): number {
    this.text += new TextDecoder().decode(payload.bytes());
    return 0;
  }

  close(): void {
    this.over = true;
  }

  answer(dialect: Dialect): Answer | undefined {
    if (this.status === 0) return undefined;
    const neutral = (text: string): string => fromDialect(dialect, text).replaceAll(namespace, "${ns}");
    const headers = Object.fromEntries(
      Object.entries(this.headers).map(([name, value]) => [name.toLowerCase(), neutral([value].flat().join(", "))]),
    );
    const text = neutral(this.text);
    const answer = { status: this.status, headers };
    if (/protobuf|cbor/.test(headers["content-type"] ?? "") || headers["content-encoding"] !== undefined) return answer;
    if (this.streaming)
      return {
        ...answer,
        events: text
          .split("\n")
          .filter(Boolean)
          .map((line) => masked(parseJson(line) ?? line)),
      };
    const body = parseJson(text);
    return typeof body === "object" ? { ...answer, body: masked(body) } : { ...answer, text: masked(text) as string };
  }
}

function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined; // YAML, plain text
  }
}
