/** Random pods: what their containers do, when they are deleted, and what is probed. Times are short, so that much happens. */
import fc from "fast-check";
import type { ContainerProgram, PodProgram, ProbeProgram } from "../model/pods/program.ts";

export interface PodsProgram {
  readonly pods: readonly PodProgram[];
  readonly untilSeconds: number;
}

const steady = (name: string, more: Partial<ContainerProgram> = {}): ContainerProgram => ({
  name,
  runSeconds: undefined,
  exitCode: 0,
  stop: { seconds: 0, exitCode: 0 },
  ...more,
});

const probed = (more: Partial<ProbeProgram>): ProbeProgram => ({
  periodSeconds: 3,
  initialDelaySeconds: 0,
  successThreshold: 1,
  failureThreshold: 3,
  goodFrom: 0,
  goodUntil: undefined,
  ...more,
});

const lone = (name: string, container: Partial<ContainerProgram>, more: Partial<PodProgram> = {}): PodProgram => ({
  name,
  policy: "Always",
  graceSeconds: 25,
  inits: [],
  containers: [steady("main", container)],
  ...more,
});

const stop = fc.option(fc.record({ seconds: fc.constantFrom(0, 1, 4), exitCode: fc.constantFrom(0, 0, 3) }), {
  nil: undefined,
  freq: 3,
});

/** The code of those that take more memory than they may. */
const outOfMemory = 137;

const course = fc.record({
  runSeconds: fc.constantFrom(undefined, undefined, 0, 1, 4, 11),
  exitCode: fc.constantFrom(0, 0, 1, outOfMemory),
  stop,
});

const hooks = fc
  .record({ preStopSeconds: fc.constantFrom(undefined, undefined, 1, 4), hasPostStart: fc.boolean() })
  .map(
    ({ preStopSeconds, hasPostStart }): Partial<ContainerProgram> => ({
      ...(preStopSeconds === undefined ? {} : { preStopSeconds }),
      ...(hasPostStart ? { hasPostStart } : {}),
    }),
  );

const named = (names: string) =>
  fc.array(fc.tuple(course, hooks), { minLength: 1, maxLength: 2 }).map((all) =>
    all.map(([each, { hasPostStart, ...own }], at): ContainerProgram => {
      // A hook needs its container: who ends at once may be gone before.
      const hasTime = each.runSeconds === undefined || each.runSeconds >= 4;
      const isGreedy = each.exitCode === outOfMemory && each.runSeconds !== undefined;
      return {
        name: `${names}${at}`,
        ...each,
        ...own,
        ...(isGreedy ? { isGreedy } : {}),
        ...(hasPostStart === true && hasTime ? { hasPostStart } : {}),
      };
    }),
  );

const policy = fc.constantFrom("Always", "OnFailure", "Never");
const grace = fc.constantFrom(1, 3, 8, 20);

const deletion = fc.option(
  fc.record({
    atSeconds: fc.constantFrom(12, 20, 31),
    graceSeconds: fc.constantFrom(undefined, 1, 2, 5, 9),
  }),
  { nil: undefined, freq: 2 },
);

/** Init containers and sidecars, and what comes after them. */
const staged = fc
  .record({
    policy,
    graceSeconds: grace,
    inits: fc.array(
      fc.record({
        isSidecar: fc.boolean(),
        runSeconds: fc.constantFrom(0, 2),
        exitCode: fc.constantFrom(0, 0, 0, 2),
        stop,
      }),
      { maxLength: 3 },
    ),
    containers: named("main-"),
    deletion,
  })
  .map(
    ({ inits, deletion: end, ...rest }): Omit<PodProgram, "name"> => ({
      ...rest,
      ...(end === undefined ? {} : { deletion: end }),
      inits: inits.map(({ isSidecar, runSeconds, ...each }, at) => ({
        ...each,
        name: `init-${at}`,
        isSidecar,
        // One that ends by itself is started again, for as long as the pod goes on.
        runSeconds: isSidecar ? (each.exitCode === 0 ? undefined : 6) : runSeconds,
      })),
    }),
  );

const probe = (more: Partial<Record<keyof ProbeProgram, fc.Arbitrary<number | undefined>>>) =>
  fc
    .record({
      periodSeconds: fc.constantFrom(2, 3, 5),
      initialDelaySeconds: fc.constantFrom(0, 0, 7),
      failureThreshold: fc.constantFrom(1, 2, 4),
      goodFrom: fc.constantFrom(0, 0, 5),
      ...more,
    })
    .map((drawn) => probed(drawn as Partial<ProbeProgram>));

const until = fc.constantFrom(undefined, 16, 24);
const kinds: Readonly<Record<string, fc.Arbitrary<NonNullable<ContainerProgram["probes"]>>>> = {
  readiness: probe({ successThreshold: fc.constantFrom(1, 2, 3), goodUntil: until }).map((readiness) => ({
    readiness,
  })),
  liveness: probe({ goodFrom: fc.constant(0), goodUntil: until, graceSeconds: fc.constantFrom(undefined, 1, 2) }).map(
    (liveness) => ({ liveness }),
  ),
  // Liveness is bad until the container has started, so that whoever does not wait for that stops it.
  startup: fc
    .record({
      goodFrom: fc.constantFrom(4, 9),
      startup: probe({ failureThreshold: fc.constant(12), initialDelaySeconds: fc.constant(0) }),
      liveness: probe({ failureThreshold: fc.constantFrom(1, 2), initialDelaySeconds: fc.constant(0) }),
    })
    .map(({ goodFrom, startup, liveness }) => ({
      startup: { ...startup, goodFrom },
      liveness: { ...liveness, goodFrom: 0 === liveness.goodFrom ? 0 : goodFrom },
    })),
};

const minded = fc
  .record({
    graceSeconds: grace,
    stop,
    probes: fc.oneof(...Object.values(kinds)),
    policy: fc.constantFrom("Always", "OnFailure"),
  })
  .map(({ probes, stop: own, ...rest }) => ({
    ...rest,
    inits: [],
    containers: [steady("main", { stop: own, probes: withoutUndefined(probes) })],
  }));

/** Where nothing is asked for, there is no field. */
function withoutUndefined(probes: NonNullable<ContainerProgram["probes"]>): NonNullable<ContainerProgram["probes"]> {
  return Object.fromEntries(
    Object.entries(probes).map(([kind, { graceSeconds, ...rest }]) => [
      kind,
      graceSeconds === undefined ? rest : { ...rest, graceSeconds },
    ]),
  );
}

const timed = fc
  .record({ graceSeconds: grace, stop, deadlineSeconds: fc.constantFrom(5, 9, 16) })
  .map(({ stop: own, ...rest }) => ({
    ...rest,
    policy: "Always" as const,
    inits: [],
    containers: [steady("main", { stop: own })],
  }));

const gated = fc.constantFrom(undefined, 5, 12).map((atSeconds) => ({
  policy: "Always" as const,
  graceSeconds: 2,
  inits: [],
  gate: { atSeconds },
  containers: [steady("main")],
}));

export const anyPods: fc.Arbitrary<PodsProgram> = fc
  .array(
    fc.oneof(
      { weight: 5, arbitrary: staged },
      { weight: 4, arbitrary: minded },
      { weight: 1, arbitrary: timed },
      { weight: 1, arbitrary: gated },
    ),
    { minLength: 2, maxLength: 5 },
  )
  .map((pods) => ({ untilSeconds: 52, pods: pods.map((pod, at): PodProgram => ({ ...pod, name: `pod-${at}` })) }));

/** One life or more for each law. */
export const eventfulPods: PodsProgram = {
  untilSeconds: 66,
  pods: [
    {
      ...lone("in-order", {}),
      inits: [
        { ...steady("first", { runSeconds: 2 }), isSidecar: false },
        { ...steady("beside", { runSeconds: 7, exitCode: 1 }), isSidecar: true },
        { ...steady("second", { runSeconds: 1 }), isSidecar: false },
        { ...steady("last-to-go", { stop: { seconds: 1, exitCode: 0 } }), isSidecar: true },
      ],
      containers: [steady("main", { stop: { seconds: 3, exitCode: 5 } })],
      deletion: { atSeconds: 50, graceSeconds: 12 },
    },
    {
      ...lone("ends-well", {}, { policy: "OnFailure" }),
      containers: [steady("early", { runSeconds: 3, hasPostStart: true }), steady("late", { runSeconds: 24 })],
    },
    lone("fails-on", { runSeconds: 1, exitCode: 3 }),
    lone("greedy", { runSeconds: 2, isGreedy: true }, { policy: "Never" }),
    lone("gated", {}, { gate: { atSeconds: 15 } }),
    lone("shut", {}, { gate: { atSeconds: undefined } }),
    lone("often-asked", {
      probes: { readiness: probed({ successThreshold: 3, periodSeconds: 4, goodFrom: 6, goodUntil: 28 }) },
    }),
    lone("waits", { probes: { readiness: probed({ initialDelaySeconds: 14 }) } }),
    lone("dies-of-it", {
      stop: undefined,
      probes: { liveness: probed({ periodSeconds: 4, goodUntil: 9, graceSeconds: 3 }) },
    }),
    lone("slow-to-start", {
      probes: {
        startup: probed({ periodSeconds: 2, failureThreshold: 15, goodFrom: 12 }),
        liveness: probed({ periodSeconds: 2, failureThreshold: 2, goodFrom: 12 }),
      },
    }),
    lone(
      "says-farewell",
      { preStopSeconds: 3, stop: { seconds: 2, exitCode: 7 } },
      { deletion: { atSeconds: 20, graceSeconds: undefined } },
    ),
    lone("takes-no-notice", { stop: undefined }, { deletion: { atSeconds: 22, graceSeconds: 6 } }),
    lone("too-long", {}, { deadlineSeconds: 11, graceSeconds: 2 }),
  ],
};
