/** Planted bugs of what a server makes of a strategic merge patch. */
import { encodeJson } from "../../../wire/go-strings.ts";
import { patchMediaTypes, withoutParameters } from "../../../wire/media-types.ts";
import type { TypeRow } from "../../../wire/schema.ts";
import type { ApiRequest, Json, JsonObject } from "../../contract/http-message.ts";
import { isObject } from "../../contract/objects.ts";
import { type Misreading, resourceOf, rewritten, typeOf } from "./misreading.ts";

export const patchMisreadings = {
  "smp-setelementorder-mismatch": {
    request: (request) => (isStrategic(request) ? rewritten(request, orderedByText) : request),
  },
  "smp-duplicate-mergekey": {
    request(request, _memory, server) {
      const stored = isStrategic(request) ? server.stored(request.path) : undefined;
      const type = resourceOf(request, server)?.row.type;
      if (stored === undefined || type === undefined) return request;
      return rewritten(request, (patch) => withNeighbours(patch, stored, type));
    },
  },
} as const satisfies Record<string, Misreading>;

const isStrategic = (request: ApiRequest): boolean =>
  request.method === "PATCH" && withoutParameters(typeOf(request)) === patchMediaTypes.strategic;

const orderPrefix = "$setElementOrder/";

/** Each order that is sent is one by text, and so is that of the elements that it is about. */
function orderedByText(patch: JsonObject): JsonObject {
  const inside = mapped(patch, orderedInside);
  return mapped(inside, (value, name) => {
    if (!Array.isArray(value)) return value;
    if (name.startsWith(orderPrefix)) return byText(value);
    const order = inside[orderPrefix + name];
    return Array.isArray(order) ? arranged(value, byText(order)) : value;
  });
}

function orderedInside(value: Json): Json {
  if (Array.isArray(value)) return listOf(value, (element) => [orderedInside(element)]);
  return isObject(value) ? orderedByText(value) : value;
}

const byText = (order: readonly Json[]): readonly Json[] =>
  order.toSorted((left, right) => (encodeJson(left) < encodeJson(right) ? -1 : 1));

function arranged(elements: readonly Json[], wanted: readonly Json[]): readonly Json[] {
  const [first] = wanted;
  const key = isObject(first) ? Object.keys(first)[0] : undefined;
  const identify = (element: Json): Json | undefined =>
    key !== undefined && isObject(element) ? element[key] : element;
  const ranks = new Map(wanted.map((element, at) => [identify(element), at]));
  const rank = (element: Json): number => ranks.get(identify(element)) ?? -1;
  return elements.toSorted((left, right) => rank(left) - rank(right));
}

/** Of a list that has the key of a deletion twice, what stands between the two is to be deleted as well. */
function withNeighbours(patch: JsonObject, stored: JsonObject, type: TypeRow): JsonObject {
  return mapped(patch, (value, name) => {
    const { shape, patchMergeKey: key } = type.fields.get(name) ?? {};
    const before = stored[name];
    if (shape?.is === "struct" && isObject(value) && isObject(before)) return withNeighbours(value, before, shape.type);
    if (shape?.is !== "list" || key === undefined || !Array.isArray(value) || !Array.isArray(before)) return value;
    const elements = before as readonly JsonObject[];
    return listOf(value as readonly JsonObject[], (element) => {
      if (element["$patch"] === "delete") return [element, ...between(elements, key, element[key])];
      const merged = elements.find((one) => one[key] === element[key]);
      const { items } = shape;
      return [merged === undefined || items.is !== "struct" ? element : withNeighbours(element, merged, items.type)];
    });
  });
}

function between(elements: readonly JsonObject[], key: string, deleted: Json | undefined): readonly JsonObject[] {
  const first = elements.findIndex((element) => element[key] === deleted);
  const last = elements.findLastIndex((element) => element[key] === deleted);
  return elements
    .slice(first + 1, Math.max(first + 1, last))
    .filter((element) => element[key] !== deleted)
    .map((element) => ({ $patch: "delete", [key]: element[key] }) as JsonObject);
}

/** Each of its values changed; the object itself when none is. */
function mapped(object: JsonObject, change: (value: Json, name: string) => Json): JsonObject {
  const entries = Object.entries(object).map(([name, value]) => [name, change(value, name)] as const);
  return entries.every(([name, value]) => value === object[name]) ? object : Object.fromEntries(entries);
}

/** The same for a list. */
function listOf<Element extends Json>(
  list: readonly Element[],
  change: (element: Element) => readonly Json[],
): readonly Json[] {
  const changed = list.flatMap(change);
  return changed.length === list.length && changed.every((element, at) => element === list[at]) ? list : changed;
}
