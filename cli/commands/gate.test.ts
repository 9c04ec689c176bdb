/** The suite as a gate: what passes, what fails, what is kept and told, and how saved reports are shown. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { suiteEventSchema } from "../../reports/schema/suite-event.ts";
import { suiteReportSchema } from "../../reports/schema/suite-report-schema.ts";
import { renderSchema, schemaNames } from "../../reports/schema/published.ts";
import { refusalHere, runHere } from "../command-here.fixture.ts";
import { cleanUp, scratch, scratchFile, start } from "../spawned-command.fixture.ts";

afterAll(cleanUp);

const check = "watch-starts-after-its-version";
const finding = `watch.after-version/${check}`;
const fault = ["--fault", "watch-start-inclusive"];
// The second check holds whatever is planted here: a run in which nothing is proven is no pass.
const judge = ["conform", "--only", `${check},discovery-says-what-is-served`, "--runs", "5", "--jobs", "1"];
const at = (name: string): string => join(scratch, name);
const text = (name: string): string => readFileSync(at(name), "utf8");

const eventsOf = (lines: string) =>
  lines
    .trimEnd()
    .split("\n")
    .map((line) => suiteEventSchema.parse(JSON.parse(line)));

describe("a run for a gate", { timeout: 180_000 }, () => {
  it("passes a conformant target with an optional feature off, and lists what that leaves out", async () => {
    const { code, stdout } = await runHere("conform", "--only", "streaming,errors", "--runs", "20", "--jobs", "1");
    expect(stdout).toMatch(/UNSUPPORTED: the target does not claim them \(\d+\)\n {2}streaming\./);
    expect(code).toBe(0);
  });

  it("never passes a run that proved nothing", async () => {
    const { code, stdout } = await runHere("conform", "--only", "streaming", "--jobs", "1");
    expect(stdout).toContain("INCONCLUSIVE");
    expect(code).toBe(3);
  });

  it("leaves a partial report when it is interrupted, embedded too", async () => {
    const conform = start(
      "conform",
      "--only",
      "watch",
      "--jobs",
      "2",
      "--format",
      "ndjson",
      "--report",
      at("interrupted"),
    );
    await conform.firstLine;
    conform.child.kill("SIGINT");
    const { code, stdout, stderr } = await conform.ended;
    expect(stderr).toContain("Stopping");
    expect(eventsOf(stdout).at(-1)).toMatchObject({ type: "ended", complete: false, exitCode: 3 });
    expect(JSON.parse(text("interrupted/report.json"))).toMatchObject({ complete: false });
    expect(code).toBe(3);
  });
});

describe("what a run writes", () => {
  it.each([
    ["--report", "x"],
    ["--write-baseline", ""],
    ["--events", ""],
  ])("is tried before the run: %s", async (flag, below) => {
    const file = flag === "--report" ? join(scratchFile("file", ""), below) : scratch;
    expect(await refusalHere(...judge, flag, file)).toMatch(/^--[\w-]+ .*: cannot be written: .* Name another f/);
  });

  it("is refused where nobody can make a folder", async () => {
    expect(await refusalHere(...judge, "--report", "/proc/none")).toMatch(
      /^--report \/proc\/none: cannot be written: /,
    );
  });

  it("is of this run: evidence that an earlier one left goes away", async () => {
    await runHere(...judge, ...fault, "--report", at("again"));
    expect(readdirSync(at("again/failures"))).toEqual([`${check}.json`]);
    await runHere(...judge, "--report", at("again"));
    expect(readdirSync(at("again/failures"))).toEqual([]);
    await runHere(...judge, ...fault, "--report", at("again"));
    writeFileSync(at("again/failures/mine.json"), "{}");
    await runHere("conform", "--only", "discovery-says-what-is-served", "--jobs", "1", "--report", at("again"));
    expect(readdirSync(at("again/failures"))).toEqual(["mine.json"]);
  });
});

describe("a baseline", () => {
  it("is written, lets what it expects pass, and fails once it is stale", async () => {
    const written = await runHere(...judge, ...fault, "--write-baseline", at("b.yaml"));
    expect(written.code).toBe(1);
    expect(text("b.yaml")).toContain(`finding: ${finding.split("/")[0]}\n`);

    const expected = await runHere(...judge, ...fault, "--baseline", at("b.yaml"));
    expect(expected.stdout).toContain("NONCONFORMANT, of a part of the requirements only\ngate passed by the baseline");
    expect(expected.code).toBe(0);

    const stale = await runHere(...judge, "--baseline", at("b.yaml"), "--write-baseline", at("after.yaml"));
    expect(stale.stdout).toContain(
      `STALE in the baseline: these no longer occur; remove the entries (1)\n  ${finding.split("/")[0]}\n`,
    );
    expect(stale.code).toBe(1);
    expect(text("after.yaml")).toContain("expected: []");
  });

  it("keeps its reasons, and what the run did not judge", async () => {
    const entry = (id: string, reason: string): string => `  - finding: ${id}\n    reason: ${reason}\n`;
    const known = entry(finding, "an old bug") + entry("lists.key-order/lists-come-in-key-order", "another");
    const file = scratchFile("known.yaml", `apiVersion: baselines/v1\nkind: Baseline\nexpected:\n${known}`);
    const { code } = await runHere(...judge, ...fault, "--baseline", file, "--write-baseline", at("kept.yaml"));
    expect(text("kept.yaml")).toContain(`expected:\n${known}`);
    expect(code).toBe(0);
  });

  it.each([
    ["watch.after-versio", check, "no requirement is called watch.after-versio. Near names: watch.after-version"],
    ["watch.after-version", "watch-starts", "no check is called watch-starts."],
    ["watch.after-version", "stale:nothing", "no deviation is called nothing."],
  ])("is refused when it names what is not there: %s/%s", async (requirement, by, what) => {
    const entry = `{ finding: "${requirement}/${by}", reason: r }`;
    const file = scratchFile("unknown.yaml", `{ apiVersion: baselines/v1, kind: Baseline, expected: [${entry}] }`);
    expect(await refusalHere(...judge, "--baseline", file)).toContain(what);
  });

  it("is refused with its place when it is none", async () => {
    const refused = await refusalHere(...judge, "--baseline", scratchFile("odd.yaml", "kind: Baseline\n"));
    expect(refused).toMatch(/^--baseline: .*odd\.yaml:1:1: apiVersion: /);
  });

  it.each([
    ["--baseline", at("b.yaml")],
    ["--write-baseline", at("w.yaml")],
    ["--events", at("e")],
    ["--format", "html"],
  ])("does not go with a trial of the suite: %s", async (flag, value) => {
    scratchFile("b.yaml", "{ apiVersion: baselines/v1, kind: Baseline, expected: [] }");
    expect(await refusalHere("conform", "--seeds", "1", flag, value)).toContain(`leave ${flag}`);
  });
});

describe("events", () => {
  it("are told line by line from the start to the end, the same into a file", async () => {
    const { code, stdout } = await runHere(...judge, ...fault, "--format", "ndjson", "--events", at("events.ndjson"));
    const events = eventsOf(stdout);
    expect(text("events.ndjson")).toBe(stdout);
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, i) => i));
    expect(events.map(({ type }) => type).filter((type) => type !== "phase")).toEqual([
      "started",
      "planned",
      "check-started",
      "check-ended",
      "finding",
      "check-started",
      "check-ended",
      "ended",
    ]);
    expect(events.find(({ type }) => type === "finding")).toMatchObject({ finding, failure: { finding, check } });
    expect(events.at(-1)).toMatchObject({ conclusion: "nonconformant", gate: "failed", exitCode: code });
  });

  it.each(["1", "2"])("tell a finding as soon as its check has ended, shrunk, with %s threads", async (jobs) => {
    const checks = ["empty-lists-are-lists", "watch-is-ordered"] as const;
    const only = ["--only", checks.join(), "--runs", "5", "--jobs", jobs];
    const { stdout } = await runHere("conform", ...only, ...fault, "--format", "ndjson", "--report", at("told"));
    const events = eventsOf(stdout);
    const told = events.findIndex(({ type }) => type === "finding");
    const ended = events.findIndex((event) => event.type === "check-ended" && event.check === checks[0]);
    expect(ended).toBeLessThan(told);
    // Other threads may tell something in between.
    if (jobs === "1") expect(events[told + 1]).toMatchObject({ type: "check-started", check: checks[1] });
    const { failure } = events[told] as Extract<(typeof events)[number], { type: "finding" }>;
    expect(failure).toEqual(JSON.parse(text(`told/failures/${checks[0]}.json`)));
    expect(failure.replay).toContain(fault.join(" "));
  });
});

describe("touchstone view", () => {
  it("makes every form again from what a run has saved", async () => {
    await runHere(...judge, ...fault, "--report", at("broken"));
    expect(readdirSync(at("broken")).toSorted()).toEqual([
      "badge.json",
      "badge.svg",
      "failures",
      "junit.xml",
      "report.html",
      "report.json",
      "report.md",
      "report.txt",
    ]);
    expect(suiteReportSchema.parse(JSON.parse(text("broken/report.json")))).toEqual(
      JSON.parse(text("broken/report.json")),
    );
    const forms = [
      ["html", "report.html"],
      ["markdown", "report.md"],
      ["json", "report.json"],
      ["junit", "junit.xml"],
      ["badge", "badge.svg"],
      ["badge-json", "badge.json"],
    ] as const;
    for (const [format, file] of forms) {
      const { stdout } = await runHere("view", at("broken/report.json"), "--format", format, "--output", "-");
      expect(stdout).toBe(text(`broken/${file}`));
    }
  });

  it("puts several side by side, named by their folders", async () => {
    await runHere(...judge, "--report", at("sound"));
    const { stdout } = await runHere("view", at("broken"), at("sound"), "--format", "text");
    expect(stdout).toMatch(/^broken: nonconformant, .*\nsound: conformant, /);
    expect(stdout).toMatch(/1 difference +broken +sound\nwatch\.after-version +failed +passed\n/);
    const page = await runHere("view", at("broken"), at("sound"), "--output", at("both.html"));
    expect([page.stdout, page.code]).toEqual([`${at("both.html")}\n`, 0]);
    expect(text("both.html")).toContain("broken, sound side by side");
    expect(await refusalHere("view", at("broken"), at("sound"), "--format", "junit")).toContain("is for one report");
  });

  it("prints every published schema", async () => {
    for (const name of schemaNames) expect((await runHere("view", "--schema", name)).stdout).toBe(renderSchema(name));
  });

  it("refuses what is no report, with the place and what to do", async () => {
    expect(await refusalHere("view")).toContain("nothing was named. Give the report.json");
    expect(await refusalHere("view", scratch)).toBe(
      `${scratch}: there is no report.json in it. Give the report.json that \`touchstone conform --report DIR\` or \`touchstone hunt --output DIR\` wrote, or DIR; a trace of \`touchstone run\`; or a capsule of \`touchstone hunt\`.`,
    );
    expect(await refusalHere("view", scratchFile("lines", "a\nb\n"))).not.toContain("\n");
    const other = scratchFile("other.json", JSON.stringify({ apiVersion: "reports/v2", kind: "SuiteReport" }));
    expect(await refusalHere("view", other)).toContain("other.json: apiVersion: ");
    expect(await refusalHere("view", other, "--schema", "report")).toContain("leave the files out");
    expect(await refusalHere("conform", "--json", "--format", "html")).toContain("both say what to print");
    expect(existsSync(at("report.html"))).toBe(false);
  });
});
