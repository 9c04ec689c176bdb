import { describe, expect, it } from "vitest";
import { LineCounter, parseDocument } from "yaml";
import { parseYaml, yamlDocument, yamlDocuments, yamlValue, YamlTextError } from "./yaml-text.ts";

const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

describe("YAML of files", () => {
  it("says what it says", () => {
    expect(parseYaml("a: [1, {b: true}]\n")).toEqual({ a: [1, { b: true }] });
    expect(yamlDocuments("a: 1\n---\nb: 2\n").map((document) => yamlValue(document))).toEqual([{ a: 1 }, { b: 2 }]);
    expect(parseYaml(nested(150))).toBeDefined();
  });

  it.each([
    ["a flow of lists", nested(100_000)],
    ["lists that the reader can take", nested(900)],
    ["lists that are never closed", "[".repeat(100_000)],
    ["maps", `${"{a: ".repeat(50_000)}1${"}".repeat(50_000)}`],
    ["lists in blocks", `${"- ".repeat(20_000)}a`],
    ["maps in blocks", Array.from({ length: 2_000 }, (_, at) => `${" ".repeat(at)}a:`).join("\n")],
    ["aliases of lists in lists", `a0: &a0 ${nested(150)}\na1: &a1 ${"[".repeat(150)}*a0${"]".repeat(150)}\n`],
  ])("refuses %s that nobody could walk over", (_, text) => {
    expect(() => parseYaml(text)).toThrow(/^lists and maps stand in one another more than 200 deep$/);
  });

  it("tells what is wrong in one line, with its place", () => {
    expect(() => parseYaml("a: [1\nb: 2\n")).toThrow(/^[^\n]+ at line \d+, column \d+$/);
    expect(yamlDocument("a: [").errors.length).toBeGreaterThan(0);
  });

  it.each([
    "a: 1\nb: 2\na: 3\n",
    "a: {b: 1, c: [{d: 1, d: 2}], b: 3}\n1: x\n'1': y\n1: z\n",
    "? [a]\n: 1\n? [a]\n: 2\n",
    "a: 1\n<<: 2\n<<: 3\nnull: 1\n~: 2\n",
    "a: 1\na: [\n",
    "b: &x 1\n*x : 2\n*x : 3\n",
  ])("finds the double keys that the library finds: %j", (text) => {
    const told = (document: { errors: readonly { code: string; pos: readonly number[]; message: string }[] }) =>
      document.errors.map(({ code, pos, message }) => [code, pos[0], message.split("\n", 1)[0]?.replace(/:$/, "")]);
    expect(told(yamlDocument(text))).toEqual(told(parseDocument(text)));
  });

  it("compares no key with all before it", () => {
    let pairs = 0;
    const uniqueKeys = (): boolean => {
      pairs++;
      return false;
    };
    const text = Array.from({ length: 1_000 }, (_, at) => `k${at}: 1\n`).join("");
    expect(yamlDocument(`${text}k7: 2\n`, { uniqueKeys }).errors).toMatchObject([{ code: "DUPLICATE_KEY" }]);
    expect(pairs).toBe(0);
  });

  // The reader of YAML alone takes minutes for each.
  it.each([
    ["closing brackets", "]".repeat(150_000), "Unexpected flow-seq-end token in YAML document at line 1"],
    ["tags", "!a ".repeat(100_000), "A node can have at most one tag"],
    ["objects", "{}\n".repeat(60_000), "at line 2"],
  ])("gives up what is no YAML: many %s", (_what, text, why) => {
    expect(() => parseYaml(text)).toThrow(/^this is no YAML: it has more than 100 mistakes, the first: /);
    expect(() => yamlDocuments(text)).toThrow(why);
  });

  it.each([
    ["lists", "[".repeat(1_000_000)],
    ["tags", "!a ".repeat(1_000_000)],
    ["lines", Array.from({ length: 300_000 }, (_, at) => `k${at}: 1`).join("\n")],
    ["items", `{"a":[${"{},".repeat(1_000_000)}{}]}`],
  ])("does not begin with more than anybody writes: a million of %s", (_what, text) => {
    expect(() => yamlDocument(text)).toThrow(/^it has more than 200000 lines, commas and brackets/);
  });

  it("takes longer texts of programs, but not what is all marks", () => {
    const object = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"v"}}\n---\n';
    expect(yamlDocuments(object.repeat(2_000)).length).toBe(2_001);
    expect(() => yamlDocuments("[],".repeat(500_000))).toThrow(/^it has more than 300000 lines/);
  });

  it("tells the place of a mistake in a long text", () => {
    const lineCounter = new LineCounter();
    const text = `${"# a line\n".repeat(3_000)}b: [1\n`;
    const [mistake] = yamlDocument(text, { lineCounter }).errors;
    expect(lineCounter.linePos(mistake?.pos[0] ?? 0).line).toBe(3_002);
    expect(mistake?.message).toContain("line 3002");
  });

  it("unfolds no aliases without end", () => {
    const rows = Array.from({ length: 12 }, (_, at) =>
      at === 0 ? "a0: &a0 [x]" : `a${at}: &a${at} [${Array.from({ length: 10 }, () => `*a${at - 1}`).join(", ")}]`,
    );
    expect(() => parseYaml(rows.join("\n"))).toThrow(YamlTextError);
  });
});
