import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type EvictionSettings, evictionSignals, type EvictionSignal } from "../../../wire/eviction-thresholds.ts";
import type { AgentBugName } from "../../planted/agent-bugs.ts";
import { type Besides, type Entry, evictionWorld, second, type WorldPod } from "./eviction-world.fixture.ts";
import { pressureConditions } from "./look.ts";

/** Capacities are a hundred, and thresholds plain numbers: what is due can be reckoned without the code under test. */
const signals = ["memory.available", "nodefs.available", "nodefs.inodesFree", "pid.available"] as const;
type Signal = (typeof signals)[number];

interface Threshold {
  readonly signal: Signal;
  readonly value: number;
  readonly graceSeconds: number;
  readonly reclaim: number;
}

interface Story {
  readonly thresholds: readonly Threshold[];
  readonly transitionSeconds: number;
  readonly pods: readonly WorldPod[];
  readonly steps: readonly { readonly atSeconds: number; readonly besides: Besides }[];
  readonly figuresSeconds: number;
  readonly unusedImages: Besides;
}

const amount = fc.integer({ min: 0, max: 70 });
const small = fc.integer({ min: 0, max: 12 });
const besides = fc.record({ memory: amount, disk: amount, inodes: amount, pids: amount });

const threshold: fc.Arbitrary<Threshold> = fc.record({
  signal: fc.constantFrom(...signals),
  value: fc.integer({ min: 1, max: 60 }),
  graceSeconds: fc.constantFrom(0, 0, 10, 25, 60),
  reclaim: fc.constantFrom(0, 0, 5, 20),
});

const story: fc.Arbitrary<Story> = fc.record({
  thresholds: fc
    .uniqueArray(threshold, { minLength: 1, maxLength: 4, selector: ({ signal }) => signal })
    .map((each) => each.toSorted((left, right) => left.graceSeconds - right.graceSeconds)),
  transitionSeconds: fc.constantFrom(15, 30, 95),
  pods: fc
    .array(
      fc.record({
        priority: fc.constantFrom(0, 0, 5, -3),
        isCritical: fc.constantFrom(false, false, false, true),
        memoryRequest: small,
        graceSeconds: fc.constantFrom(0, 1, 4),
        uses: fc.record({ memory: small, disk: small, inodes: small, pids: small }),
        unmeasured: fc.constantFrom(false, false, false, false, true),
      }),
      { maxLength: 7 },
    )
    .map((pods) => pods.map((pod, index) => ({ ...pod, name: `p${index}` }))),
  steps: fc.array(fc.record({ atSeconds: fc.integer({ min: 0, max: 300 }), besides }), { minLength: 1, maxLength: 6 }),
  figuresSeconds: fc.constantFrom(1, 1, 15),
  unusedImages: fc.record({ disk: small, inodes: small }),
});

function play({ thresholds, transitionSeconds, pods, steps, figuresSeconds, unusedImages }: Story, bug?: AgentBugName) {
  const map = (of: readonly Threshold[], text: (at: Threshold) => string) =>
    Object.fromEntries(of.map((at) => [at.signal, text(at)]));
  const soft = thresholds.filter(({ graceSeconds }) => graceSeconds > 0);
  const settings: EvictionSettings = {
    evictionHard: map(
      thresholds.filter(({ graceSeconds }) => graceSeconds === 0),
      ({ value }) => String(value),
    ),
    evictionSoft: map(soft, ({ value }) => String(value)),
    evictionSoftGracePeriod: map(soft, ({ graceSeconds }) => `${graceSeconds}s`),
    evictionMinimumReclaim: map(thresholds, ({ reclaim }) => String(reclaim)),
    evictionPressureTransitionPeriod: `${transitionSeconds}s`,
    evictionMaxPodGracePeriod: 2,
  };
  const figuresMicros = figuresSeconds * second;
  const world = evictionWorld({
    settings,
    pods,
    figuresMicros,
    unusedImages,
    bugs: bug === undefined ? [] : [bug],
  });
  for (const { atSeconds, besides: used } of steps.toSorted((left, right) => left.atSeconds - right.atSeconds)) {
    world.run(atSeconds);
    world.use(used);
  }
  world.run(450);
  return world.entries;
}

/** What is wrong with a history of a node; undefined when nothing is. */
function faultOf({ thresholds, transitionSeconds, pods }: Story, entries: readonly Entry[]): string | undefined {
  const passes = passesOf(entries);
  const since = new Map<Threshold, number>();
  const drove = new Set<Threshold>();
  const lastHeld = new Map<string, number>();
  let before: Pass | undefined;
  for (const pass of passes) {
    const seen = pass.look.seen.observations;
    const fresh = (signal: EvictionSignal): boolean =>
      before === undefined ||
      (seen[signal]?.takenMicros as number) > (before.look.seen.observations[signal]?.takenMicros as number);
    const available = (signal: EvictionSignal): number => seen[signal]?.available as number;
    const held = thresholds.filter(
      (at) => available(at.signal) < at.value || (drove.has(at) && available(at.signal) < at.value + at.reclaim),
    );
    for (const at of thresholds) {
      if (!held.includes(at)) since.delete(at);
      else if (!since.has(at)) since.set(at, pass.look.atMicros);
    }
    const driving = held.filter((at) => pass.look.atMicros - (since.get(at) as number) >= at.graceSeconds * second);
    drove.clear();
    for (const at of driving) drove.add(at);
    const due = driving.filter(({ signal }) => fresh(signal));
    for (const { signal } of held) lastHeld.set(evictionSignals[signal].condition, pass.look.atMicros);

    const expected = pressureConditions.filter((condition) => {
      const last = lastHeld.get(condition);
      return last !== undefined && pass.look.atMicros - last < transitionSeconds * second;
    });
    if (expected.join() !== pass.look.conditions.join()) return `conditions ${pass.look.conditions}, not ${expected}`;
    if (pass.kills.length > 1) return `${pass.kills.length} evictions at one look`;
    const critical = pass.kills.find((name) => pods.find((pod) => pod.name === name)?.isCritical === true);
    if (critical !== undefined) return `${critical} is exempt`;
    if (pass.kills.length > 0 && due.length === 0) return `${pass.kills} evicted without need`;
    if (due.length > 0 && pass.outcome === undefined && pass !== passes.at(-1)) return "a due pass without outcome";
    if (due.length > 0 && pass.outcome?.is === "calm") return "a due pass that does nothing";
    if (pass.outcome?.is === "nobody" && pass.outcome.why === "no pod may go") {
      const left = pods.filter(({ name, isCritical }) => isCritical !== true && !goneBefore(entries, pass).has(name));
      if (left.length > 0) return `nobody may go, and ${left[0]?.name} may`;
    }
    if (pass.outcome?.is === "reclaimed" && pass.kills.length > 0) return "reclaimed and evicted";
    before = pass;
  }
  return undefined;
}

interface Pass {
  readonly look: Extract<Entry, { is: "look" }>;
  readonly kills: readonly string[];
  readonly outcome: Extract<Entry, { is: "outcome" }>["outcome"] | undefined;
}

function passesOf(entries: readonly Entry[]): Pass[] {
  const passes: { look: Pass["look"]; kills: string[]; outcome: Pass["outcome"] }[] = [];
  for (const entry of entries) {
    if (entry.is === "look") passes.push({ look: entry, kills: [], outcome: undefined });
    else if (entry.is === "kill") passes.at(-1)?.kills.push(entry.pod);
    else if (entry.is === "outcome") (passes.at(-1) as (typeof passes)[number]).outcome = entry.outcome;
  }
  return passes;
}

function goneBefore(entries: readonly Entry[], pass: Pass): Set<string> {
  const gone = entries.slice(0, entries.indexOf(pass.look));
  return new Set(gone.flatMap((entry) => (entry.is === "kill" ? [entry.pod] : [])));
}

describe("eviction over random usage", () => {
  it("keeps its laws over 1,000 seeds", () => {
    let evictions = 0;
    fc.assert(
      fc.property(story, (told) => {
        const entries = play(told);
        evictions += entries.filter(({ is }) => is === "kill").length;
        expect(faultOf(told, entries)).toBeUndefined();
      }),
      { numRuns: 1000, seed: 1 },
    );
    expect(evictions).toBeGreaterThan(500); // laws that nothing put to the test would prove nothing
  }, 60_000);

  it.each<AgentBugName>([
    "evict-at-the-threshold",
    "evict-soft-without-grace",
    "evict-two-a-look",
    "evict-critical-static",
    "evict-min-reclaim-too-little",
    "evict-pressure-flap",
  ])("finds %s", (bug) => {
    const { failed } = fc.check(
      fc.property(story, (told) => faultOf(told, play(told, bug)) === undefined),
      { numRuns: 300, seed: 1 },
    );
    expect(failed).toBe(true);
  });
});
