/**
 * What a container asks for and what it may have at most. Source: the published validation of resource requirements.
 */
import { compareBytes } from "../../../../wire/go-strings.ts";
import { dns1123LabelErrors, qualifiedNameErrors } from "../../../../wire/names.ts";
import {
  canonicalQuantity,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
  quantityAt,
} from "../../../../wire/quantity.ts";
import type { Cause } from "../../../contract/errors.ts";
import type { Json, JsonObject } from "../../../contract/http-message.ts";
import {
  duplicateValue,
  forbiddenField,
  invalidText,
  invalidValue,
  notFoundValue,
  pushInvalid,
  requiredValue,
} from "../../../objects/causes.ts";
import { listOf } from "../../shared/fields.ts";
import { goQuantity, isStandardResource } from "../resource-quota.ts";

/** `claims` are the pod's, by name. */
export function resourcesCauses(
  resources: JsonObject,
  claims: ReadonlySet<string>,
  path: string,
  causes: Cause[],
): void {
  const limits = amountsOf(resources["limits"], `${path}.limits`, causes);
  const requests = amountsOf(resources["requests"], `${path}.requests`, causes, (name, quantity) =>
    requestCauses(name, quantity, limits.get(name), path, causes),
  );
  const names = [...limits.keys(), ...requests.keys()];
  if (names.some(isHugePages) && !names.includes("cpu") && !names.includes("memory")) {
    causes.push(forbiddenField(path, "HugePages require cpu or memory"));
  }
  claimCauses(listOf(resources, "claims"), claims, `${path}.claims`, causes);
}

const isHugePages = (name: string): boolean => name.startsWith("hugepages-");
const isStandardOfContainers = (name: string): boolean =>
  name === "cpu" || name === "memory" || name === "ephemeral-storage" || isHugePages(name);
const isNative = (name: string): boolean => !name.includes("/") || /(?:^|\.)(?:kubernetes|svc)\.io\//.test(name);
const isExtended = (name: string): boolean => !isNative(name) && !name.startsWith("requests.");

function amountsOf(
  value: Json | undefined,
  path: string,
  causes: Cause[],
  judge: (name: string, quantity: Quantity) => void = () => {},
): ReadonlyMap<string, Quantity> {
  const amounts = new Map<string, Quantity>();
  const table = (value ?? {}) as Readonly<Record<string, Json>>;
  for (const name of inOrder(Object.keys(table))) {
    const here = `${path}[${name}]`;
    const isUsual = name === "cpu" || name === "memory"; // whose name and nature need no look
    if (!isUsual) resourceNameCauses(name, here, causes);
    const quantity = parseQuantity(String(table[name]));
    if ("error" in quantity) continue; // the decoder has refused it already
    if (quantity.digits < 0n) {
      causes.push(invalidValue(here, canonicalQuantity(quantity), "must be greater than or equal to 0"));
    }
    if (!isUsual && isExtended(name) && !isWhole(quantity))
      causes.push(invalidText(here, goQuantity(quantity), "must be an integer"));
    amounts.set(name, quantity);
    judge(name, quantity);
    if (!isUsual && isHugePages(name)) pageCauses(name, quantity, here, causes);
  }
  return amounts;
}

/** Two names, which mostly stand in order, are not worth a sort. */
function inOrder(names: string[]): readonly string[] {
  const [first, second] = names;
  if (second === undefined || (names.length === 2 && (first as string) < second)) return names;
  return names.sort(compareBytes);
}

/** Whole pages alone. */
function pageCauses(name: string, quantity: Quantity, path: string, causes: Cause[]): void {
  const page = parseQuantity(name.slice("hugepages-".length));
  if ("error" in page || page.digits <= 0n || quantityAt(quantity, 0) % quantityAt(page, 0) === 0n) return;
  const text = formatQuantity(quantity);
  causes.push(invalidValue(path, text, `${text} is not positive integer multiple of ${name}`));
}

/** A name that a container may ask for. */
export function resourceNameCauses(name: string, path: string, causes: Cause[]): void {
  const errors = qualifiedNameErrors(name);
  pushInvalid(path, name, errors, causes);
  if (!name.includes("/")) {
    if (errors.length === 0 && !isStandardResource(name)) {
      causes.push(invalidValue(path, name, "must be a standard resource type or fully qualified"));
    }
    if (!isStandardOfContainers(name)) {
      causes.push(invalidValue(path, name, "must be a standard resource for containers"));
    }
  } else if (!isNative(name) && !isExtended(name)) {
    causes.push(invalidValue(path, name, "doesn't follow extended resource name standard"));
  }
}

/** Devices and huge pages cannot be promised twice: what is asked for is what is the limit. */
function requestCauses(
  name: string,
  request: Quantity,
  limit: Quantity | undefined,
  path: string,
  causes: Cause[],
): void {
  const canBePromisedTwice = isNative(name) && !isHugePages(name);
  if (limit === undefined) {
    if (canBePromisedTwice) return;
    causes.push(requiredValue(`${path}.limits`, "Limit must be set for non overcommitable resources"));
    return;
  }
  const difference = compareQuantities(request, limit);
  const isAllowed = canBePromisedTwice ? difference <= 0 : difference === 0;
  if (isAllowed) return;
  const relation = canBePromisedTwice ? "less than or equal to" : "equal to";
  const rule = `must be ${relation} ${name} limit of ${canonicalQuantity(limit)}`;
  causes.push(invalidValue(`${path}.requests`, canonicalQuantity(request), rule));
}

function claimCauses(used: readonly JsonObject[], claims: ReadonlySet<string>, path: string, causes: Cause[]): void {
  const seen = new Set<string>();
  const inParts = new Set<unknown>(); // claims of which single requests are used
  const known = claims.size === 0 ? " which is empty" : `: ${[...claims].sort(compareBytes).join(", ")}`;
  used.forEach(({ name = "", request = "" }, at) => {
    const here = `${path}[${at}]`;
    if (name === "") {
      causes.push(requiredValue(here));
      return;
    }
    const key = request === "" ? (name as string) : `${name as string}/${request as string}`;
    if (request !== "") {
      pushInvalid(`${here}.request`, request, dns1123LabelErrors(request as string), causes);
    }
    if (seen.has(name as string) || seen.has(key) || (request === "" && inParts.has(name))) {
      causes.push(duplicateValue(here, seen.has(name as string) ? name : key));
    }
    seen.add(key);
    if (request !== "") inParts.add(name);
    if (claims.has(name as string)) return;
    causes.push(notFoundValue(here, name, `must be one of the names in pod.spec.resourceClaims${known}`));
  });
}

const milli = -3;
const isWhole = (quantity: Quantity): boolean => quantityAt(quantity, milli) % 1000n === 0n;
