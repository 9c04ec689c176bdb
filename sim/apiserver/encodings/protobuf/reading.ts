/**
 * How messages are read: how deep they may lie in each other, how many fields there may be in all, and what of a large one is
 * read in a later step, so that others have their turn meanwhile.
 */
import protobuf from "protobufjs/minimal.js";
import { InvariantError } from "../../../kernel/invariant.ts";
import { bodyValuesMax } from "../../../objects/value-limit.ts";
import { ProtobufError, type Reader, readFields } from "./values.ts";

/** How deep messages may lie in each other; only schemas do so at all. The real decoder has no limit but memory. */
const depthMax = 500;
let depth = 0;
let fieldsLeft = 0;
/** Of the part that is being read, if it is read in steps: what is set aside meanwhile. */
let setAside: Part[] | undefined;

/** An entry of a map or a message of a list, from its length on. */
interface Part {
  readonly at: number;
  readonly depth: number;
  readonly read: (reader: Reader) => void;
}

/** Runs a reader whose own errors are a client's mistakes, too: throws `ProtobufError`. `fieldsMax`: as many as there may be, at any depth. */
export function guarded<Result>(
  bytes: Uint8Array,
  read: (reader: Reader) => Result,
  fieldsMax = bodyValuesMax,
): Result {
  depth = 0;
  fieldsLeft = fieldsMax;
  setAside = undefined;
  return withProtobufErrors(() => read(protobuf.Reader.create(bytes)));
}

function withProtobufErrors<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (error instanceof ProtobufError || error instanceof InvariantError) throw error;
    if (error instanceof RangeError) throw new ProtobufError("unexpected EOF");
    throw new ProtobufError(`proto: ${(error as Error).message}`);
  }
}

/** The fields of one message, counted. `field` says whether it has read one; others are passed over. */
export function readCounted(
  reader: Reader,
  length: number,
  field: (number: number, wireType: number) => boolean,
): void {
  if (++depth > depthMax) throw new ProtobufError("proto: exceeded maximum recursion depth");
  readFields(reader, length, (number, wireType) => {
    if (--fieldsLeft < 0) throw new ProtobufError("proto: exceeded maximum number of fields");
    return field(number, wireType);
  });
  depth--;
}

/** Reads what is delimited, from its length on: now, or in a step of its own. What is not all there fails now. */
export function readNowOrLater(reader: Reader, read: (reader: Reader) => void): void {
  const at = reader.pos;
  if (setAside !== undefined) {
    const length = reader.uint32();
    if (length <= reader.len - reader.pos) {
      setAside.push({ at, depth, read });
      reader.skip(length);
      return;
    }
    reader.pos = at;
  }
  read(reader);
}

/** A part that has been read, with what was set aside in it. */
interface Opened {
  readonly parts: readonly Part[];
  next: number;
  /** Why the rest of it could not be read: told when the parts before it have no mistake of their own. */
  readonly failure: { readonly why: unknown } | undefined;
}

/** Parts and fields that are read before others have their turn. */
const perStep = 8_000;

/** Reads a message in steps, all of it in the order of its bytes but for what was set aside. Throws `ProtobufError`. */
export function* readInSteps(bytes: Uint8Array, read: (reader: Reader) => void): Generator<void, void> {
  let left = bodyValuesMax;
  const open = (part: Part): Opened => {
    const parts: Part[] = [];
    [depth, fieldsLeft, setAside] = [part.depth, left, parts];
    const reader = protobuf.Reader.create(bytes);
    reader.pos = part.at;
    let failure: Opened["failure"];
    try {
      withProtobufErrors(() => part.read(reader));
    } catch (why) {
      failure = { why };
    }
    left = fieldsLeft;
    setAside = undefined;
    return { parts, next: 0, failure };
  };
  const stack = [open({ at: 0, depth: 0, read })];
  let spent = bodyValuesMax - left;
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const part = top.parts[top.next++];
    if (part === undefined) {
      if (top.failure !== undefined) throw top.failure.why;
      stack.pop();
      continue;
    }
    if (spent >= perStep) {
      spent = 0;
      yield;
    }
    const before = left;
    const opened = open(part);
    spent += 1 + before - left;
    if (opened.parts.length > 0 || opened.failure !== undefined) stack.push(opened);
  }
}
