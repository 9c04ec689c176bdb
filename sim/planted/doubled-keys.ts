/** Two elements of one key in a list that is merged by it, anywhere in an object: what some published bugs stumble over. */
import { encodeJson } from "../../wire/go-strings.ts";
import type { Shape, TypeRow } from "../../wire/schema.ts";

export function hasDoubledKey(type: TypeRow, object: object): boolean {
  const fields = object as Readonly<Record<string, unknown>>;
  return type.rows.some(({ name, shape, listMapKeys }) => {
    const value = fields[name];
    return value !== undefined && value !== null && isDoubled(shape, value, listMapKeys ?? []);
  });
}

function isDoubled(shape: Shape, value: unknown, keys: readonly string[]): boolean {
  if (shape.is === "struct") return typeof value === "object" && value !== null && hasDoubledKey(shape.type, value);
  if (shape.is !== "list" || !Array.isArray(value)) return false;
  const elements = value as readonly Readonly<Record<string, unknown>>[];
  const named = elements.map((element) => encodeJson(keys.map((key) => element[key])));
  if (keys.length > 0 && new Set(named).size < named.length) return true;
  return elements.some((element) => isDoubled(shape.items, element, []));
}
