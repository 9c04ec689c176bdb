import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CriAnswer, CriRequest } from "../../../wire/cri.ts";
import type { Image } from "../../../wire/cri-messages.ts";
import type { CriRuntime } from "../../cri/cri-port.ts";
import { Kernel } from "../../kernel/kernel.ts";
import { imageLawWith } from "../planted/image-bugs.ts";
import { type AgentBugName, type AgentBugs, agentBugsOn } from "../../planted/agent-bugs.ts";
import type { ImageOptions } from "../ports.ts";
import { ImageCollector } from "./image-collector.ts";

const second = 1_000_000;
const minute = 60 * second;

interface Plan {
  readonly name: string;
  readonly size: number;
  readonly pinned?: boolean;
  /** Seconds after the beginning; default: it was there before. */
  readonly pulledSeconds?: number;
  readonly usedUntilSeconds?: number;
}

const defaults: ImageOptions = {
  highThresholdPercent: 85,
  lowThresholdPercent: 80,
  ageMicrosMin: 2 * minute,
  ageMicrosMax: 0,
  podInfraImage: "pause:3",
};

/** A disk of so many bytes, a part of it taken by others, and images that come and are used as planned. */
function world(
  plans: readonly Plan[],
  capacity: number,
  others: number,
  options: Partial<ImageOptions> = {},
  bugs: AgentBugs = agentBugsOn(),
) {
  const kernel = new Kernel({ seed: "images" });
  const process = kernel.process("agent");
  const removed: string[] = [];
  const removedAt = new Map<string, number>();
  const events: string[] = [];
  const seconds = (): number => kernel.nowMicros() / second;
  const present = (): Plan[] =>
    plans.filter(({ name, pulledSeconds = -1 }) => pulledSeconds <= seconds() && !removed.includes(name));
  const answer = ({ method, message }: CriRequest): CriAnswer => {
    if (method === "ListImages") return { ok: true, message: { images: present().map(imageOf) } };
    if (method !== "RemoveImage") throw new Error(method);
    const id = (message as { image: { image: string } }).image.image;
    removed.push(id);
    removedAt.set(id, seconds());
    return { ok: true, message: {} };
  };
  const runtime: CriRuntime = {
    start(request, done) {
      done(answer(request));
      return () => {};
    },
    events: () => () => {},
  };
  const collector = new ImageCollector({ ...defaults, ...options }, imageLawWith(bugs), {
    process,
    runtime,
    timeoutMicros: second,
    events: { node: (_type, reason, message) => events.push(`${reason} ${message}`) },
    garbage: {
      imagesInUse: () =>
        new Set(plans.filter(({ usedUntilSeconds = -1 }) => seconds() < usedUntilSeconds).map(({ name }) => name)),
    },
    imagefs(done) {
      const used = present().reduce((sum, { size }) => sum + size, others);
      const availableBytes = Math.max(0, capacity - used);
      const figures = { availableBytes, capacityBytes: capacity, inodesFree: 1, inodes: 1, takenMicros: 0 };
      process.clock.after(0, () => done(figures));
    },
  });
  kernel.enter(process, () => collector.start());
  return { kernel, process, collector, removed, removedAt, events, run: (until: number) => kernel.run(until * second) };
}

const imageOf = ({ name, size, pinned = false }: Plan): Image => ({
  id: name,
  repoTags: [name],
  repoDigests: [],
  size,
  username: "",
  pinned,
});

describe("image collection", () => {
  it("takes what nobody uses, the longest unused first, until the disk is as low as it should be", () => {
    const plans = [
      { name: "busy", size: 20, usedUntilSeconds: 10_000 },
      { name: "late", size: 10, usedUntilSeconds: 700 },
      { name: "early", size: 10, usedUntilSeconds: 400 },
      { name: "never", size: 10 },
    ];
    const { run, removed } = world(plans, 100, 40);
    run(500);
    expect(removed).toEqual(["never"]); // 90 used, and 10 wanted
    run(3000);
    expect(removed).toEqual(["never"]); // 80 used is enough
    const fuller = world(plans, 100, 40, { lowThresholdPercent: 60 });
    fuller.run(3000);
    expect(fuller.removed).toEqual(["never"]); // nothing else was unused when the disk was too full
  });

  it("takes those that were used longest ago first", () => {
    const used = (name: string, usedUntilSeconds: number) => ({ name, size: 10, usedUntilSeconds });
    const grown = { name: "grown", size: 20, pulledSeconds: 1000, usedUntilSeconds: 10_000 };
    const { run, removed } = world([used("a", 700), used("b", 100), used("c", 400), grown], 100, 40);
    run(1300);
    expect(removed).toEqual(["b"]);
    const more = world([used("a", 700), used("b", 100), used("c", 400), { ...grown, size: 30 }], 100, 40);
    more.run(1300);
    expect(more.removed).toEqual(["b", "c"]);
  });

  it("decides anew each time what may go", () => {
    const bugs = { ...agentBugsOn() };
    const { run, removed } = world([{ name: "pause:3", size: 20 }], 100, 70, {}, bugs);
    run(700);
    expect(removed).toEqual([]);
    bugs["imagegc-deletes-sandbox"] = true;
    run(1300);
    expect(removed).toEqual(["pause:3"]);
  });

  it("leaves a disk alone that is below the high threshold", () => {
    const { run, removed } = world([{ name: "a", size: 10 }], 100, 74);
    run(1000);
    expect(removed).toEqual([]);
    const full = world([{ name: "a", size: 11 }], 100, 74);
    full.run(1);
    expect(full.removed).toEqual(["a"]); // exactly as much as the threshold says
  });

  it("says when there is not enough to take, and from the second time on that it fails", () => {
    const { run, events } = world([{ name: "busy", size: 5, usedUntilSeconds: 10_000 }], 100, 90);
    run(1);
    const text =
      "Failed to garbage collect required amount of images. Attempted to free 15 bytes, but only found 0 bytes eligible to free.";
    expect(events).toEqual([`FreeDiskSpaceFailed ${text}`]);
    run(301);
    expect(events.slice(1)).toEqual([`FreeDiskSpaceFailed ${text}`, `ImageGCFailed ${text}`]);
  });

  it("says that a disk without capacity is none", () => {
    const { run, events } = world([], 0, 0);
    run(1);
    expect(events).toEqual(["InvalidDiskCapacity invalid capacity 0 on image filesystem"]);
  });

  it("takes what nobody has used for longer than it may be, once it has watched that long", () => {
    const plans = [
      { name: "old", size: 1 },
      { name: "used", size: 1, usedUntilSeconds: 1000 },
    ];
    const { run, removed, removedAt } = world(plans, 100, 0, { ageMicrosMax: 10 * minute });
    run(4000);
    expect(removed).toEqual(["old", "used"]);
    expect(removedAt.get("old")).toBeGreaterThan(600);
    expect(removedAt.get("used")).toBeGreaterThan(1500);
  });

  it("does nothing where the threshold is all of the disk and nothing grows too old", () => {
    const { run, removed } = world([{ name: "a", size: 50 }], 100, 50, { highThresholdPercent: 100 });
    run(1000);
    expect(removed).toEqual([]);
  });

  it("on demand takes all that nobody uses and that is not too young, pinned or protected", () => {
    const plans = [
      { name: "a", size: 7 },
      { name: "busy", size: 1, usedUntilSeconds: 10_000 },
      { name: "pinned", size: 1, pinned: true },
      { name: "pause:3", size: 1 },
      { name: "young", size: 1, pulledSeconds: 299 },
      { name: "b", size: 5 },
    ];
    const { kernel, process, run, removed, collector } = world(plans, 1000, 0);
    run(350);
    let freed = 0;
    kernel.enter(process, () => collector.deleteUnused((bytes) => (freed = bytes)));
    run(351);
    expect(removed).toEqual(["a", "b"]);
    expect(freed).toBe(12);
    expect(collector.cached().map(({ id }) => id)).toEqual(["busy", "pinned", "pause:3", "young"]);
  });
});

describe("image collection, whatever is there", () => {
  const plan = fc.record({
    size: fc.integer({ min: 1, max: 30 }),
    pinned: fc.constantFrom(false, false, false, true),
    pulledSeconds: fc.constantFrom(-1, -1, 100, 299, 500),
    usedUntilSeconds: fc.constantFrom(-1, -1, 200, 700, 2000),
  });
  const plans = fc
    .array(plan, { maxLength: 8 })
    .map((all): Plan[] => all.map((one, at) => ({ ...one, name: `i${at}` })));
  const sizes = (all: readonly Plan[]): number => all.reduce((sum, { size }) => sum + size, 0);

  function wrongWith(all: readonly Plan[], bugs: AgentBugName[] = []): string | undefined {
    const podInfraImage = "i0";
    const { run, removed, removedAt } = world(all, 100, 50, { podInfraImage }, agentBugsOn(bugs));
    run(1500);
    for (const name of removed) {
      const { pinned, usedUntilSeconds = -1, pulledSeconds = -1 } = all.find((each) => each.name === name) as Plan;
      const at = removedAt.get(name) as number;
      if (pinned === true || name === podInfraImage) return `${name} is protected`;
      if (at < usedUntilSeconds) return `${name} is in use`;
      if (pulledSeconds >= 0 && at < pulledSeconds + 120) return `${name} is too young`;
    }
    for (const at of new Set(removedAt.values())) {
      const round = removed.filter((name) => removedAt.get(name) === at);
      const last = all.find(({ name }) => name === round.at(-1)) as Plan;
      const freed = sizes(all.filter(({ name }) => round.includes(name)));
      const there = all.filter(
        ({ name, pulledSeconds = -1 }) => pulledSeconds <= at && (removedAt.get(name) ?? Infinity) >= at,
      );
      const used = Math.min(100, 50 + sizes(there));
      if (freed - last.size >= used - 80) return `${round.join()} is more than enough`;
    }
    return undefined;
  }

  it("never takes what is used, protected or young, and no more than it must", () => {
    fc.assert(
      fc.property(plans, (all) => {
        expect(wrongWith(all)).toBeUndefined();
      }),
      { numRuns: 300, seed: 1 },
    );
  });

  it.each<AgentBugName>(["imagegc-overshoots-low", "imagegc-deletes-sandbox", "imagegc-lru-wrong"])(
    "finds %s",
    (bug) => {
      const { failed } = fc.check(
        fc.property(plans, (all) => wrongWith(all, [bug]) === undefined),
        { numRuns: 300, seed: 1 },
      );
      expect(failed).toBe(true);
    },
  );
});
