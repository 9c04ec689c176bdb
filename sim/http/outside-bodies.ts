/** What webhooks are sent, in pieces. What several of them are sent is written once. */
import { jsonPieces } from "../../wire/go-strings.ts";
import { isObject } from "../contract/objects.ts";
import type { WebhookCall } from "../apiserver/admission/webhooks.ts";

/** One value as JSON: each piece is made when it is first asked for. */
class Written {
  private readonly made: Buffer[] = [];
  private readonly rest: Iterator<string>;

  constructor(value: unknown) {
    this.rest = jsonPieces(value, false);
  }

  /** From the first one on, each with whether it was made just now. */
  *pieces(): Generator<{ readonly piece: Buffer; readonly isNew: boolean }> {
    for (let at = 0; ; at++) {
      const known = this.made[at];
      if (known !== undefined) {
        yield { piece: known, isNew: false };
        continue;
      }
      const { done = false, value } = this.rest.next();
      if (done) return;
      const piece = Buffer.from(value as string);
      this.made.push(piece);
      yield { piece, isNew: true };
    }
  }
}

/** By round: what has been written of the objects in it. */
const rounds = new WeakMap<object, Map<object, Written>>();

/** The objects of a review: all else in it is small, or each webhook's own. */
const shared: ReadonlySet<string> = new Set(["object", "oldObject"]);

/** The pieces of a call's body; tells what each step cost. */
export function* bodyPieces({ body, round = {} }: Pick<WebhookCall, "body" | "round">): Generator<number, Buffer[]> {
  let written = rounds.get(round);
  if (written === undefined) rounds.set(round, (written = new Map()));
  const pieces: Buffer[] = [];
  for (const part of parts(body, written)) {
    if (typeof part === "string") {
      pieces.push(Buffer.from(part));
      continue;
    }
    for (const { piece, isNew } of part.pieces()) {
      pieces.push(piece);
      if (isNew && piece.length > freeBytesMax) yield piece.length;
    }
  }
  return pieces;
}

/** What is written in passing. */
const freeBytesMax = 16 * 1024;

/** Texts and values that make up the body one after the other. */
function* parts(body: WebhookCall["body"], written: Map<object, Written>): Generator<string | Written> {
  for (const { lead, key, value } of membersOf(body)) {
    yield lead;
    if (key !== "request" || !isObject(value)) {
      yield new Written(value);
      continue;
    }
    for (const member of membersOf(value)) {
      yield member.lead;
      yield shared.has(member.key) && isObject(member.value) ? known(written, member.value) : new Written(member.value);
    }
    yield "}";
  }
  yield "}";
}

function known(written: Map<object, Written>, value: object): Written {
  let found = written.get(value);
  if (found === undefined) written.set(value, (found = new Written(value)));
  return found;
}

/** Members that are there, each with what stands before its value. */
const membersOf = (object: object): { readonly lead: string; readonly key: string; readonly value: unknown }[] =>
  Object.entries(object)
    .filter(([, value]) => value !== undefined)
    .map(([key, value], at) => ({
      lead: `${at === 0 ? "{" : ","}${JSON.stringify(key)}:`,
      key,
      value: value as unknown,
    }));
