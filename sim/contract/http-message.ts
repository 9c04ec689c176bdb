/**
 * The server's edge, free of sockets: what an adapter hands in and what it gets back. An adapter
 * turns a socket's request into an `ApiRequest` and writes a `Responder`'s calls out; a client in the
 * same process calls `start` directly and gets shared, frozen objects instead of bytes.
 */
import type { CallFailure, Cancel } from "../kernel/types.ts";

/** A JSON-like value. Objects inside a stored value are frozen. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

export interface ApiRequest {
  readonly method: string;
  /** Decoded by nobody: the raw path, without the query. */
  readonly path: string;
  /** Raw query without `?`; empty when there is none. */
  readonly query: string;
  /** Lower-case names, one string a name. */
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes off the wire, or an object handed over in process (which is then not parsed but is still validated). */
  readonly body?: Uint8Array | JsonObject | undefined;
  /** What an adapter made of the client's certificate. `invalid`: there is one, and it proves nothing. Absent: none was sent. */
  readonly clientCertificate?: ClientIdentity | "invalid";
}

/** Whom a verified client certificate names. */
export interface ClientIdentity {
  readonly commonName: string;
  readonly organizations: readonly string[];
}

/** A response body: an object that is encoded when somebody asks for bytes, or ready text. Encodings are kept, so asking twice is free. */
export interface Payload {
  /** The object itself when the body is one; shared and frozen. */
  readonly object: JsonObject | undefined;
  readonly contentType: string;
  bytes(): Uint8Array;
  /** How many bytes there are, once somebody has asked for them. */
  readonly sizeBytes?: number | undefined;
  /** Calls `told` with the number of bytes when they have all been taken in slices. */
  onceSized?(told: (bytes: number) => void): void;
  /** For whoever has taken all slices: so many bytes there were. */
  sized?(bytes: number): void;
  /** The same bytes in pieces, in order, for a large body of which a piece is shared with other answers; nobody may change them. */
  pieces?(): readonly Uint8Array[];
  /**
   * The same bytes in order, a little more with each step: for an answer that is too large to be made at once. A step may
   * give nothing yet. Absent, or undefined, where that would be of no use.
   */
  slices?(): Iterator<Uint8Array> | undefined;
  /** The same payload answers everybody who asks, for a long time: what is made of its bytes is worth keeping. Default false. */
  readonly isLasting?: boolean;
  /** Of a watch event: as many ordinary events might have been made in its place, beside itself. Default 0. */
  readonly extraWeight?: number;
  /** The bytes leave as they are, never compressed, under the length that the headers give them, if they do. Default false. */
  readonly isVerbatim?: boolean;
}

/** Response headers by lower-case name; a repeated header (Warning) is an array. */
export type ResponseHeaders = Record<string, string | string[]>;

/** Called in order. Either `respond` once, or `open`, then `frame` any number of times, then `close`. */
export interface Responder {
  respond(status: number, headers: ResponseHeaders, payload: Payload): void;
  /** A watch begins: headers must leave at once, before the first event. */
  open(status: number, headers: ResponseHeaders): void;
  /** One watch event. Returns bytes waiting to be read by the peer, so that the server can end a slow reader's watch. */
  frame(payload: Payload): number;
  /**
   * Called right after a `frame` that said how much waits: `resume` follows once, later, when the peer has taken all of it.
   * Absent where nothing ever waits.
   */
  whenTaken?(resume: () => void): void;
  close(): void;
  /**
   * Hands the client's connection on to somebody else: the request goes there as it is given here, and whatever that one
   * answers, a change of protocol or not, is the client's. `done` is called at most once, at once or later: with the status
   * that was answered, or with why nobody was reached, after which `respond` answers. The cancel ends both connections.
   * Absent where there is no connection of the client's own, such as a stream of HTTP/2.
   */
  tunnel?(to: TunnelTarget, done: (outcome: { readonly status: number } | { readonly error: string }) => void): Cancel;
  /** The connection broke before the response was complete. Only links and sockets call it, never the server; nothing follows. */
  failed?(failure: CallFailure): void;
}

/** Whom a connection is handed on to. */
export interface TunnelTarget {
  readonly scheme: "http" | "https";
  readonly host: string;
  /** Decimal; empty for the scheme's own. */
  readonly port: string;
  readonly method: string;
  /** Path and query, begins with `/`. */
  readonly target: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** A node's agent: it may be shown who this server is. */
  readonly isAgent?: boolean;
  /** Its name may not lead to the server's own machine, nor to what only its own network can reach. */
  readonly isGlobalOnly?: true;
  /** Nothing was said for so long: it ends. Undefined or 0: it may be silent. */
  readonly idleMillisMax?: number;
  /** From its beginning. Undefined: for as long as the two ends like. */
  readonly millisMax?: number;
}

/** An API server. The cancel is a client that goes away. */
export interface ApiHandler {
  start(request: ApiRequest, responder: Responder): Cancel;
}
