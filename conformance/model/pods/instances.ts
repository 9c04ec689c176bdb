/** Laws of what is told of a container's instances: how many there were, and how each has ended. Source: the fact sheet of the 1.33 agent. */
import type { Violation } from "../../client/findings.ts";
import {
  type ContainerSighting,
  type EndSighting,
  judgeEach,
  type Judgement,
  neighbours,
  type PodHistory,
  type PodSighting,
  type Run,
  runsOf,
  seconds,
} from "./history.ts";
import { type ContainerProgram, containerIn, isMinded, isSidecarOf, type PodProgram, words } from "./program.ts";

/** Each instance is counted, and the one before it is told of. */
export function judgeCounts(history: PodHistory): Judgement {
  const { program, sightings } = history;
  const lost = judgeEach([...program.inits, ...program.containers], ({ name }) => lostBefore(history, name));
  if (lost.violation !== undefined) return lost;
  const judgement = judgeEach(neighbours(sightings), ([before, after]) =>
    firstOf(after, (name, seen) => miscounted(program, name, before.containers[name], seen)),
  );
  return { ...judgement, judged: judgement.judged && sightings.some(isAnyAgain) };
}

const isAnyAgain = ({ containers }: PodSighting): boolean =>
  Object.values(containers).some(({ restartCount }) => restartCount > 0);

/**
 * A collection of garbage that meets a start may take what is left of the instance before, once a minute. So one that says nothing of
 * it is no matter, and two are.
 */
function lostBefore({ program, sightings }: PodHistory, name: string): Violation | undefined {
  const again = sightings
    .flatMap(({ containers }) => containers[name] ?? [])
    .filter(({ restartCount }) => restartCount > 0);
  const silent = new Set(again.map(({ restartCount }) => restartCount));
  for (const { restartCount, lastEnd } of again) if (lastEnd !== undefined) silent.delete(restartCount);
  if (silent.size < 2) return undefined;
  return {
    expected: `${name} of ${program.name}, started again, tells how it ended before`,
    actual: `of the instances ${[...silent].join(" and ")} it tells nothing`,
  };
}

function miscounted(
  program: PodProgram,
  name: string,
  before: ContainerSighting | undefined,
  { id, restartCount }: ContainerSighting,
): Violation | undefined {
  if (before === undefined || before.id === "" || id === "") return undefined;
  const isRight = id === before.id ? restartCount === before.restartCount : restartCount > before.restartCount;
  if (isRight) return undefined;
  const what = id === before.id ? "the same instance has the count" : "another instance has a count above";
  return { expected: `of ${name} of ${program.name} ${what} ${before.restartCount}`, actual: `${restartCount}` };
}

/** What one instance has come to is told the same each time, and fits what it was to do. */
export function judgeEnds(history: PodHistory): Judgement {
  const told = new Map<string, EndSighting>();
  const same = judgeEach(endsIn(history), (end) => {
    const before = told.get(end.id) ?? end;
    told.set(end.id, before);
    if (JSON.stringify(before) === JSON.stringify(end)) return undefined;
    return {
      expected: `an instance of ${history.program.name} has ended as ${JSON.stringify(before)}`,
      actual: JSON.stringify(end),
    };
  });
  if (same.violation !== undefined) return same;
  const runs = [...runsOf(history).values()].flat().filter(({ end }) => end !== undefined);
  return judgeEach(runs, (run) => wrongEnd(history, run));
}

function* endsIn({ sightings }: PodHistory): Iterable<EndSighting> {
  for (const { containers } of sightings) {
    for (const { state, lastEnd } of Object.values(containers)) {
      if (lastEnd !== undefined && lastEnd.id !== "") yield lastEnd;
      if (state.is === "ended" && state.startedMillis > 0) {
        const { is: _state, ...end } = state;
        yield end;
      }
    }
  }
}

function wrongEnd(history: PodHistory, { container, end, startedMillis }: Run): Violation | undefined {
  const { program } = history;
  const own = containerIn(program, container);
  if (own === undefined || end === undefined) return undefined;
  const allowed = endsOf(history, own, end.finishedMillis - startedMillis);
  const isAllowed = allowed.some(
    (each) => each.exitCode === end.exitCode && each.reason === end.reason && each.saysAll(end.message),
  );
  if (isAllowed) return undefined;
  const names = allowed.map(({ exitCode, reason, told }) => `${exitCode} ${reason} saying ${told}`).join(", or ");
  return {
    expected: `${container} of ${program.name} ends after ${seconds(end.finishedMillis - startedMillis)} with ${names || "nothing: it goes on"}`,
    actual: `${end.exitCode} ${end.reason} saying ${JSON.stringify(end.message)}`,
  };
}

interface AllowedEnd {
  readonly exitCode: number;
  readonly reason: string;
  readonly told: string;
  saysAll(message: string): boolean;
}

const killedCode = 137;
/** Start and end are told in whole seconds, and a machine takes a moment for either. */
const roundingMillis = 2000;

/** How an instance of this age may end: by itself, and where somebody had cause to stop it, as it does then. */
function endsOf(history: PodHistory, own: ContainerProgram, ageMillis: number): readonly AllowedEnd[] {
  const begun = [words.main, ...(own.hasPostStart === true ? [words.postStart] : [])];
  const ends: AllowedEnd[] = [];
  const { runSeconds, exitCode, stop, isGreedy } = own;
  const isStopped = mayBeStopped(history, own);
  // Its hook may be at work when it ends by itself.
  const meanwhile = isStopped ? [words.preStop] : [];
  if (runSeconds !== undefined && Math.abs(ageMillis - runSeconds * 1000) <= roundingMillis) {
    if (isGreedy === true) ends.push(endWith(killedCode, "OOMKilled", begun, meanwhile));
    else ends.push(endWith(exitCode, exitCode === 0 ? "Completed" : "Error", begun, meanwhile));
  }
  if (!isStopped) return ends;
  // How much of its hook and of its own farewell was left time for is another law's.
  const some = endWith(killedCode, "Error", [], begun);
  if (stop !== undefined) {
    ends.push(endWith(stop.exitCode, stop.exitCode === 0 ? "Completed" : "Error", [words.stop], begun));
  }
  return [...ends, some];
}

function mayBeStopped({ program, deletion }: PodHistory, own: ContainerProgram): boolean {
  if (deletion !== undefined || program.deadlineSeconds !== undefined) return true;
  return isMinded(own) || isSidecarOf(program, own.name);
}

/** `begun`: words that may be missing where it was stopped before it could say them. */
function endWith(exitCode: number, reason: string, must: readonly string[], begun: readonly string[] = []): AllowedEnd {
  const may = new Set<string>([...must, ...begun, ...Object.values(words)]);
  const isExact = begun.length === 0;
  return {
    exitCode,
    reason,
    told: JSON.stringify(must),
    saysAll(message) {
      const said = message.split(",").filter((word) => word !== "");
      const fits = isExact ? said.length === must.length : said.every((word) => may.has(word));
      return fits && must.every((word) => said.includes(word));
    },
  };
}

function firstOf(
  { containers }: PodSighting,
  judge: (name: string, seen: ContainerSighting) => Violation | undefined,
): Violation | undefined {
  for (const [name, seen] of Object.entries(containers)) {
    const violation = judge(name, seen);
    if (violation !== undefined) return violation;
  }
  return undefined;
}
