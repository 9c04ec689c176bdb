/**
 * Scalars with a grammar of their own: times, quantities, integers or strings, bytes. Each is checked and put into the
 * form in which the server writes it back.
 * Source: the facts, section 5 (times) and section 1 (error texts); recorded answers.
 */
import { base64Error, decodeBase64, encodeBase64 } from "../../wire/base64.ts";
import { formatQuantity, parseQuantity } from "../../wire/quantity.ts";
import { formatMicroTime, formatTime, parseMicroTime, parseTime } from "../../wire/time.ts";
import type { Json } from "../contract/http-message.ts";

/**
 * `expected` names the Go type when the JSON type is wrong; `error` is a text of the type's own. Either ends the reading,
 * but for bytes, which have no reader of their own.
 */
export type ScalarResult =
  | { readonly ok: true; readonly value: Json | undefined }
  | { readonly ok: false; readonly expected: string; readonly error?: undefined; readonly goesOn?: true }
  | { readonly ok: false; readonly expected?: undefined; readonly error: string; readonly goesOn?: true };

export type NamedScalar = (value: unknown) => ScalarResult;

const good = (value: Json | undefined): ScalarResult => ({ ok: true, value });
const wrongType = (expected: string) => ({ ok: false, expected }) as const;
const bad = (error: string) => ({ ok: false, error }) as const;

/** By type name of the tables; `byte` stands for the string format of that name. */
export const namedScalars: Readonly<Record<string, NamedScalar>> = {
  "~apimachinery.pkg.apis.meta.v1.Time": time,
  "~apimachinery.pkg.apis.meta.v1.MicroTime": microTime,
  "~apimachinery.pkg.api.resource.Quantity": quantity,
  "~apimachinery.pkg.util.intstr.IntOrString": intOrString,
  byte: base64,
};

/** What the server writes, and most clients send: whole seconds in UTC. */
const canonicalForm =
  /^(?!0001-01-01)\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{6})?Z$/;
const canonicalLength = 20;
const canonicalMicroLength = 27;
const zeroSeconds = -62_135_596_800; // 0001-01-01, which stands for no time

/** Any offset and fraction come in, whole seconds in UTC go out. */
function time(value: unknown): ScalarResult {
  if (typeof value !== "string") return wrongType("string");
  if (value.length === canonicalLength && canonicalForm.test(value)) return good(value);
  const instant = parseTime(value);
  if ("error" in instant) return bad(instant.error);
  return good(instant.seconds === zeroSeconds ? undefined : formatTime(instant.seconds));
}

/** Exactly six digits of fraction, in and out. */
function microTime(value: unknown): ScalarResult {
  if (typeof value !== "string") return wrongType("string");
  if (value.length === canonicalMicroLength && canonicalForm.test(value)) return good(value);
  const instant = parseMicroTime(value);
  if ("error" in instant) return bad(instant.error);
  return good(instant.seconds === zeroSeconds && instant.micros === 0 ? undefined : formatMicroTime(instant));
}

const quantities = new Map<string, ScalarResult>();
const quantitiesMax = 4096;

/** A symbol is a number, spelled. In the server's canonical form: `1000m` comes back as `1`. The same few come again and again, so they are kept. */
function quantity(value: unknown): ScalarResult {
  const text = quantityText(value);
  let result = quantities.get(text);
  if (result === undefined) {
    const read = parseQuantity(text.trim());
    result = "error" in read ? bad(read.error) : good(formatQuantity(read));
    if (quantities.size >= quantitiesMax) quantities.clear();
    quantities.set(text, result);
  }
  return result;
}

/** What stands in the place of a quantity is read as text, whatever it is: `true` and lists are wrong texts. */
function quantityText(value: unknown): string {
  if (typeof value === "symbol") return value.description as string;
  return typeof value === "object" && value !== null ? "[]" : String(value);
}

function intOrString(value: unknown): ScalarResult {
  if (typeof value === "string") return good(value);
  if (typeof value === "number" && (value | 0) === value) return good(value);
  return wrongType("int32");
}

const wholeGroups = /^(?:[A-Za-z0-9+/]{4})*$/;

/** Bytes come back as the server writes them: without line breaks, unused bits zero. Only the last group can differ. */
function base64(value: unknown): ScalarResult {
  if (typeof value !== "string") return { ...wrongType("[]uint8"), goesOn: true };
  if (wholeGroups.test(value)) return good(value);
  const bytes = decodeBase64(value);
  if (typeof bytes === "number") return { ...bad(base64Error(bytes)), goesOn: true };
  const text = value.replace(/[\r\n]/g, "");
  const tail = decodeBase64(text.slice(-4));
  return good(typeof tail === "number" ? encodeBase64(bytes) : text.slice(0, -4) + encodeBase64(tail));
}
