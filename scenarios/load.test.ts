import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { parseScenario, ScenarioError } from "./load.ts";
import { scenarioSchema } from "./schema.ts";

const folder = new URL(".", import.meta.url);
const example = readFileSync(new URL("one-broken-link.yaml", folder), "utf8");

function mistakes(from: string, to: string): string {
  expect(example).toContain(from);
  try {
    parseScenario(example.replace(from, to), "x.yaml");
  } catch (error) {
    expect(error).toBeInstanceOf(ScenarioError);
    return (error as Error).message;
  }
  return "accepted";
}

describe("scenario files", () => {
  it.each(readdirSync(folder).filter((name) => name.endsWith(".yaml")))(
    "%s is a scenario, called as its file",
    (name) => {
      const scenario = parseScenario(readFileSync(new URL(name, folder), "utf8"), name);
      expect(`${scenario.name}.yaml`).toBe(name);
    },
  );

  it("reads durations and ranges as microseconds, and fills in what is left out", () => {
    const scenario = parseScenario(example, "x.yaml");
    expect(scenario.until).toBe(30_000_000);
    expect(scenario.network).toEqual({ latency: { min: 5000, max: 20_000 }, detect: 3_000_000 });
    expect(scenario.profile).toBe("svc");
    expect(scenario.clients[0]).toMatchObject({ kind: "writer", every: 200_000, until: 15_000_000, objects: 5 });
  });

  it.each([
    ["at: 2s", "at: 2", "x.yaml:16:11: faults[0].at: expected a duration of whole microseconds such as 5ms"],
    ["until: 30s", "until: 30", "x.yaml:8:8: until: expected a duration of whole microseconds such as 5ms"],
    ["latency: 5ms..20ms", "latency: 5", "network.latency: expected a latency such as 5ms"],
    ["at: 2s", "at: 2 s", "faults[0].at: expected a duration of whole microseconds"],
    ["at: 2s", "at: 31s", "faults[0].at: the run is over by then"],
    [
      "partition: [informer-1",
      "partition: [informer-9",
      "x.yaml:16:27: faults[0].partition[0]: nobody is called informer-9; there are apiserver, writer-1, writer-2, informer-1",
    ],
    ["every: 200ms", "evry: 200ms", 'clients[0]: Unrecognized key: "evry"'],
    ["5ms..20ms", "20ms..5ms", "network.latency: expected a latency such as 5ms, or a range such as 5ms..20ms"],
    [
      "detect: 3s",
      "detect: 0s",
      "network.detect: expected a duration of whole microseconds such as 5ms, 30s or 1m30s, above zero",
    ],
    ["kind: informer", "kind: controller", "clients[2].kind: "],
    ["name: writer-2", "name: writer-1", "clients[1].name: the name writer-1 is taken"],
    ["requirement: informer.converges", "requirement: informer.convergs", "expect[1].requirement: "],
    ["until: 30s", "until: 16s", "expect[1].by: the run is over by then"],
    ["clients:", "clients: {", "x.yaml:12:3: not YAML: "],
  ])("%s → %s is refused with its place", (from, to, message) => {
    expect(mistakes(from, to)).toContain(message);
  });

  it("tells one mistake of what is no YAML: the others follow from it", () => {
    expect(mistakes("clients:", "clients: {").split("\n")).toHaveLength(1);
  });

  it("has a JSON schema for editors that is up to date", () => {
    const schema = `${JSON.stringify(z.toJSONSchema(scenarioSchema, { io: "input" }), undefined, 2)}\n`;
    expect(readFileSync(new URL("scenario.schema.json", folder), "utf8")).toBe(schema);
  });
});
