import { expect, it } from "vitest";
import { acceptHeader, chosen, type Clause } from "./accept.ts";

const json: Clause = { text: "application/json", asks: "json" };
const yaml: Clause = { text: "application/yaml", asks: "yaml" };
const any: Clause = { text: "*/*", asks: "any" };
const unknown: Clause = { text: "text/html", asks: undefined };
const offered = ["json", "yaml"];

it("takes the best quality, then the first", () => {
  const rows: readonly (readonly [Clause[], string | undefined])[] = [
    [[json, yaml], "json"],
    [[yaml, json], "yaml"],
    [
      [
        { ...json, quality: 0.1 },
        { ...yaml, quality: 0.9 },
      ],
      "yaml",
    ],
    [[{ ...json, quality: 0.5 }, yaml], "yaml"],
    [[yaml, { ...json, quality: 0.5 }], "yaml"],
    [[{ ...yaml, quality: 1 }, json], "yaml"],
    [[unknown, yaml], "yaml"],
    [
      [
        { ...any, quality: 0.1 },
        { ...yaml, quality: 0.5 },
      ],
      "yaml",
    ],
    [[unknown, any], "json"],
    [[unknown], undefined],
    [[], undefined],
  ];
  for (const [clauses, expected] of rows) {
    expect(chosen(clauses, offered, "first")).toEqual(expected === undefined ? [] : [expected]);
  }
  expect(chosen([yaml], ["json"], "first")).toEqual([]);
  expect(chosen([yaml, json, { ...any, quality: 0.5 }], offered, "any")).toEqual(["yaml", "json"]);
});

it("writes the header", () => {
  expect(acceptHeader([{ ...json, quality: 0.5 }, yaml])).toBe("application/json;q=0.5, application/yaml");
});
