/**
 * What real servers, controllers and schedulers were asked for stated workloads, beside what the same workloads ask here. All that
 * does not agree is named here, with why: a new difference fails, and so does one that is no more.
 */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { besideReality } from "../../reports/capacity/reality.ts";
import type { CapacityRun } from "../../reports/schema/capacity-report.ts";
import { ExperimentFile } from "../../scenarios/capacity/load.ts";
import { playExperiment } from "./play-experiment.ts";

const folder = new URL("../../scenarios/capacity/reality/", import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith(".yaml"));

/**
 * The garbage collector follows every collection a second time, beside the other controllers: collections that the scheduler does
 * not follow have two watches here, and one in a real cluster.
 */
const secondWatch = ["watch events of deployments"];
/**
 * The driver ends all pods at once, and the real one one after another, while their owners counted them; of the two passes that
 * a namespace took there the first is enough.
 */
const endedAtOnce = [
  "controllers update replicasets/status 200",
  "controllers update deployments/status 200",
  "watch events of deployments",
  "watch events of replicasets",
];
const differences: Readonly<Record<string, readonly string[]>> = {
  // Real nodes were annotated meanwhile.
  "idle.yaml": ["watch events of leases", "watch events of nodes"],
  "namespace.yaml": endedAtOnce,
  "ready.yaml": secondWatch,
};

const play = (text: string): CapacityRun =>
  playExperiment(new ExperimentFile(text, "x").experiment, { arm: "base", repetition: 1 });
const textOf = (name: string): string => readFileSync(new URL(name, folder), "utf8");

function differing(name: string, text = textOf(name)): readonly string[] {
  const { reality, realityEvents } = new ExperimentFile(text, name).experiment;
  return besideReality({ reality, realityEvents, runs: [play(text)] })
    .filter(({ agrees }) => !agrees)
    .map((row) => row.text);
}

// Whole clusters are played; a busy machine takes its time.
vi.setConfig({ testTimeout: 240_000 });

describe("a real cluster's counts", () => {
  it.each(files)("of %s are met, but for what is known", (name) => {
    expect(differing(name).toSorted()).toEqual((differences[name] ?? []).toSorted());
  });

  it("are not met by a cluster of another size", () => {
    expect(differing("deployment.yaml", textOf("deployment.yaml").replace("replicas: 200", "replicas: 150"))).toContain(
      "controllers create pods 201",
    );
  });
});
