/**
 * The ports through which the suite reaches a server and a clock. Both sides of the house import
 * them: `sim` provides a virtual pair for the embedded server, `conformance/client` a real pair for
 * a URL. Nothing here is code; a port is only a shape.
 */

/** One HTTP request as the suite means it: before any transport has touched it. */
export interface WireRequest {
  readonly method: string;
  /** Path with its query, beginning with `/`; a path prefix of the target is added by the transport. */
  readonly path: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  /** Whose request it is: a bearer token, or nobody's at all. Default: whom the transport's own credentials name. */
  readonly as?: { readonly token: string } | "nobody";
}

/** A complete answer. `headers` has lower-case names; repeated headers keep their order in the array. */
export interface WireResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Uint8Array;
}

/** Called in order: `head` once, `chunk` any number of times, then `end` or `failed` once. Nothing follows a cancel. */
export interface StreamSink {
  head(status: number, headers: WireResponse["headers"]): void;
  chunk(bytes: Uint8Array): void;
  end(): void;
  /** The connection broke, or the request never got an answer: the outcome is unknown to the caller. */
  failed(cause: Error): void;
}

/**
 * A way to a server. One exchange is one `open`; everything else is built on it.
 * `open` returns a cancel: it cuts the connection as a client would that goes away.
 */
export interface Transport {
  open(request: WireRequest, sink: StreamSink): () => void;
  close(): Promise<void>;
}

/** Where the target's admission webhooks are answered by the suite. Documents are AdmissionReviews, as JSON values. */
export interface WebhookHost {
  /** `https://host:port` without a path: how the target reaches it. */
  readonly url: string;
  /** PEM of the certificate that the target must trust; undefined where nothing is encrypted. */
  readonly certificate: string | undefined;
  /** Answers what is posted to `path`, which begins with `/`; the returned function ends that. Any other path is 404. */
  answer(path: string, review: (document: unknown) => unknown): () => void;
  close(): Promise<void>;
}

/** Time as the suite sees it: virtual when the target is embedded, monotonic otherwise. Milliseconds. */
export interface SuiteClock {
  nowMillis(): number;
  sleep(millis: number): Promise<void>;
  /** Runs `fire` once after `millis`; the returned function cancels it. */
  after(millis: number, fire: () => void): () => void;
}
