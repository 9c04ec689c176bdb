import { describe, expect, it } from "vitest";
import { summary } from "./harness.ts";
import { readBenchLines, renderBenchPage } from "./page.ts";

const machine = { cpu: "A <B>", coreCount: 2, memoryBytes: 8 * 2 ** 30, platform: "linux x64", node: "v24.0.0" };
const bench = { name: "store.puts", unit: "writes/s", target: 1000, run: () => 0 };
const lines = [machine, summary(bench, [1234.5, 2000, 3000]), summary({ ...bench, target: 9000 }, [500])]
  .map((each) => JSON.stringify(each))
  .join("\n");

describe("the page of benchmarks", () => {
  it("shows each figure beside what was promised", () => {
    const { machine: read, measurements } = readBenchLines(`\n> touchstone bench\n${lines}\n`);
    const page = renderBenchPage(read, measurements);
    expect(page).toContain("A &#60;B&#62;, 2 cores, 8 GiB");
    expect(page).toContain("<td>2,000</td><td>1,234.5</td><td>3,000</td><td>writes/s</td><td>1,000</td>");
    expect(page).toMatch(/class="met">2<.*class="broken">0\.06</s);
    expect(page).not.toMatch(/src="|href="http/);
  });

  it("is made of nothing else", () => {
    expect(() => readBenchLines("")).toThrow("expected the machine");
    expect(() => readBenchLines(`${JSON.stringify(machine)}\n{`)).toThrow("line 2: not JSON");
    expect(() => readBenchLines(`${JSON.stringify(machine)}\n[]`)).toThrow("line 2: expected an object");
    expect(() => readBenchLines(`${JSON.stringify(machine)}\n{"name":"a"}`)).toThrow("measurement 1");
  });
});
