/** Operators: arithmetic within 64 bits, comparison, membership and indexing. */
import { equal, order } from "../compare.ts";
import { isInt } from "../syntax.ts";
import { fail } from "../failures.ts";
import {
  AssociativeList,
  type Duration,
  isMap,
  type MapValue,
  none,
  Optional,
  type Timestamp,
  Uint,
  type Value,
} from "../values.ts";
import { type CostRule, type FunctionRow, row, traversal } from "./function-row.ts";
import { checkedDuration, checkedTimestamp } from "./times.ts";

const ordered = ["bool", "int", "uint", "double", "string", "bytes", "timestamp", "duration"];
const numbers = ["int", "uint", "double"];

export const operators: readonly FunctionRow[] = [
  row("!_(bool): bool", (value: boolean) => !value),
  row("-_(int): int", (value: bigint) => checkedInt(-value)),
  row("-_(double): double", (value: number) => -value),
  ...arithmetic("int", checkedInt),
  ...arithmetic("uint", checkedUint),
  row("_+_(double, double): double", (a: number, b: number) => a + b),
  row("_-_(double, double): double", (a: number, b: number) => a - b),
  row("_*_(double, double): double", (a: number, b: number) => a * b),
  row("_/_(double, double): double", (a: number, b: number) => a / b),
  row("_+_(string, string): string", (a: string, b: string) => a + b, concatenation()),
  row("_+_(bytes, bytes): bytes", (a: Uint8Array, b: Uint8Array) => Uint8Array.from([...a, ...b]), concatenation()),
  row("_+_(list<A>, list<A>): list<A>", concatenated, concatenation()),
  row("_+_(timestamp, duration): timestamp", (a: Timestamp, b: Duration) => checkedTimestamp(a.nanos + b.nanos)),
  row("_+_(duration, timestamp): timestamp", (a: Duration, b: Timestamp) => checkedTimestamp(a.nanos + b.nanos)),
  row("_+_(duration, duration): duration", (a: Duration, b: Duration) => checkedDuration(a.nanos + b.nanos)),
  row("_-_(timestamp, timestamp): duration", (a: Timestamp, b: Timestamp) => checkedDuration(a.nanos - b.nanos)),
  row("_-_(timestamp, duration): timestamp", (a: Timestamp, b: Duration) => checkedTimestamp(a.nanos - b.nanos)),
  row("_-_(duration, duration): duration", (a: Duration, b: Duration) => checkedDuration(a.nanos - b.nanos)),
  row("_==_(A, A): bool", (a: Value, b: Value) => equal(a, b), comparison()),
  row("_!=_(A, A): bool", (a: Value, b: Value) => !equal(a, b), comparison()),
  ...comparisons("_<_", (found) => found < 0),
  ...comparisons("_<=_", (found) => found <= 0),
  ...comparisons("_>_", (found) => found > 0),
  ...comparisons("_>=_", (found) => found >= 0),
  row("@in(A, list<A>): bool", (item: Value, list: readonly Value[]) => list.some((each) => equal(item, each)), {
    cost: (_item, size = 1) => size,
  }),
  row("@in(A, map<A, B>): bool", (key: Value, map: MapValue) => map.get(key) !== undefined),
  row("_[_](list<A>, int): A", (list: readonly Value[], at: bigint) => itemAt(list, at)),
  row("_[_](map<A, B>, A): B", (map: MapValue, key: Value) => entryOf(map, key)),
  row("_[_](optional<list<A>>, int): optional<A>", lookUp),
  row("_[_](optional<map<A, B>>, A): optional<B>", lookUp),
  row("_[?_](list<A>, int): optional<A>", lookUp),
  row("_[?_](map<A, B>, A): optional<B>", lookUp),
  row("_[?_](optional<list<A>>, int): optional<A>", lookUp),
  row("_[?_](optional<map<A, B>>, A): optional<B>", lookUp),
];

function arithmetic(type: "int" | "uint", make: (value: bigint) => Value): FunctionRow[] {
  const bits = (value: bigint | Uint): bigint => (value instanceof Uint ? value.value : value);
  const of = (sign: string, work: (a: bigint, b: bigint) => bigint): FunctionRow =>
    row(`_${sign}_(${type}, ${type}): ${type}`, (a: bigint | Uint, b: bigint | Uint) => make(work(bits(a), bits(b))));
  return [
    of("+", (a, b) => a + b),
    of("-", (a, b) => a - b),
    of("*", (a, b) => a * b),
    of("/", (a, b) => (b === 0n ? fail("division by zero") : a / b)),
    of("%", (a, b) => (b === 0n ? fail("modulus by zero") : a % b)),
  ];
}

export function checkedInt(value: bigint): bigint {
  return isInt(value) ? value : fail("integer overflow");
}

export function checkedUint(value: bigint): Uint {
  return value >= 0n && value < 1n << 64n ? new Uint(value) : fail("unsigned integer overflow");
}

function concatenation(): CostRule {
  return { cost: (a, b = 1) => traversal(a + b), size: (a, b = 1) => a + b };
}

function comparison(): CostRule {
  return { cost: (a, b = 1) => Math.max(1, traversal(Math.min(a, b))) };
}

/** A set takes what it does not have; a list with keys has what is in it replaced by what has the same keys. */
function concatenated(left: readonly Value[], right: readonly Value[]): Value {
  if (!(left instanceof AssociativeList)) return [...left, ...right];
  const { keyFields } = left;
  const isSame = (a: Value, b: Value): boolean => {
    if (keyFields === undefined) return equal(a, b);
    return isMap(a) && isMap(b) && keyFields.every((key) => equal(a.get(key) ?? null, b.get(key) ?? null));
  };
  const merged = left.map((item) => right.find((other) => isSame(item, other)) ?? item);
  const added = right.filter((item) => !left.some((other) => isSame(item, other)));
  return AssociativeList.made([...merged, ...added], keyFields);
}

function comparisons(name: string, judge: (order: number) => boolean): FunctionRow[] {
  const pairs = [
    ...ordered.map((type) => [type, type] as const),
    ...numbers.flatMap((left) => numbers.filter((right) => right !== left).map((right) => [left, right] as const)),
  ];
  return pairs.map(([left, right]) =>
    row(`${name}(${left}, ${right}): bool`, (a: Value, b: Value) => judge(order(a, b)), comparison()),
  );
}

function itemAt(list: readonly Value[], at: bigint): Value {
  const item = at >= 0n && at < BigInt(list.length) ? list[Number(at)] : undefined;
  return item === undefined ? fail(`index out of bounds: ${at}`) : item;
}

export function entryOf(map: MapValue, key: Value): Value {
  const value = map.get(key);
  return value === undefined ? fail(`no such key: ${String(key instanceof Uint ? key.value : key)}`) : value;
}

/** What is there, or nothing. */
function lookUp(of: readonly Value[] | MapValue | Optional, key: Value): Optional {
  if (of instanceof Optional) return of.value === undefined ? none : lookUp(of.value as MapValue, key);
  const found = isMap(of as Value) ? (of as MapValue).get(key) : (of as readonly Value[])[Number(key)];
  return found === undefined ? none : new Optional(found);
}
