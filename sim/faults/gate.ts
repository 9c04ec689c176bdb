/**
 * What stands before a server: while it is stalled nothing comes in and nothing goes out, and all of it in order
 * afterwards; while it throttles, a share of requests is told to come back.
 */
import { failureStatus } from "../contract/errors.ts";
import type { ApiHandler, ApiRequest, Responder } from "../contract/http-message.ts";
import { objectPayload } from "../contract/plain-payload.ts";
import type { Cancel, Prng } from "../kernel/types.ts";
import type { Share } from "../network/link.ts";

interface Waiting {
  readonly act: () => void;
  /** A change that a watcher has not been told yet. */
  readonly isChange: boolean;
}

export class Gate implements ApiHandler {
  /** Of requests, that are answered 429. */
  throttle: Share | undefined;
  private readonly handler: ApiHandler;
  private readonly prng: Prng;
  private stalled = false;
  private waiting: Waiting[] = [];

  constructor(handler: ApiHandler, prng: Prng) {
    this.handler = handler;
    this.prng = prng;
  }

  stall(): void {
    this.stalled = true;
  }

  /** What waited goes first, in order; what it brings about comes behind it. */
  resume(): void {
    for (let index = 0; index < this.waiting.length; index++) (this.waiting[index] as Waiting).act();
    this.waiting = [];
    this.stalled = false;
  }

  /** The planted bug `watch-lost-when-slow-and-compacted`: what waits to be told is skipped. */
  dropUntold(): void {
    this.waiting = this.waiting.filter(({ isChange }) => !isChange);
  }

  start(request: ApiRequest, responder: Responder): Cancel {
    const { throttle } = this;
    if (throttle !== undefined && this.prng.chance(throttle.numerator, throttle.denominator)) {
      const answer = (): void => responder.respond(429, retryHeaders, objectPayload(tooMany));
      if (this.stalled) this.waiting.push({ act: answer, isChange: false });
      else answer();
      return () => {};
    }
    let cancelled = false;
    let cancel: Cancel = () => {};
    const begin = (): void => {
      if (!cancelled)
        cancel = this.handler.start(
          request,
          this.outgoing(responder, () => cancelled),
        );
    };
    if (this.stalled) this.waiting.push({ act: begin, isChange: false });
    else begin();
    return () => {
      cancelled = true;
      cancel();
    };
  }

  private outgoing(responder: Responder, isCancelled: () => boolean): Responder {
    const later = (act: () => void, isChange = false): void => {
      if (!this.stalled) act();
      else this.waiting.push({ act: () => void (isCancelled() || act()), isChange });
    };
    return {
      respond: (status, headers, payload) => later(() => responder.respond(status, headers, payload)),
      open: (status, headers) => later(() => responder.open(status, headers)),
      frame: (payload) => {
        if (!this.stalled) return responder.frame(payload);
        later(
          () => void responder.frame(payload),
          (payload.object as { type?: string } | undefined)?.type !== "BOOKMARK",
        );
        return 0;
      },
      close: () => later(() => responder.close()),
    };
  }
}

const retryHeaders = { "content-type": "application/json", "retry-after": "1" };
const tooMany = failureStatus(429, "TooManyRequests", "too many requests", { retryAfterSeconds: 1 });
