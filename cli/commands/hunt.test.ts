import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { capsuleSchema } from "../../reports/schema/capsule.ts";
import { huntReportSchema } from "../../reports/schema/hunt-report.ts";
import { refusalHere, runHere } from "../command-here.fixture.ts";
import { saidHere } from "../said-here.fixture.ts";
import { root } from "../spawned-command.fixture.ts";
import { huntName } from "../targets/hunt-store.ts";

const folder = mkdtempSync(join(tmpdir(), "hunt-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const canary = "scenarios/explore/canary.yaml";
const huntHere = (...words: readonly string[]) => runHere("hunt", canary, "--jobs", "1", ...words);
const nameOf = (scenario: string, mode: "lite" | "swarm", ...bugs: string[]): string =>
  huntName({
    scenario: readFileSync(join(root, scenario), "utf8"),
    scenarioName: scenario,
    profile: "svc",
    mode,
    bugs,
  });
const canaryCapsule = `capsules/canary-seed-100-${nameOf(canary, "lite")}.json`;
const report = (name: string) =>
  huntReportSchema.parse(JSON.parse(readFileSync(join(folder, name, "report.json"), "utf8")));

describe("hunt", () => {
  it("finds the canary, leaves a capsule, goes on where it was, and its parts merge into the whole", {
    timeout: 240_000,
  }, async () => {
    const whole = await saidHere(
      "hunt",
      canary,
      "--seeds",
      "81..120",
      "--jobs",
      "2",
      "--output",
      join(folder, "whole"),
    );
    expect(whole.code, whole.stderr).toBe(1);
    expect(whole.stdout).toContain("FAILED 1 seed: canary");
    expect(report("whole")).toMatchObject({
      seedCount: 40,
      failures: [{ count: 1, firstSeed: 100, capsule: canaryCapsule }],
    });
    const capsule = JSON.parse(readFileSync(join(folder, "whole", canaryCapsule), "utf8"));
    expect(capsuleSchema.parse(capsule)).toMatchObject({ seed: 100, bugs: [], faults: [] });

    // A hunt's threads each load the simulator: from here on it is played in this one.
    const again = await huntHere("--seeds", "81..130", "--output", join(folder, "whole"), "--json");
    expect(JSON.parse(again.stdout)).toMatchObject({ seedCount: 50, failures: [{ count: 1 }] });
    // What else was played there is another question.
    const few = await huntHere("--seeds", "81..85", "--output", join(folder, "whole"), "--json");
    expect(JSON.parse(few.stdout)).toMatchObject({ seedCount: 5, seedsNow: 0, failures: [] });
    expect(few.code).toBe(0);

    for (const part of ["1/2", "2/2"])
      await huntHere("--seeds", "81..120", "--shard", part, "--output", join(folder, part.replace("/", "-")));
    const parts = ["1-2", "2-2"].map((name) => join(folder, name, "report.json"));
    const merged = await runHere(
      "hunt",
      ...parts.flatMap((part) => ["--merge", part]),
      "--output",
      join(folder, "merged"),
    );
    expect(merged.stdout).toContain(`replay    npx touchstone replay ${join(folder, "2-2", canaryCapsule)}`);
    expect(report("merged")).toMatchObject({
      seedCount: 40,
      seedsWanted: 40,
      failures: [{ count: 1, firstSeed: 100, capsule: `../2-2/${canaryCapsule}` }],
    });
    const viewed = await runHere("view", join(folder, "merged"));
    expect(viewed).toEqual({ code: 0, stdout: merged.stdout });
  });

  it("leaves another hunt's capsules as they are, and says that the report was another's", {
    timeout: 60_000,
  }, async () => {
    const output = ["--seeds", "100..100", "--jobs", "1", "--output", join(folder, "two")];
    const first = await saidHere("hunt", canary, ...output, "--mode", "lite");
    const capsule = readFileSync(join(folder, "two", canaryCapsule));
    expect(first.stderr).toBe("");
    const second = await saidHere("hunt", canary, ...output, "--mode", "swarm");
    const [lite, swarm] = [nameOf(canary, "lite"), nameOf(canary, "swarm")];
    expect(second.stdout).toMatch(`mode swarm, hunt ${swarm}\n`);
    expect(second.stderr).toContain(`report.json was of another hunt (canary, profile svc, mode lite, build`);
    expect(second.stderr).toContain(`hunt ${lite}) and is of this one now.`);
    const names = [lite, swarm].map((name) => `canary-seed-100-${name}.json`);
    expect(readdirSync(join(folder, "two/capsules")).sort()).toEqual(names.sort());
    expect(readFileSync(join(folder, "two", canaryCapsule))).toEqual(capsule);
    const again = await huntHere(...output.slice(0, 2), ...output.slice(4), "--mode", "lite", "--json");
    expect(JSON.parse(again.stdout)).toMatchObject({ hunt: lite, seedCount: 1, seedsNow: 0 });
  });

  it("leaves the capsule that the guides name, where they hunt", { timeout: 120_000 }, async () => {
    const guides = ["docs/simulating.md", "cli/command-line.ts"].map((path) => readFileSync(join(root, path), "utf8"));
    const told = guides.flatMap((text) => [
      ...text.matchAll(/out\/hunts\/informers\/(capsules\/\S+?)(?:\.shrunk)?\.json/g),
    ]);
    expect(told.length).toBeGreaterThan(6);
    const [, hunted = ""] = /^npx touchstone (hunt .*--fault .*)$/m.exec(guides[0] ?? "") ?? [];
    const { code } = await runHere(...hunted.split(" "), "--jobs", "1", "--output", join(folder, "guide"));
    expect(code).toBe(1);
    expect(new Set(told.map(([, path]) => `${path}.json`))).toEqual(new Set([report("guide").failures[0]?.capsule]));
  });

  it("leaves what replays at the same event, and shrinks", { timeout: 240_000 }, async () => {
    const hunted = await runHere(
      "hunt",
      "scenarios/one-broken-link.yaml",
      "--seeds",
      "3",
      "--fault",
      "client-double-done-duplicate-watch",
      "--jobs",
      "1",
      "--output",
      join(folder, "bug"),
    );
    expect(hunted.code).toBe(1);
    const file = join(folder, "bug", report("bug").failures[0]?.capsule ?? "");
    expect(file).toMatch(/watch\.one-live-seed-[123]-[0-9a-f]{6}\.json$/);
    const replayed = await saidHere("replay", file);
    expect(replayed.stdout).toContain("The same failure came back, at the same event");
    expect(replayed.code).toBe(1);
    const shrunk = await runHere("shrink", file, "--attempts", "40", "--json");
    expect(shrunk.code).toBe(0);
    expect(JSON.parse(shrunk.stdout)).toMatchObject({ file: file.replace(".json", ".shrunk.json") });
    expect((await runHere("replay", file.replace(".json", ".shrunk.json"))).stdout).toContain("at the same event");

    // Ctrl-C after the first attempts: what they found is kept.
    const small = readFileSync(file.replace(".json", ".shrunk.json"), "utf8");
    const [sooner, listeners] = [join(folder, "sooner.json"), process.listenerCount("SIGINT")];
    let turns = 0;
    const timer = setInterval(() => {
      if (process.listenerCount("SIGINT") > listeners && ++turns === 3) process.emit("SIGINT");
    });
    const cut = await saidHere("shrink", file, "--output", sooner).finally(() => clearInterval(timer));
    expect(cut.stderr).toContain("Stopping; the smallest that was found is kept.");
    expect(cut.stdout).toMatch(/^from {2}.*\nto {4}.*\nin \d+ attempts, cut short: \S+sooner\.json\n$/);
    expect(cut.code).toBe(3);
    expect(process.listenerCount("SIGINT")).toBe(listeners);
    expect(capsuleSchema.parse(JSON.parse(readFileSync(sooner, "utf8"))).failure.signature).toBe(
      JSON.parse(small).failure.signature,
    );

    const mended = JSON.parse(readFileSync(file, "utf8"));
    writeFileSync(join(folder, "mended.json"), JSON.stringify({ ...mended, bugs: [] }));
    // Told before anything is played: else it would be that the failure does not come back.
    const nowhere = ["--output", "package.json/x.json"] as const;
    expect(await refusalHere("shrink", join(folder, "mended.json"), ...nowhere)).toContain(
      "--output package.json/x.json: cannot be written",
    );
    const gone = await runHere("replay", join(folder, "mended.json"));
    expect(gone).toMatchObject({ code: 0, stdout: expect.stringContaining("Not reproduced") });
    writeFileSync(join(folder, "other.json"), JSON.stringify({ ...mended, seed: mended.seed + 1 }));
    expect((await runHere("replay", join(folder, "other.json"))).stdout).toContain("by another way: then at record");
    writeFileSync(join(folder, "broken.json"), JSON.stringify({ ...mended, seed: -1 }));
    expect(await refusalHere("replay", join(folder, "broken.json"))).toContain("broken.json: seed: ");
  });

  it.each([
    [["hunt"], "no scenario was named"],
    [["hunt", canary, "--seeds", "9..1"], "Expected a range of seeds"],
    [["hunt", canary, "--shard", "3/2"], "Expected a part such as 2/3"],
  ])("%j is a usage error that says what", { timeout: 60_000 }, async (args, message) => {
    const { code, stderr } = await saidHere(...args);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });

  it.each([
    [["hunt", "--worker"], "give --queue URL"],
    [["hunt", canary, "--queue", "http://x"], "expected the URL of a Redis server"],
    [["hunt", "--merge", "package.json"], "Give the report.json of a hunt"],
    [
      ["hunt", canary, "--queue", "redis://127.0.0.1:1"],
      "--queue redis://127.0.0.1:1: nothing listens there. Start a Redis server",
    ],
    [["hunt", canary, "--output", "package.json/x"], "--output package.json/x: cannot be written"],
    [["serve", "--data-dir", "package.json"], "--data-dir package.json: cannot be written: package.json is a file"],
    [["serve", "--nodes", "many"], "--nodes many: neither a number of nodes nor a file"],
    [["shrink", "package.json"], "this is no capsule"],
    [["replay", "package.json"], "or a capsule of `touchstone hunt`"],
  ])("refuses %j, and says what to do", async (args, message) => {
    expect(await refusalHere(...args)).toContain(message);
  });
});
