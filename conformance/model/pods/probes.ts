/**
 * Laws of probes: not before so many of them have found what they look for, or have not, and not much later.
 * Source: the fact sheet of the 1.33 agent, probes and stopping.
 */
import type { Violation } from "../../client/findings.ts";
import { judgeEach, type Judgement, type PodHistory, type Run, runsOf, seconds } from "./history.ts";
import { type ContainerProgram, containerIn, type PodProgram, type ProbeProgram } from "./program.ts";

/** Statuses have whole seconds, and the instance began within the one that is told. */
const roundingMillis = 1000;

/** Of an instance, milliseconds after its start. */
interface Window {
  readonly notBefore: number;
  readonly by: number;
}

/** When a probe at its best and at its worst finds the same so often in a row, from a time on. */
function foundAfter(fromSeconds: number, { periodSeconds }: ProbeProgram, times: number): Window {
  return {
    notBefore: (fromSeconds + (times - 1) * periodSeconds) * 1000,
    by: (fromSeconds + (times + 1) * periodSeconds) * 1000,
  };
}

const never: Window = { notBefore: Infinity, by: Infinity };
const atOnce: Window = { notBefore: 0, by: 0 };

/** When the instance has started, as its startup probe has it. */
function startedIn({ probes }: ContainerProgram): Window {
  const startup = probes?.startup;
  return startup === undefined ? atOnce : goodIn(startup, atOnce);
}

/** When the probe first says yes, where it does. */
function goodIn(probe: ProbeProgram, started: Window): Window {
  const found = foundAfter(Math.max(probe.goodFrom, probe.initialDelaySeconds), probe, probe.successThreshold);
  const more = (probe.successThreshold - 1) * probe.periodSeconds * 1000;
  const notBefore = Math.max(found.notBefore, started.notBefore + more);
  const by = Math.max(found.by, started.by + more + 2000 * probe.periodSeconds);
  const untilMillis = probe.goodUntil === undefined ? Infinity : probe.goodUntil * 1000;
  if (notBefore > untilMillis + roundingMillis) return never;
  return { notBefore, by: by > untilMillis ? Infinity : by };
}

/** When the probe says no after all, where it does: after it was good, or from the beginning. */
function badIn(probe: ProbeProgram, started: Window): Window {
  const { goodFrom, goodUntil, failureThreshold, initialDelaySeconds, periodSeconds } = probe;
  const begins = Math.max(initialDelaySeconds * 1000, started.notBefore) / 1000;
  const isBadAtFirst = goodFrom > begins + (failureThreshold + 1) * periodSeconds;
  const fromSeconds = isBadAtFirst ? begins : Math.max(begins, goodUntil ?? Infinity);
  const found = foundAfter(fromSeconds, probe, failureThreshold);
  const lateMillis = Math.max(0, started.by - started.notBefore);
  return { notBefore: found.notBefore, by: found.by + lateMillis };
}

/** Ready and started containers have been found so, as often as their probes want. */
export function judgeReadiness(history: PodHistory): Judgement {
  const runs = [...runsOf(history).values()].flat();
  return judgeEach(
    runs.filter(({ container }) => hasAny(containerIn(history.program, container), ["readiness", "startup"])),
    (run) => wrongReadiness(history, run),
  );
}

const hasAny = (
  container: ContainerProgram | undefined,
  kinds: readonly ("readiness" | "startup" | "liveness")[],
): boolean => kinds.some((kind) => container?.probes?.[kind] !== undefined);

function wrongReadiness(history: PodHistory, run: Run): Violation | undefined {
  const own = containerIn(history.program, run.container);
  const { startup, readiness } = own?.probes ?? {};
  if (own === undefined) return undefined;
  const started = startedIn(own);
  if (startup !== undefined) {
    const violation = outside(history, run, "started", started, never);
    if (violation !== undefined) return violation;
  }
  if (readiness === undefined) return undefined;
  const good = goodIn(readiness, started);
  const bad = readiness.goodUntil === undefined ? never : badIn({ ...readiness, goodFrom: 0 }, started);
  // Whenever its pod is looked at, a container that is not ready is probed at once, out of its turn: at its start in any case.
  const { containers, inits, gate } = history.program;
  const first = firstGood(readiness, started);
  const isLookedAtElse = containers.length + inits.length > 1 || gate !== undefined || startup !== undefined;
  const isProbedElse = isLookedAtElse || first < quietMillis;
  return outside(history, run, "ready", isProbedElse ? { ...good, notBefore: first } : good, bad);
}

/** A container's start has been heard of by then, and all that it leads to has happened. */
const quietMillis = 5000;

const firstGood = (probe: ProbeProgram, started: Window): number =>
  Math.max(started.notBefore, 1000 * Math.max(probe.goodFrom, probe.initialDelaySeconds));

/** Where a field of the instance is true that is not yet to be, or is not any more, or the other way round. */
function outside(
  { program, sightings, patienceMillis }: PodHistory,
  run: Run,
  field: "ready" | "started",
  good: Window,
  bad: Window,
): Violation | undefined {
  for (const { fromMillis, atMillis, containers } of sightings) {
    const seen = containers[run.container];
    if (seen?.id !== run.id || seen.state.is !== "running") continue;
    const [askedAge, ageMillis] = [fromMillis - run.startedMillis, atMillis - run.startedMillis];
    const say = (expected: string): Violation => ({
      expected: `${run.container} of ${program.name} is ${expected}`,
      actual: `${field} ${seen[field]} at ${seconds(ageMillis)} of its age`,
    });
    if (seen[field] && ageMillis < good.notBefore)
      return say(`not ${field} before ${seconds(good.notBefore)} of its age`);
    if (!seen[field] && askedAge > good.by + patienceMillis && ageMillis < bad.notBefore)
      return say(`${field} by ${seconds(good.by + patienceMillis)}, and until ${seconds(bad.notBefore)}`);
    if (seen[field] && askedAge > bad.by + patienceMillis)
      return say(`not ${field} after ${seconds(bad.by + patienceMillis)}`);
  }
  return undefined;
}

/** Whoever is stopped for its probes was found bad as often as they say, and has the time to end that they leave. */
export function judgeProbeStops(history: PodHistory): Judgement {
  const runs = [...runsOf(history).values()].flat();
  return judgeEach(
    runs.filter(({ container }) => hasAny(containerIn(history.program, container), ["liveness", "startup"])),
    (run) => wrongStop(history, run),
  );
}

interface Cause {
  readonly kind: string;
  readonly window: Window;
  readonly graceSeconds: number;
}

function causesOf(program: PodProgram, own: ContainerProgram): readonly Cause[] {
  const { startup, liveness } = own.probes ?? {};
  const started = startedIn(own);
  const cause = (kind: string, probe: ProbeProgram | undefined, from: Window): readonly Cause[] => {
    const window = probe === undefined || from === never ? never : badIn(probe, from);
    if (window.notBefore === Infinity) return [];
    return [{ kind, window, graceSeconds: probe?.graceSeconds ?? program.graceSeconds }];
  };
  const startsInTime =
    startup === undefined || badIn({ ...startup, goodUntil: undefined }, atOnce).notBefore === Infinity;
  return startsInTime ? cause("liveness", liveness, started) : cause("startup", startup, atOnce);
}

function wrongStop(history: PodHistory, { container, end, startedMillis, isLast }: Run): Violation | undefined {
  const { program, sightings, patienceMillis, deletion } = history;
  const own = containerIn(program, container);
  if (own === undefined || (end === undefined && !isLast)) return undefined;
  const [cause] = causesOf(program, own);
  const naturalMillis = own.runSeconds === undefined ? Infinity : own.runSeconds * 1000;
  const lastMillis = Math.min(sightings.at(-1)?.fromMillis ?? 0, deletion?.fromMillis ?? Infinity);
  const ageMillis = (end?.finishedMillis ?? lastMillis) - startedMillis;
  const isOver = program.deadlineSeconds !== undefined || (end !== undefined && end.finishedMillis >= lastMillis);
  if (end !== undefined && !isOver && ageMillis < naturalMillis - 2 * roundingMillis) {
    const earliest = cause === undefined ? Infinity : cause.window.notBefore;
    if (ageMillis + roundingMillis <= earliest) {
      return {
        expected: `${container} of ${program.name} is not stopped for its probes before ${seconds(earliest)} of its age`,
        actual: `it ended at ${seconds(ageMillis)} with ${end.exitCode}`,
      };
    }
  }
  if (cause === undefined || isOver) return undefined;
  const farewell =
    own.stop === undefined ? Math.max(2, cause.graceSeconds) : own.stop.seconds + 1 + (own.preStopSeconds ?? 0);
  const latest = cause.window.by + 1000 * Math.min(farewell, Math.max(2, cause.graceSeconds) + 2) + patienceMillis;
  if (naturalMillis < latest || ageMillis <= latest) return undefined;
  return {
    expected: `${container} of ${program.name} is stopped for its ${cause.kind} probe by ${seconds(latest)} of its age`,
    actual: end === undefined ? `it runs at ${seconds(ageMillis)}` : `it ended at ${seconds(ageMillis)}`,
  };
}
