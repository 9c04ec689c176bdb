/** What `run` tells a person who wants to see a failure again and to understand it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { saidHere } from "../said-here.fixture.ts";
import { cleanUp, root, scratch, scratchFile } from "../spawned-command.fixture.ts";

afterAll(cleanUp);

const scenario = "scenarios/one-broken-link.yaml";
/** Whoever notices the broken link this late has not caught up when it should have. */
const late = (): string =>
  scratchFile("late.yaml", readFileSync(join(root, scenario), "utf8").replace("detect: 3s", "detect: 40s"));

describe("touchstone run", { timeout: 300_000 }, () => {
  it("tells of a failed expectation what was promised, what was there, and by which requests that came about, and when", async () => {
    const { code, stdout } = await saidHere("run", late());
    expect(code).toBe(1);
    const told = stdout.slice(stdout.indexOf("FAILED informer.converges by 20 s"));
    expect(told).toMatch(
      /\n {2}promised {2}\S.*\n {2}expected {2}informer-1 holds \S+ at version \d+\n {2}actual {4}\S/,
    );
    expect(told).toMatch(
      /\n {2}evidence {2}informer-1 asked at \d+\.\d+ s to watch from version \d+: .* the last of version \d+\n/,
    );
  });

  it("--trace writes the run as lines that a person reads, each with its time, beside a legend of its signs", async () => {
    const file = join(scratch, "late.txt");
    await saidHere("run", late(), "--trace", file);
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    const [legend, told] = [
      lines.filter((line) => line.startsWith("#")),
      lines.filter((line) => !line.startsWith("#")),
    ];
    const signs = legend.flatMap((line) => /^# (\S) {2}\S/.exec(line)?.[1] ?? []);
    expect(signs.length).toBeGreaterThan(8);
    expect(told.length).toBeGreaterThan(100);
    for (const line of told) expect(line).toMatch(/^ *\d+\.\d{6} \S/);
    expect(told.some((line) => line.includes("partition"))).toBe(true);
  });

  it("--reruns plays as often as it says, and as often in a thread of its own; it is about --check-determinism", async () => {
    const told = await saidHere("run", scenario, "--check-determinism", "--reruns", "3");
    expect(told.code).toBe(0);
    const times = "Played 7 times, 3 of them in a thread of its own";
    expect(told.stdout).toContain(`${times}: the same trace, record for record.`);
    const alone = await saidHere("run", scenario, "--reruns", "3");
    expect(alone.code).toBe(2);
    expect(alone.stderr).toContain("--check-determinism");
  });

  it("--seeds that is interrupted tells what it has played, and ends with 3", async () => {
    const before = process.listenerCount("SIGINT");
    const timer = setInterval(() => {
      if (process.listenerCount("SIGINT") === before) return;
      clearInterval(timer);
      process.emit("SIGINT");
    }, 50);
    const words = ["run", "scenarios/regress/watch-half-open-silence.yaml", "--seeds", "10000"];
    const { code, stdout, stderr } = await saidHere(...words).finally(() => clearInterval(timer));
    expect(code).toBe(3);
    expect(stderr).toContain("Stopping; what was played is told.");
    const [, played, left] =
      /^(\d+) seeds, none failed\ncut short: (\d+) of 10000 seeds were not played\n/.exec(stdout) ?? [];
    expect(Number(played) + Number(left)).toBe(10_000);
    expect(process.listenerCount("SIGINT")).toBe(before);
  });

  it("--seeds plays many and says which fail; --profile and --fault change what is played", async () => {
    const silence = ["run", "scenarios/regress/watch-half-open-silence.yaml", "--seeds", "2"];
    const good = await saidHere(...silence);
    expect([good.code, good.stdout.split("\n")[0]]).toEqual([0, "2 seeds, none failed"]);
    const bad = await saidHere(...silence, "--fault", "watch-half-open-silence");
    expect(bad.code).toBe(1);
    expect(bad.stdout).toMatch(/^FAILED seed 1 at 60 s: informer\.converges: \S.*\nFAILED seed 2 at 60 s: /);
    const branded = await saidHere("run", scenario, "--profile", "kubernetes");
    expect(branded.stdout.split("\n")[0]).toContain("profile kubernetes");
  });
});
