import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseScenario } from "../../scenarios/load.ts";
import { playScenario } from "./play.ts";

const text = readFileSync(new URL("../../scenarios/one-broken-link.yaml", import.meta.url), "utf8");
const scenario = parseScenario(text, "one-broken-link.yaml");
const changed = (from: string, to: string) => {
  expect(text).toContain(from);
  return parseScenario(text.replace(from, to), "changed.yaml");
};
const statuses = ({ report }: ReturnType<typeof playScenario>): string[] =>
  report.expectations.map(({ requirement, verdict }) => `${requirement} ${verdict.status}`);

describe("the scenario of one broken link", () => {
  it("keeps its promises", () => {
    expect(statuses(playScenario(scenario))).toEqual([
      "watch.expired-is-gone passed",
      "informer.converges passed",
      "watch.ordered passed",
      "watch.reliable passed",
    ]);
  });

  it("has one history for one seed, whatever is kept of the trace, and another for another", () => {
    const hash = (seed: number, keep: "all" | "tail"): string =>
      playScenario(scenario, { seed, trace: { keep } }).report.traceHash;
    expect(hash(42, "all")).toBe(hash(42, "tail"));
    expect(hash(43, "tail")).not.toBe(hash(42, "tail"));
  });

  it("can be played without the controllers that live in the server, and is then another history", () => {
    const alone = changed("cluster: { historyWindow: 5m }", "cluster: { historyWindow: 5m, controllers: false }");
    expect(statuses(playScenario(alone))).toEqual(statuses(playScenario(scenario)));
    expect(playScenario(alone).report.traceHash).not.toBe(playScenario(scenario).report.traceHash);
  });

  it("keeps its promises for other seeds too", () => {
    for (let seed = 1; seed <= 20; seed++) {
      const played = playScenario(scenario, { seed });
      expect(
        played.report.expectations.filter(({ verdict }) => verdict.status === "failed"),
        `seed ${seed}`,
      ).toEqual([]);
    }
  });

  it("fails when the link never heals", () => {
    const played = playScenario(
      changed("- { at: 10s, heal: [informer-1, apiserver] }", "- { at: 10s, partition: [informer-1, apiserver] }"),
    );
    expect(statuses(played)).toContain("informer.converges failed");
  });

  it("survives a crash of the server and of an informer: the store and the API bring them back", () => {
    const played = playScenario(
      changed("- { at: 8s, compact: apiserver }", "- { at: 8s, crash: apiserver }\n  - { at: 12s, crash: informer-1 }"),
    );
    expect(statuses(played)).toContain("informer.converges passed");
    expect(played.report.clients["informer-1"]?.["objects"]).toBeGreaterThan(0);
  });
});
