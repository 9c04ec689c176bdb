/**
 * What a container asks for and what it may have at most. Source: the published validation of resource requirements.
 */
import { sortByBytes } from "../../../../wire/go-strings.ts";
import { qualifiedNameErrors } from "../../../../wire/names.ts";
import {
  canonicalQuantity,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
  quantityAt,
} from "../../../../wire/quantity.ts";
import type { Json, JsonObject } from "../../../contract/http-message.ts";
import { type Check, inParts, type Place } from "../../../objects/place.ts";
import { unlessEmpty } from "../../../objects/rules.ts";
import { label } from "../../shared/formats.ts";
import { goQuantity, isStandardResource } from "../resource-quota.ts";
import { scopeOf } from "./scope.ts";

/** What one container of a pod asks for, and what a pod's overhead is. */
export function resources({ limits: most, requests: least, claims }: JsonObject, at: Place): void {
  const limits = amountsOf("limits", most, at);
  const requests = amountsOf("requests", least, at, limits);
  if (hasHugePages(limits) || hasHugePages(requests)) {
    const has = (name: string): boolean => limits.has(name) || requests.has(name);
    if (!has("cpu") && !has("memory")) at.forbidden("HugePages require cpu or memory");
  }
  if (claims !== undefined) at.judge("claims", claims, resourceClaims as Check);
}

type Amounts = ReadonlyMap<string, Quantity>;

function hasHugePages(amounts: Amounts): boolean {
  for (const name of amounts.keys()) if (isHugePages(name)) return true;
  return false;
}

const isHugePages = (name: string): boolean => name.startsWith("hugepages-");
const isStandardOfContainers = (name: string): boolean =>
  name === "cpu" || name === "memory" || name === "ephemeral-storage" || isHugePages(name);
const isNative = (name: string): boolean => !name.includes("/") || /(?:^|\.)(?:kubernetes|svc)\.io\//.test(name);
const isExtended = (name: string): boolean => !isNative(name) && !name.startsWith("requests.");

/** `limits` are those of requests. */
function amountsOf(field: string, given: Json | undefined, at: Place, limits?: Amounts): Amounts {
  const table = (given ?? {}) as Readonly<Record<string, Json>>;
  const names = inOrder(Object.keys(table));
  if (names.length === 0) return noAmounts;
  const here = at.of(field);
  const judge = (name: string): readonly [string, Quantity][] => {
    const isUsual = name === "cpu" || name === "memory"; // whose name and nature need no look
    if (!isUsual) here.judge([name], name, resourceName as Check);
    const quantity = parseQuantity(String(table[name]));
    if ("error" in quantity) return []; // the decoder has refused it already
    if (quantity.digits < 0n) {
      here.of([name]).invalid(canonicalQuantity(quantity), "must be greater than or equal to 0");
    }
    if (!isUsual && isExtended(name) && !isWhole(quantity)) {
      here.of([name]).invalidText(goQuantity(quantity), "must be an integer");
    }
    if (limits !== undefined) request(name, quantity, limits.get(name), at);
    if (!isUsual && isHugePages(name)) wholePages(name, quantity, here.of([name]));
    return [[name, quantity]];
  };
  const parts = inParts(at.causes, names.length, amountCost, (from, end) => names.slice(from, end).flatMap(judge));
  return new Map(parts.flat());
}

/** Of an amount and its name, by the measure of expressions (`pace.ts`). */
const amountCost = 12;

const noAmounts: Amounts = new Map();

/** Two names, which mostly stand in order, are not worth a sort. */
function inOrder(names: string[]): readonly string[] {
  const [first, second] = names;
  if (second === undefined || (names.length === 2 && (first as string) < second)) return names;
  return sortByBytes(names);
}

/** Whole pages alone. */
function wholePages(name: string, quantity: Quantity, at: Place): void {
  const page = parseQuantity(name.slice("hugepages-".length));
  if ("error" in page || page.digits <= 0n || quantityAt(quantity, 0) % quantityAt(page, 0) === 0n) return;
  const text = formatQuantity(quantity);
  at.invalid(text, `${text} is not positive integer multiple of ${name}`);
}

/** A name that a container may ask for. */
export function resourceName(name: string, at: Place): void {
  const errors = qualifiedNameErrors(name);
  at.invalidFor(name, errors);
  if (!name.includes("/")) {
    if (errors.length === 0 && !isStandardResource(name)) {
      at.invalid(name, "must be a standard resource type or fully qualified");
    }
    if (!isStandardOfContainers(name)) at.invalid(name, "must be a standard resource for containers");
  } else if (!isNative(name) && !isExtended(name)) {
    at.invalid(name, "doesn't follow extended resource name standard");
  }
}

/** Devices and huge pages cannot be promised twice: what is asked for is what is the limit. */
function request(name: string, amount: Quantity, limit: Quantity | undefined, at: Place): void {
  const canBePromisedTwice = isNative(name) && !isHugePages(name);
  if (limit === undefined) {
    if (!canBePromisedTwice) at.of("limits").required("Limit must be set for non overcommitable resources");
    return;
  }
  const difference = compareQuantities(amount, limit);
  const isAllowed = canBePromisedTwice ? difference <= 0 : difference === 0;
  if (isAllowed) return;
  const relation = canBePromisedTwice ? "less than or equal to" : "equal to";
  const rule = `must be ${relation} ${name} limit of ${canonicalQuantity(limit)}`;
  at.of("requests").invalid(canonicalQuantity(amount), rule);
}

function resourceClaims(used: readonly JsonObject[], at: Place): void {
  const { claims } = scopeOf(at);
  const seen = new Set<string>();
  const inParts = new Set<unknown>(); // claims of which single requests are used
  const known = claims.size === 0 ? " which is empty" : `: ${sortByBytes([...claims]).join(", ")}`;
  at.eachItem(used, ({ name = "", request: part = "" }: Readonly<Record<string, string>>) => {
    if (name === "") {
      at.required();
      return;
    }
    const key = part === "" ? name : `${name}/${part}`;
    at.judge("request", part, claimPart);
    if (seen.has(name) || seen.has(key) || (part === "" && inParts.has(name))) {
      at.duplicate(seen.has(name) ? name : key);
    }
    seen.add(key);
    if (part !== "") inParts.add(name);
    if (!claims.has(name)) at.notFound(name, `must be one of the names in pod.spec.resourceClaims${known}`);
  });
}

const claimPart = unlessEmpty(label);

const milli = -3;
const isWhole = (quantity: Quantity): boolean => quantityAt(quantity, milli) % 1000n === 0n;
