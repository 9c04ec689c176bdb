import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { capsuleSchema } from "../../reports/schema/capsule.ts";
import { huntReportSchema } from "../../reports/schema/hunt-report.ts";
import { refusalHere, runHere } from "../command-here.fixture.ts";
import { saidHere } from "../said-here.fixture.ts";

const folder = mkdtempSync(join(tmpdir(), "hunt-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const canary = "scenarios/explore/canary.yaml";
const huntHere = (...words: readonly string[]) => runHere("hunt", canary, "--jobs", "1", ...words);
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
      failures: [{ count: 1, firstSeed: 100, capsule: "capsules/canary-1.json" }],
    });
    const capsule = JSON.parse(readFileSync(join(folder, "whole/capsules/canary-1.json"), "utf8"));
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
    expect(merged.stdout).toContain(`replay    npx touchstone replay ${join(folder, "2-2/capsules/canary-1.json")}`);
    expect(report("merged")).toMatchObject({
      seedCount: 40,
      seedsWanted: 40,
      failures: [{ count: 1, firstSeed: 100, capsule: "../2-2/capsules/canary-1.json" }],
    });
    const viewed = await runHere("view", join(folder, "merged"));
    expect(viewed).toEqual({ code: 0, stdout: merged.stdout });
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
    const file = join(folder, "bug/capsules/watch.one-live-1.json");
    const replayed = await saidHere("replay", file);
    expect(replayed.stdout).toContain("The same failure came back, at the same event");
    expect(replayed.code).toBe(1);
    const shrunk = await runHere("shrink", file, "--attempts", "40", "--json");
    expect(shrunk.code).toBe(0);
    expect(JSON.parse(shrunk.stdout)).toMatchObject({ file: file.replace(".json", ".shrunk.json") });
    expect((await runHere("replay", file.replace(".json", ".shrunk.json"))).stdout).toContain("at the same event");

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
