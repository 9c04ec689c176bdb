/** Functions of lists, and of lists as sets. Source: the published extensions of the API server and of the language. */
import { equal, order } from "../compare.ts";
import { fail } from "../failures.ts";
import { type Duration, type Uint, type Value } from "../values.ts";
import { eachElement, eachPair, type FunctionRow, row } from "./function-row.ts";
import { checkedInt, checkedUint } from "./operators.ts";
import { checkedDuration } from "./times.ts";

const ordered = ["int", "uint", "double", "bool", "string", "bytes", "timestamp", "duration"];

type List = readonly Value[];

const sums: Readonly<Record<string, (list: List) => Value>> = {
  int: (list) => checkedInt((list as bigint[]).reduce((sum, each) => checkedInt(sum + each), 0n)),
  uint: (list) => checkedUint((list as Uint[]).reduce((sum, each) => checkedUint(sum + each.value).value, 0n)),
  double: (list) => (list as number[]).reduce((sum, each) => sum + each, 0),
  duration: (list) => checkedDuration((list as Duration[]).reduce((sum, each) => sum + each.nanos, 0n)),
};

export const lists: readonly FunctionRow[] = [
  ...ordered.flatMap((type) => [
    row(`list<${type}>.isSorted(): bool`, isSorted, eachElement),
    row(`list<${type}>.min(): ${type}`, (list: List) => extreme(list, "min", -1), eachElement),
    row(`list<${type}>.max(): ${type}`, (list: List) => extreme(list, "max", 1), eachElement),
  ]),
  ...Object.entries(sums).map(([type, sum]) => row(`list<${type}>.sum(): ${type}`, sum, eachElement)),
  row(
    "list<A>.indexOf(A): int",
    (list: List, item: Value) => BigInt(list.findIndex((each) => equal(each, item))),
    eachElement,
  ),
  row(
    "list<A>.lastIndexOf(A): int",
    (list: List, item: Value) => BigInt(list.findLastIndex((each) => equal(each, item))),
    eachElement,
  ),
  row("sets.contains(list<A>, list<A>): bool", contains, eachPair),
  row("sets.equivalent(list<A>, list<A>): bool", (a: List, b: List) => contains(a, b) && contains(b, a), eachPair),
  row(
    "sets.intersects(list<A>, list<A>): bool",
    (a: List, b: List) => a.some((item) => b.some((each) => equal(item, each))),
    eachPair,
  ),
];

function isSorted(list: List): boolean {
  return list.every((item, at) => at === 0 || order(list[at - 1] as Value, item) <= 0);
}

function extreme(list: List, name: string, sign: number): Value {
  const [first, ...rest] = list;
  if (first === undefined) return fail(`${name} called on empty list`);
  return rest.reduce((best, each) => (order(each, best) * sign > 0 ? each : best), first);
}

function contains(list: List, part: List): boolean {
  return part.every((item) => list.some((each) => equal(item, each)));
}
