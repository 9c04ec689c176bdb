/** How a server that hands requests on reaches those who answer them. */
import type { Cancel } from "../../kernel/types.ts";
import type { Headers } from "./headers.ts";
import type { Location } from "./locations.ts";

export interface ForwardedRequest extends Location {
  readonly method: string;
  /** Path and query, begins with `/`. */
  readonly target: string;
  /** Lower-case names. `host` is the one that the client asked. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | undefined;
}

/** A whole answer, or why there is none. */
export type ForwardedAnswer =
  | {
      readonly status: number;
      readonly headers: Headers;
      readonly body: Uint8Array;
      /** The body as it came, which need not be joined to be sent. Default: there is nothing but the body. */
      readonly pieces?: readonly Uint8Array[];
    }
  | { readonly error: string };

/**
 * Carries out requests that are handed on, and sees to it that none takes forever. In simulation a function that answers
 * by itself or by a process on the virtual clock. Calls `done` at most once, at once or later in an event of the server;
 * never after the returned cancel.
 */
export type Forward = (
  request: ForwardedRequest,
  done: (answer: ForwardedAnswer) => void,
  flow?: ForwardedFlow,
) => Cancel;

/** Takes a good answer (2xx) while it comes, in place of `done`. Who cannot let answers flow may leave it alone. */
export interface ForwardedFlow {
  open(status: number, headers: Headers): void;
  /** False: no more until `resume`, which is called once. */
  chunk(bytes: Uint8Array, resume: () => void): boolean;
  /** Last. The answer may have been cut off. */
  end(): void;
}

export const nowhereToForward: Forward = (_, done) => {
  done({ error: "this server was given no way to hand requests on" });
  return () => {};
};
