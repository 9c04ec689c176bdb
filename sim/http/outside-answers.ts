/** Answers of webhooks: read as they come, and taken apart in turns that others have between them. */
import type { ClientRequest, IncomingMessage } from "node:http";
import { jsonDepthMax } from "../../wire/json-reader.ts";
import { isDeeperThan } from "../objects/nesting.ts";
import { hasFewInJson, valuesMax } from "../objects/value-limit.ts";
import { Gathered } from "../../wire/gathered.ts";
import { type OutsideLine, outsideLine, turnBytesMax } from "./outside-line.ts";

/** Of all answers that are not complete yet; whose would be more has failed. */
const answerRoomBytes = 128 * 1024 * 1024;

/** Up to here an answer is taken apart in one step. */
const smallBytesMax = 16 * 1024;

interface Answered {
  readonly status: number;
  /** As JSON; a text where it is none. */
  readonly body: unknown;
}

interface Reading {
  readonly outgoing: ClientRequest;
  readonly bytesMax: number;
  readonly done: (answered: Answered) => void;
  readonly failed: (error: Error) => void;
}

let heldBytes = 0;

/** Calls `done` or `failed` once, unless `outgoing` is destroyed before. */
export function readAnswer(incoming: IncomingMessage, { outgoing, bytesMax, done, failed }: Reading): void {
  const gathered = new Gathered();
  let size = 0;
  let held = 0;
  incoming.on("data", (chunk: Buffer) => {
    size += chunk.length;
    const more = gathered.add(chunk);
    held += more;
    heldBytes += more;
    if (size > bytesMax) outgoing.destroy(new Error(`the answer is longer than ${bytesMax} bytes`));
    else if (heldBytes > answerRoomBytes) outgoing.destroy(new Error("there is no room for the answer"));
    else {
      // A hundred answers may come at once.
      incoming.pause();
      outsideLine.add(goOn(incoming, chunk.length));
    }
  });
  incoming.on("error", failed);
  incoming.once("close", () => (heldBytes -= held));
  incoming.on("end", () => {
    takeApart(gathered.joined(), (body) => {
      if (body instanceof Error) failed(body);
      else done({ status: incoming.statusCode ?? 0, body });
    });
  });
}

function* goOn(incoming: IncomingMessage, bytes: number): Generator<number, void> {
  incoming.resume();
  yield bytes;
}

/** Hands over what bytes say as JSON, or else as a text; an error for more than is taken apart. */
export function takeApart(bytes: Uint8Array, done: (body: unknown) => void, line: OutsideLine = outsideLine): void {
  line.add(inSteps(bytes, done));
}

function* inSteps(bytes: Uint8Array, done: (body: unknown) => void): Generator<number, void> {
  const isSmall = bytes.length <= smallBytesMax;
  if (!isSmall) {
    yield bytes.length; // that have come in this turn
    if (!hasFewInJson(bytes, valuesMax)) {
      done(new Error(`the answer has more than ${valuesMax} values`));
      return;
    }
    yield turnBytesMax;
  }
  const body = parsed(bytes);
  if (!isSmall) yield turnBytesMax;
  const isDeep = bytes.length > jsonDepthMax && isDeeperThan(jsonDepthMax, body);
  if (!isSmall) yield turnBytesMax;
  done(isDeep ? new Error(`the answer is nested more than ${jsonDepthMax} deep`) : body);
  yield bytes.length;
}

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

function parsed(bytes: Uint8Array): unknown {
  const text = utf8.decode(bytes);
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
