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
  /** Called before the answer's first byte, where the transport can stop reading it: what is not read waits at the server. */
  readonly onReader?: (reader: Reader) => void;
}

/** Who reads an answer. One that pauses takes no more bytes than are already on their way. */
export interface Reader {
  pause(): void;
  resume(): void;
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

/** What a target is answered that calls the suite. */
export interface Reply {
  readonly status: number;
  /** A JSON value; undefined for no body. */
  readonly body: unknown;
  /** How long the answer is held back, by the suite's clock. Default 0. */
  readonly afterMillis?: number;
}

/** Where the suite serves JSON documents to its target, at an address that the target's configuration files name. */
export interface DocumentHost {
  /** `https://host:port` without a path: how the target reaches it. */
  readonly url: string;
  /** Answers what is asked at `path`, which begins with `/`; `document` is undefined but for a POST. Any other path is 404. */
  answer(path: string, reply: (document: unknown) => Reply): () => void;
  close(): Promise<void>;
}

/** How the suite signs the tokens that it issues. */
export interface TokenSigner {
  /** As tokens say it in `alg`: RS256 or ES256. */
  readonly algorithm: string;
  /** The public key, RFC 7517, with its `kid`. */
  readonly key: Readonly<Record<string, unknown>>;
  sign(input: Uint8Array): Uint8Array;
}

/** What the suite stands for in the target's configuration files. An absent part is one that the target does not know. */
export interface AccessHosts {
  readonly issuer?: {
    readonly host: DocumentHost;
    readonly signer: TokenSigner;
    /** Signs for one of the suite's issuers alone. */
    readonly stranger: TokenSigner;
    /** Takes turns with `signer` for the issuer whose keys change. */
    readonly successor: TokenSigner;
  };
  readonly authorizer?: DocumentHost;
}

/** Time as the suite sees it: virtual when the target is embedded, monotonic otherwise. Milliseconds. */
export interface SuiteClock {
  nowMillis(): number;
  sleep(millis: number): Promise<void>;
  /** Runs `fire` once after `millis`; the returned function cancels it. */
  after(millis: number, fire: () => void): () => void;
}
