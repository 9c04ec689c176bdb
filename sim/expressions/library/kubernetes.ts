/**
 * Types that the API server adds to the language: quantities, URLs, addresses, versions, and named formats.
 * Source: the published extensions of the API server.
 */
import {
  addQuantities,
  compareQuantities,
  negateQuantity,
  parseQuantity,
  type Quantity,
  quantityAt,
} from "../../../wire/quantity.ts";
import {
  dns1035LabelErrors,
  dns1123LabelErrors,
  dns1123SubdomainErrors,
  labelValueErrors,
  type NameErrors,
  qualifiedNameErrors,
} from "../../../wire/names.ts";
import { isOfFormat } from "./formats.ts";
import { isInt } from "../syntax.ts";
import { EvaluationError, fail } from "../failures.ts";
import { toil } from "../labour.ts";
import { EntryMap, type NamedFormat, none, Opaque, type OpaqueContent, Optional, type Value } from "../values.ts";
import { type FunctionRow, row, traversal } from "./function-row.ts";
import {
  type Cidr,
  containsCidr,
  containsIp,
  formatCidr,
  formatIp,
  type IpAddress,
  kindsOfIp,
  masked,
  parseCidr,
  parseIp,
} from "./ip-address.ts";
import { compareVersions, parseVersion, type Version } from "./version.ts";

const reading = { cost: traversal, size: (size: number) => size };

/** A function of an opaque value's content. */
const of =
  <Content extends OpaqueContent>(work: (content: Content, ...more: never[]) => Value) =>
  (value: Opaque, ...more: never[]): Value =>
    work(value.content as Content, ...more);

/** Whether reading a text succeeds. */
function reads(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (error instanceof EvaluationError) return false;
    throw error;
  }
}

/** Of a number: what has more takes the engine more than a moment, and costs what it takes. */
const digitsFree = 64;

function toilOver(digits: number): void {
  if (digits > digitsFree) toil(Math.ceil(digits / 10 + (digits * digits) / 10_000));
}

const isShort = (digits: bigint): boolean => BigInt.asIntN(64, digits) === digits;

/** About as many digits as an amount has, written out at a scale. */
const lengthAt = ({ digits, scale }: Quantity, other: number): number =>
  Math.abs(scale - other) + (isShort(digits) ? 0 : digits.toString(16).length);

/** Before the two are compared or summed up. */
function toilOverBoth(a: Quantity, b: Quantity): void {
  const scale = Math.min(a.scale, b.scale);
  toilOver(lengthAt(a, scale) + lengthAt(b, scale));
}

function compared(a: Quantity, b: Quantity): number {
  toilOverBoth(a, b);
  return compareQuantities(a, b);
}

function whole(value: Quantity): bigint {
  toilOver(lengthAt(value, 0));
  return quantityAt(value, 0);
}

const readQuantity = (text: string): Quantity => {
  toilOver(Math.min(text.length, quantityDigitsMax) + Math.min(Math.abs(Number(exponentOf(text))), quantityDigitsMax));
  const read = parseQuantity(text);
  return "error" in read ? fail(read.error) : read;
};
const exponentOf = (text: string): string => /[eE]([+-]?\d{1,9})$/.exec(text.slice(-12))?.[1] ?? "0";
/** More are refused before they are looked at. */
const quantityDigitsMax = 10_000;

const quantity = (value: Quantity): Opaque => new Opaque("kubernetes.Quantity", value);
const ofInt = (value: bigint): Quantity => ({ digits: value, scale: 0, form: "decimalSI", text: undefined });
const content = (value: Opaque): Quantity => value.content as Quantity;

const isWhole = (value: Quantity): boolean => value.scale >= 0 || compared(ofInt(whole(value)), value) === 0;

const quantities: readonly FunctionRow[] = [
  row("quantity(string): kubernetes.Quantity", (text: string) => quantity(readQuantity(text)), reading),
  row("isQuantity(string): bool", (text: string) => reads(() => readQuantity(text)), reading),
  row(
    "kubernetes.Quantity.sign(): int",
    of((value: Quantity) => (value.digits > 0n ? 1n : value.digits < 0n ? -1n : 0n)),
  ),
  row(
    "kubernetes.Quantity.isInteger(): bool",
    of((value: Quantity) => isWhole(value) && isInt(whole(value))),
  ),
  row(
    "kubernetes.Quantity.asInteger(): int",
    of((value: Quantity) => {
      const found = whole(value);
      return isWhole(value) && isInt(found) ? found : fail("cannot convert value to integer");
    }),
  ),
  row(
    "kubernetes.Quantity.asApproximateFloat(): double",
    of((value: Quantity) => {
      toilOver(lengthAt(value, value.scale));
      return Number(`${value.digits}e${value.scale}`);
    }),
  ),
  ...(["add", "sub"] as const).flatMap((name) => {
    const sum = (a: Quantity, b: Quantity): Opaque => {
      toilOverBoth(a, b);
      return quantity(addQuantities(a, name === "add" ? b : negateQuantity(b)));
    };
    return [
      row(`kubernetes.Quantity.${name}(kubernetes.Quantity): kubernetes.Quantity`, (a: Opaque, b: Opaque) =>
        sum(content(a), content(b)),
      ),
      row(`kubernetes.Quantity.${name}(int): kubernetes.Quantity`, (a: Opaque, b: bigint) => sum(content(a), ofInt(b))),
    ];
  }),
  ...orderRows("kubernetes.Quantity", (a, b) => compared(a as Quantity, b as Quantity)),
];

/** The three ways to compare that quantities and versions have. */
function orderRows(type: string, compare: (a: OpaqueContent, b: OpaqueContent) => number): readonly FunctionRow[] {
  const ways: readonly (readonly [string, string, (order: number) => Value])[] = [
    ["isLessThan", "bool", (found) => found < 0],
    ["isGreaterThan", "bool", (found) => found > 0],
    ["compareTo", "int", (found) => BigInt(Math.sign(found))],
  ];
  return ways.map(([name, result, judge]) =>
    row(`${type}.${name}(${type}): ${result}`, (a: Opaque, b: Opaque) => judge(compare(a.content, b.content))),
  );
}

/** Absolute addresses and absolute paths, as the server takes them. */
function readUrl(text: string): URL {
  const isPath = text.startsWith("/");
  const url = isPath || /^[A-Za-z][A-Za-z0-9+.-]*:/.test(text) ? URL.parse(text, isPath ? "path://" : undefined) : null;
  if (url === null || /[\s\u0000-\u001f\u007f]/.test(text)) {
    return fail(
      `URL parse error during conversion from string: parse ${JSON.stringify(text)}: invalid URI for request`,
    );
  }
  return url;
}

const schemeOf = ({ protocol }: URL): string => (protocol === "path:" ? "" : protocol.slice(0, -1));

const urls: readonly FunctionRow[] = [
  row("url(string): kubernetes.URL", (text: string) => new Opaque("kubernetes.URL", readUrl(text)), reading),
  row("isURL(string): bool", (text: string) => reads(() => readUrl(text)), reading),
  row(
    "kubernetes.URL.getScheme(): string",
    of((url: URL) => schemeOf(url)),
    reading,
  ),
  row(
    "kubernetes.URL.getHost(): string",
    of((url: URL) => hostOf(url)),
    reading,
  ),
  row(
    "kubernetes.URL.getHostname(): string",
    of((url: URL) => url.hostname.replace(/^\[|\]$/g, "")),
    reading,
  ),
  row(
    "kubernetes.URL.getPort(): string",
    of((url: URL) => /:(\d+)$/.exec(hostOf(url))?.[1] ?? ""),
    reading,
  ),
  row(
    "kubernetes.URL.getEscapedPath(): string",
    of((url: URL) => (url.pathname === "/" && !/[^/:]\/$/.test(url.href) ? "" : url.pathname)),
    reading,
  ),
  row(
    "kubernetes.URL.getQuery(): map<string, list<string>>",
    of((url: URL) => {
      const query = new EntryMap();
      for (const name of new Set(url.searchParams.keys())) query.add(name, url.searchParams.getAll(name));
      return query;
    }),
    reading,
  ),
];

/** With the port as it is written, the scheme's own included. */
function hostOf(url: URL): string {
  return url.protocol === "path:" ? "" : url.host;
}

const ip = (value: IpAddress): Opaque => new Opaque("net.IP", value);
const cidr = (value: Cidr): Opaque => new Opaque("net.CIDR", value);

const addresses: readonly FunctionRow[] = [
  row("ip(string): net.IP", (text: string) => ip(parseIp(text)), reading),
  row("isIP(string): bool", (text: string) => reads(() => parseIp(text)), reading),
  row("ip.isCanonical(string): bool", (text: string) => formatIp(parseIp(text)) === text, reading),
  row(
    "string(net.IP): string",
    of((value: IpAddress) => formatIp(value)),
  ),
  row(
    "net.IP.family(): int",
    of(({ family }: IpAddress) => BigInt(family)),
  ),
  ...Object.entries(kindsOfIp).map(([name, test]) =>
    row(
      `net.IP.${name}(): bool`,
      of((value: IpAddress) => test(value)),
    ),
  ),
  row("cidr(string): net.CIDR", (text: string) => cidr(parseCidr(text)), reading),
  row("isCIDR(string): bool", (text: string) => reads(() => parseCidr(text)), reading),
  row(
    "string(net.CIDR): string",
    of((value: Cidr) => formatCidr(value)),
  ),
  row(
    "net.CIDR.ip(): net.IP",
    of((value: Cidr) => ip(value.ip)),
  ),
  row(
    "net.CIDR.masked(): net.CIDR",
    of((value: Cidr) => cidr(masked(value))),
  ),
  row(
    "net.CIDR.prefixLength(): int",
    of((value: Cidr) => BigInt(value.prefixLength)),
  ),
  row("net.CIDR.containsIP(net.IP): bool", (block: Opaque, address: Opaque) =>
    containsIp(block.content as Cidr, address.content as IpAddress),
  ),
  row(
    "net.CIDR.containsIP(string): bool",
    (block: Opaque, text: string) => containsIp(block.content as Cidr, parseIp(text)),
    reading,
  ),
  row("net.CIDR.containsCIDR(net.CIDR): bool", (block: Opaque, inner: Opaque) =>
    containsCidr(block.content as Cidr, inner.content as Cidr),
  ),
  row(
    "net.CIDR.containsCIDR(string): bool",
    (block: Opaque, text: string) => containsCidr(block.content as Cidr, parseCidr(text)),
    reading,
  ),
];

const version = (value: Version): Opaque => new Opaque("kubernetes.Semver", value);

const versions: readonly FunctionRow[] = [
  row("semver(string): kubernetes.Semver", (text: string) => version(parseVersion(text)), reading),
  row(
    "semver(string, bool): kubernetes.Semver",
    (text: string, isLoose: boolean) => version(parseVersion(text, isLoose)),
    reading,
  ),
  row("isSemver(string): bool", (text: string) => reads(() => parseVersion(text)), reading),
  row(
    "isSemver(string, bool): bool",
    (text: string, isLoose: boolean) => reads(() => parseVersion(text, isLoose)),
    reading,
  ),
  ...(["major", "minor", "patch"] as const).map((part) =>
    row(
      `kubernetes.Semver.${part}(): int`,
      of((value: Version) => value[part]),
    ),
  ),
  ...orderRows("kubernetes.Semver", (a, b) => compareVersions(a as Version, b as Version)),
];

const ofSchema =
  (format: string) =>
  (text: string): NameErrors =>
    isOfFormat(text, format) ? [] : [`invalid ${format}`];
/** A name to which more is appended: it may end in a dash. */
const prefix =
  (errors: (text: string) => NameErrors) =>
  (text: string): NameErrors =>
    errors(text.replace(/-$/, "a"));

const namedFormats: Readonly<Record<string, (text: string) => NameErrors>> = {
  dns1123Label: dns1123LabelErrors,
  dns1123Subdomain: dns1123SubdomainErrors,
  dns1035Label: dns1035LabelErrors,
  qualifiedName: qualifiedNameErrors,
  dns1123LabelPrefix: prefix(dns1123LabelErrors),
  dns1123SubdomainPrefix: prefix(dns1123SubdomainErrors),
  dns1035LabelPrefix: prefix(dns1035LabelErrors),
  labelValue: labelValueErrors,
  uri: (text) => (reads(() => readUrl(text)) ? [] : ["invalid URI"]),
  uuid: ofSchema("uuid"),
  byte: ofSchema("byte"),
  date: ofSchema("date"),
  datetime: ofSchema("datetime"),
};

const format = (name: string): Opaque => new Opaque("kubernetes.NamedFormat", { is: "format", name });

const formats: readonly FunctionRow[] = [
  row("format.named(string): optional<kubernetes.NamedFormat>", (name: string) =>
    Object.hasOwn(namedFormats, name) ? new Optional(format(name)) : none,
  ),
  ...Object.keys(namedFormats).map((name) => row(`format.${name}(): kubernetes.NamedFormat`, () => format(name))),
  row(
    "kubernetes.NamedFormat.validate(string): optional<list<string>>",
    (value: Opaque, text: string) => {
      const errors = namedFormats[(value.content as NamedFormat).name]?.(text) ?? [];
      return errors.length === 0 ? none : new Optional(errors);
    },
    { cost: (_format, text = 1) => traversal(text) },
  ),
];

export const kubernetes: readonly FunctionRow[] = [...quantities, ...urls, ...addresses, ...versions, ...formats];
