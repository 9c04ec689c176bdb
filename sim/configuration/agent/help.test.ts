import { describe, expect, it } from "vitest";
import { agentRules } from "./agent-rules.ts";
import { flagTable } from "./flag-table.ts";
import { agentHelp, optionsReference } from "./help.ts";

describe("help", () => {
  it("has every flag, in lines that a terminal holds", () => {
    const help = agentHelp(agentRules.svc);
    for (const { name } of flagTable) expect(help).toContain(`--${name}`);
    expect(Math.max(...help.split("\n").map((line) => line.length))).toBeLessThanOrEqual(120);
    expect(agentHelp(agentRules.kubernetes)).not.toContain("--log-json-split-stream");
  });
});

describe("the reference of options", () => {
  it("is the table's; `npx vitest run sim/configuration/agent -u` writes it anew", async () => {
    await expect(optionsReference()).toMatchFileSnapshot("../../../docs/agent-options.md");
    expect(flagTable).toHaveLength(133);
    expect(new Set(flagTable.map(({ name }) => name)).size).toBe(133);
  });
});
