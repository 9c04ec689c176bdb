/** How much one answer of the target may say: a server may be broken or hostile, and whoever judges it must not break of it. */
import type { WireRequest } from "../../wire/ports.ts";
import { answerDepthMax, answerValuesMax, hasFewJsonValues, isJsonDeeperThan } from "../../wire/json-values.ts";

/** No answer to any request of the suite has more to say, nor has a watch; what goes on is cut off. */
export const bodyBytesMax = 64 * 1024 * 1024;

/** An answer to a write is one object, which no server stores that is near as large. */
const writtenBytesMax = 16 * 1024 * 1024;
const writes: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH"]);

/** Servers send hundreds of bytes at a time, and watches an event: who sends single bytes keeps the suite busy with nothing. */
const piecesMax = 200_000;

/** No program of the suite makes so many, and others' are few while one of its watches is open. */
export const eventsMax = 50_000;

/** A server's words go into further requests: its names and tokens into paths, its objects into bodies. */
const pathLengthMax = 128 * 1024;
const sentBytesMax = 8 * 1024 * 1024;

/** Why an answer was lost, or a watch was cut off. */
const tooLong = (bytesMax: number): string => `its body goes on beyond ${bytesMax / 1024 / 1024} MiB`;
const tooManyPieces = `its body comes in more than ${piecesMax.toLocaleString("en")} pieces`;
export const tooManyValues = `its body has more than ${answerValuesMax.toLocaleString("en")} values`;
export const tooMuchInPages = `more than ${bodyBytesMax / 1024 / 1024} MiB, or ${answerValuesMax.toLocaleString("en")} values`;
export const tooManyEvents = `it tells more than ${eventsMax.toLocaleString("en")} events`;
const tooDeep = `its body is nested more than ${answerDepthMax.toLocaleString("en")} deep`;

/** What has come of one body. */
export class Coming {
  private readonly bytesMax: number;
  private bytes = 0;
  private pieces = 0;

  /** `method`: of the request that it answers. */
  constructor(method: string) {
    this.bytesMax = writes.has(method) ? writtenBytesMax : bodyBytesMax;
  }

  /** Why no more is read; undefined when it is. */
  add(piece: Uint8Array): string | undefined {
    this.bytes += piece.length;
    this.pieces += 1;
    if (this.bytes > this.bytesMax) return tooLong(this.bytesMax);
    return this.pieces > piecesMax ? tooManyPieces : undefined;
  }
}

/** Why a request is not sent; undefined when it is. */
export function unsent({ path, body = "" }: Pick<WireRequest, "path" | "body">): string | undefined {
  if (path.length > pathLengthMax) return `not sent, for its path would be longer than ${pathLengthMax / 1024} KiB`;
  if (body.length > sentBytesMax)
    return `not sent, for its body would be longer than ${sentBytesMax / 1024 / 1024} MiB`;
  return undefined;
}

/** What is kept of a request that is not sent. */
export const shownOfUnsent = ({ method, path }: WireRequest): WireRequest => ({
  method,
  path: path.slice(0, shownPathLength),
  headers: {},
});

const shownPathLength = 200;

/** Why a body of JSON is not read; undefined when it is. */
export function unreadJson(body: Uint8Array): string | undefined {
  if (!hasFewJsonValues(body, answerValuesMax)) return tooManyValues;
  return unreadDepth(body);
}

/** As `unreadJson`, where values are counted by the caller. */
export function unreadDepth(body: Uint8Array): string | undefined {
  return isJsonDeeperThan(body, answerDepthMax) ? tooDeep : undefined;
}
