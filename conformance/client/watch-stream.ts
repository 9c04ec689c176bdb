import { Gathered } from "../../wire/gathered.ts";
import { answerValuesMax, countJsonValues } from "../../wire/json-values.ts";
import type { SuiteClock, Transport, WireRequest, WireResponse } from "../../wire/ports.ts";
import {
  Coming,
  eventsMax,
  tooManyEvents,
  tooManyValues,
  shownOfUnsent,
  unreadDepth,
  unreadJson,
  unsent,
} from "./answer-limits.ts";
import type { Exchange } from "./exchange.ts";
import { JsonDocuments } from "./json-documents.ts";
import { parsed } from "./read-answers.ts";
import type { Recorder } from "./recorder.ts";
import { isJsonObject, type Json, type WatchEvent } from "./types.ts";

/** How a watch ended: by the server, by us, or broken off. */
export type WatchEnd = "closed by the server" | "closed by the suite" | "broken";

/**
 * One open watch. Events are kept in order of arrival; whoever waits is woken by each change. Nothing is judged here,
 * and a document that is no event becomes an event of the type `malformed`, which every judge rejects.
 */
export class WatchStream {
  readonly exchange: Exchange;
  readonly events: WatchEvent[] = [];
  status: number | undefined;
  headers: WireResponse["headers"] = {};
  ended: WatchEnd | undefined;
  private readonly clock: SuiteClock;
  private readonly recorder: Recorder;
  private readonly documents = new JsonDocuments();
  private readonly bodyOfRefusal = new Gathered();
  private readonly onEnd: () => void;
  private readonly cancel: () => void;
  private waiting: (() => void)[] = [];
  private readonly coming = new Coming("GET");
  private valueCount = 0;
  private isUnreadable = false;

  constructor(transport: Transport, clock: SuiteClock, recorder: Recorder, request: WireRequest, onEnd: () => void) {
    this.clock = clock;
    this.recorder = recorder;
    this.onEnd = onEnd;
    const why = unsent(request);
    if (why !== undefined) {
      this.exchange = recorder.begin(shownOfUnsent(request));
      this.cancel = () => {};
      queueMicrotask(() => this.end("broken", why)); // whoever opens it hears of it afterwards
      return;
    }
    this.exchange = recorder.begin(request);
    this.cancel = transport.open(request, {
      head: (status, headers) => this.begin(status, headers),
      chunk: (bytes) => this.receive(bytes),
      end: () => this.end("closed by the server"),
      failed: (cause) => this.end("broken", cause.message),
    });
  }

  /** Waits for the response's head. Undefined when none came in time. */
  async opened(timeoutMillis = 30_000): Promise<number | undefined> {
    await this.until(() => this.status !== undefined, timeoutMillis);
    return this.status;
  }

  /** Waits until `reached` holds, looking again after each change. False when the stream ended or time was up first. */
  async until(reached: () => boolean, timeoutMillis = 10_000): Promise<boolean> {
    if (reached()) return true;
    let timeUp = false;
    const cancelTimer = this.clock.after(timeoutMillis, () => {
      timeUp = true;
      this.wake();
    });
    while (!reached() && !timeUp && this.ended === undefined) {
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    }
    cancelTimer();
    return reached();
  }

  untilEnded(timeoutMillis: number): Promise<boolean> {
    return this.until(() => this.ended !== undefined, timeoutMillis);
  }

  /** The body of an answer that is no watch: an error's Status. */
  refusal(): Json | undefined {
    const bytes = this.bodyOfRefusal.joined();
    return unreadJson(bytes) === undefined ? parsed(new TextDecoder().decode(bytes)) : undefined;
  }

  close(): void {
    if (this.ended !== undefined) return;
    this.cancel();
    this.end("closed by the suite");
  }

  private begin(status: number, headers: WireResponse["headers"]): void {
    this.status = status;
    this.headers = headers;
    this.exchange.status = status;
    this.exchange.headers = headers;
    this.wake();
  }

  private receive(bytes: Uint8Array): void {
    if (this.ended !== undefined) return;
    this.exchange.keep(bytes);
    const unread = this.coming.add(bytes);
    if (unread !== undefined) return this.cutOff(unread);
    if (this.status === 200) this.read(bytes);
    else this.bodyOfRefusal.add(bytes);
  }

  /** Once something is no event, nobody knows what is meant by what follows: it is passed over. */
  private read(bytes: Uint8Array): void {
    if (this.isUnreadable) return;
    try {
      for (const document of this.documents.push(bytes)) {
        this.valueCount += 1 + countJsonValues(document);
        const isTooMuch = this.valueCount > answerValuesMax;
        const isTooOften = this.events.length >= eventsMax;
        const unread = isTooMuch ? tooManyValues : isTooOften ? tooManyEvents : unreadDepth(document);
        if (unread !== undefined) return this.cutOff(unread);
        this.recorder.arrive(this.exchange);
        const event = eventOf(JSON.parse(this.documents.textOf(document)) as Json);
        this.events.push(event);
        this.recorder.observer?.told(this.exchange, event);
        this.isUnreadable = event.type === malformedType;
        if (this.isUnreadable) break;
      }
    } catch (error) {
      this.isUnreadable = true;
      this.events.push(malformed(String(error)));
    }
    this.wake();
  }

  private cutOff(why: string): void {
    this.cancel();
    this.end("broken", why);
  }

  private end(how: WatchEnd, why?: string): void {
    if (this.ended !== undefined) return;
    this.ended = how;
    if (why !== undefined) this.exchange.lost = why;
    // A connection that breaks may cut a document; a server that ends the stream may not.
    if (how === "closed by the server" && !this.isUnreadable && this.documents.isInside) {
      this.events.push(malformed("the stream ended inside a document"));
    }
    this.recorder.end(this.exchange);
    this.show(how);
    this.onEnd();
    this.wake();
  }

  private show(how: WatchEnd): void {
    const { exchange, status = 0, headers } = this;
    const { observer } = this.recorder;
    const last = exchange.arrivals.at(-1);
    if (how === "closed by the suite" && last !== undefined)
      observer?.left(exchange, this.clock.nowMillis() - last.atMillis);
    if (how !== "closed by the server" || status < 400) return;
    const [retryAfter] = [headers["retry-after"] ?? []].flat();
    observer?.answered(exchange, this.refusal(), retryAfter);
  }

  private wake(): void {
    const woken = this.waiting;
    this.waiting = [];
    for (const resume of woken) resume();
  }
}

function eventOf(value: Json): WatchEvent {
  if (isJsonObject(value) && typeof value["type"] === "string" && isJsonObject(value["object"])) {
    return { type: value["type"], object: value["object"] };
  }
  return malformed(`no watch event: ${JSON.stringify(value).slice(0, 200)}`);
}

const malformedType = "malformed";

function malformed(message: string): WatchEvent {
  return { type: malformedType, object: { message } };
}
