import { describe, expect, it } from "vitest";
import { type CriField, criMessages, criMethod, criMethods } from "./cri.ts";

describe("types of the container runtime interface", () => {
  it("are what the tables say: cri-messages.ts is written by `vitest run wire/cri-messages -u`", async () => {
    await expect(typesOf()).toMatchFileSnapshot("cri-messages.ts");
  });
});

describe("the tables", () => {
  it("name a method once over all services, and no message or enum that is missing", () => {
    expect(new Set(criMethods.map((row) => row.method)).size).toBe(criMethods.length);
    for (const row of criMethods) {
      expect(criMethod(row.method)).toBe(row);
      expect(criMessages.has(row.request), row.request).toBe(true);
      expect(criMessages.has(row.response), row.response).toBe(true);
    }
    for (const [name, fields] of criMessages) {
      expect(new Set(fields.map((field) => field.number)).size, name).toBe(fields.length);
      for (const { shape } of fields) {
        if (shape.is === "message") expect(criMessages.has(shape.name), shape.name).toBe(true);
        if (shape.is === "enum") expect(shape.values?.length, shape.name).toBeGreaterThan(0);
      }
    }
  });
});

function typesOf(): string {
  const asked = reachable(criMethods.map((row) => row.request));
  const used = reachable(criMethods.flatMap((row) => [row.request, row.response]));
  const enums = new Map<string, readonly string[]>();
  const interfaces: string[] = [];
  for (const [name, fields] of criMessages) {
    if (!used.has(name)) continue;
    for (const { shape } of fields) if (shape.is === "enum") enums.set(shape.name, shape.values);
    const lines = fields.map((field) => `  readonly ${field.name}${mark(field, asked.has(name))}: ${typeOf(field)};`);
    interfaces.push(
      lines.length === 0
        ? `export type ${name} = Readonly<Record<string, never>>;`
        : `export interface ${name} {\n${lines.join("\n")}\n}`,
    );
  }
  const methods = (streams: boolean): string =>
    criMethods
      .filter((row) => row.streams === streams)
      .map((row) => `  readonly ${row.method}: Call<${row.request}, ${row.response}>;`)
      .join("\n");
  return [
    `/**
 * The messages of the container runtime interface and of the machine's, written out of the tables by the test beside.
 *
 * What can be sent (messages that a request holds) has only optional fields: absent is the zero value of its type.
 * What is only answered always has its plain fields, lists and maps, and messages where they were set. Integers of 64
 * bits are numbers: above 2^53, where nanoseconds since 1970 are, they are rounded, by less than a microsecond.
 * Variables are no list where containers share most of them, but layered.
 */`,
    `interface Call<Request, Response> {
  readonly request: Request;
  readonly response: Response;
}`,
    `export interface CriMethods {\n${methods(false)}\n}`,
    `/** Methods that answer a request with a stream. */\nexport interface CriStreams {\n${methods(true)}\n}`,
    ...[...enums].map(([name, values]) => enumType(name, values)),
    ...interfaces,
  ]
    .join("\n\n")
    .concat("\n");
}

function enumType(name: string, values: readonly string[]): string {
  const line = `export type ${name} = ${values.map((value) => `"${value}"`).join(" | ")};`;
  return line.length <= 120 ? line : `export type ${name} =\n${values.map((value) => `  | "${value}"`).join("\n")};`;
}

/** `?` where the field may be absent. */
function mark(field: CriField, isAsked: boolean): string {
  const nested = field.many === "no" && field.shape.is === "message";
  return isAsked || nested ? "?" : "";
}

function typeOf({ name, shape, many }: CriField): string {
  const one = shape.is === "scalar" ? scalars[shape.type] : shape.name;
  if (many === "list") return name === "envs" ? `Iterable<${one}>` : `readonly ${one}[]`;
  return many === "map" ? `Readonly<Record<string, ${one}>>` : one;
}

const scalars = {
  string: "string",
  bytes: "Uint8Array",
  bool: "boolean",
  int32: "number",
  int64: "number",
  uint32: "number",
  uint64: "number",
  double: "number",
} as const;

function reachable(names: readonly string[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const todo = [...names];
  for (let name = todo.pop(); name !== undefined; name = todo.pop()) {
    if (seen.has(name)) continue;
    seen.add(name);
    for (const { shape } of criMessages.get(name) ?? []) if (shape.is === "message") todo.push(shape.name);
  }
  return seen;
}
