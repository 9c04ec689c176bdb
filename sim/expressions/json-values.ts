/** JSON as values of declared types. Objects and maps are converted field by field, when somebody asks for one. */
import { decodeBase64 } from "../../wire/base64.ts";
import type { Json, JsonObject } from "../contract/http-message.ts";
import { isObject } from "../contract/objects.ts";
import { readDuration, readTimestamp } from "./library/times.ts";
import { type CelType, dyn } from "./types.ts";
import { fail } from "./failures.ts";
import { AssociativeList, type MapValue, type Value } from "./values.ts";

export function fromJson(json: Json, type: CelType = dyn): Value {
  if (json === null) return null;
  if (Array.isArray(json)) return listFrom(json as readonly Json[], type);
  if (isObject(json)) return new JsonMap(json, type);
  return scalarFrom(json as string | number | boolean, type);
}

function listFrom(json: readonly Json[], type: CelType): Value {
  if (type.is !== "list") return json.map((item) => fromJson(item));
  const items = json.map((item) => fromJson(item, type.of));
  if (type.keys === undefined) return items;
  return AssociativeList.made(items, type.keys.by === "fields" ? type.keys.fields : undefined);
}

function scalarFrom(json: string | number | boolean, type: CelType): Value {
  const name = type.is === "simple" ? type.name : "dyn";
  if (typeof (json as unknown) === "bigint") return name === "double" ? Number(json) : json;
  if (typeof json === "boolean") return json;
  if (typeof json === "number") return name !== "double" && Number.isInteger(json) ? BigInt(json) : json;
  return (texts[name] ?? asIs)(json);
}

const asIs = (text: string): Value => text;

const texts: Readonly<Record<string, (text: string) => Value>> = {
  bytes: (text) => {
    const decoded = decodeBase64(text);
    return typeof decoded === "number" ? fail("invalid byte encoding") : decoded;
  },
  "google.protobuf.Timestamp": (text) => readTimestamp(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text),
  "google.protobuf.Duration": (text) => readDuration(text),
};

/** Of an object with fields, only the fields that its type has are seen, by their names in the language. */
class JsonMap implements MapValue {
  readonly isMap = true;
  private readonly json: JsonObject;
  private readonly type: CelType;
  private readonly made = new Map<string, Value>();

  constructor(json: JsonObject, type: CelType) {
    this.json = json;
    this.type = type;
  }

  get size(): number {
    return this.keys().length;
  }

  get(key: Value): Value | undefined {
    if (typeof key !== "string") return undefined;
    const known = this.made.get(key);
    if (known !== undefined) return known;
    const { type } = this;
    const field =
      type.is === "object" ? type.fields.get(key) : { name: key, type: type.is === "map" ? type.value : dyn };
    if (field === undefined || !Object.hasOwn(this.json, field.name)) return undefined;
    const json = this.json[field.name];
    if (json === undefined) return undefined;
    const value = fromJson(json, field.type);
    this.made.set(key, value);
    return value;
  }

  keys(): readonly Value[] {
    const { json, type } = this;
    if (type.is !== "object") return Object.keys(json).filter((key) => json[key] !== undefined);
    return [...type.fields].flatMap(([key, { name }]) => (Object.hasOwn(json, name) ? [key] : []));
  }
}
