import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { histories, type Recorded } from "./histories.ts";
import { pairs, type Seen } from "./observed.fixture.ts";
import { type History, play } from "./replay.fixture.ts";

/** Where within the second the recorded agent looked at its runtime is not told: the best of these is taken. */
const phases = [0.05, 0.25, 0.45, 0.65, 0.85];

const kinds = ["statuses", "events", "calls"] as const;

/**
 * Rows that may differ, counting both sides, and why.
 *
 * A wait after a failure is drawn from ten to fifteen seconds: near the recording's end one more or one fewer falls into
 * it. So does a sandbox's removal, which comes with the minute that the agent counts from its own start.
 */
const tolerated: Readonly<Record<string, readonly [rows: number, why: string]>> = {
  "command-not-found": [2, "one look more or fewer, by the draw of the waits"],
  "fails-onfailure": [2, "one look more or fewer, by the draw of the waits"],
  "image-cannot-be-pulled": [2, "looks more or fewer, by the draw of the waits"],
  "liveness-fails": [4, "a probe that meets the new container's start, by the phase of its period"],
  "prestop-outlives-grace": [3, "the sandbox goes with the minute"],
  "static-pod": [2, "a mirror is told of its pod with the next status of any other pod, and a replay has no other"],
};

interface Score {
  readonly paired: readonly (readonly [Seen, Seen])[];
  readonly all: number;
  readonly replay: History;
}

function score(recorded: Recorded, phase: number): Score {
  const ends = Math.max(...kinds.flatMap((kind) => recorded[kind].map(({ at }) => at)));
  const replay = play(recorded, ends + 0.5, phase, `recorded ${recorded.name} ${phase}`);
  const paired = kinds.flatMap((kind) => pairs(recorded[kind], replay[kind]));
  const all = kinds.reduce((sum, kind) => sum + Math.max(recorded[kind].length, replay[kind].length), 0);
  return { paired, all, replay };
}

/** Before anything that the agent draws by chance: ten seconds after the pod's beginning. */
const drawnAfterSeconds = 10;

describe("recorded histories of a live agent", () => {
  const totals = { same: 0, all: 0, inTime: 0, timed: 0 };

  it.each(histories.map((recorded) => [recorded.name, recorded] as const))("%s", (name, recorded) => {
    const best = phases
      .map((phase) => score(recorded, phase))
      .reduce((one, other) => (other.paired.length * one.all > one.paired.length * other.all ? other : one));
    totals.same += best.paired.length;
    totals.all += best.all;
    for (const [there, here] of best.paired) {
      if (there.at > drawnAfterSeconds) continue;
      totals.timed++;
      if (Math.abs(there.at - here.at) <= Math.max(1, there.at / 10)) totals.inTime++;
    }
    const differing = best.all - best.paired.length;
    const [rows, why] = tolerated[name] ?? [0, "none"];
    const lists = kinds.map((kind) => `${kind}\n- ${shown(recorded[kind])}\n+ ${shown(best.replay[kind])}`).join("\n");
    expect(differing, `rows of ${name} that differ; tolerated: ${why}\n${lists}`).toBeLessThanOrEqual(rows);
  });

  it("are reproduced: at least 95 rows of 100, and in time but for what is drawn", () => {
    expect(totals.same / totals.all).toBeGreaterThan(0.95);
    expect(totals.inTime / totals.timed).toBeGreaterThan(0.95);
  });

  it("differ in what docs/agent.md lists, with the reasons", () => {
    const page = readFileSync(new URL("../../../docs/agent.md", import.meta.url), "utf8");
    const listed = [...page.matchAll(/^\| `([a-z0-9-]+)` \| (\d+) \| (.+) \|$/gm)].map(([, ...cells]) => cells);
    expect(listed).toEqual(Object.entries(tolerated).map(([name, [rows, why]]) => [name, String(rows), why]));
  });

  it("are held against what differs", () => {
    const row = (text: string): Seen => ({ at: 0, text });
    expect(pairs(["a", "b", "c"].map(row), ["b", "a", "c"].map(row))).toHaveLength(2);
    expect(pairs([row("a")], [row("b")])).toEqual([]);
  });
});

const shown = (rows: readonly Seen[]): string => rows.map(({ at, text }) => `${at} ${text}`).join("\n  ");
