/**
 * What a plan of chaos does to the clients of a server, in front of it: late and cut answers, watches that end early,
 * 410, 409, 429, front-ends that lag. Each decision follows from the seed, the row, the kind of request (who asks, verb, resource) and
 * how many of that kind came before. So the same program meets the same again, as far as the order of its own requests of
 * one kind is the same; requests of other kinds do not matter.
 */
import { ApiError, failureStatus } from "../contract/errors.ts";
import { canMeet, type ChaosPlan, type ChaosRow, chaosVerbs } from "../../scenarios/chaos.ts";
import type { Span } from "../../scenarios/values.ts";
import { askedResource } from "../apiserver/requests/asked-resource.ts";
import type { ApiHandler, ApiRequest, JsonObject, Responder } from "../contract/http-message.ts";
import { objectPayload } from "../contract/plain-payload.ts";
import { prngStream } from "../kernel/prng.ts";
import type { Cancel, Micros, Prng, Process } from "../kernel/types.ts";
import { ChaosExchange, type ExchangeChaos } from "./chaos-exchange.ts";

/** What cannot be read is for the server to refuse. */
function readably<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

/** One thing that was done, for the log. */
export interface ChaosDeed {
  /** Since the server's start, on its clock. */
  readonly atMicros: Micros;
  /** Of the plan's rows, from 1 on. */
  readonly row: number;
  readonly did: string;
  readonly agent: string;
  readonly verb: string;
  readonly path: string;
  /** Which of its kind the request was, from 1 on. */
  readonly request: number;
}

export interface ChaosParts {
  readonly plan: ChaosPlan;
  readonly seed: string;
  /** Lends its clock, and dies with the server. */
  readonly process: Process;
  readonly server: ApiHandler;
  /** For each row that is `stale`: a front-end on the same store, and how it is told its lag. */
  readonly stale: (row: number) => StaleServer;
  readonly did: (deed: ChaosDeed) => void;
}

export interface StaleServer {
  readonly handler: ApiHandler;
  setLag(lagMicros: Micros): void;
}

/** One row and what is known of it now. */
interface Row {
  readonly index: number;
  readonly row: ChaosRow;
  readonly stale: StaleServer | undefined;
  /** Within `from` and `to`, and within a storm, if it comes in storms. */
  isOn: boolean;
}

/** What a row may look at. */
interface Asked {
  readonly agent: string;
  readonly verb: string;
  /** `pods`, `deployments.apps`. */
  readonly resource: string;
  readonly namespace: string;
  readonly path: string;
  readonly fromVersion: string;
  readonly ordinal: number;
}

/** Kinds of requests that are counted apart; a client that makes up more of them shares one count. */
const kindsMax = 10_000;
const agentLengthMax = 64;

export class Chaos implements ApiHandler {
  private readonly parts: ChaosParts;
  private readonly rows: readonly Row[];
  private readonly counts = new Map<string, number>();
  private readonly watches = new Map<ChaosExchange, Asked>();
  /** Who is told 410 at its next watch, since it could not be told in its own encoding. */
  private readonly owed = new Set<string>();

  /** To be made in an event of the process. */
  constructor(parts: ChaosParts) {
    this.parts = parts;
    this.rows = parts.plan.faults.map((row, index) => {
      const stale = row.stale === undefined ? undefined : parts.stale(index);
      return { index, row, stale, isOn: false };
    });
    for (const row of this.rows) this.schedule(row);
  }

  start(request: ApiRequest, responder: Responder): Cancel {
    const asked = this.asked(request);
    if (asked === undefined) return this.parts.server.start(request, responder);
    const hits = this.rows.filter((row) => row.isOn && concerns(row.row, asked) && this.isDrawn(row, asked, "whether"));
    if (hits.length === 0 && asked.verb !== "watch") return this.parts.server.start(request, responder);
    return this.meddle(request, responder, asked, hits);
  }

  private asked({ method, path, query, headers }: ApiRequest): Asked | undefined {
    const isWatch = /(?:^|&)watch=(?:true|1)(?:&|$)/.test(query);
    const attributes = readably(() => askedResource(method, path, isWatch));
    if (attributes?.is !== "resource") return undefined;
    const { verb, namespace } = attributes;
    const { group, resource } = attributes.resource;
    const agent = (headers["user-agent"] ?? "").slice(0, agentLengthMax);
    const name = group === "" ? resource : `${resource}.${group}`;
    const kind = `${agent.split(/[/ ]/, 1)[0] ?? ""} ${verb} ${name}`;
    const counted = this.counts.has(kind) || this.counts.size < kindsMax ? kind : "others";
    const ordinal = (this.counts.get(counted) ?? 0) + 1;
    this.counts.set(counted, ordinal);
    const fromVersion = /(?:^|&)resourceVersion=(\d*)/.exec(query)?.[1] ?? "";
    return { agent, verb, resource: name, namespace, path, fromVersion, ordinal };
  }

  private draws({ index }: Row, asked: Asked, purpose: string): Prng {
    const { agent, verb, resource, ordinal } = asked;
    const client = agent.split(/[/ ]/, 1)[0] ?? "";
    return prngStream(this.parts.seed, "chaos", String(index), client, verb, resource, String(ordinal), purpose);
  }

  private isDrawn(row: Row, asked: Asked, purpose: string): boolean {
    const { numerator, denominator } = row.row.rate ?? { numerator: 1, denominator: 1 };
    return this.draws(row, asked, purpose).chance(numerator, denominator);
  }

  private amount(row: Row, asked: Asked, span: Span): Micros {
    return drawn(span, this.draws(row, asked, "amount"));
  }

  private note(row: Row, asked: Asked, did: string): void {
    const { agent, verb, path, ordinal } = asked;
    const atMicros = this.parts.process.clock.nowMicros();
    this.parts.did({ atMicros, row: row.index + 1, did, agent, verb, path, request: ordinal });
  }

  private meddle(request: ApiRequest, responder: Responder, asked: Asked, hits: readonly Row[]): Cancel {
    const owed = this.owed.delete(watcherOf(asked)) && asksForPast(asked) ? this.rows.find(isExpiry) : undefined;
    const refusing = owed ?? hits.find(({ row }) => refuses(row, asked));
    if (refusing !== undefined) return this.refuse(refusing, responder, asked);
    const exchange = new ChaosExchange(
      this.parts.process.clock,
      responder,
      this.chaosOf(asked, hits),
      (opened) => void this.watches.set(opened, asked),
      (ended) => void this.watches.delete(ended),
    );
    const stale = hits.find((row) => row.stale !== undefined);
    if (stale !== undefined) this.note(stale, asked, "asked a front-end that lags");
    return exchange.begin(stale?.stale?.handler ?? this.parts.server, request);
  }

  private chaosOf(asked: Asked, hits: readonly Row[]): ExchangeChaos {
    let lateMicros = 0;
    let cut: ExchangeChaos["cut"];
    const ends: ExchangeChaos["ends"][number][] = [];
    for (const row of hits) {
      const { late, cut: where, endWatch, cutWatch } = row.row;
      if (late !== undefined) {
        const byMicros = this.amount(row, asked, late);
        lateMicros += byMicros;
        this.note(row, asked, `late by ${seconds(byMicros)}`);
      }
      if (where === "answer" || where === "half") {
        cut ??= where;
        this.note(row, asked, `cut ${where}`);
      }
      const span = endWatch ?? cutWatch;
      if (span === undefined) continue;
      const afterMicros = this.amount(row, asked, span);
      const did = `watch ${endWatch === undefined ? "cut" : "ended"} after ${seconds(afterMicros)}`;
      ends.push({ afterMicros, breaks: endWatch === undefined, told: () => this.note(row, asked, did) });
    }
    return { lateMicros, cut, ends };
  }

  private refuse(row: Row, responder: Responder, asked: Asked): Cancel {
    const { verb, throttle } = row.row;
    const json = { "content-type": "application/json" };
    if (verb === "cut") {
      this.note(row, asked, "cut request");
      responder.failed?.("disconnected");
    } else if (verb === "conflict") {
      this.note(row, asked, "409");
      responder.respond(409, json, objectPayload(conflict(asked)));
    } else if (verb === "expire") {
      this.note(row, asked, `410 for version ${asked.fromVersion}`);
      responder.respond(410, json, objectPayload(expired));
    } else {
      const wait = Math.trunc(this.amount(row, asked, throttle ?? { min: 0, max: 0 }) / 1_000_000);
      this.note(row, asked, `429, again after ${wait} s`);
      responder.respond(429, { ...json, "retry-after": String(wait) }, objectPayload(tooMany(wait)));
    }
    return () => {};
  }

  /** Turns a row on and off, at its times. */
  private schedule(row: Row): void {
    const { clock } = this.parts.process;
    const { from = 0, to = Number.POSITIVE_INFINITY, every } = row.row;
    if (every !== undefined)
      this.scheduleStorm(row, from, prngStream(this.parts.seed, "chaos", String(row.index), "storms"));
    else if (from > 0) clock.after(from, () => this.turnOn(row));
    else this.turnOn(row);
    if (Number.isFinite(to)) clock.after(to, () => this.turnOff(row));
  }

  private scheduleStorm(row: Row, afterMicros: Micros, prng: Prng, storm = 1): void {
    const { clock } = this.parts.process;
    const { every, for: duration, to = Number.POSITIVE_INFINITY } = row.row;
    const startMicros = afterMicros + drawn(every as Span, prng);
    const lastsMicros = duration === undefined ? 0 : drawn(duration, prng);
    if (startMicros >= to) return;
    clock.after(Math.max(0, startMicros - clock.nowMicros()), () => {
      this.turnOn(row);
      if (row.row.verb === "expire") this.expireOpen(row, storm);
      if (lastsMicros === 0) this.turnOff(row);
      else clock.after(lastsMicros, () => this.turnOff(row));
      this.scheduleStorm(row, startMicros, prng, storm + 1);
    });
  }

  private turnOn(row: Row): void {
    row.isOn = true;
    const { stale } = row.row;
    if (stale === undefined) return;
    const { seed, process } = this.parts;
    const prng = prngStream(seed, "chaos", String(row.index), "lag", String(process.clock.nowMicros()));
    row.stale?.setLag(drawn(stale, prng));
  }

  private turnOff(row: Row): void {
    row.isOn = false;
    row.stale?.setLag(0);
  }

  private expireOpen(row: Row, storm: number): void {
    for (const [watch, asked] of [...this.watches]) {
      if (!concerns(row.row, asked) || !this.isDrawn(row, asked, `storm ${storm}`)) continue;
      const isTold = watch.close(objectPayload({ type: "ERROR", object: expired }));
      if (!isTold) this.owed.add(watcherOf(asked));
      this.note(row, asked, isTold ? "410 in the middle of the watch" : "watch ended, and 410 for the next");
    }
  }
}

function concerns({ verb, where = {} }: ChaosRow, asked: Asked): boolean {
  const { verbs, resources, namespaces, agents } = where;
  return (
    canMeet(chaosVerbs[verb].meets, asked.verb) &&
    (verbs === undefined || (verbs as readonly string[]).includes(asked.verb)) &&
    (resources === undefined || resources.includes(asked.resource)) &&
    (namespaces === undefined || namespaces.includes(asked.namespace)) &&
    (agents === undefined || agents.some((agent) => asked.agent.startsWith(agent)))
  );
}

/** Whether the request never gets to the server. */
const refuses = ({ verb, cut }: ChaosRow, asked: Asked): boolean =>
  verb === "throttle" || verb === "conflict" || cut === "request" || (verb === "expire" && asksForPast(asked));

/** Without a version, or with 0, a watch begins with what there is. */
const asksForPast = ({ fromVersion }: Asked): boolean => fromVersion !== "" && fromVersion !== "0";

const isExpiry = ({ row }: Row): boolean => row.verb === "expire";
const watcherOf = ({ agent, path }: Asked): string => `${agent} ${path}`;

/** Draws span less than 2^32: a longer span is drawn in milliseconds. */
const drawn = ({ min, max }: Span, prng: Prng): Micros =>
  max - min < 4_000_000_000
    ? prng.intInclusive(min, max)
    : Math.min(max, min + 1000 * prng.intInclusive(0, Math.trunc((max - min) / 1000)));

const seconds = (micros: Micros): string => `${micros / 1_000_000} s`;

const expired = failureStatus(410, "Expired", "The resourceVersion for the provided watch is too old.");
const tooMany = (wait: number): JsonObject =>
  failureStatus(429, "TooManyRequests", "too many requests, please try again later", { retryAfterSeconds: wait });
const conflict = ({ resource, path }: Asked): JsonObject => {
  const name = path.split("/").at(-1) ?? "";
  return failureStatus(
    409,
    "Conflict",
    `Operation cannot be fulfilled on ${resource} "${name}": the object has been modified; please apply your changes to the latest version and try again`,
    { name, kind: resource },
  );
};
