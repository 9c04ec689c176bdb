import { describe, expect, it } from "vitest";
import playPart from "./capacity-part.ts";

const text =
  "apiVersion: capacity/v1\nname: x\nquestion: How much?\nsettle: 2s\nuntil: 60s\ncluster: { nodes: 0 }\nworkload: [{ do: churn, what: configmaps }]\n";
const part = { text, fileName: "x", arm: "base", changes: [], repetition: 1, logs: [], wantsMetrics: false } as const;

describe("a part of an experiment", () => {
  it("has a scrape of the server's metrics where one is wanted", () => {
    const { run, metrics } = playPart({ ...part, wantsMetrics: true, metricsAtMicros: 20_000_000 });
    expect(run?.virtualMicros).toBe(60_000_000);
    const [, created] =
      /apiserver_request_total\{[^}]*resource="configmaps"[^}]*verb="POST"[^}]*\} (\d+)/.exec(metrics ?? "") ?? [];
    expect(Number(created)).toBe(400);
  });

  it("has nothing to tell when it is asked to stop before its measured time began", () => {
    const numbers = new Int32Array(2);
    numbers[0] = 1;
    expect(playPart({ ...part, shared: { numbers, slot: 1 } })).toEqual({ unmeasured: { arm: "base", repetition: 1 } });
  });

  it("says how far it is", () => {
    const numbers = new Int32Array(2);
    playPart({ ...part, shared: { numbers, slot: 1 } });
    expect(numbers[1]).toBeGreaterThan(900);
  });

  it("tells of an experiment that cannot be played, and breaks nothing", () => {
    const changes = [["workload", [{ do: "burst", name: "a", replicas: 1, uses: "much" }]]] as const;
    expect(playPart({ ...part, changes }).mistake).toContain('"much"');
  });
});
