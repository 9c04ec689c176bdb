import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../contract/http-message.ts";
import { customPrinter } from "./columns.ts";

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
