import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { amountAt } from "../../sim/runtime/usage-model.ts";
import { parseUsage } from "../../sim/runtime/usage-text.ts";
import { usageText } from "./usage-trace.ts";

const folder = mkdtempSync(join(tmpdir(), "usage-"));
afterAll(() => rmSync(folder, { recursive: true }));

const path = join(folder, "a day.csv");
const read = (content: string, more = ""): string => {
  writeFileSync(path, content);
  return usageText("--memory", `trace ${path}${more}`);
};

describe("usage from a file", () => {
  it("is a table of steps, once or again and again", () => {
    const model = parseUsage(read("# measured\n0,10Mi\n30s, 200Mi\n\n1m30s 20Mi\n"));
    expect([0, 29, 30, 89, 90, 9000].map((second) => amountAt(model, second * 1_000_000) / 2 ** 20)).toEqual([
      10, 10, 200, 200, 20, 20,
    ]);
    const again = parseUsage(read("0 10Mi\n30 200Mi\n", " every 1m"));
    expect([30, 60, 90].map((second) => amountAt(again, second * 1_000_000) / 2 ** 20)).toEqual([200, 10, 200]);
  });

  it("leaves other usage as it is", () => {
    expect(usageText("--memory", "ramp 1Mi..2Mi over 60s")).toBe("ramp 1Mi..2Mi over 60s");
  });

  it("is refused with its line", () => {
    expect(() => read("0,10Mi\nmuch\n")).toThrow(`--memory: ${path}, line 2: "much" is not a time and an amount`);
    expect(() => read("# nothing\n")).toThrow("there is no line");
    expect(() => read("0 1\n".repeat(20_001))).toThrow("more than 20000 lines");
    expect(() => usageText("--cpu", "trace /no/such")).toThrow("--cpu: /no/such cannot be read");
    expect(() => parseUsage(read("30,1Mi\n10,2Mi\n"))).toThrow("the times have to grow");
  });
});
