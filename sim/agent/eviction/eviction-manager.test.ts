import { describe, expect, it } from "vitest";
import { type AgentBugName, agentBugsOn } from "../../planted/agent-bugs.ts";
import {
  activePodOf,
  type Entry,
  evictionWorld,
  second,
  type Besides,
  type WorldOptions,
  type WorldPod,
} from "./eviction-world.fixture.ts";

const Mi = 1024 * 1024;

function eventsOf(entries: readonly Entry[], about?: string): string[] {
  return entries.flatMap((entry) =>
    entry.is === "event" && (about === undefined || entry.about === about) ? [`${entry.reason} ${entry.message}`] : [],
  );
}

function outcomesOf(entries: readonly Entry[]): string[] {
  return entries.flatMap((entry) => (entry.is === "outcome" ? [entry.outcome.is] : []));
}

/** Runs until the figures have driven whom they would, and says who went. */
function victimsOf(options: WorldOptions, seconds = 90): string[] {
  const world = evictionWorld(options);
  world.run(seconds);
  return world.killed();
}

it("decide anew at each look: a bug that shows now and then does so in some of them", () => {
  const switches = { ...agentBugsOn() };
  const pods = [
    { name: "big", uses: { memory: 40 } },
    { name: "small", uses: { memory: 30 } },
  ];
  const world = evictionWorld({ settings: { evictionHard: { "memory.available": "50" } }, pods, switches });
  world.run(60);
  switches["evict-without-condition"] = true;
  world.use({ memory: 30 });
  world.run(120);
  const conditions = world.entries.flatMap((entry) =>
    entry.is === "kill" ? [[entry.pod, entry.end.condition?.type]] : [],
  );
  expect(conditions).toEqual([
    ["big", "DisruptionTarget"],
    ["small", undefined],
  ]);
});

describe("evictions, as they were recorded from a live agent", () => {
  const hard = {
    evictionHard: { "memory.available": "16945Mi" },
    evictionMinimumReclaim: { "memory.available": "500Mi" },
  };
  const capacity = 24_000 * Mi;
  const pods: WorldPod[] = [
    { name: "best-effort-idle", uses: { memory: 472 * 1024 } },
    { name: "burstable-big-within-request", memoryRequest: 9000 * Mi, uses: { memory: 1000 * Mi } },
    { name: "guaranteed-idle", memoryRequest: 64 * Mi, uses: { memory: 472 * 1024 } },
    { name: "best-effort-big", uses: { memory: 7_081_564 * 1024 } },
  ];

  it("go by what is used above the request, say so, and recover after the transition period", () => {
    const settings = { ...hard, evictionPressureTransitionPeriod: "20s" };
    const world = evictionWorld({ settings, pods, capacity });
    world.run(60);
    expect(world.killed()).toEqual(["best-effort-big"]);
    const available = (24_000 - 1000) * 1024 - 2 * 472 - 7_081_564;
    const message = `The node was low on resource: memory. Threshold quantity: 16945Mi, available: ${available}Ki. Container c was using 7081564Ki, request is 0, has larger consumption of memory. `;
    expect(eventsOf(world.entries)).toEqual([
      "EvictionThresholdMet Attempting to reclaim memory",
      `Evicted ${message}`,
    ]);
    const [kill] = world.entries.filter((entry) => entry.is === "kill");
    expect(kill).toMatchObject({
      end: {
        reason: "Evicted",
        message,
        graceSeconds: 1,
        condition: { type: "DisruptionTarget", reason: "TerminationByKubelet", message },
      },
    });
    const told = world.entries.flatMap((entry) => (entry.is === "look" ? [entry.conditions.join()] : []));
    expect(told).toEqual(["MemoryPressure", "MemoryPressure", "MemoryPressure", "", "", "", ""]);
  });

  it("look again two seconds after the one before, and take the next while the minimum reclaim is wanted", () => {
    const settings = { ...hard, evictionPressureTransitionPeriod: "20s" };
    const early = pods.map((pod) => (pod.name === "best-effort-big" ? { ...pod, unmeasured: true } : pod));
    const world = evictionWorld({
      settings,
      pods: [...early, { name: "late", uses: { memory: 400 * 1024 } }],
      capacity,
    });
    world.use({ memory: 5900 * Mi });
    world.run(12);
    expect(world.killed().slice(0, 2)).toEqual(["best-effort-big", "best-effort-idle"]);
    const at = world.entries.flatMap((entry) => (entry.is === "kill" ? [entry.atMicros] : []));
    expect((at[1] as number) - (at[0] as number)).toBeLessThan(3 * second);
  });

  it("refuse what comes under pressure", () => {
    const world = evictionWorld({ settings: { evictionHard: { "nodefs.available": "50%" } }, pods: [] });
    world.use({ disk: 60 });
    world.run(1);
    const refusal = { reason: "Evicted", message: "The node had condition: [DiskPressure]. " };
    expect(world.manager.admit(activePodOf({ name: "a", memoryRequest: 1, uses: {} }))).toEqual(refusal);
    expect(world.manager.admit(activePodOf({ name: "a", isCritical: true, uses: {} }))).toBeUndefined();
  });
});

describe("admission under pressure of memory alone", () => {
  const world = evictionWorld({ settings: { evictionHard: { "memory.available": "50" } }, pods: [] });
  world.use({ memory: 60 });
  world.run(1);
  const tolerating = (toleration: Record<string, string>) =>
    world.manager.admit(activePodOf({ name: "a", spec: { tolerations: [toleration] }, uses: {} }));

  it("takes all but those that ask for nothing", () => {
    expect(world.manager.admit(activePodOf({ name: "a", memoryRequest: 1, uses: {} }))).toBeUndefined();
    expect(world.manager.admit(activePodOf({ name: "a", uses: {} }))?.reason).toBe("Evicted");
  });

  it("takes those too that tolerate it", () => {
    const key = "node.svc.io/memory-pressure";
    expect(tolerating({ key, operator: "Exists" })).toBeUndefined();
    expect(tolerating({ operator: "Exists", effect: "NoSchedule" })).toBeUndefined();
    expect(tolerating({ key, effect: "NoSchedule" })).toBeUndefined();
    expect(tolerating({ key, operator: "Exists", effect: "NoExecute" })).toBeDefined();
    expect(tolerating({ key: "other", operator: "Exists" })).toBeDefined();
  });
});

describe("the order of evictions", () => {
  const memory = { evictionHard: { "memory.available": "90" } };

  it.each<[what: string, resource: string, pods: WorldPod[], first: string]>([
    [
      "usage above the request before priority",
      "memory.available",
      [
        { name: "a", priority: -10, memoryRequest: 20, uses: { memory: 15 } },
        { name: "b", priority: 10, memoryRequest: 1, uses: { memory: 2 } },
      ],
      "b",
    ],
    [
      "low priority before the most above",
      "memory.available",
      [
        { name: "a", priority: 1, uses: { memory: 15 } },
        { name: "b", priority: 0, uses: { memory: 5 } },
      ],
      "b",
    ],
    [
      "the most above the request, and not the most",
      "memory.available",
      [
        { name: "a", memoryRequest: 18, uses: { memory: 20 } },
        { name: "b", memoryRequest: 1, uses: { memory: 8 } },
      ],
      "b",
    ],
    [
      "whoever has no figures",
      "memory.available",
      [
        { name: "a", uses: { memory: 15 } },
        { name: "b", priority: 100, uses: { memory: 1 }, unmeasured: true },
      ],
      "b",
    ],
    [
      "namespace and name where all else is equal",
      "memory.available",
      [
        { name: "b", uses: { memory: 10 } },
        { name: "a", uses: { memory: 10 } },
      ],
      "a",
    ],
    [
      "bytes of disk that are requested, for inodes too",
      "nodefs.inodesFree",
      [
        { name: "a", diskRequest: 30, uses: { inodes: 40 } },
        { name: "b", diskRequest: 0, uses: { inodes: 20 } },
      ],
      "b",
    ],
    [
      "priority and number of processes, whatever is requested",
      "pid.available",
      [
        { name: "a", uses: { pids: 20 } },
        { name: "b", uses: { pids: 21 } },
        { name: "c", priority: 1, uses: { pids: 30 } },
      ],
      "b",
    ],
  ])("is by %s", (_, signal, pods, first) => {
    expect(victimsOf({ settings: { evictionHard: { [signal]: "90" } }, pods })[0]).toBe(first);
  });

  it("takes memory first when several resources are short", () => {
    const settings = { evictionHard: { "pid.available": "99", "memory.available": "99" } };
    const pods = [
      { name: "a", uses: { pids: 20 } },
      { name: "b", uses: { memory: 20 } },
    ];
    expect(victimsOf({ settings, pods })[0]).toBe("b");
  });

  it("passes over those that are exempt", () => {
    const pods = [
      { name: "a", isCritical: true, uses: { memory: 30 } },
      { name: "b", uses: { memory: 1 } },
    ];
    const world = evictionWorld({ settings: memory, pods });
    world.run(60);
    expect(world.killed()).toEqual(["b"]);
    expect(outcomesOf(world.entries)).toContain("nobody");
  });
});

describe("grace periods", () => {
  const graceFor = (evictionMaxPodGracePeriod: number, graceSeconds: number, negativeGraceIsPods = true) => {
    const settings = {
      evictionSoft: { "memory.available": "99" },
      evictionSoftGracePeriod: { "memory.available": "10s" },
      evictionMaxPodGracePeriod,
    };
    const pods = [{ name: "a", graceSeconds, uses: { memory: 20 } }];
    const world = evictionWorld({ settings, pods, negativeGraceIsPods });
    world.run(40);
    const [kill] = world.entries.filter((entry) => entry.is === "kill");
    return [kill?.end.graceSeconds, (kill?.atMicros ?? 0) >= 10 * second];
  };

  it("of soft evictions are the pod's, as far as the configuration allows", () => {
    expect(graceFor(0, 30)).toEqual([0, true]);
    expect(graceFor(20, 30)).toEqual([20, true]);
    expect(graceFor(20, 5)).toEqual([5, true]);
    expect(graceFor(-1, 30)).toEqual([30, true]);
    expect(graceFor(-1, 30, false)).toEqual([-1, true]); // floored at a second by whoever stops the pod
  });
});

describe("what a node gives up first", () => {
  const settings = { evictionHard: { "nodefs.available": "50" }, evictionMinimumReclaim: { "nodefs.available": "10" } };
  const pods = [{ name: "a", uses: { disk: 5 } }];

  it("is unused images, and when that is enough nobody goes", () => {
    const world = evictionWorld({ settings, pods, unusedImages: { disk: 30 } });
    world.use({ disk: 30 });
    world.run(60);
    expect(world.killed()).toEqual([]);
    expect(outcomesOf(world.entries)[0]).toBe("reclaimed");
  });

  it("is not enough until the minimum reclaim is there, too", () => {
    const world = evictionWorld({ settings, pods, unusedImages: { disk: 10 } });
    world.use({ disk: 40 });
    world.run(60);
    expect(world.killed()).toEqual(["a"]);
  });

  it("is nothing for a node's own disk where images have one of their own", () => {
    const world = evictionWorld({ settings, pods, layout: "dedicated-imagefs", unusedImages: { disk: 30 } });
    world.use({ disk: 30 });
    world.run(5);
    expect(world.entries.some(({ is }) => is === "images")).toBe(false);
    expect(world.killed()).toEqual(["a"]);
  });

  it.each<[AgentBugName, Besides, used: number, victims: string[], images: boolean]>([
    ["evict-min-reclaim-stuck", { disk: 10 }, 40, [], true],
    ["evict-although-reclaim-enough", { inodes: 30 }, 30, ["a"], true],
    ["evict-soft-imagefs-no-gc", { disk: 30 }, 30, ["a"], false],
  ])("shows %s", (bug, unusedImages, used, victims, images) => {
    const ofInodes = bug === "evict-although-reclaim-enough";
    const signal = ofInodes ? "nodefs.inodesFree" : "nodefs.available";
    const soft = bug === "evict-soft-imagefs-no-gc";
    const world = evictionWorld({
      settings: {
        [soft ? "evictionSoft" : "evictionHard"]: { [signal]: "50" },
        evictionSoftGracePeriod: { [signal]: "1s" },
        evictionMinimumReclaim: { [signal]: "10" },
      },
      pods: [{ name: "a", uses: { disk: 5, inodes: 5 } }],
      unusedImages,
      bugs: [bug],
    });
    world.use(ofInodes ? { inodes: used } : { disk: used });
    world.run(14);
    expect(world.killed()).toEqual(victims);
    expect(world.entries.some(({ is }) => is === "images")).toBe(images);
  });
});

describe("an agent that starts under pressure", () => {
  const pods = ["a", "b", "c"].map((name) => ({ name, uses: { inodes: 10 } }));
  const settings = { evictionHard: { "nodefs.inodesFree": "75" } };

  it("evicts one after another, and no more than it must", () => {
    expect(victimsOf({ settings, pods })).toEqual(["a"]);
  });

  it("does not with evict-all-on-restart-threshold-change", () => {
    expect(victimsOf({ settings, pods, bugs: ["evict-all-on-restart-threshold-change"] })).toEqual(["a", "b", "c"]);
  });

  it("sees no pressure of inodes with evict-inodes-ignored", () => {
    expect(victimsOf({ settings, pods, bugs: ["evict-inodes-ignored"] })).toEqual([]);
  });

  it("takes the one that uses the most with evict-wrong-rank", () => {
    const ranked = [
      { name: "a", memoryRequest: 40, uses: { memory: 30 } },
      { name: "b", uses: { memory: 5 } },
    ];
    const short = { evictionHard: { "memory.available": "80" } };
    expect(victimsOf({ settings: short, pods: ranked }, 1)).toEqual(["b"]);
    expect(victimsOf({ settings: short, pods: ranked, bugs: ["evict-wrong-rank"] }, 1)).toEqual(["a"]);
  });

  it("lengthens grace periods with evict-grace-sign-bug", () => {
    const soft = {
      evictionSoft: { "memory.available": "99" },
      evictionSoftGracePeriod: { "memory.available": "1s" },
      evictionMaxPodGracePeriod: 60,
    };
    const world = evictionWorld({
      settings: soft,
      pods: [{ name: "a", graceSeconds: 5, uses: { memory: 20 } }],
      bugs: ["evict-grace-sign-bug"],
    });
    world.run(30);
    expect(world.entries.find(({ is }) => is === "kill")).toMatchObject({ end: { graceSeconds: 60 } });
  });
});

describe("limits of local storage", () => {
  const limited = (limit: string, resources: Record<string, unknown> = {}): WorldPod["spec"] => ({
    containers: [{ name: "c", resources: { limits: { "ephemeral-storage": limit } }, ...resources }],
  });

  it("end several pods at one look, without the condition of a disruption", () => {
    const pods: WorldPod[] = [
      { name: "a", spec: limited("10") as never, uses: { disk: 11 } },
      { name: "b", spec: limited("10") as never, uses: { disk: 12 } },
      { name: "c", spec: limited("10") as never, uses: { disk: 10 } },
      { name: "d", isCritical: true, spec: limited("10") as never, uses: { disk: 20 } },
    ];
    const world = evictionWorld({ settings: {}, pods });
    world.run(5);
    expect(world.killed()).toEqual(["a", "b"]);
    const [kill] = world.entries.filter((entry) => entry.is === "kill");
    expect(kill?.end).toEqual({
      reason: "Evicted",
      message: "Pod ephemeral local storage usage exceeds the total limit of containers 10. ",
      graceSeconds: 1,
    });
  });

  it("leave the node's own thresholds for the next pass", () => {
    const settings = { evictionHard: { "nodefs.available": "90" } };
    const pods: WorldPod[] = [
      { name: "a", spec: limited("1") as never, uses: { disk: 2 } },
      { name: "b", uses: { disk: 20 } },
    ];
    expect(victimsOf({ settings, pods })).toEqual(["a", "b"]);
  });
});

describe("derived thresholds", () => {
  it("guard the memory of all pods together where it is enforced, and only there", () => {
    const settings = {
      evictionHard: { "memory.available": "50" },
      evictionMinimumReclaim: { "memory.available": "5" },
    };
    const world = evictionWorld({ settings, pods: [{ name: "a", uses: {} }], enforcesPods: true });
    world.use({ memory: 60 });
    world.run(1);
    const text = eventsOf(world.entries, "a")[0] ?? "";
    expect(text).toContain("Threshold quantity: 50, available: 40. ");
    expect(world.killed()).toEqual(["a"]);
  });
});
