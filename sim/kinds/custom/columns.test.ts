import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { customPrinter, rowCharactersMax, rowStepsMax } from "./columns.ts";

const nowSeconds = 1_000_000_000;

function cell(type: string, jsonPath: string, spec: JsonObject): unknown {
  const column = { name: "X", type, format: "", description: "", priority: 0, jsonPath };
  return customPrinter([column]).row({ metadata: { name: "a" }, spec } as JsonObject, nowSeconds).cells[1];
}

describe("columns of a definition", () => {
  it("show a date as an age, and say so when it is none", () => {
    expect(cell("date", ".spec.at", { at: "2001-09-09T01:46:00Z" })).toBe("40s");
    expect(cell("date", ".spec.at", { at: "yesterday" })).toBe("<invalid>");
    expect(cell("date", ".spec.at", { at: "" })).toBe("<unknown>");
    expect(cell("date", ".spec.at", { at: 7 })).toBeNull();
    expect(cell("date", ".spec.at", {})).toBeNull();
  });

  it("show the first of several values, and a list as a whole", () => {
    const spec = { list: ["p", "q"], size: 1.5 };
    expect(cell("string", ".spec.list[*]", spec)).toBe("p");
    expect(cell("string", ".spec.list", spec)).toBe('["p","q"]');
    expect(cell("integer", ".spec.size", spec)).toBe(1);
  });
});

/** Cells of columns of one type, but for the name. */
function cells(type: string, paths: readonly string[], spec: Json): readonly unknown[] {
  const columns = paths.map((jsonPath, at) => ({
    name: `c${at}`,
    type,
    format: "",
    description: "",
    priority: 0,
    jsonPath,
  }));
  return customPrinter(columns)
    .row({ metadata: { name: "a" }, spec } as JsonObject, nowSeconds)
    .cells.slice(1);
}

const many = (count: number, path: (at: number) => string): readonly string[] =>
  Array.from({ length: count }, (_, at) => path(at));

/** A list of which it is counted how often it is asked for something: twice for each item that is looked at. */
function counted(list: readonly Json[]): { readonly list: Json; readonly asked: () => number } {
  let count = 0;
  const get = (target: object, key: string | symbol): unknown => {
    count++;
    return Reflect.get(target, key) as unknown;
  };
  return { list: new Proxy(list, { get }) as unknown as Json, asked: () => count };
}

describe("columns that ask for very much", () => {
  it.each([
    ["a text", { s: "x".repeat(100_000) }, () => ".spec.s", 2],
    ["an object", { s: { a: ["x".repeat(100_000)] } }, () => ".spec.s", 2],
    ["parts of an object", Array.from({ length: 9 }, () => "x".repeat(60_000)), (at: number) => `.spec[${at}]`, 4],
  ])("show no more texts than fit into a row: %s", (_, spec, path, shownCount) => {
    const shown = cells("string", many(9, path), spec) as readonly string[];
    expect(shown.filter((text) => text !== "<too long>")).toHaveLength(shownCount);
    expect(shown.join("").length).toBeLessThan(rowCharactersMax + 9 * 20);
  });

  it("show what fits behind what does not", () => {
    const spec = { long: { text: "x".repeat(rowCharactersMax) }, short: "y" };
    expect(cells("string", [".spec.long", ".spec.short"], spec)).toEqual(["<too long>", "y"]);
    expect(cells("string", [".spec.long.text", ".spec.short"], spec)).toEqual([
      "x".repeat(rowCharactersMax),
      "<too long>",
    ]);
  });

  it("look for the first value, and once where they ask for the same", () => {
    const { list, asked } = counted(Array.from({ length: 20_000 }, () => 1));
    expect(
      new Set(
        cells(
          "string",
          many(100, () => ".spec.n[*]"),
          { n: list },
        ),
      ),
    ).toEqual(new Set(["1"]));
    expect(asked()).toBeLessThan(100);
    expect(
      new Set(
        cells(
          "integer",
          many(100, () => ".spec.n[?(@.a)]"),
          { n: list },
        ),
      ),
    ).toEqual(new Set([null]));
    expect(asked()).toBeLessThan(41_000);
  });

  it("look at no more values than they may", () => {
    const { list, asked } = counted(Array.from({ length: 20_000 }, () => ({ a: 1 })));
    const paths = many(100, (at) => `.spec.n[?(@.a==${at + 2})].a`);
    const shown = cells("string", [".spec.m", ...paths, ".spec.m"], { n: list, m: "m" });
    expect([shown[0], shown[1], shown[100], shown[101]]).toEqual(["m", null, "<too long>", "m"]);
    expect(cells("integer", paths, { n: list })[99]).toBeNull();
    expect(asked()).toBeLessThan(2 * rowStepsMax + 10_000);
  });

  it("do not make the text of each part of what is nested", () => {
    let spec: Json = "x".repeat(200_000);
    for (let depth = 0; depth < 500; depth++) spec = { a: spec };
    const paths = many(400, (at) => `.spec${".a".repeat(at)}`);
    const shown = cells("string", paths, spec) as readonly string[];
    expect(shown.filter((text) => text !== "<too long>")).toHaveLength(1);
  });
});
