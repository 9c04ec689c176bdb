/**
 * The language's published conformance vectors, as far as they are about what the API server has: no messages of
 * protocol buffers, no other extensions. What is left out or answered otherwise is a table with reasons.
 */
import { tests as published } from "@bufbuild/cel-spec/testdata/conformance.js";
import { describe, expect, it } from "vitest";
import { equal } from "./compare.ts";
import { compile } from "./expression.ts";
import { type CelType, dyn, duration, listOf, mapOf, nullType, timestamp } from "./types.ts";
import { EntryMap, TypeValue, typeName, Uint, type Value } from "./values.ts";

interface Suite {
  readonly name: string;
  readonly suites?: readonly Suite[];
  readonly tests?: readonly { readonly original: Vector }[];
}

interface Vector {
  readonly name?: string;
  readonly expr: string;
  readonly value?: Written;
  readonly typedResult?: { readonly result?: Written };
  readonly evalError?: unknown;
  readonly checkOnly?: boolean;
  readonly disableCheck?: boolean;
  readonly container?: string;
  readonly typeEnv?: readonly { readonly name: string; readonly ident?: { readonly type: WrittenType } }[];
  readonly bindings?: Readonly<Record<string, { readonly value: Written }>>;
}

type Written = Readonly<Record<string, never>>;
type WrittenType = Readonly<Record<string, never>>;

/** Sections about what the API server's environment does not have. */
const otherSections =
  /^(bindings_ext|block_ext|dynamic|encoders_ext|enums|math_ext|namespace|plumbing|proto2|proto2_ext|proto3|wrappers)\//;
/** Messages of protocol buffers, other than points in time and spans. */
const messages = /TestAllTypes|google\.protobuf\.(?!Timestamp|Duration)|NestedTestAll/;

/** What is refused, always when an expression is stored and with a reason. */
const refusals: readonly (readonly [what: string, text: RegExp])[] = [
  ["literals that mix types, which the API server's environment refuses as well", /expected type '.*' but found '/],
  ["notations that the library's grammar does not have", /Syntax error: /],
];

/** Answered otherwise. */
const deviations: Readonly<Record<string, string>> = {
  "lists/index/zero_based_double": "a list's index that is only known at run time must be an int",
  "lists/index/zero_based_uint": "a list's index that is only known at run time must be an int",
  "timestamps/timestamp_selectors_tz/getDate": "names of time zones",
  "timestamps/timestamp_selectors_tz/getDayOfMonth_name_pos": "names of time zones",
  "timestamps/timestamp_selectors_tz/getDayOfMonth_name_neg": "names of time zones",
  "timestamps/timestamp_selectors_tz/getDayOfYear": "names of time zones",
  "timestamps/timestamp_selectors_tz/getMinutes": "names of time zones",
};

const vectors = [...flat(published as unknown as Suite, [])].filter(
  ([path, vector]) =>
    !otherSections.test(path) &&
    !messages.test(vector.expr) &&
    !vector.disableCheck &&
    !vector.container &&
    isPlain(vector),
);

function* flat(suite: Suite, path: readonly string[]): Generator<readonly [path: string, vector: Vector]> {
  const inner = [...path, suite.name];
  for (const { original } of suite.tests ?? []) yield [[...inner.slice(1), original.name].join("/"), original];
  for (const each of suite.suites ?? []) yield* flat(each, inner);
}

/** Whether its variables have types that are known here. */
function isPlain({ typeEnv = [], bindings = {} }: Vector): boolean {
  const text = JSON.stringify([typeEnv, Object.values(bindings)]);
  return typeEnv.every(({ ident }) => ident !== undefined) && !/messageType|objectValue/.test(text);
}

const primitives: Readonly<Record<string, string>> = { INT64: "int", UINT64: "uint" };

function typeOf(written: WrittenType): CelType {
  const [kind = "", content] = Object.entries(written)[0] ?? [];
  const inner = content as unknown as Readonly<Record<string, WrittenType>>;
  if (kind === "primitive")
    return { is: "simple", name: primitives[content as never] ?? String(content).toLowerCase() };
  if (kind === "listType") return listOf(inner["elemType"] === undefined ? dyn : typeOf(inner["elemType"]));
  if (kind === "mapType")
    return mapOf(typeOf(inner["keyType"] as WrittenType), typeOf(inner["valueType"] as WrittenType));
  if (kind === "wellKnown") return (content as unknown) === "TIMESTAMP" ? timestamp : duration;
  return kind === "null" ? nullType : dyn;
}

type Entries = readonly { readonly key: Written; readonly value: Written }[];

const readers: Readonly<Record<string, (content: never) => Value>> = {
  int64Value: (text: string) => BigInt(text),
  uint64Value: (text: string) => new Uint(BigInt(text)),
  doubleValue: (number: number | string) => Number(number),
  stringValue: (text: string) => text,
  boolValue: (truth: boolean) => truth,
  nullValue: () => null,
  bytesValue: (text: string) => Uint8Array.from(Buffer.from(text, "base64")),
  typeValue: (name: string) => new TypeValue(name),
  listValue: ({ values = [] }: { readonly values?: readonly Written[] }) => values.map(valueOf),
  mapValue: ({ entries = [] }: { readonly entries?: Entries }) => {
    const map = new EntryMap();
    for (const { key, value } of entries) map.add(valueOf(key), valueOf(value));
    return map;
  },
  objectValue: (message: Readonly<Record<string, string>>) => {
    const name = message["@type"]?.endsWith("Duration") ? "duration" : "timestamp";
    const expression = compile(`${name}(${JSON.stringify(message["value"])})`, new Map());
    const outcome = "error" in expression ? expression : expression.evaluate({});
    if ("error" in outcome) throw new Error(outcome.error);
    return outcome.value;
  },
};

function valueOf(written: Written): Value {
  const [kind = "", content] = Object.entries(written)[0] ?? [];
  return (readers[kind] as (content: unknown) => Value)(content);
}

/** What is wrong with the answer to a vector; `refused` when it was not compiled for a reason of the table. */
function judge(vector: Vector): string | undefined {
  const variables = new Map<string, CelType>();
  for (const { name, ident } of vector.typeEnv ?? []) if (ident !== undefined) variables.set(name, typeOf(ident.type));
  const values: Record<string, Value> = {};
  for (const [name, { value }] of Object.entries(vector.bindings ?? {})) {
    values[name] = valueOf(value);
    if (!variables.has(name)) variables.set(name, dyn);
  }
  const expression = compile(vector.expr, variables);
  if ("error" in expression) {
    if (vector.evalError !== undefined) return undefined;
    return refusals.some(([, text]) => text.test(expression.error)) ? "refused" : expression.error;
  }
  if (vector.checkOnly) return undefined;
  const outcome = expression.evaluate(values);
  if (vector.evalError !== undefined) return "error" in outcome ? undefined : "no error";
  if ("error" in outcome) return outcome.error;
  const written = vector.value ?? vector.typedResult?.result;
  const wanted = written === undefined ? true : valueOf(written);
  const isSame = equal(outcome.value, wanted) || (Number.isNaN(outcome.value) && Number.isNaN(wanted));
  return isSame && typeName(outcome.value) === typeName(wanted)
    ? undefined
    : `${String(outcome.value)} is not ${String(wanted)}`;
}

describe("the language's conformance vectors", () => {
  it("answers all of them but those in the table", () => {
    const wrong: Record<string, string> = {};
    let refusedCount = 0;
    for (const [path, vector] of vectors) {
      const found = judge(vector);
      if (found === "refused") refusedCount++;
      else if (found !== undefined) wrong[path] = found;
    }
    expect(Object.keys(wrong).sort()).toEqual(Object.keys(deviations).sort());
    expect({ vectorCount: vectors.length, refusedCount }).toEqual({ vectorCount: 1302, refusedCount: 70 });
  });

  it("tells a wrong answer", () => {
    expect(judge({ expr: "1 + 1", value: { int64Value: "3" } as unknown as Written })).toBe("2 is not 3");
    expect(judge({ expr: "1 / 0", value: { int64Value: "3" } as unknown as Written })).toBe("division by zero");
  });
});
