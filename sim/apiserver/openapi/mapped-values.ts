import type { Json, JsonObject } from "../../contract/http-message.ts";

/** An object with each value converted. Itself where all stay as they are: schemas are large, and mostly said alike. */
export function mappedValues(object: JsonObject, convert: (value: JsonObject) => JsonObject): JsonObject {
  let isSame = true;
  const entries = Object.entries(object).map(([name, value]): [string, Json] => {
    const converted = convert(value as JsonObject);
    isSame &&= converted === value;
    return [name, converted];
  });
  return isSame ? object : Object.fromEntries(entries);
}
