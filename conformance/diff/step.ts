/**
 * A program of a comparison: requests in order, one client, nothing at the same time, so that two servers that agree
 * answer alike. A step is written in the `svc` dialect and names what only its server knows by a reference in braces.
 */
import fc from "fast-check";
import { type Dialect, svcDialect } from "../../wire/dialect.ts";
import type { Json } from "../client/types.ts";

export interface Step {
  /** What is asked, in a few words, without names. Differences of a status are told apart by it. */
  readonly what: string;
  readonly method: string;
  /** `{ns}` is the program's namespace, `{other}` a second one, which is made when it is first named. */
  readonly path: string;
  /** With `watch`, the step lasts until an object written after its beginning is told, and its answer is the events. */
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string is sent as it is, anything else as JSON. */
  readonly body?: Json;
  /** Another's bearer token, or no credentials at all. Default: those of the run. */
  readonly as?: "nobody" | { readonly token: string };
  /** Asked again and again until the answer has this text in it, and given up in time: for what a server does by the way. */
  readonly until?: string;
  /** Likewise, until the answer has this text in it no more. */
  readonly untilWithout?: string;
}

export type Program = readonly Step[];

/** Programs whose parts come in this order. */
export function inTurn(...parts: readonly fc.Arbitrary<Program>[]): fc.Arbitrary<Program> {
  return fc.tuple(...parts).map((drawn) => drawn.flat());
}

/** What one server has said so far, by reference: `ns` and `other` are namespaces, the second name longer by a letter; `version:a`, `uid:a`, `version` and `continue` of the last list. */
export type Known = Map<string, string>;

/**
 * The step as it is sent to a server, or undefined when it names what that server has not told: then there is nothing
 * to ask.
 */
export function resolved(step: Step, known: ReadonlyMap<string, string>, dialect: Dialect): Step | undefined {
  let complete = true;
  const text = JSON.stringify(step).replaceAll(/\{([a-z]+(?::[^{}"]+)?)\}/g, (_whole, reference: string) => {
    const value = known.get(reference);
    if (value === undefined) complete = false;
    return JSON.stringify(value ?? "").slice(1, -1);
  });
  return complete ? (JSON.parse(inDialect(text, dialect)) as Step) : undefined;
}

/** Groups, names of types and labels, and the protobuf media type have the product's name in them. */
function inDialect(text: string, dialect: Dialect): string {
  return text
    .replaceAll(svcDialect.protobufMediaType, dialect.protobufMediaType)
    .replaceAll(/\.svc\.io\b/g, `.${dialect.groupSuffix}`)
    .replaceAll(/"svc\.io\//g, `"${dialect.labelSuffix}/`);
}

/** Every word with the product's name as `svc` has it: a name alone is no difference. */
export function fromDialect(text: string, dialect: Dialect): string {
  if (dialect.name === svcDialect.name) return text;
  const { systemNamespaces, name: _name, ...words } = dialect;
  const { systemNamespaces: ours, name: _ours, ...oursWords } = svcDialect;
  const pairs = [
    ...Object.entries(words).map(([key, word]) => [word, oursWords[key as keyof typeof words]] as const),
    ...Object.entries(systemNamespaces).map(([key, word]) => [word, ours[key as keyof typeof ours]] as const),
  ];
  // The longest first: one name may be the beginning of another.
  return pairs
    .sort(([one], [other]) => other.length - one.length)
    .reduce((renamed, [theirs, neutral]) => renamed.replaceAll(theirs, neutral), text);
}
