/** Random nodes: what is configured, which pods run, and what is used when. Amounts are small, so that they often meet. */
import fc from "fast-check";
import {
  amountOf,
  type EvictionSettings,
  type EvictionSignal,
  parseEvictionSettings,
} from "../../wire/eviction-thresholds.ts";
import type { NodeCapacity, NodeUsage, PodUsage } from "../../wire/node-host.ts";

export interface NodeScenario {
  readonly eviction: EvictionSettings;
  readonly capacity: NodeCapacity;
  readonly figuresMillis: number;
  readonly pods: readonly ScenarioPod[];
  /** What is used beside the pods, from a time on. Ascending; the first is at 0. */
  readonly steps: readonly { readonly atMillis: number; readonly usage: NodeUsage }[];
  readonly untilMillis: number;
}

export interface ScenarioPod {
  /** `namespace/name`. */
  readonly name: string;
  readonly priority: number;
  readonly static: boolean;
  /** Whole numbers of MiB; 0: not requested. */
  readonly requests: { readonly memoryMi: number; readonly diskMi: number };
  /** How far limits are above requests, in MiB. Absent: there are none. */
  readonly limits?: { readonly memoryAboveMi: number; readonly diskAboveMi: number };
  readonly graceSeconds: number;
  readonly startMillis: number;
  /** Undefined: it has no figures. */
  readonly usage: PodUsage | undefined;
}

export const mebibyte = 2 ** 20;

/** Of each resource a hundred, so that percentages and quantities meet. */
const capacityOf = (dedicatedImagefs: boolean): NodeCapacity => ({
  milliCpu: 4000,
  memoryBytes: 100 * mebibyte,
  pids: 100,
  nodefs: { bytes: 100 * mebibyte, inodes: 100 },
  imagefs: dedicatedImagefs ? { bytes: 100 * mebibyte, inodes: 100 } : undefined,
});

const signals = [
  "memory.available",
  "memory.available", // the one that most want to know about
  "nodefs.available",
  "nodefs.inodesFree",
  "imagefs.available",
  "imagefs.inodesFree",
  "pid.available",
] as const satisfies readonly EvictionSignal[];

const inBytes = (signal: EvictionSignal) => signal.endsWith(".available") && signal !== "pid.available";

const amount = (signal: EvictionSignal, most: number) =>
  fc
    .tuple(fc.integer({ min: 1, max: most }), fc.boolean())
    .map(([number, percent]) => (percent ? `${number}%` : inBytes(signal) ? `${number}Mi` : String(number)));

const mapOf = (value: (signal: EvictionSignal) => fc.Arbitrary<string>, most: number) =>
  fc
    .uniqueArray(fc.constantFrom(...signals), { minLength: 0, maxLength: most })
    .chain((chosen) => fc.tuple(...chosen.map((signal) => fc.tuple(fc.constant(signal), value(signal)))))
    .map((pairs) => Object.fromEntries(pairs) as Record<string, string>);

const graces = fc.constantFrom("0s", "10s", "20s", "30s", "1m");

const eviction: fc.Arbitrary<EvictionSettings> = fc
  .record({
    evictionHard: mapOf((signal) => amount(signal, 20), 2),
    soft: mapOf((signal) => fc.tuple(amount(signal, 40), graces).map((pair) => pair.join(" ")), 2),
    evictionMinimumReclaim: mapOf((signal) => amount(signal, 20), 2),
    evictionPressureTransitionPeriod: fc.constantFrom("20s", "45s", "1m30s"),
    evictionMaxPodGracePeriod: fc.constantFrom(0, 3, 10, -1),
  })
  .map(({ soft, ...rest }) => {
    const part = (index: number) =>
      Object.fromEntries(Object.entries(soft).map(([signal, pair]) => [signal, pair.split(" ")[index] as string]));
    return { ...rest, evictionSoft: part(0), evictionSoftGracePeriod: part(1) };
  });

const filesystem = (most: number) =>
  fc
    .tuple(fc.integer({ min: 0, max: most }), fc.integer({ min: 0, max: most }))
    .map(([mebibytes, inodes]) => ({ bytes: mebibytes * mebibyte, inodes }));

const podUsage: fc.Arbitrary<PodUsage> = fc
  .record({
    memoryMi: fc.integer({ min: 0, max: 15 }),
    pids: fc.integer({ min: 1, max: 15 }),
    layers: filesystem(8),
    volumes: filesystem(8),
  })
  .map(({ memoryMi, ...rest }) => ({ ...rest, memoryBytes: memoryMi * mebibyte }));

const pod = fc.record({
  priority: fc.constantFrom(0, 0, 10, 1000, -5, 2_000_000_000, 2_000_001_000),
  static: fc.constantFrom(false, false, false, false, true),
  requests: fc.record({ memoryMi: fc.integer({ min: 0, max: 12 }), diskMi: fc.integer({ min: 0, max: 12 }) }),
  graceSeconds: fc.constantFrom(0, 1, 2, 5, 20),
  startMillis: fc.constantFrom(0, 0, 0, 30_000),
  usage: fc.option(podUsage, { nil: undefined, freq: 12 }),
});

const usage = (dedicatedImagefs: boolean): fc.Arbitrary<NodeUsage> =>
  fc
    .record({
      memoryMi: fc.integer({ min: 0, max: 80 }),
      pids: fc.integer({ min: 0, max: 80 }),
      nodefs: filesystem(80),
      imagefs: filesystem(80),
    })
    .map(({ memoryMi, pids, nodefs, imagefs }) => ({
      memoryBytes: memoryMi * mebibyte,
      pids,
      nodefs,
      imagefs: dedicatedImagefs ? imagefs : undefined,
    }));

const namedPods = (shortest: number, longest: number) =>
  fc
    .array(pod, { minLength: shortest, maxLength: longest })
    .map((pods): ScenarioPod[] => pods.map((each, index) => ({ ...each, name: `n/p${index}` })));

/** Everything at random: it rarely meets a boundary, and often what nobody thought of. */
const anyLife: fc.Arbitrary<NodeScenario> = fc.boolean().chain((dedicatedImagefs) =>
  fc.record({
    eviction,
    capacity: fc.constant(capacityOf(dedicatedImagefs)),
    figuresMillis: fc.constantFrom(1000, 1000, 15_000),
    pods: namedPods(1, 6),
    steps: fc
      .array(fc.tuple(fc.integer({ min: 5, max: 90 }), usage(dedicatedImagefs)), { minLength: 1, maxLength: 5 })
      .map((steps) => {
        let atMillis = 0;
        return steps.map(([afterSeconds, used], index) => {
          atMillis += index === 0 ? 0 : afterSeconds * 1000;
          return { atMillis, usage: used };
        });
      }),
    untilMillis: fc.constant(400_000),
  }),
);

/** Where what is left of a signal is put: by how much it differs from what its threshold and its minimum reclaim say. */
const lowLevels = ["nothing", "just below"] as const;
const highLevels = ["plenty", "at", "just above", "almost reclaimed", "reclaimed"] as const;
type Level = (typeof lowLevels)[number] | (typeof highLevels)[number];

interface Watched {
  readonly signal: EvictionSignal;
  readonly value: string;
  /** Of a soft threshold. */
  readonly grace: string | undefined;
  readonly reclaim: string | undefined;
}

const watched = (signal: EvictionSignal): fc.Arbitrary<Watched> =>
  fc.record({
    signal: fc.constant(signal),
    value: amount(signal, 30),
    grace: fc.constantFrom(undefined, "10s", "20s", "30s"),
    reclaim: fc.option(amount(signal, 20), { nil: undefined, freq: 3 }),
  });

const fewWatched = fc
  .tuple(fc.uniqueArray(fc.constantFrom(...signals), { minLength: 2, maxLength: 2 }), fc.constantFrom(1, 2))
  .chain(([chosen, count]) => fc.tuple(...chosen.slice(0, count).map(watched)));

function settingsFor(thresholds: readonly Watched[], rest: EvictionSettings): EvictionSettings {
  const mapped = (valueOf: (at: Watched) => string | undefined) =>
    Object.fromEntries(
      thresholds.flatMap((at) => {
        const value = valueOf(at);
        return value === undefined ? [] : [[at.signal, value]];
      }),
    );
  return {
    ...rest,
    evictionHard: mapped(({ grace, value }) => (grace === undefined ? value : undefined)),
    evictionSoft: mapped(({ grace, value }) => (grace === undefined ? undefined : value)),
    evictionSoftGracePeriod: mapped(({ grace }) => grace),
    evictionMinimumReclaim: mapped(({ reclaim }) => reclaim),
  };
}

const restOfSettings = fc.record({
  evictionPressureTransitionPeriod: fc.constantFrom("20s", "45s"),
  evictionMaxPodGracePeriod: fc.constantFrom(0, 3, 12, -1),
});

/** A level for each of two signals, which change at once; the second is not bound to swing with the first. */
const phase = (levels: readonly Level[]) =>
  fc.record({
    seconds: fc.integer({ min: 11, max: 45 }),
    levels: fc.tuple(fc.constantFrom(...levels), fc.constantFrom(...levels, ...levels, ...lowLevels, ...highLevels)),
  });

/** What pods leave alone is put exactly where thresholds lie, and a byte to either side of it. */
const boundaryNode: fc.Arbitrary<NodeScenario> = fc
  .record({
    dedicatedImagefs: fc.boolean(),
    thresholds: fewWatched,
    rest: restOfSettings,
    graces: fc.array(fc.constantFrom(0, 1, 2, 9, 20), { minLength: 6, maxLength: 12 }),
    swings: fc.array(fc.tuple(phase(lowLevels), phase(highLevels)), { minLength: 1, maxLength: 3 }),
  })
  .map(({ dedicatedImagefs, thresholds, rest, graces: podGraces, swings }) => {
    const capacity = capacityOf(dedicatedImagefs);
    const settings = settingsFor(thresholds, rest);
    let atMillis = 20_000;
    const rising = swings.flat().map(({ seconds, levels: chosen }) => {
      const step = {
        atMillis,
        usage: leaving(capacity, settings, new Map(thresholds.map(({ signal }, at) => [signal, chosen[at] as Level]))),
      };
      atMillis += seconds * 1000;
      return step;
    });
    return {
      eviction: settings,
      capacity,
      figuresMillis: 1000,
      pods: podGraces.map((graceSeconds, index) => ({ ...scenarioPod(`n/p${index}`, 0, 0), graceSeconds })),
      steps: [{ atMillis: 0, usage: usedOf({ dedicatedImagefs }) }, ...rising],
      untilMillis: atMillis + 60_000,
    };
  });

/** Usage beside pods that use nothing. */
function leaving(
  capacity: NodeCapacity,
  settings: EvictionSettings,
  wanted: ReadonlyMap<EvictionSignal, Level>,
): NodeUsage {
  const rules = parseEvictionSettings(settings);
  const used = (signal: EvictionSignal, whole: number): number => {
    const threshold = "error" in rules ? undefined : rules.thresholds.find((at) => at.signal === signal);
    const level = wanted.get(signal) ?? "plenty";
    if (threshold === undefined || level === "plenty") return 0;
    const value = amountOf(threshold.value, whole);
    const reclaimed = value + amountOf(threshold.minimumReclaim, whole);
    const left = {
      nothing: 0,
      "just below": value - 1,
      at: value,
      "just above": value + 1,
      "almost reclaimed": reclaimed - 1,
      reclaimed,
    }[level];
    return Math.max(0, whole - left);
  };
  const { nodefs, imagefs } = capacity;
  const most = (...amounts: readonly number[]) => amounts.reduce((left, right) => Math.max(left, right), 0);
  // On one file system the two names mean the same.
  const onNode = (unit: "bytes" | "inodes", signal: "available" | "inodesFree") =>
    most(used(`nodefs.${signal}`, nodefs[unit]), imagefs === undefined ? used(`imagefs.${signal}`, nodefs[unit]) : 0);
  return {
    memoryBytes: used("memory.available", capacity.memoryBytes),
    pids: used("pid.available", capacity.pids),
    nodefs: { bytes: onNode("bytes", "available"), inodes: onNode("inodes", "inodesFree") },
    imagefs: imagefs && {
      bytes: used("imagefs.available", imagefs.bytes),
      inodes: used("imagefs.inodesFree", imagefs.inodes),
    },
  };
}

/** Small numbers, so that pods often are alike in one key of the order and differ in the next. */
const rankedPod = fc
  .record({
    priority: fc.constantFrom(0, 0, 0, 0, 0, 10, -5, 2_000_000_000),
    requests: fc.record({ memoryMi: fc.integer({ min: 0, max: 5 }), diskMi: fc.integer({ min: 0, max: 5 }) }),
    limited: fc.boolean(),
    memoryAboveMi: fc.integer({ min: 0, max: 8 }),
    graceSeconds: fc.constantFrom(0, 1, 9),
    usage: fc.option(
      fc.record({
        memoryMi: fc.integer({ min: 0, max: 8 }),
        pids: fc.integer({ min: 0, max: 8 }),
        layers: filesystem(5),
        volumes: filesystem(5),
      }),
      { nil: undefined, freq: 6 },
    ),
  })
  .map(({ limited, memoryAboveMi, usage: used, ...rest }) => ({
    ...rest,
    static: false,
    startMillis: 0,
    // What is written beyond a limit of the pod's own is another reason to go: none is.
    ...(limited ? { limits: { memoryAboveMi, diskAboveMi: 10 + memoryAboveMi } } : {}),
    usage: used && {
      memoryBytes: used.memoryMi * mebibyte,
      pids: used.pids,
      layers: used.layers,
      volumes: used.volumes,
    },
  }));

/** All pods go, one after the other: which is the whole order. */
const rankedNode: fc.Arbitrary<NodeScenario> = fc
  .record({
    dedicatedImagefs: fc.boolean(),
    thresholds: fewWatched,
    rest: restOfSettings,
    figuresMillis: fc.constantFrom(1000, 15_000),
    pods: fc.array(rankedPod, { minLength: 4, maxLength: 8 }),
    calmAfterSeconds: fc.constantFrom(60, 120),
  })
  .map(({ dedicatedImagefs, thresholds, rest, figuresMillis, pods, calmAfterSeconds }) => {
    const capacity = capacityOf(dedicatedImagefs);
    const small = thresholds.map((at, index) => ({
      ...at,
      value: inBytes(at.signal) ? "15Mi" : "15",
      grace: index === 0 ? undefined : at.grace, // the first drives at once, and is not waited for
    }));
    const settings = settingsFor(small, rest);
    const calm = usedOf({ dedicatedImagefs });
    return {
      eviction: settings,
      capacity,
      figuresMillis,
      pods: pods.map((each, index) => ({ ...each, name: `n/p${index}` })),
      steps: [
        { atMillis: 0, usage: calm },
        {
          atMillis: 30_000,
          usage: leaving(capacity, settings, new Map(small.map(({ signal }) => [signal, "nothing"]))),
        },
        { atMillis: 30_000 + calmAfterSeconds * 1000, usage: calm },
      ],
      untilMillis: 90_000 + calmAfterSeconds * 1000,
    };
  });

export const anyNodeScenario: fc.Arbitrary<NodeScenario> = fc.oneof(
  { weight: 1, arbitrary: anyLife },
  { weight: 2, arbitrary: boundaryNode },
  { weight: 2, arbitrary: rankedNode },
);

/**
 * One life of a node with an occasion for each law: a hard threshold met, then only its minimum reclaim wanted, the same
 * with a soft one, a second soft one with a grace period of its own, and calm at the end.
 */
export const eventfulNode: NodeScenario = {
  eviction: {
    evictionHard: { "memory.available": "20Mi" },
    evictionSoft: { "nodefs.available": "30%", "pid.available": "30" },
    evictionSoftGracePeriod: { "nodefs.available": "20s", "pid.available": "30s" },
    evictionMinimumReclaim: { "memory.available": "20Mi", "nodefs.available": "15Mi" },
    evictionPressureTransitionPeriod: "30s",
    evictionMaxPodGracePeriod: 3,
  },
  capacity: capacityOf(true),
  figuresMillis: 1000,
  pods: [
    ...Array.from({ length: 18 }, (_, index) => eventfulPod(`n/early-${index}`, index, 0, index % 3)),
    { ...scenarioPod("n/critical", 0, 5), priority: 2_000_001_000 },
    ...Array.from({ length: 6 }, (_, index) => eventfulPod(`n/late-${index}`, index, 100_000, index % 4)),
  ],
  steps: [
    { atMillis: 0, usage: usedOf({}) },
    { atMillis: 20_000, usage: usedOf({ memoryMi: 85 }) },
    { atMillis: 30_000, usage: usedOf({ memoryMi: 70 }) },
    { atMillis: 50_000, usage: usedOf({}) },
    { atMillis: 120_000, usage: usedOf({ diskMi: 80 }) },
    { atMillis: 147_000, usage: usedOf({ diskMi: 65 }) },
    { atMillis: 165_000, usage: usedOf({ pids: 80 }) },
    { atMillis: 215_000, usage: usedOf({}) },
  ],
  untilMillis: 290_000,
};

/** Every fourth asks for more time to end than a soft eviction leaves it. What it writes to volumes is little, and differs from its layers. */
function eventfulPod(name: string, index: number, startMillis: number, pids: number): ScenarioPod {
  const written = (index * 5) % 7;
  const sixteenths = (count: number) => ({ bytes: (count * mebibyte) / 16, inodes: 0 });
  return {
    ...scenarioPod(name, startMillis, pids),
    graceSeconds: index % 4 === 0 ? 9 : 1,
    usage: { memoryBytes: 0, pids, layers: sixteenths(7 - written), volumes: sixteenths(written) },
  };
}

/** By what they use, request and may use, and by their priority they would go in another order each. */
const memoryPods = [
  { used: 9, requested: 12, priority: -5 },
  { used: 8, requested: 2, above: 8 },
  { used: 7, requested: 4, above: 0 },
  { used: 5, requested: 0 },
  { used: 12, requested: 2, priority: 10 },
  { used: 1, requested: 0 },
].map(({ used, requested, above, priority = 0 }, pids) => ({
  priority,
  requests: { memoryMi: requested, diskMi: 0 },
  ...(above === undefined ? {} : { limits: { memoryAboveMi: above, diskAboveMi: 0 } }),
  usage: {
    memoryBytes: used * mebibyte,
    pids,
    layers: { bytes: 0, inodes: 0 },
    volumes: { bytes: 0, inodes: 0 },
  },
}));

/** Short of everything at once: what an agent sees to first, and whom it spares though nobody else is left. */
export const nodeShortOfAll: NodeScenario = shortOfAll({
  evictionHard: { "memory.available": "15Mi", "nodefs.available": "15Mi", "pid.available": "15" },
  evictionPressureTransitionPeriod: "20s",
  evictionMaxPodGracePeriod: 3,
});

function shortOfAll(settings: EvictionSettings): NodeScenario {
  const capacity = capacityOf(true);
  const all = Object.keys(settings.evictionHard ?? {}) as EvictionSignal[];
  return {
    eviction: settings,
    capacity,
    figuresMillis: 1000,
    pods: [
      ...memoryPods.map((pod, index) => ({ ...scenarioPod(`n/p${index}`, 0, index), ...pod })),
      { ...scenarioPod("n/critical", 0, 0), priority: 2_000_000_000 },
    ],
    steps: [
      { atMillis: 0, usage: usedOf({}) },
      { atMillis: 20_000, usage: leaving(capacity, settings, new Map(all.map((signal) => [signal, "nothing"]))) },
      { atMillis: 60_000, usage: usedOf({}) },
    ],
    untilMillis: 100_000,
  };
}

function scenarioPod(name: string, startMillis: number, pids: number): ScenarioPod {
  const nothing = { bytes: 0, inodes: 0 };
  return {
    name,
    priority: 0,
    static: false,
    requests: { memoryMi: 0, diskMi: 0 },
    graceSeconds: 1,
    startMillis,
    usage: { memoryBytes: 0, pids, layers: nothing, volumes: nothing },
  };
}

function usedOf({ memoryMi = 0, pids = 0, diskMi = 0, dedicatedImagefs = true }): NodeUsage {
  const disk = { bytes: diskMi * mebibyte, inodes: 0 };
  const imagefs = dedicatedImagefs ? { bytes: 0, inodes: 0 } : undefined;
  return { memoryBytes: memoryMi * mebibyte, pids, nodefs: disk, imagefs };
}
