/**
 * Events that an agent leaves about pods and its node: core events whose count grows, many of a kind combined, and no more
 * than a few of one object at a time. Sent one after another; nothing depends on them.
 * Source: the facts, Clients and events (the correlator's three steps, its numbers, the sink's retries).
 */
import { formatTime } from "../../../wire/time.ts";
import type { Dialect } from "../../../wire/dialect.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { metadataOf } from "../../contract/objects.ts";
import type { Clock, Micros, Prng, Process } from "../../kernel/types.ts";
import type { AgentEvents, ApiCaller, EventType } from "../ports.ts";
import { later, piece } from "../piece.ts";
import { Ticks } from "../ticks.ts";
import { TokenBucket } from "./token-bucket.ts";

const queueMax = 1000;
const cacheMax = 4096;
const combineAfter = 10;
const combineMicros: Micros = 600_000_000;
const spamBurst = 25;
const spamPerSecond = 1 / 300;
/** A bucket that nobody has drawn on for so long is full. */
const spamMicros: Micros = spamBurst * 300_000_000;
/** An event that was not told again for so long is gone from the server, as servers keep them by default. */
const sentMicros: Micros = 3_600_000_000;
const forgetMicros: Micros = 300_000_000;
const triesMax = 12;
const retryMicros: Micros = 10_000_000;

interface Told {
  readonly subject: JsonObject;
  readonly namespace: string;
  readonly type: EventType;
  readonly reason: string;
  readonly message: string;
  readonly annotations: Readonly<Record<string, string>> | undefined;
  readonly atMicros: Micros;
}

interface Kind {
  /** Different ones, the oldest first. */
  messages: readonly string[];
  lastMicros: Micros;
}

interface Spam {
  readonly bucket: TokenBucket;
  lastMicros: Micros;
}

interface Sent {
  readonly name: string;
  readonly firstTimestamp: string;
  count: number;
  lastMicros: Micros;
}

export interface EventRecorderOptions {
  readonly process: Process;
  /** Undefined: nobody hears of events. */
  readonly api: ApiCaller | undefined;
  readonly dialect: Dialect;
  readonly nodeName: string;
}

export class EventRecorder implements AgentEvents {
  private readonly options: EventRecorderOptions;
  private readonly component: string;
  private readonly kinds = new Map<string, Kind>();
  private readonly sent = new Map<string, Sent>();
  private readonly spam = new Map<string, Spam>();
  private readonly forgetting: Ticks;
  private readonly queue: Told[] = [];
  private readonly prng: Prng;
  private isSending = false;
  private made = 0;

  constructor(options: EventRecorderOptions) {
    this.options = options;
    this.prng = options.process.prng.stream("event sink");
    this.forgetting = new Ticks(options.process, "event-recorder", forgetMicros, () => this.forget());
    this.forgetting.start();
    this.component = options.dialect.name === "kubernetes" ? "kubelet" : "nodeagent";
  }

  pod: AgentEvents["pod"] = (pod, type, reason, message, more = {}) => {
    const { name = "", namespace = "", uid = "", resourceVersion } = metadataOf(pod);
    const subject = {
      kind: "Pod",
      namespace,
      name,
      uid,
      apiVersion: "v1",
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(more.fieldPath === undefined ? {} : { fieldPath: more.fieldPath }),
    };
    this.tell(subject, namespace, type, reason, message, more.annotations);
  };

  node(type: EventType, reason: string, message: string): void {
    const { nodeName } = this.options;
    this.tell({ kind: "Node", name: nodeName, uid: nodeName }, "default", type, reason, message, undefined);
  }

  private tell(
    subject: JsonObject,
    namespace: string,
    type: EventType,
    reason: string,
    message: string,
    annotations: Readonly<Record<string, string>> | undefined,
  ): void {
    if (this.options.api === undefined || this.queue.length >= queueMax) return;
    const atMicros = this.options.process.clock.nowMicros();
    const forget = (): void => this.forgetting.ask(atMicros + combineMicros);
    piece(this.options.process, "event-recorder", "what is kept of events", forget, () => {});
    this.queue.push({ subject, namespace, type, reason, message, annotations, atMicros });
    this.sendNext();
  }

  /** An event that throws is lost, as one that is refused; those behind it are sent a while later. */
  private sendNext(): void {
    if (this.isSending || this.queue.length === 0) return;
    const { process } = this.options;
    const goOn = (): void => {
      this.isSending = false;
      this.sendNext();
    };
    piece(process, "event-recorder", "an event", this.send, () => {
      this.isSending = true;
      later(process, retryMicros, goOn);
    });
  }

  private readonly send = (): void => {
    while (!this.isSending) {
      const told = this.queue.shift();
      if (told === undefined) return;
      // Whichever container of a pod it is about; events that are the same are about the same one.
      const whole = subjectKey(told.subject, "");
      const combined = this.combine(told, whole);
      const sent = this.observe(combined.key, told.atMicros);
      if (!this.mayPass(told, whole)) continue;
      this.isSending = true;
      this.write(told, combined.message, sent, combined.key, 1);
    }
  };

  /** The tenth message of a kind within ten minutes, and those after it, become one event. */
  private combine(
    { subject, type, reason, message, atMicros }: Told,
    whole: string,
  ): { readonly key: string; readonly message: string } {
    const kindKey = [whole, type, reason].join(" ");
    const known = this.kinds.get(kindKey);
    const kind =
      known === undefined || atMicros - known.lastMicros > combineMicros ? { messages: none, lastMicros: 0 } : known;
    if (!kind.messages.includes(message)) kind.messages = [...kind.messages, message];
    kind.lastMicros = atMicros;
    remember(this.kinds, kindKey, kind);
    if (kind.messages.length < combineAfter)
      return { key: [subjectKey(subject, subject["fieldPath"]), type, reason, message].join(" "), message };
    kind.messages = kind.messages.slice(1);
    return { key: kindKey, message: `(combined from similar events): ${message}` };
  }

  /** Undefined for one that was not sent before. */
  private observe(key: string, atMicros: Micros): Sent | undefined {
    const sent = this.sent.get(key);
    if (sent === undefined) return undefined;
    sent.count++;
    sent.lastMicros = atMicros;
    remember(this.sent, key, sent);
    return sent;
  }

  private mayPass({ type, atMicros }: Told, whole: string): boolean {
    const key = [whole, type].join(" ");
    const spam = this.spam.get(key) ?? {
      bucket: new TokenBucket(spamPerSecond, spamBurst, atMicros),
      lastMicros: 0,
    };
    spam.lastMicros = atMicros;
    remember(this.spam, key, spam);
    return spam.bucket.tryTake(atMicros);
  }

  /** What is too old to make a difference. */
  private forget(): void {
    const nowMicros = this.options.process.clock.nowMicros();
    forgetUntil(this.kinds, nowMicros - combineMicros);
    forgetUntil(this.sent, nowMicros - sentMicros);
    forgetUntil(this.spam, nowMicros - spamMicros);
    if (this.kinds.size + this.sent.size + this.spam.size > 0) this.forgetting.ask(nowMicros + forgetMicros);
  }

  private write(told: Told, message: string, sent: Sent | undefined, key: string, tries: number): void {
    const { api, process } = this.options;
    const time = formatTime(unixSeconds(process.clock, told.atMicros));
    const path = `/api/v1/namespaces/${told.namespace}/events`;
    const name = `${String(told.subject["name"])}.${this.unixNanos(told.atMicros)}`;
    const first: Sent = sent ?? { name, firstTimestamp: time, count: 1, lastMicros: told.atMicros };
    if (sent === undefined) remember(this.sent, key, first);
    const request =
      sent === undefined
        ? { method: "POST", path, body: this.body(told, message, first, time) }
        : {
            method: "PATCH",
            path: `${path}/${sent.name}`,
            contentType: "application/strategic-merge-patch+json",
            body: { count: sent.count, lastTimestamp: time, message },
          };
    api?.call(request, ({ status }) => {
      if (status === 404 && sent !== undefined) {
        this.sent.delete(key);
        this.write(told, message, undefined, key, tries);
        return;
      }
      // A refusal is final; only what did not arrive is sent again.
      if (status === 0 && tries < triesMax) {
        const firstWait = tries === 1 ? this.prng.intInclusive(0, retryMicros) : retryMicros;
        process.clock.after(firstWait, () => this.write(told, message, sent, key, tries + 1));
        return;
      }
      this.isSending = false;
      this.sendNext();
    });
  }

  private body(told: Told, message: string, { name, firstTimestamp, count }: Sent, time: string): JsonObject {
    const { annotations } = told;
    const metadata: Record<string, Json> = { name, namespace: told.namespace };
    if (annotations !== undefined) metadata["annotations"] = { ...annotations };
    return {
      apiVersion: "v1",
      kind: "Event",
      metadata,
      involvedObject: told.subject,
      reason: told.reason,
      message,
      source: { component: this.component, host: this.options.nodeName },
      firstTimestamp,
      lastTimestamp: time,
      count,
      type: told.type,
      reportingComponent: this.component,
      reportingInstance: this.options.nodeName,
    };
  }

  /** For names: of one instant, no two are the same. */
  private unixNanos(atMicros: Micros): string {
    const { epochUnixMillis } = this.options.process.clock;
    return (BigInt(epochUnixMillis) * 1_000_000n + BigInt(atMicros) * 1_000n + BigInt(this.made++ % 1_000)).toString(
      16,
    );
  }
}

/** Keys are kept for an hour: joined, and not added up, they are one string, and not a tree of pieces. */
function subjectKey({ kind, namespace, name, uid }: JsonObject, fieldPath: Json | undefined): string {
  return [kind, namespace, name, uid, fieldPath].join(" ");
}

/** Entries lie in the order in which they were last told. */
function forgetUntil(cache: Map<string, { readonly lastMicros: Micros }>, untilMicros: Micros): void {
  for (const [key, { lastMicros }] of cache) {
    if (lastMicros >= untilMicros) return;
    cache.delete(key);
  }
}

const none: readonly string[] = [];

/** Puts an entry last, and forgets the first when there are too many. */
function remember<Value>(cache: Map<string, Value>, key: string, value: Value): void {
  cache.delete(key);
  cache.set(key, value);
  if (cache.size <= cacheMax) return;
  const [oldest] = cache.keys();
  cache.delete(oldest as string);
}

/** Whole seconds since 1970. */
export function unixSeconds(clock: Clock, atMicros: Micros): number {
  return Math.floor((clock.epochUnixMillis + atMicros / 1000) / 1000);
}
