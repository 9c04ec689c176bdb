/**
 * Claims as expressions see them. Every number is a double, whatever it looks like: that is how the observed server's
 * reader of JSON gives them. Converted when somebody asks, since most claims are never asked for.
 */
import type { Json, JsonObject } from "../../../contract/http-message.ts";
import type { MapValue, Value } from "../../../expressions/values.ts";

export function claimsValue(json: Json): Value {
  if (json === null || typeof json !== "object") return json;
  return Array.isArray(json) ? (json as readonly Json[]).map(claimsValue) : new ClaimsMap(json as JsonObject);
}

class ClaimsMap implements MapValue {
  readonly isMap = true;
  private readonly json: JsonObject;
  private readonly names: readonly string[];

  constructor(json: JsonObject) {
    this.json = json;
    this.names = Object.keys(json);
  }

  get size(): number {
    return this.names.length;
  }

  get(key: Value): Value | undefined {
    return typeof key === "string" && Object.hasOwn(this.json, key) ? claimsValue(this.json[key] as Json) : undefined;
  }

  keys(): readonly Value[] {
    return this.names;
  }
}
