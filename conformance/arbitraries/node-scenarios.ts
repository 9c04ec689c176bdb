/** Random nodes: what is configured, which pods run, and what is used when. Amounts are small, so that they often meet. */
import fc from "fast-check";
import type { EvictionSettings, EvictionSignal } from "../../wire/eviction-thresholds.ts";
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

export const anyNodeScenario: fc.Arbitrary<NodeScenario> = fc.boolean().chain((dedicatedImagefs) =>
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

/**
 * One life of a node with an occasion for each law: a hard threshold met, then only its minimum reclaim wanted, then two
 * soft thresholds with grace periods of their own, and calm at the end.
 */
export const eventfulNode: NodeScenario = {
  eviction: {
    evictionHard: { "memory.available": "20Mi" },
    evictionSoft: { "nodefs.available": "30%", "pid.available": "30" },
    evictionSoftGracePeriod: { "nodefs.available": "20s", "pid.available": "30s" },
    evictionMinimumReclaim: { "memory.available": "20Mi" },
    evictionPressureTransitionPeriod: "30s",
    evictionMaxPodGracePeriod: 3,
  },
  capacity: capacityOf(true),
  figuresMillis: 1000,
  pods: [
    ...Array.from({ length: 30 }, (_, index) => scenarioPod(`n/early-${index}`, 0, index % 3)),
    { ...scenarioPod("n/critical", 0, 5), priority: 2_000_001_000 },
    ...Array.from({ length: 12 }, (_, index) => scenarioPod(`n/late-${index}`, 100_000, index % 4)),
  ],
  steps: [
    { atMillis: 0, usage: usedOf({}) },
    { atMillis: 20_000, usage: usedOf({ memoryMi: 85 }) },
    { atMillis: 30_000, usage: usedOf({ memoryMi: 70 }) },
    { atMillis: 50_000, usage: usedOf({}) },
    { atMillis: 120_000, usage: usedOf({ diskMi: 80 }) },
    { atMillis: 165_000, usage: usedOf({ pids: 80 }) },
    { atMillis: 215_000, usage: usedOf({}) },
  ],
  untilMillis: 290_000,
};

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

function usedOf({ memoryMi = 0, pids = 0, diskMi = 0 }): NodeUsage {
  const disk = { bytes: diskMi * mebibyte, inodes: 0 };
  return { memoryBytes: memoryMi * mebibyte, pids, nodefs: disk, imagefs: { bytes: 0, inodes: 0 } };
}
