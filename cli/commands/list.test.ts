import { describe, expect, it } from "vitest";
import type { Catalogue } from "../../reports/schema/catalogue.ts";
import { refusalHere, runHere } from "../command-here.fixture.ts";

describe("touchstone conform --list", () => {
  it("prints requirements with their judges, and checks, and runs nothing", async () => {
    const { code, stdout } = await runHere("conform", "--list", "--only", "expiry");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\d+ requirements, \d+ checks\n\n/);
    expect(stdout).toMatch(/\n\nexpiry \(\d+\)\n {2}expiry\.continue-gone \(must\)/);
    expect(stdout).toContain("      by tokens-expire");
    expect(stdout).toContain("  tokens-expire (must)  expiry, waits by URL: level full only");
  });

  it("prints the same for programs", async () => {
    const { stdout } = await runHere(
      "conform",
      "--list",
      "--json",
      "--only",
      "agent-*",
      "--skip",
      "agent-pods,agent-n*,agent-eviction",
    );
    const { kind, requirements, checks } = JSON.parse(stdout) as Catalogue;
    expect([kind, checks.map(({ id }) => id)]).toEqual(["Catalogue", ["agents-are-set-lawfully"]]);
    expect([...new Set(requirements.map(({ id }) => id.split(".")[0]))]).toEqual([
      "agent-configuration",
      "agent-images",
      "agent-logging",
      "agent-resources",
      "agent-server",
    ]);
  });

  it.each([
    [["--list", "http://127.0.0.1:1"], "a URL"],
    [["--list", "--svcconfig", "package.json"], "--svcconfig"],
    [["--list", "--level", "quick"], "--level"],
    [["--list", "--runs", "3"], "--runs"],
    [["--list", "--fault", "list-null-items"], "--fault"],
    [["--list", "--only", "wotch"], '"wotch"'],
    [["--list", "--only", "watch", "--skip", "*"], "leave nothing to list"],
  ])("refuses %j", async (flags, what) => {
    expect(await refusalHere("conform", ...flags)).toContain(what);
  });
});
