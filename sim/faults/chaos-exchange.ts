/** One request and its answer on their way through chaos: late, cut in the middle, or ended early. */
import type { ApiHandler, ApiRequest, Payload, Responder, ResponseHeaders } from "../contract/http-message.ts";
import type { CallFailure, Cancel, Clock, Micros } from "../kernel/types.ts";

export interface ExchangeChaos {
  /** Of each message of the answer: it keeps its order. */
  readonly lateMicros: Micros;
  /** Where the connection breaks, once the server has answered. */
  readonly cut: "answer" | "half" | undefined;
  /** When a watch ends, from its beginning on. Told when it comes to that. */
  readonly ends: readonly { readonly afterMicros: Micros; readonly breaks: boolean; readonly told: () => void }[];
}

export class ChaosExchange implements Responder {
  /** Where the responder has it. */
  readonly whenTaken?: (resume: () => void) => void;
  private readonly clock: Clock;
  private readonly responder: Responder;
  private readonly chaos: ExchangeChaos;
  private readonly opened: (exchange: ChaosExchange) => void;
  private readonly ended: (exchange: ChaosExchange) => void;
  private readonly timers = new Set<Cancel>();
  private cancelAtServer: Cancel = () => {};
  private isOver = false;
  private isJson = true;
  private unreadBytes = 0;

  /** `opened` and `ended` hear of watches, `ended` also of what was none. */
  constructor(
    clock: Clock,
    responder: Responder,
    chaos: ExchangeChaos,
    opened: (exchange: ChaosExchange) => void,
    ended: (exchange: ChaosExchange) => void,
  ) {
    this.clock = clock;
    this.responder = responder;
    this.chaos = chaos;
    this.opened = opened;
    this.ended = ended;
    if (responder.whenTaken !== undefined) this.whenTaken = (resume) => responder.whenTaken?.(resume);
  }

  begin(server: ApiHandler, request: ApiRequest): Cancel {
    const cancel = server.start(request, this);
    if (this.isOver) cancel();
    else this.cancelAtServer = cancel;
    return () => this.end();
  }

  /** Ends a watch. With `told` as its last event, where its reader understands JSON; answers whether it was told. */
  close(told?: Payload): boolean {
    if (told === undefined) {
      this.pass(() => this.finish());
      return false;
    }
    if (this.isOver) return false;
    if (this.isJson) this.responder.frame(told);
    this.finish();
    return this.isJson;
  }

  respond(status: number, headers: ResponseHeaders, payload: Payload): void {
    this.pass(() => {
      const { cut } = this.chaos;
      if (cut === "answer") return this.breakOff();
      if (cut === "half") {
        this.responder.open(status, { "content-type": payload.contentType, ...headers });
        this.responder.frame(half(payload));
        return this.breakOff();
      }
      this.end();
      this.responder.respond(status, headers, payload);
    });
  }

  open(status: number, headers: ResponseHeaders): void {
    this.pass(() => {
      if (this.chaos.cut === "answer") return this.breakOff();
      this.isJson = String(headers["content-type"] ?? "json").includes("json");
      this.responder.open(status, headers);
      this.opened(this);
      for (const { afterMicros, breaks, told } of this.chaos.ends)
        this.later(afterMicros, () => {
          told();
          if (breaks) this.breakOff();
          else this.finish();
        });
    });
  }

  frame(payload: Payload): number {
    this.pass(() => {
      if (this.chaos.cut === "half") {
        this.responder.frame(half(payload));
        return this.breakOff();
      }
      this.unreadBytes = this.responder.frame(payload);
    });
    return this.unreadBytes;
  }

  failed(failure: CallFailure): void {
    this.pass(() => {
      this.end();
      this.responder.failed?.(failure);
    });
  }

  private finish(): void {
    this.end();
    this.responder.close();
  }

  private breakOff(): void {
    this.end();
    this.responder.failed?.("disconnected");
  }

  private pass(act: () => void): void {
    if (this.isOver) return;
    if (this.chaos.lateMicros === 0) act();
    else this.later(this.chaos.lateMicros, act);
  }

  private later(micros: Micros, act: () => void): void {
    const cancel = this.clock.after(micros, () => {
      this.timers.delete(cancel);
      if (!this.isOver) act();
    });
    this.timers.add(cancel);
  }

  private end(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.cancelAtServer();
    for (const cancel of this.timers) cancel();
    this.timers.clear();
    this.ended(this);
  }
}

/** Its first half; of a large one, which comes in slices, half of the first: the rest is never made. */
function half(payload: Payload): Payload {
  const bytes = firstSlice(payload) ?? payload.bytes();
  const first = bytes.subarray(0, Math.max(1, bytes.length >> 1));
  return { object: undefined, contentType: payload.contentType, bytes: () => first };
}

function firstSlice(payload: Payload): Uint8Array | undefined {
  const slices = payload.slices?.();
  for (let step = slices?.next(); step?.done === false; step = slices?.next())
    if (step.value.length > 0) return step.value;
  return undefined;
}
