import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { capacityReportSchema } from "../../reports/schema/capacity-report.ts";
import { capacityInterruptedAt, refusalHere, runHere, runHereWith } from "../command-here.fixture.ts";
import { saidHere } from "../said-here.fixture.ts";

const scratch = mkdtempSync(join(tmpdir(), "touchstone-"));
afterAll(() => rmSync(scratch, { recursive: true }));

const fileOf = (name: string, text: string): string => {
  const path = join(scratch, name);
  writeFileSync(path, text);
  return path;
};

const lists = fileOf(
  "lists.yaml",
  [
    "apiVersion: capacity/v1",
    "name: lists",
    "question: What do lists cost?",
    "settle: 5s",
    "until: 5s",
    "cluster: { nodes: 0, configMaps: { count: 20 } }",
    "workload: [{ do: list, path: /api/v1/configmaps, clients: 3 }]",
    "sweep: [{ set: workload.0.clients, to: [2, 3] }]",
    "repetitions: 2",
  ].join("\n"),
);

/** A run's threads each load all of the simulator: here is enough. */
const played = (...words: readonly string[]) => runHere("capacity", ...words, "--jobs", "1");

/** The folder of a run of all arms, played on threads once for all tests: its exit code is 0. */
let wholeRun: Promise<string> | undefined;
const playedWhole = (): Promise<string> => {
  const folder = join(scratch, "whole");
  wholeRun ??= runHere("capacity", lists, "--jobs", "2", "--output", folder).then(({ code }) => {
    expect(code).toBe(0);
    return folder;
  });
  return wholeRun;
};

/** Without what this machine measured. */
const figuresOf = (folder: string): unknown => {
  const { shard: _shard, ...report } = capacityReportSchema.parse(
    JSON.parse(readFileSync(join(folder, "report.json"), "utf8")),
  );
  return { ...report, runs: report.runs.map(({ measured: _measured, ...run }) => run) };
};

vi.setConfig({ testTimeout: 240_000 });
afterAll(() => vi.resetConfig());

describe("touchstone capacity", () => {
  it("plays every arm, and parts of it merge into the same report", async () => {
    const whole = await playedWhole();
    const parts = [1, 2].map((part) => join(scratch, `part-${part}`));
    for (const [index, part] of parts.entries())
      expect((await played(lists, "--shard", `${index + 1}/2`, "--output", part)).code).toBe(0);
    const merged = join(scratch, "merged");
    const merges = parts.flatMap((part) => ["--merge", join(part, "report.json")]);
    expect((await runHere("capacity", ...merges, "--output", merged)).code).toBe(0);
    expect(figuresOf(merged)).toEqual(figuresOf(whole));
    const [one, other] = [whole, merged].map((folder) => readFileSync(join(folder, "metrics.prom"), "utf8"));
    expect(one).toBe(other);
    expect(await refusalHere("capacity", lists, ...merges)).toContain("--merge plays nothing");

    // One part twice is no whole, and two that contradict each other are none either.
    const [half = ""] = parts.map((part) => join(part, "report.json"));
    const said = await saidHere("capacity", "--merge", half, "--merge", half);
    expect(said).toMatchObject({
      code: 3,
      stderr: `--merge: 2 of 4 runs are in none of the reports: workload.0.clients=2, repetition 2; workload.0.clients=3, repetition 2. These are ${half} (1/2), ${half} (1/2): give the other parts as well.\n`,
      stdout: expect.stringContaining("NOT PLAYED 2 of 4 runs: workload.0.clients=2, repetition 2; "),
    });
    const report = capacityReportSchema.parse(JSON.parse(readFileSync(half, "utf8")));
    const broken = { ...report, runs: report.runs.map((run) => ({ ...run, nodes: run.nodes + 1 })) };
    const wrong = fileOf("other.json", JSON.stringify(broken));
    expect(await refusalHere("capacity", "--merge", half, "--merge", wrong)).toContain(
      `--merge ${wrong}: arm workload.0.clients=2, repetition 1: it has other figures than in ${half}`,
    );
  });

  it("tells where it was stopped too early to scrape, and by default scrapes at the end, whichever it is", async () => {
    const stop = ["--set", "stop=[{ requests: { verb: list }, max: 1 }]", "--set", "until=30s"];
    const folder = join(scratch, "stopped");
    const words = [lists, "--output", folder, ...stop] as const;
    const said = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    try {
      expect((await played(...words)).code).toBe(0);
      expect(existsSync(join(folder, "metrics.prom"))).toBe(true);
      expect(said).not.toHaveBeenCalled();
      await played(...words, "--metrics-at", "20s");
      expect(said).toHaveBeenCalledExactlyOnceWith(
        expect.stringContaining("--metrics-at: the first run ended before 20 s, and there is no metrics.prom"),
      );
    } finally {
      said.mockRestore();
    }
    // That of the run before is none of this one's.
    expect(existsSync(join(folder, "metrics.prom"))).toBe(false);
  });

  it("ends with 1 when an objective is broken", async () => {
    const found = await played(
      lists,
      "--set",
      "objectives=[{ requests: { verb: list }, max: 1 }]",
      "--output",
      join(scratch, "broken"),
    );
    expect(found.code).toBe(1);
    expect(found.stdout).toContain("BREACH");
  });

  it("takes other constants for the latency model", async () => {
    const costs = fileOf("costs.yaml", "consistentReadMicros: 2000000\n");
    const found = await played(lists, "--cost-model", costs, "--output", join(scratch, "slow"), "--json");
    const { runs, costs: shown } = capacityReportSchema.parse(JSON.parse(found.stdout));
    expect(shown.find(({ name }) => name === "consistentReadMicros")).toMatchObject({
      value: 2_000_000,
      source: "given by the user",
    });
    expect(runs[0]?.latencies.find(({ verb }) => verb === "list")?.micros.max).toBeGreaterThan(2_000_000);
  });

  it("refuses what it cannot play, and says why", async () => {
    expect(await refusalHere("capacity", lists, "--set", "cluster.nodez=3")).toContain("nodez");
    expect(await refusalHere("capacity", lists, "--quick", "--set", "quick.cluster.nodes=3")).toContain(
      "--set quick.cluster.nodes=3: a form's changes are made before those of --set, so that this would do nothing: set cluster.nodes itself.",
    );
    expect(await refusalHere("capacity", lists, "--arm", "workload.0.clients=4")).toContain("did you mean");
    expect(await refusalHere("capacity", lists, "--cost-model", fileOf("bad.yaml", "getMicro: 3\n"))).toContain(
      "did you mean getMicros",
    );
    expect(await refusalHere("capacity", lists, "--quick", "--tiny")).toContain("two forms");
    const late = ["capacity", lists, "--metrics-at", "20s", "--set"] as const;
    expect(await refusalHere(...late, "until=10s")).toContain(
      "--metrics-at: 20 s is beyond the end: the measurement of arm workload.0.clients=2 takes 10 s. Give 10s at most",
    );
    // In any arm, also where the first one is long enough.
    expect(await refusalHere(...late, "sweep=[{ set: until, to: [30s, 15s] }]")).toContain("arm until=15s takes 15 s");
    expect(await refusalHere("capacity", "--worker")).toContain("give --queue URL");
    expect(await refusalHere("capacity", lists, "--worker", "--queue", "redis://127.0.0.1:1")).toContain(
      "leave the experiment out",
    );
    expect(await refusalHere("capacity", lists, "--queue", "http://127.0.0.1:1")).toContain("URL of a Redis server");
    const flags = "cluster.agents.flags={ node-status-update-frequenzy: 3s }";
    expect(
      await refusalHere(
        "capacity",
        lists,
        "--set",
        flags,
        "--set",
        "cluster.nodes=1",
        "--output",
        join(scratch, "flags"),
      ),
    ).toContain(`${lists}: --set ${flags}: cluster.agents.flags: failed to parse nodeagent flag`);
  });
});

describe("an interrupt", () => {
  it("ends it with 3 and a report of what was done: a run that had not begun to be measured counts for nothing", async () => {
    const folder = join(scratch, "interrupted");
    const words = ["capacity", lists, "--jobs", "1", "--output", folder];
    const settling = await runHereWith(capacityInterruptedAt(1), ...words);
    expect(settling.code).toBe(3);
    const told = "STOPPED workload.0.clients=2, repetition 1, before its measured time began: it counts for nothing";
    expect(settling.stdout).toContain(told);
    for (const name of ["report.txt", "report.html"]) expect(readFileSync(join(folder, name), "utf8")).toContain(told);
    const first = join(folder, "report.json");
    expect(capacityReportSchema.parse(JSON.parse(readFileSync(first, "utf8")))).toMatchObject({
      runs: [],
      unmeasured: [{ arm: "workload.0.clients=2", repetition: 1 }],
      lacking: [
        { arm: "workload.0.clients=2", repetition: 2 },
        { arm: "workload.0.clients=3", repetition: 1 },
        { arm: "workload.0.clients=3", repetition: 2 },
      ],
    });
    expect(settling.stdout).toContain("NOT PLAYED 3 of 4 runs: workload.0.clients=2, repetition 2; ");
    const compared = await runHere("capacity", "compare", first);
    expect(compared).toMatchObject({ code: 3, stdout: expect.stringContaining("nothing can be compared") });

    // In whichever order parts are merged, theirs is one.
    const part = (name: string, repetition: number): string => {
      const { lacking: _lacking, ...report } = JSON.parse(readFileSync(first, "utf8"));
      const unmeasured = [{ arm: "workload.0.clients=2", repetition }];
      return fileOf(`${name}.json`, JSON.stringify({ ...report, unmeasured }));
    };
    const [one, two] = [part("one", 1), part("two", 2)];
    const orders = [
      await runHere("capacity", "--merge", two, "--merge", one, "--json"),
      await runHere("capacity", "--merge", one, "--merge", two, "--json"),
    ];
    const repetitions = orders.map(({ stdout }) =>
      JSON.parse(stdout).unmeasured.map((run: { repetition: number }) => run.repetition),
    );
    expect(repetitions).toEqual([
      [1, 2],
      [1, 2],
    ]);

    // The other runs are there, and what was not measured is no figure of theirs.
    const last = join(scratch, "interrupted-late");
    const late = await runHereWith(capacityInterruptedAt(4), ...words.slice(0, -1), last);
    expect(late.code).toBe(3);
    const { runs } = capacityReportSchema.parse(JSON.parse(readFileSync(join(last, "report.json"), "utf8")));
    expect(runs.map(({ stoppedBy, virtualMicros }) => [stoppedBy, virtualMicros])).toEqual(
      Array.from({ length: 3 }, () => [undefined, 5_000_000]),
    );

    // A breach stands, if a whole run has it; half a run proves none.
    const breaks = ["--set", "objectives=[{ requests: { verb: list }, max: 1 }]"];
    expect((await runHereWith(capacityInterruptedAt(4), ...words.slice(0, -1), last, ...breaks)).code).toBe(1);
    expect((await runHereWith(capacityInterruptedAt(1), ...words.slice(0, -1), last, ...breaks)).code).toBe(3);

    // Once they are played elsewhere, they are there.
    const merged = await runHere("capacity", "--merge", first, "--merge", join(await playedWhole(), "report.json"));
    expect(merged.code).toBe(0);
    expect(merged.stdout).not.toMatch(/STOPPED|NOT PLAYED/);
  });
});

describe("an interrupt of find", () => {
  it("ends it with 3, and what was known by then is printed and kept", async () => {
    const folder = join(scratch, "found");
    const objectives = "objectives=[{ figure: refused, max: 0 }]";
    const range = ["--parameter", "workload.0.clients", "--from", "1", "--to", "9"];
    const changed = ["--set", "cluster.server.reads=2", "--set", "sweep=[]", "--set", objectives];
    const words = ["capacity", "find", lists, ...changed, ...range, "--output", folder];
    const { code, stdout } = await runHereWith(capacityInterruptedAt(3), ...words);
    expect(code).toBe(3);
    expect(stdout).toContain("It was interrupted: this is what was known by then.");
    expect(stdout).toContain("All objectives hold at workload.0.clients=1.\nAt workload.0.clients=9 one is broken:");
    expect(stdout).not.toContain("binds");
    expect(stdout).toBe(
      `${readFileSync(join(folder, "find.txt"), "utf8")}kept in: ${join(folder, "find.txt")}, and as find.json\n`,
    );
    expect(JSON.parse(readFileSync(join(folder, "find.json"), "utf8"))).toMatchObject({
      interrupted: true,
      tried: [{ value: 1 }, { value: 9 }],
    });
  });
});

describe("what is written", () => {
  it("is a page that asks for nothing, and tables for other programs", async () => {
    const folder = await playedWhole();
    const read = (name: string): string => readFileSync(join(folder, name), "utf8");
    const page = read("report.html");
    expect(page).toContain("What do lists cost?");
    expect(page).toContain('class="chart"');
    expect(page).not.toMatch(/<style[^>]*>:where|src="|href="http/);
    // Two arms of two repetitions, and each list is counted in both tables.
    const counts = (name: string): number =>
      read(name)
        .trim()
        .split("\n")
        .slice(1)
        .map((row) => Number(row.split(",").at(name === "requests.csv" ? 7 : 5)))
        .reduce((sum, each) => sum + each, 0);
    expect(counts("requests.csv")).toBe(10);
    expect(counts("seconds.csv")).toBe(10);
    const { dataItems } = JSON.parse(read("perf-dash.json")) as {
      dataItems: { data: { Perc99: number }; labels: { Verb: string } }[];
    };
    expect(dataItems.map(({ labels }) => labels.Verb)).toEqual(["LIST", "LIST", "LIST", "LIST"]);
    expect(dataItems[0]?.data.Perc99).toBeGreaterThan(20);
    expect(readFileSync(join(folder, "requests.parquet")).subarray(0, 4).toString()).toBe("PAR1");
    expect(read("metrics.prom")).toContain("apiserver_request_total");
  });

  it("is compared, with an exit code for what is worse", async () => {
    const [usual, dear] = [join(scratch, "usual"), join(scratch, "dear")];
    await played(lists, "--repetitions", "3", "--output", usual);
    await played(lists, "--repetitions", "3", "--output", dear, "--set", "costs.consistentReadMicros=50000");
    const reports = [join(usual, "report.json"), join(dear, "report.json")] as const;
    const worse = await runHere("capacity", "compare", ...reports);
    expect(worse.code).toBe(1);
    expect(worse.stdout).toMatch(/lists, p50 .*WORSE/);
    expect((await runHere("capacity", "compare", reports[0], reports[0])).code).toBe(0);
    expect((await runHere("capacity", "compare", ...reports, "--gate", "requests")).code).toBe(0);
    expect(await refusalHere("capacity", "compare", ...reports, "--gate", "request")).toContain(
      "did you mean requests?",
    );
    expect(await refusalHere("capacity", "compare", ...reports, "--gate", "nope")).toContain(
      "there is no such figure. There are requests;",
    );
    expect(await refusalHere("capacity", "compare", ...reports, "--gate", "refused")).toContain(
      "did you mean evictions that a budget refused?",
    );
    // Nothing was turned away on either side, which is good; a figure that is not there says nothing.
    const zero = await runHere("capacity", "compare", ...reports, "--gate", "turned away (429)");
    expect(zero).toMatchObject({ code: 0, stdout: expect.stringMatching(/turned away \(429\) +counted +0 +0 +=/) });
    expect(await refusalHere("capacity", "compare", ...reports, "--gate", "nodes drained")).toContain(
      "--gate nodes drained: there was nothing to take this figure from",
    );
    const alone = join(scratch, "alone");
    await played(lists, "--output", alone, "--set", "sweep=[]");
    expect(await refusalHere("capacity", "compare", reports[0], join(alone, "report.json"))).toContain(
      "several reports need arms of the same name, and",
    );
  });

  it("says what binds", async () => {
    // Kept where the report of a run goes.
    const name = `lists-${process.pid}`;
    const folder = join("out", "capacity", name);
    const found = await played(
      "find",
      lists,
      "--set",
      `name=${name}`,
      "--set",
      "cluster.server.reads=2",
      "--set",
      "sweep=[]",
      "--set",
      "objectives=[{ figure: refused, max: 0 }]",
      "--parameter",
      "workload.0.clients",
      "--from",
      "1",
      "--to",
      "9",
    );
    const kept = join(folder, "find.txt");
    expect(found.stdout).toContain(`\nkept in: ${kept}, and as find.json\n`);
    const text = readFileSync(kept, "utf8");
    rmSync(folder, { recursive: true });
    expect(text).toContain("What binds: reads in flight.");
    expect(found.stdout).toContain("All objectives hold at workload.0.clients=2.");
    expect(found.stdout).toContain("What binds: reads in flight.");
  });

  it("finds it in the arm that is named, and takes no flag of another command", async () => {
    const range = ["--parameter", "workload.0.clients", "--from", "1", "--to", "9"];
    const words = ["find", lists, ...range, "--output", join(scratch, "arms")] as const;
    const arms = "arms=[{ name: wide, set: {} }, { name: narrow, set: { cluster.server.reads: 2 } }]";
    const changed = ["--set", "sweep=[]", "--set", "objectives=[{ figure: refused, max: 0 }]", "--set", arms] as const;
    const first = await played(...words, ...changed);
    expect(first.stdout).toContain("Of the arm wide; --arm NAME plays another one: narrow.");
    expect(first.stdout).toContain("All objectives hold up to workload.0.clients=9");
    const narrow = await played(...words, ...changed, "--arm", "narrow");
    expect(narrow.stdout).toContain("All objectives hold at workload.0.clients=2.");
    expect(await refusalHere("capacity", ...words, ...changed, "--arm", "narow")).toContain("did you mean narrow?");
    for (const flag of ["--repetitions", "--threshold"])
      await expect(played(...words, flag, "3")).rejects.toThrow("Unexpected option");
  });

  it("refuses a parameter that is none, and an experiment that no value breaks", async () => {
    const ask = (...words: readonly string[]) =>
      refusalHere("capacity", "find", lists, "--from", "1", "--to", "9", "--parameter", ...words);
    expect(await ask("cluster.nodez")).toContain('cluster.nodez=1: cluster: there is no field "nodez"');
    // The number of nodes that it is looked for is judged, and not that of the file.
    const drain = ["--set", "workload=[{ do: drain, nodes: 9 }]", "--set", "sweep=[]"] as const;
    expect(await ask("cluster.nodes", ...drain)).toContain(
      "workload[0].nodes: 9 nodes cannot be drained: there is one",
    );
    const enough = refusalHere(
      "capacity",
      "find",
      lists,
      "--parameter",
      "cluster.nodes",
      "--from",
      "9",
      "--to",
      "12",
      ...drain,
      "--set",
      "cluster.nodes=1",
      "--set",
      "objectives=[]",
    );
    expect(await enough).toContain("objectives: there is none");
    expect(await ask("quick.cluster.nodes")).toContain(
      "--parameter quick.cluster.nodes: quick says which runs there are, and changing it from run to run does nothing: name what a run has, such as cluster.nodes.",
    );
    expect(await ask("cluster.nodes", "--set", "objectives=[]")).toContain("objectives: there is none");
  });
});
