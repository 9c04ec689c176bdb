/** Values that may be absent. Source: the published optional types of the language. */
import { fail } from "../failures.ts";
import { isList, isMap, none, Optional, Timestamp, Duration, Uint, type Value } from "../values.ts";
import { type FunctionRow, row } from "./function-row.ts";

export const optionals: readonly FunctionRow[] = [
  row("optional.none(): optional<A>", () => none),
  row("optional.of(A): optional<A>", (value: Value) => new Optional(value)),
  row("optional.ofNonZeroValue(A): optional<A>", (value: Value) => (isZero(value) ? none : new Optional(value))),
  row("optional<A>.hasValue(): bool", ({ value }: Optional) => value !== undefined),
  row("optional<A>.value(): A", ({ value }: Optional) => value ?? valueOrFail(value)),
  row("optional<A>.or(optional<A>): optional<A>", (first: Optional, second: Optional) =>
    first.value === undefined ? second : first,
  ),
  row("optional<A>.orValue(A): A", ({ value }: Optional, other: Value) => (value === undefined ? other : value)),
];

const valueOrFail = (value: Value | undefined): Value =>
  value === undefined ? fail("optional.none() dereference") : value;

function isZero(value: Value): boolean {
  if (value === null || value === false || value === 0n || value === 0 || value === "") return true;
  if (typeof value !== "object") return false;
  if (isList(value) || value instanceof Uint8Array) return value.length === 0;
  if (value instanceof Uint) return value.value === 0n;
  if (value instanceof Duration) return value.nanos === 0n;
  if (value instanceof Timestamp) return false;
  if (value instanceof Optional) return value.value === undefined;
  return isMap(value) && value.size === 0;
}
