import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { basename } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { chaosSchema } from "./chaos.ts";
import { parseChaos, parseScenario, ScenarioError } from "./load.ts";
import { scenarioFiles } from "./scenario-files.fixture.ts";
import { scenarioSchema } from "./schema.ts";

const folder = new URL(".", import.meta.url);
const example = readFileSync(new URL("one-broken-link.yaml", folder), "utf8");

const published = (): object => z.toJSONSchema(scenarioSchema, { io: "input" });
const editor = new Ajv2020({ strict: true, allowUnionTypes: true, strictTuples: false }).compile(published());

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
  it("tell the first ten mistakes, each of which is looked for in the file, and how many more there are", () => {
    const wrong = Array.from({ length: 3_000 }, (_, at) => `k${at}: 1\n`).join("");
    const told = mistakes("name:", `${wrong}name:`).split("\n");
    expect(told).toHaveLength(11);
    expect(told[0]).toContain('there is no field "k0" here');
    expect(told[10]).toBe("and 2990 more");
  });

  it.each(scenarioFiles())("%s is a scenario, called as its file", (file) => {
    const text = readFileSync(new URL(file, folder), "utf8");
    expect(`${parseScenario(text, file).name}.yaml`).toBe(basename(file));
    expect(text).toMatch(/^# yaml-language-server: \$schema=/);
    expect(editor(parse(text)), JSON.stringify(editor.errors)).toBe(true);
  });

  it("reads durations and ranges as microseconds, and fills in what is left out", () => {
    const scenario = parseScenario(example, "x.yaml");
    expect(scenario.until).toBe(30_000_000);
    expect(scenario.network).toEqual({
      latency: [{ percent: 100, span: { min: 5000, max: 20_000 } }],
      detect: 3_000_000,
    });
    expect(scenario.profile).toBe("svc");
    expect(scenario.clients[0]).toMatchObject({ kind: "writer", every: 200_000, until: 15_000_000, objects: 5 });
  });

  it.each([
    ["at: 2s", "at: 2", "x.yaml:16:11: faults[0].at: expected a duration of whole microseconds such as 5ms"],
    ["until: 30s", "until: 30", "x.yaml:8:8: until: expected a duration of whole microseconds such as 5ms"],
    ["latency: 5ms..20ms", "latency: 5", "network.latency: expected a duration such as 5ms"],
    ["at: 2s", "at: 2 s", "faults[0].at: expected a duration of whole microseconds"],
    ["at: 2s", "at: 31s", "faults[0].at: the run is over by then"],
    [
      "partition: [informer-1",
      "partition: [informer-9",
      "x.yaml:16:27: faults[0].partition[0]: nobody that this can happen to is called informer-9; there are apiserver, writer-1, writer-2, informer-1; did you mean informer-1?",
    ],
    ["every: 200ms", "evry: 200ms", 'x.yaml:12:37: clients[0]: there is no field "evry" here; did you mean every?'],
    [
      "compact: apiserver",
      "compct: apiserver",
      'x.yaml:17:15: faults[1]: there is no field "compct" here; did you mean compact?',
    ],
    ["until: 30s", "until: 30s\nsaftey: 20s", 'x.yaml:9:1: there is no field "saftey" here; did you mean safety?'],
    [
      "5ms..20ms",
      "20ms..5ms",
      "network.latency: expected a duration such as 5ms, or a range such as 5ms..20ms that begins with the shorter one",
    ],
    [
      "detect: 3s",
      "detect: 0s",
      "network.detect: expected a duration of whole microseconds such as 5ms, 30s or 1m30s, of a year at most, above zero",
    ],
    ["kind: informer", "kind: controller", "clients[2].kind: "],
    ["name: writer-2", "name: writer-1", "clients[1].name: the name writer-1 is taken"],
    ["requirement: informer.converges", "requirement: informer.convergs", "; did you mean informer.converges?"],
    ["until: 30s", "until: 16s", "expect[1].by: the run is over by then"],
    ["clients:", "clients: {", "x.yaml:12:3: not YAML: "],
    // Orders that make no sense.
    [
      "at: 10s, heal",
      "at: 1s, heal",
      "x.yaml:18:11: faults[2].at: nothing between informer-1 and apiserver is broken before then: a heal follows what it undoes",
    ],
    [
      "partition: [informer-1, apiserver]",
      "partition: [apiserver, apiserver]",
      "faults[0].partition: a link has two ends, and both are apiserver",
    ],
    ["at: 2s,", "", "faults[0]: says not when: give `at`, or `every` for how often"],
    ["at: 8s, compact", "compact", "faults[1]: says not when"],
    ["compact: apiserver", "compact: apiserver, by: 5s", "faults[1].by: compact has no use for it"],
    ["compact: apiserver", "lag: apiserver", "faults[1]: lag needs `by`"],
    ["compact: apiserver", "compact: apiserver, crash: apiserver", "one row has one verb, and crash is there already"],
    [
      "compact: apiserver",
      "throttle: informer-1, rate: 1/2",
      "nobody that this can happen to is called informer-1; there are apiserver",
    ],
    [
      "compact: apiserver",
      "throttle: apiserver, rate: 3/2",
      "faults[1].rate: expected a ratio between 0 and 1 such as 1/100",
    ],
    ["until: 30s", "until: 30s\nsafety: 30s", "safety: nothing is left of the run after it"],
    ["until: 30s", "until: 30s\nsafety: 5s", "faults[1].at: the safety phase is over by then"],
    [
      "latency: 5ms..20ms",
      "latency: [{ percent: 50, upTo: 2s }, { percent: 99, upTo: 1s }]",
      "the latencies rise: a longer one came before",
    ],
  ])("%s → %s is refused with its place", (from, to, message) => {
    expect(mistakes(from, to)).toContain(message);
  });

  it("says what may stand where rows are told apart by a field, and which is near", () => {
    expect(mistakes("kind: writer", "kind: writr")).toContain("kind: expected one of informer, writer, ");
    expect(mistakes("kind: writer", "kind: writr")).toContain("; did you mean writer?");
  });

  it("says of a file for another command what it is, and nothing more", () => {
    expect(mistakes("scenarios/v1", "capacity/v1")).toBe(
      "x.yaml:5:13: apiVersion: this is an experiment on capacity, for `touchstone capacity`",
    );
    expect(mistakes("scenarios/v1", "scenarios/v2")).toBe("x.yaml:5:13: apiVersion: expected scenarios/v1");
  });

  it("says of a file that has nothing of a scenario that it is none, and nothing more", () => {
    const manifest = "apiVersion: v1\nkind: Pod\nmetadata: { name: a }\nspec: {}\n";
    expect(() => parseScenario(manifest, "x.yaml")).toThrow(
      /^x\.yaml:1:1: this is of kind Pod: expected a scenario, for `touchstone run`, with apiVersion: scenarios\/v1$/,
    );
  });

  it("tells a misspelt field once, and not also that it is missing", () => {
    expect(mistakes("until: 30s", "untill: 30s")).toBe(
      'x.yaml:8:1: there is no field "untill" here; did you mean until?',
    );
  });

  it("tells one mistake of what is no YAML: the others follow from it", () => {
    expect(mistakes("clients:", "clients: {").split("\n")).toHaveLength(1);
    expect(mistakes("clients:", "x: &a [*a]\nclients:")).toContain("x.yaml");
  });

  it("has no depth or size that harms", () => {
    const deep = `${"[".repeat(5000)}${"]".repeat(5000)}`;
    expect(() => parseScenario(`clients: ${deep}`, "x.yaml")).toThrow(ScenarioError);
    expect(() => parseScenario("x".repeat(5_000_000), "x.yaml")).toThrow("longer than");
    const bomb =
      "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c]";
    expect(() => parseScenario(bomb, "x.yaml")).toThrow(ScenarioError);
  });

  it("has a JSON schema for editors that is up to date", async () => {
    await expect(`${JSON.stringify(published(), undefined, 2)}\n`).toMatchFileSnapshot("scenario.schema.json");
  });

  it.each([
    ["every: 200ms", "evry: 200ms"],
    ["at: 2s", "at: 2"],
    ["kind: informer", "kind: controller"],
    ["5ms..20ms", "5ms.20ms"],
  ])("shows %s → %s in an editor", (from, to) => {
    expect(editor(parse(example))).toBe(true);
    expect(editor(parse(example.replace(from, to)))).toBe(false);
  });
});

describe("plans of chaos", () => {
  const plan = `apiVersion: chaos/v1
name: bad-day
faults:
  - { late: 50ms..2s, rate: 1/10 }
  - { expire: true, every: 30s..60s, for: 2s, where: { resources: [pods] } }
  - { conflict: true, rate: 1/20 }
`;

  it("are read as scenarios are, verbs apart", () => {
    const { faults } = parseChaos(plan, "x.yaml");
    expect(faults.map(({ verb }) => verb)).toEqual(["late", "expire", "conflict"]);
    expect(faults[0]?.late).toEqual({ min: 50_000, max: 2_000_000 });
  });

  it.each([
    ["late: 50ms..2s", "late: soon", "x.yaml:4:13: faults[0].late: expected a duration"],
    ["late: 50ms", "lat: 50ms", 'x.yaml:4:7: faults[0]: there is no field "lat" here; did you mean late'],
    ["rate: 1/10", "throttle: 1s", "one row has one verb, and late is there already"],
    ["late: 50ms..2s, rate", "rate", "says nothing that happens: give one of late, cut, "],
    ["every: 30s..60s, for", "for", "belongs to `every`, which is not there"],
    ["every: 30s..60s", "every: 1ms", "expected 100ms at least between two storms"],
    ["resources: [pods]", "verbs: [list]", "expire happens to none of these verbs"],
    ["conflict: true", "throttle: 1500ms", "expected whole seconds"],
    ["late: 50ms..2s", "cut: off", "x.yaml:4:12: faults[0].cut: "],
    ["name: bad-day\n", "", "name: "],
  ])("%s → %s is refused with its place", (from, to, message) => {
    expect(plan).toContain(from);
    expect(() => parseChaos(plan.replace(from, to), "x.yaml")).toThrow(message);
  });

  it("are told of a misspelt verb in one line", () => {
    const misspelt = plan.replace("conflict: true", "conflct: true");
    expect(() => parseChaos(misspelt, "x.yaml")).toThrow(
      /^x\.yaml:6:7: faults\[2\]: there is no field "conflct" here; did you mean conflict\?$/,
    );
  });

  it("are there to begin with", () => {
    const text = readFileSync(new URL("chaos/bad-day.yaml", folder), "utf8");
    expect(new Set(parseChaos(text, "bad-day.yaml").faults.map(({ verb }) => verb)).size).toBe(8);
  });

  it("have a JSON schema for editors that is up to date", async () => {
    const schema = z.toJSONSchema(chaosSchema, { io: "input" });
    await expect(`${JSON.stringify(schema, undefined, 2)}\n`).toMatchFileSnapshot("chaos.schema.json");
  });
});
