import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { ScenarioError } from "../load.ts";
import { type Changes, ExperimentFile } from "./load.ts";
import { type Form, planOf, questionOf } from "./plan.ts";
import { experimentSchema, playedSchema } from "./schema.ts";
import { workloadVerbs } from "./workload-rows.ts";

const folder = new URL(".", import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith(".yaml"));
const textOf = (name: string): string => readFileSync(new URL(name, folder), "utf8");

const head = "apiVersion: capacity/v1\nname: x\nquestion: How much?\nuntil: 10s\n";

function mistakesOf(text: string): string {
  try {
    new ExperimentFile(text, "x.yaml");
  } catch (error) {
    if (error instanceof ScenarioError) return error.message;
    throw error;
  }
  return "none";
}

/** What a person is told whose plan of this file cannot be played. */
function refusalOf(text: string, form: Form, ...changes: Changes): string {
  try {
    planOf(new ExperimentFile(text, "x.yaml"), form, changes);
  } catch (error) {
    if (error instanceof ScenarioError) return error.message;
    throw error;
  }
  return "none";
}

const set = (path: string, value: unknown): Changes[number] => [path, value, `--set ${path}=${String(value)}`];

describe("changes by --set", () => {
  it.each([
    [
      "cluster.nodess",
      5,
      'x.yaml: --set cluster.nodess=5: cluster: there is no field "nodess" here; did you mean nodes?',
    ],
    ["cluster.nodes", "many", "x.yaml: --set cluster.nodes=many: cluster.nodes: expected a number, not a text"],
    [
      "workload.0.within",
      "1s",
      'x.yaml: --set workload.0.within=1s: workload[0]: "within" does not go with the other fields here',
    ],
    [
      "workload.7.at",
      "1s",
      "x.yaml: --set workload.7.at=1s: workload.7.at: there is no such row: workload has one, workload.0",
    ],
    [
      "workload.4000000000",
      1,
      "x.yaml: --set workload.4000000000=1: workload.4000000000: there is no such row: workload has one, workload.0",
    ],
    [
      "workload.first",
      1,
      "x.yaml: --set workload.first=1: workload.first: there is no such row: workload has one, workload.0",
    ],
    ["sweep", [{ set: "until", to: [] }], "x.yaml: --set sweep=[object Object]: sweep[0].to: expected at least 1 item"],
  ])("%s: %j is told by what was typed", (path, value, message) => {
    expect(refusalOf(textOf("burst.yaml"), "quick", set(path, value))).toBe(message);
  });

  const armed = [
    "apiVersion: capacity/v1",
    "name: x",
    "question: How much?",
    "until: 10s",
    "cluster: { nodes: 3, podsPerNode: 2 }",
    "workload: [{ do: list, path: /api/v1/configmaps, at: 5s }]",
    "arms:",
    "  - { name: usual, set: { cluster.nodes: 1, cluster.server.reads: 7 } }",
    "  - { name: late, set: { workload.0.at: 8s } }",
    "",
  ].join("\n");

  it("reach what an arm sets, whose names are paths themselves, and leave the rest of it", () => {
    const file = new ExperimentFile(armed, "x.yaml");
    const { arms } = planOf(file, "full", [set("arms.0.set.cluster.nodes", 4), set("arms.1.set.until", "9s")]);
    expect(arms.map(({ experiment: { cluster, until } }) => [cluster.nodes, cluster.podsPerNode, until])).toEqual([
      [4, 2, 10_000_000],
      [3, 2, 9_000_000],
    ]);
    expect(arms[0]?.experiment.cluster.server.reads).toBe(7);
  });

  it.each([
    ["in an arm", [set("arms.1.set.cluster.nodez", 4)], 'cluster: there is no field "nodez" here; did you mean nodes?'],
    ["elsewhere than it stands", [set("until", "2s")], "workload[0].at: the measurement is over by then"],
    [
      "in an arm of the file",
      [set("cluster.nodes", 5), set("until", "7s")],
      "workload[0].at: the measurement is over by then",
    ],
    [
      "in one arm, elsewhere than it stands",
      [set("arms.0.set.until", "4s")],
      "workload[0].at: the measurement is over by then",
    ],
  ] as const)("which make a mistake %s are to blame for it", (_where, changes, message) => {
    expect(refusalOf(armed, "full", ...changes)).toBe(`x.yaml: ${changes.at(-1)?.[2] as string}: ${message}`);
  });

  it.each([
    ["", "[{ name: wide, set: { cluster.nodes: 9 } }]", "arms.0.set.cluster.nodes"],
    [
      "sweep: [{ set: workload.0.nodes, to: [7, 8] }]\n",
      "[{ name: wide, set: { cluster.nodes: 9 } }]",
      "arms.0.set.cluster.nodes",
    ],
    ["sweep: [{ set: cluster.nodes, to: [9, 10] }]\n", "[]", "sweep.0.to.1"],
  ])("that make a mistake where the file had none are to blame, and not what they changed: %s", (sweep, arms, path) => {
    const text = `${head}cluster: { nodes: 5 }\nworkload: [{ do: drain, nodes: 8 }]\narms: ${arms}\n${sweep}`;
    expect(refusalOf(text, "full")).toBe("none");
    const typed = set(path, 6);
    const told = refusalOf(text, "full", typed).split("\n");
    expect(told[0]).toMatch(
      /^x\.yaml: --set \S+=6: workload\[0\]\.nodes: [78] nodes cannot be drained: there are 6, and that is the most$/,
    );
    expect(told.filter((line) => !line.startsWith(`x.yaml: ${typed[2] as string}: `))).toEqual([]);
  });

  it("are looked for as far as that takes no long time", () => {
    const arms = Array.from({ length: 50 }, (_, at) => `{ name: a${at}, set: { workload.0.nodes: ${at + 4} } }`);
    const padding = `# ${"x".repeat(97_000)}\n`;
    const text = `${head}cluster: { nodes: 60 }\nworkload: [{ do: drain }]\narms: [${arms.join(", ")}]\n${padding}`;
    const flags = Array.from({ length: 40 }, (_, at) => set(`cluster.server.cores`, at + 1));
    const judged = vi.spyOn(playedSchema, "safeParse");
    const told = refusalOf(text, "full", set("cluster.nodes", 3), ...flags);
    const count = judged.mock.calls.length;
    judged.mockRestore();
    // Once for each arm, and a hundred times for all flags together.
    expect(count).toBeLessThanOrEqual(150);
    expect(told.split("\n").slice(0, 2)).toEqual(
      [4, 5].map(
        (nodes) =>
          `x.yaml: --set cluster.nodes=3: workload[0].nodes: ${nodes} nodes cannot be drained: there are 3, and that is the most`,
      ),
    );
  });

  it("may add a row behind the last one", () => {
    const { experiment } = planOf(new ExperimentFile(textOf("burst.yaml"), "burst.yaml"), "quick", [
      set("workload.1", { do: "list", path: "/api/v1/pods" }),
    ]);
    expect(experiment.workload.map((row) => row.do)).toEqual(["burst", "list"]);
  });
});

describe("changes by the file itself", () => {
  const changed = [
    "apiVersion: capacity/v1",
    "name: x",
    "question: How much?",
    "until: 10s",
    "workload: [{ do: list, path: /api/v1/configmaps }]",
    "arms:",
    "  - { name: usual, set: {} }",
    "  - { name: wrong, set: { cluster.nodez: 3 } }",
    "sweep: [{ set: cluster.nodes, to: [1, many] }]",
    "quick: { workload.3.within: 3s }",
    "tiny: { arms.1.set: { until: 2s, cluster.servers: {} }, sweep: [] }",
    "",
  ].join("\n");

  it.each([
    [
      "in a sweep",
      "full",
      [],
      'x.yaml:9:39: arm usual cluster.nodes=many: cluster.nodes: expected a number, not a text\nx.yaml:8:27: arm wrong cluster.nodes=1: cluster: there is no field "nodez" here; did you mean nodes?',
    ],
    [
      "in an arm",
      "full",
      [set("sweep", [])],
      'x.yaml:8:27: arm wrong: cluster: there is no field "nodez" here; did you mean nodes?',
    ],
    [
      "in a form",
      "quick",
      [],
      "x.yaml:10:10: --quick: workload.3.within: there is no such row: workload has one, workload.0",
    ],
    [
      "in an arm that a form has put there",
      "tiny",
      [],
      'x.yaml:11:34: arm wrong: cluster: there is no field "servers" here; did you mean server?',
    ],
    [
      "in an arm that was typed",
      "full",
      [set("sweep", []), set("arms", [{ name: "typed", set: { "cluster.nodes": "x" } }])],
      "x.yaml: --set arms=[object Object]: cluster.nodes: expected a number, not a text",
    ],
  ] as const)("%s are told with line and column", (_where, form, changes, message) => {
    expect(refusalOf(changed, form, ...changes)).toBe(message);
  });

  it("a mistake that a change makes of a value that it leaves is told where that stands", () => {
    const text = `${head}workload: [{ do: list, path: /api/v1/configmaps, at: 5s }]\ntiny: { until: 2s }\n`;
    expect(refusalOf(text, "tiny")).toBe("x.yaml:5:54: --tiny: workload[0].at: the measurement is over by then");
  });

  it("come to so many runs at most", () => {
    const values = Array.from({ length: 61 }, (_, at) => at);
    const sweep = ["a", "b", "c", "d"].map((name) => `{ set: cluster.${name}, to: [${values.join(",")}] }`);
    expect(refusalOf(`${head}sweep: [${sweep.join(",")}]\n`, "full")).toBe(
      "x.yaml:5:8: what is varied: arms, sweep and repetitions come to 13845841 runs, and 100000 is the most: vary fewer parameters at a time.",
    );
  });
});

describe("a question", () => {
  it("names what is played, and only numbers that are there", () => {
    const file = new ExperimentFile(textOf("drain.yaml"), "drain.yaml");
    const asked = (form: "full" | "quick", ...changes: (readonly [string, unknown])[]): string =>
      questionOf(planOf(file, form, changes).experiment);
    expect(asked("full")).toContain("drain 10 nodes");
    expect(asked("quick")).toContain("drain 4 nodes");
    expect(asked("quick", ["workload.0.nodes", 2])).toContain("drain 2 nodes");
    expect(mistakesOf(head.replace("How much?", "'What do {cluster.nodez} do?'"))).toBe(
      "x.yaml:3:11: question: {cluster.nodez} is no number of this experiment: write the path of a field, such as {cluster.nodes}",
    );
  });
});

describe("an experiment's file", () => {
  it.each(files)("%s reads, in each of its forms", (name) => {
    const text = textOf(name);
    expect(text).toMatch(/^# yaml-language-server: \$schema=\.\/experiment\.schema\.json\n/);
    const file = new ExperimentFile(text, name);
    expect(file.experiment.name).toBe(name.replace(".yaml", ""));
    for (const form of ["full", "quick", "tiny"] as const)
      expect(planOf(file, form, []).arms.length).toBeGreaterThan(0);
    expect(Object.keys(file.experiment.quick).length).toBeGreaterThan(0);
    expect(Object.keys(file.experiment.tiny).length).toBeGreaterThan(0);
  });

  it("is there for each verb that an experiment has been asked for", () => {
    const used = new Set(
      files.flatMap((name) => new ExperimentFile(textOf(name), name).experiment.workload.map((row) => row.do)),
    );
    expect(workloadVerbs.filter((verb) => !used.has(verb as never))).toEqual([
      "scale",
      "ready",
      "objects",
      "delete",
      "replay",
    ]);
  });

  it("has a JSON schema for editors that is up to date", async () => {
    const schema = z.toJSONSchema(experimentSchema, { io: "input" });
    await expect(`${JSON.stringify(schema, undefined, 2)}\n`).toMatchFileSnapshot("experiment.schema.json");
  });

  it("tells what is wrong with its line, its column, and the name that was probably meant", () => {
    expect(mistakesOf(`${head}cluster: { nods: 3 }\n`)).toBe(
      'x.yaml:5:12: cluster: there is no field "nods" here; did you mean nodes, pod?',
    );
    expect(mistakesOf(`${head}workload: [{ do: burts, name: a, replicas: 3 }]\n`)).toContain(
      "x.yaml:5:18: workload[0].do: expected do: with one of burst, scale",
    );
    expect(mistakesOf(head.replace("name: x\n", ""))).toBe(
      "x.yaml:1:1: name: is missing: expected a name of lower-case letters, digits and hyphens",
    );
    expect(mistakesOf(`${head}cluster: { nodes: -1 }\n`)).toContain("x.yaml:5:19: cluster.nodes");
    expect(mistakesOf(`${head}workload: [{ do: rollout, name: shop }]\n`)).toContain("no Deployment is called shop");
    expect(mistakesOf(`${head}workload:\n  - { do: list, path: /api/v1/podz }\n`)).toBe(
      "x.yaml:6:23: workload[0].path: the server serves no podz under /api/v1; did you mean pods?",
    );
    const lists = `workload: [{ do: list, path: /apis/example.com/v1/widgets }]\n`;
    expect(mistakesOf(head + lists)).toContain("the server serves nothing under /apis/example.com/v1");
    expect(mistakesOf(`${head}cluster: { objects: [{ spec: { group: example.com } }] }\n${lists}`)).toBe("none");
    const drains = "workload:\n  - { do: drain, nodes: 9 }\n  - { do: fail, nodes: 9 }\n";
    expect(refusalOf(`${head}cluster: { nodes: 5 }\n${drains}`, "full")).toBe(
      "x.yaml:7:25: workload[0].nodes: 9 nodes cannot be drained: there are 5, and that is the most\nx.yaml:8:24: workload[1].nodes: 9 nodes cannot fail: there are 5, and that is the most",
    );
    const pools = "cluster: { pools: [{ name: a, count: 4 }, { name: b, count: 5 }] }\n";
    expect(refusalOf(`${head}${pools}${drains}`, "full")).toBe("none");
    expect(mistakesOf(`${head}workload: [{ do: fail, zone: zone-9 }]\n`)).toContain("no zone is called zone-9");
    expect(mistakesOf(`${head}workload: [{ do: churn, at: 10s }]\n`)).toContain("the measurement is over by then");
    expect(mistakesOf(`${head}sweep: [{ set: cluster.nodes, to: [2, 3, "2", 2] }]\n`)).toBe(
      "x.yaml:5:42: sweep[0].to[2]: cluster.nodes=2 is there already\nx.yaml:5:47: sweep[0].to[3]: cluster.nodes=2 is there already",
    );
    expect(mistakesOf(`${head}cluster: { agents: { kind: silent } }\nworkload: [{ do: pull }]\n`)).toContain(
      "silent nodes pull nothing",
    );
  });
});

it("what may be of several kinds is told with all of them", () => {
  for (const code of ["5x9", "[]", "4.5"])
    expect(mistakesOf(`${head}objectives: [{ requests: { code: ${code} }, max: 1 }]\n`)).toBe(
      "x.yaml:5:34: objectives[0].requests.code: expected a status such as 410, or 4xx",
    );
  expect(mistakesOf(`${head}cluster: { controllers: 7 }\n`)).toBe(
    "x.yaml:5:25: cluster.controllers: expected none or fields, not a number",
  );
});

describe("how many nodes are drained or fail", () => {
  const drains = `${head}cluster: { nodes: 5 }\nworkload: [{ do: drain, nodes: 9 }]\n`;
  const tooMany = (there: number): string =>
    `workload[0].nodes: 9 nodes cannot be drained: there are ${there}, and that is the most`;

  it.each([
    ["a sweep", "sweep: [{ set: cluster.nodes, to: [10, 20] }]\n", "full", []],
    [
      "each arm",
      "arms: [{ name: a, set: { cluster.nodes: 9 } }, { name: b, set: { workload.0.nodes: 5 } }]\n",
      "full",
      [],
    ],
    ["a form", "tiny: { cluster.nodes: 9 }\n", "tiny", []],
    [
      "an arm, where a form has fewer",
      "arms: [{ name: a, set: { cluster.nodes: 9 } }]\ntiny: { cluster.nodes: 4 }\n",
      "tiny",
      [],
    ],
    ["a flag", "", "full", [set("cluster.nodes", 10)]],
  ] as const)("is judged by what is played: %s has as many", (_who, more, form, changes) => {
    expect(mistakesOf(drains + more)).toBe("none");
    expect(refusalOf(drains + more, form, ...changes)).toBe("none");
  });

  it("is told of what is played, and not of a base that is not", () => {
    const place = "x.yaml:6:32";
    expect(refusalOf(drains, "full")).toBe(`${place}: ${tooMany(5)}`);
    const swept = `${drains}sweep: [{ set: cluster.nodes, to: [7, 9] }]\n`;
    expect(refusalOf(swept, "full")).toBe(`${place}: arm cluster.nodes=7: ${tooMany(7)}`);
    const armed = `${drains}arms: [{ name: a, set: { cluster.nodes: 9 } }, { name: b, set: {} }]\n`;
    expect(refusalOf(armed, "full")).toBe(`${place}: arm b: ${tooMany(5)}`);
    expect(refusalOf(swept, "full", set("sweep.0.to.0", 8))).toBe(`${place}: arm cluster.nodes=8: ${tooMany(8)}`);
    const lowered = set("cluster.nodes", 3);
    expect(refusalOf(drains.replace("nodes: 9", "nodes: 4"), "full", lowered)).toBe(
      `x.yaml: ${lowered[2] as string}: workload[0].nodes: 4 nodes cannot be drained: there are 3, and that is the most`,
    );
    // Nor beside other mistakes.
    expect(mistakesOf(`${armed.replace("until: 10s", "until: soon")}`)).not.toContain("drained");
  });
});

it.each(["quick", "tiny", "arms", "sweep", "repetitions", "find"])(
  "%s, which no run reads, is not varied from run to run",
  (field) => {
    const path = `${field}.x`;
    const why = `${field} says which runs there are, and changing it from run to run does nothing: name what a run has, such as cluster.nodes`;
    expect(mistakesOf(`${head}sweep: [{ set: ${path}, to: [1, 2] }]\n`)).toBe(`x.yaml:5:16: sweep[0].set: ${why}`);
    expect(mistakesOf(`${head}arms: [{ name: a, set: { ${path}: 1 } }]\n`)).toContain(`arms[0].set.${path}: ${why}`);
    expect(mistakesOf(`${head}find: { set: ${path}, from: 1, to: 2 }\n`)).toBe(`x.yaml:5:14: find.set: ${why}`);
    const armed = `${head}arms: [{ name: a, set: {} }]\n`;
    const typed = set(`arms.0.set.${path}`, 1);
    expect(refusalOf(armed, "full", typed)).toBe(`x.yaml: ${typed[2] as string}: arms[0].set.${path}: ${why}`);
  },
);

it("all mistakes of a file are told at once, those of its arms and forms among them", () => {
  const text = [
    "apiVersion: capacity/v1",
    "name: x",
    "question: How much?",
    "until: soon",
    "cluster: { nods: 3 }",
    "arms:",
    "  - { name: a, set: { cluster.nodes: many } }",
    "  - { name: b, set: { cluster.servers: {} } }",
    "tiny: { cluster.zones: 0 }",
    "",
  ].join("\n");
  expect(mistakesOf(text).split("\n")).toEqual([
    "x.yaml:4:8: until: expected a duration of whole microseconds such as 5ms, 30s or 1m30s, of a year at most, above zero",
    'x.yaml:5:12: cluster: there is no field "nods" here; did you mean nodes, pod?',
    "x.yaml:9:24: --tiny: cluster.zones: expected at least 1",
    "x.yaml:7:38: arm a: cluster.nodes: expected a number, not a text",
    'x.yaml:8:23: arm b: cluster: there is no field "servers" here; did you mean server?',
  ]);
  const mended = text.replace("soon", "5s").replace("nods", "nodes").replace("zones: 0", "zones: 1");
  expect(refusalOf(mended, "full").split("\n")).toEqual([
    "x.yaml:7:38: arm a: cluster.nodes: expected a number, not a text",
    'x.yaml:8:23: arm b: cluster: there is no field "servers" here; did you mean server?',
  ]);
  // Ten of them, and how many more there are.
  const fields = Array.from({ length: 13 }, (_, at) => `field${at}: 1`).join("\n");
  const many = text.replace("cluster: { nods: 3 }", fields);
  const told = mistakesOf(many).split("\n");
  expect([told.length, told.at(-1)]).toEqual([11, "and 7 more"]);
});

it("mistakes that an arm has at each point of a sweep count once", () => {
  const wrong = (from: number, count: number): string =>
    Array.from({ length: count }, (_, at) => `cluster.field${from + at}: 1`).join(", ");
  const sweep = "sweep: [{ set: cluster.nodes, to: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] }]\n";
  const toldOf = (arms: string): readonly string[] => refusalOf(`${head}arms: [${arms}]\n${sweep}`, "full").split("\n");
  const one = toldOf(`{ name: a, set: { ${wrong(0, 12)} } }`);
  expect([one.length, one.at(-1)]).toEqual([11, "and 2 more"]);
  const two = toldOf(`{ name: a, set: { ${wrong(0, 12)} } }, { name: b, set: { ${wrong(20, 3)} } }`);
  expect([two.length, two.at(-1)]).toEqual([11, "and 5 more"]);
  const many = toldOf(`{ name: a, set: { ${wrong(0, 130)} } }`);
  expect([many.length, many.at(-1)]).toEqual([11, "and 120 more"]);
});

describe("a plan", () => {
  const text = `${head}sweep:\n  - { set: cluster.nodes, to: [1, 2] }\n  - { set: cluster.zones, to: [1, 3] }\narms:\n  - { name: a, set: {} }\n  - { name: b, set: { cluster.podsPerNode: 4 } }\nrepetitions: 2\n`;

  it("has every arm at every point of the sweep", () => {
    const { arms, repetitions } = planOf(new ExperimentFile(text, "x"), "full", []);
    expect(repetitions).toBe(2);
    expect(arms.map(({ name }) => name)).toEqual(
      ["a", "b"].flatMap((arm) =>
        [1, 2].flatMap((nodes) => [1, 3].map((zones) => `${arm} cluster.nodes=${nodes} cluster.zones=${zones}`)),
      ),
    );
    expect(arms.at(-1)?.experiment.cluster).toMatchObject({ nodes: 2, zones: 3, podsPerNode: 4 });
    expect(arms[0]?.experiment.cluster.podsPerNode).toBe(0);
  });

  it("tells of parameters that there are not", () => {
    expect(() => planOf(new ExperimentFile(text, "x"), "full", [["cluster.nodez", 3]])).toThrow(/cluster.*nodez/);
    expect(() => planOf(new ExperimentFile(text, "x"), "full", [["__proto__.polluted", 3]])).toThrow(ScenarioError);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });
});
