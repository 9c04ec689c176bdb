/**
 * String formats that a schema may ask for. A format that nobody knows is no rule at all.
 * Source: the formats that the published server validates.
 */
import { decodeBase64 } from "../../../wire/base64.ts";
import { parseGoDuration } from "../../../wire/durations.ts";
import { parseTime } from "../../../wire/time.ts";

export function isOfFormat(text: string, format: string): boolean {
  const test = Object.hasOwn(tests, format) ? tests[format] : undefined;
  return test === undefined || test(text);
}

const uuid = (version: string, variant = "[0-9a-f]") =>
  new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${version}[0-9a-f]{3}-?${variant}[0-9a-f]{3}-?[0-9a-f]{12}$`, "i");
const matches =
  (pattern: RegExp) =>
  (text: string): boolean =>
    pattern.test(text);

const ipv4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;

/** At most eight groups of hex digits, once shortened by `::`, the last two perhaps as an IPv4 address. */
function isIpv6(text: string): boolean {
  const lastColon = text.lastIndexOf(":");
  if (lastColon < 0) return false;
  const tail = text.slice(lastColon + 1);
  const whole = tail.includes(".") ? (ipv4.test(tail) ? `${text.slice(0, lastColon + 1)}0:0` : "") : text;
  const halves = whole.split("::");
  if (whole === "" || halves.length > 2) return false;
  const groups = halves.flatMap((half) => (half === "" ? [] : half.split(":")));
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return false;
  return halves.length === 2 ? groups.length <= 7 : groups.length === 8;
}

function isCidr(text: string): boolean {
  const [address = "", bits = "", ...more] = text.split("/");
  if (more.length > 0 || !/^(?:0|[1-9]\d{0,2})$/.test(bits)) return false;
  return ipv4.test(address) ? Number(bits) <= 32 : isIpv6(address) && Number(bits) <= 128;
}

function isUri(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\S+$/i.test(text) || /^\/\S*$/.test(text);
}

function isDate(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && "seconds" in parseTime(`${text}T00:00:00Z`);
}

const tests: Readonly<Record<string, (text: string) => boolean>> = {
  bsonobjectid: matches(/^[0-9a-f]{24}$/i),
  byte: (text) => typeof decodeBase64(text) !== "number",
  cidr: isCidr,
  date: isDate,
  "date-time": (text) => "seconds" in parseTime(text),
  datetime: (text) => "seconds" in parseTime(text),
  duration: (text) => parseGoDuration(text) !== undefined,
  email: matches(/^[^\s@<>]+@[^\s@<>]+$/),
  hexcolor: matches(/^#?(?:[0-9a-f]{3}|[0-9a-f]{6})$/i),
  hostname: matches(
    /^(?=.{1,255}$)(?:[0-9A-Za-z](?:[0-9A-Za-z-]{0,61}[0-9A-Za-z])?)(?:\.[0-9A-Za-z](?:[0-9A-Za-z-]{0,61}[0-9A-Za-z])?)*\.?$/,
  ),
  ipv4: matches(ipv4),
  ipv6: isIpv6,
  isbn10: matches(/^(?:\d[- ]?){9}[\dX]$/),
  isbn13: matches(/^97[89](?:[- ]?\d){10}$/),
  mac: matches(/^(?:[0-9a-f]{2}(?:[:-](?!$)|$)){6}$/i),
  rgbcolor: matches(/^rgb\(\s*(?:\d{1,3}\s*(?:,\s*(?!\))|(?=\)))){3}\)$/),
  ssn: matches(/^\d{3}[- ]?\d{2}[- ]?\d{4}$/),
  uri: isUri,
  uuid: matches(uuid("[0-9a-f]")),
  uuid3: matches(uuid("3")),
  uuid4: matches(uuid("4", "[89ab]")),
  uuid5: matches(uuid("5", "[89ab]")),
};
