/**
 * A bound on the requests of one virtual instant. Code that tries again without a pause would spin for ever, as time
 * does not move while it has something to do, and no timeout of a test runner fires either.
 */
import type { Transport } from "../../wire/ports.ts";
import { callerHere } from "./caller.ts";

/** The message says who asked for what, and how to wait instead. */
export class RequestBudgetError extends Error {
  readonly code = "request-budget";

  constructor(requestsMax: number, request: string, caller: string) {
    super(
      `${requestsMax} requests were made without any time passing, the last of them ${request}, at ${caller}. Code ` +
        "that tries again without a pause never ends: let it wait (a back-off) between its attempts. If so many " +
        "requests at one instant are meant, raise createCluster({ requestsPerInstantMax }).",
    );
    this.name = "RequestBudgetError";
  }
}

export interface RequestBudget {
  /** Integer >= 1. */
  readonly requestsMax: number;
  readonly nowMicros: () => number;
  /** Told once, with the first request that is too many. */
  readonly exceeded: (error: RequestBudgetError) => void;
}

/**
 * A transport that refuses the first request beyond the budget of an instant, and leaves every later one of that
 * instant without an answer: a loop that catches every error then stops as well.
 */
export function budgeted<T extends Transport>(transport: T, { requestsMax, nowMicros, exceeded }: RequestBudget): T {
  let instant = -1;
  let count = 0;
  return {
    ...transport,
    open(request, sink) {
      const now = nowMicros();
      if (now !== instant) count = 0;
      instant = now;
      count++;
      if (count <= requestsMax) return transport.open(request, sink);
      if (count === requestsMax + 1) {
        const error = new RequestBudgetError(requestsMax, `${request.method} ${request.path}`, callerHere());
        queueMicrotask(() => sink.failed(error));
        exceeded(error);
      }
      return () => undefined;
    },
  };
}
