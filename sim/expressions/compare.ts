/**
 * Equality and order. Numbers of different types compare by what they amount to; values of other different types are
 * unequal; lists and maps are equal when what is in them is. Lists that are sets or have keys do not mind the order.
 * Source: the published language definition; the published rules for lists with a type.
 */
import { canonicalQuantity, compareQuantities, type Quantity } from "../../wire/quantity.ts";
import { compareBytes } from "../../wire/go-strings.ts";
import { type Cidr, type IpAddress, sameCidr, sameIp } from "./library/ip-address.ts";
import { compareVersions, type Version } from "./library/version.ts";
import { noOverload } from "./failures.ts";
import { toil } from "./labour.ts";
import {
  AssociativeList,
  Duration,
  isList,
  isMap,
  type MapValue,
  Opaque,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from "./values.ts";

export function equal(left: Value, right: Value): boolean {
  toil(1);
  if (typeof left === "string" && typeof right === "string") {
    if (left.length !== right.length) return false;
    toil(left.length >> 4);
  }
  if (left === right) return true;
  const a = numeric(left);
  const b = numeric(right);
  if (a !== undefined || b !== undefined) return a !== undefined && b !== undefined && compareNumbers(a, b) === 0;
  if (left === null || right === null || typeof left !== "object" || typeof right !== "object") return false;
  if (isList(left)) return isList(right) && equalLists(left, right);
  if (left instanceof Uint8Array) return right instanceof Uint8Array && compareByteStrings(left, right) === 0;
  if (left instanceof Timestamp) return right instanceof Timestamp && left.nanos === right.nanos;
  if (left instanceof Duration) return right instanceof Duration && left.nanos === right.nanos;
  if (left instanceof TypeValue) return right instanceof TypeValue && left.name === right.name;
  if (left instanceof Optional) {
    if (!(right instanceof Optional)) return false;
    if (left.value === undefined || right.value === undefined) return left.value === right.value;
    return equal(left.value, right.value);
  }
  if (left instanceof Opaque) return right instanceof Opaque && equalOpaque(left, right);
  return isMap(left) && isMap(right) && equalMaps(left, right);
}

function equalLists(left: readonly Value[], right: readonly Value[]): boolean {
  if (left.length !== right.length) return false;
  if (left instanceof AssociativeList || right instanceof AssociativeList) {
    return left.every((item) => right.some((other) => equal(item, other)));
  }
  return left.every((item, at) => equal(item, right[at] as Value));
}

function equalMaps(left: MapValue, right: MapValue): boolean {
  if (left.size !== right.size) return false;
  return left.keys().every((key) => {
    const other = right.get(key);
    return other !== undefined && equal(left.get(key) as Value, other);
  });
}

function equalOpaque(left: Opaque, right: Opaque): boolean {
  if (left.type !== right.type) return false;
  return (opaqueEquality[left.type] ?? ((a, b) => a === b))(left.content, right.content);
}

const opaqueEquality: Readonly<Record<string, (left: unknown, right: unknown) => boolean>> = {
  "kubernetes.Quantity": (left, right) =>
    canonicalQuantity(left as Quantity) === canonicalQuantity(right as Quantity) ||
    compareQuantities(left as Quantity, right as Quantity) === 0,
  "kubernetes.URL": (left, right) => String(left) === String(right),
  "net.IP": (left, right) => sameIp(left as IpAddress, right as IpAddress),
  "net.CIDR": (left, right) => sameCidr(left as Cidr, right as Cidr),
  "kubernetes.Semver": (left, right) => compareVersions(left as Version, right as Version) === 0,
};

/** Below 0, 0 or above; NaN when one of the numbers is none. Throws for values without an order. */
export function order(left: Value, right: Value): number {
  const a = numeric(left);
  const b = numeric(right);
  if (a !== undefined && b !== undefined) return compareNumbers(a, b);
  if (typeof left === "string" && typeof right === "string") return compareBytes(left, right);
  if (typeof left === "boolean" && typeof right === "boolean") return Number(left) - Number(right);
  if (left instanceof Uint8Array && right instanceof Uint8Array) return compareByteStrings(left, right);
  if (
    (left instanceof Timestamp && right instanceof Timestamp) ||
    (left instanceof Duration && right instanceof Duration)
  ) {
    return compareNumbers(left.nanos, right.nanos);
  }
  return noOverload();
}

function numeric(value: Value): bigint | number | undefined {
  if (typeof value === "bigint" || typeof value === "number") return value;
  return value instanceof Uint ? value.value : undefined;
}

/** Where one side is a double, both are. */
function compareNumbers(left: bigint | number, right: bigint | number): number {
  const [a, b] = typeof left === typeof right ? [left, right] : [Number(left), Number(right)];
  if (a < b) return -1;
  if (a > b) return 1;
  return a === b ? 0 : Number.NaN;
}

function compareByteStrings(left: Uint8Array, right: Uint8Array): number {
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at++) {
    const difference = (left[at] as number) - (right[at] as number);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}
