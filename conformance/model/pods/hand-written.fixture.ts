/** Lives of pods, written by hand. Times are seconds after the pod was made. */
import type { ConditionSighting, ContainerSighting, EndSighting, PodHistory, PodSighting } from "./history.ts";
import type { ContainerProgram, PodProgram } from "./program.ts";

const epochMillis = 1_900_000_000_000;
const at = (seconds: number): number => epochMillis + seconds * 1000;

const program = (more: Partial<PodProgram> = {}): PodProgram => ({
  name: "pod",
  policy: "Always",
  graceSeconds: 10,
  inits: [],
  containers: [container("main")],
  ...more,
});

export const container = (name: string, more: Partial<ContainerProgram> = {}): ContainerProgram => ({
  name,
  runSeconds: undefined,
  exitCode: 0,
  stop: undefined,
  ...more,
});

export const init = (name: string, isSidecar = false): PodProgram["inits"][number] => ({
  ...container(name, isSidecar ? {} : { runSeconds: 1 }),
  isSidecar,
});

export const waiting = (more: Partial<ContainerSighting> = {}): ContainerSighting => ({
  id: "",
  ready: false,
  started: false,
  restartCount: 0,
  state: { is: "waiting", reason: "ContainerCreating" },
  lastEnd: undefined,
  ...more,
});

export const running = (id: string, since: number, more: Partial<ContainerSighting> = {}): ContainerSighting => ({
  ...waiting(),
  id,
  ready: true,
  started: true,
  state: { is: "running", startedMillis: at(since) },
  ...more,
});

export const end = (
  id: string,
  from: number,
  to: number,
  exitCode = 0,
  more: Partial<EndSighting> = {},
): EndSighting => ({
  id,
  startedMillis: at(from),
  finishedMillis: at(to),
  exitCode,
  reason: exitCode === 0 ? "Completed" : "Error",
  message: "began,",
  ...more,
});

export const ended = (its: EndSighting, more: Partial<ContainerSighting> = {}): ContainerSighting => ({
  ...waiting(),
  id: its.id,
  state: { is: "ended", ...its },
  ...more,
});

const statuses = (told: Readonly<Record<string, string>>): readonly ConditionSighting[] =>
  Object.entries(told).map(([type, status]) => ({ type, status, sinceMillis: at(0) }));

const usual = { PodScheduled: "True", Initialized: "True", ContainersReady: "True", Ready: "True" };

/** A look a second long. */
export function look(
  seconds: number,
  containers: Readonly<Record<string, ContainerSighting>>,
  more: Partial<Omit<PodSighting, "conditions">> & { conditions?: Readonly<Record<string, string>> } = {},
): PodSighting {
  const { conditions, ...rest } = more;
  return {
    fromMillis: at(seconds),
    atMillis: at(seconds) + 10,
    phase: "Running",
    reason: "",
    startMillis: at(0),
    conditions: statuses({ ...usual, ...conditions }),
    containers,
    ...rest,
  };
}

/** The same look, with a condition that has changed at a time. */
export const since = (sighting: PodSighting, type: string, seconds: number): PodSighting => ({
  ...sighting,
  conditions: sighting.conditions.map((each) => (each.type === type ? { ...each, sinceMillis: at(seconds) } : each)),
});

export const history = (
  sightings: readonly PodSighting[],
  of: Partial<PodProgram> = {},
  deleted?: { readonly at: number; readonly graceSeconds: number },
): PodHistory => ({
  program: program(of),
  madeMillis: at(0),
  sightings,
  patienceMillis: 5000,
  ...(deleted === undefined
    ? {}
    : { deletion: { fromMillis: at(deleted.at), byMillis: at(deleted.at) + 10, graceSeconds: deleted.graceSeconds } }),
});

/** The other way of an agent's life: when it was killed. */
export const awayFrom = (seconds: number): { readonly awayFromMillis: number } => ({ awayFromMillis: at(seconds) });
