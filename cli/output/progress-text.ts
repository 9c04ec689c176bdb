/** What the progress line of a suite says: how far it is, and about how long it still takes. */
import type { SuiteProgress } from "../../conformance/run-suite.ts";

export interface ProgressOptions {
  /** Checks that end only when the target has forgotten. 0 where its time is virtual. */
  readonly agedCount: number;
  /** How long the target is given to forget, in milliseconds. */
  readonly maxWaitMillis: number;
  /** Real time, from any origin. */
  readonly nowMillis: () => number;
}

/** Turns each progress, told in order, into the text of the line from then on. */
export function progressText(options: ProgressOptions): (progress: SuiteProgress) => string {
  const { nowMillis } = options;
  const beganMillis = nowMillis();
  let course: Course = { checks: 0, ended: 0, failed: 0, elapsedMillis: 0, sinceCaptureMillis: 0, expiring: false };
  let capturedMillis = beganMillis;
  return (progress) => {
    if (progress.kind === "phase" && progress.phase === "checking") capturedMillis = nowMillis();
    course = {
      ...after(course, progress),
      elapsedMillis: nowMillis() - beganMillis,
      sinceCaptureMillis: nowMillis() - capturedMillis,
    };
    const { checks, ended, failed } = course;
    const now = progress.kind === "check-started" ? progress.check : progress.kind === "phase" ? progress.phase : "";
    const parts = [`${ended}/${checks} checks`, failed === 0 ? "" : `${failed} failed`, timeLeft(course, options)];
    return `${parts.filter((part) => part !== "").join(", ")}  ${now}`;
  };
}

interface Course {
  readonly checks: number;
  readonly ended: number;
  readonly failed: number;
  readonly elapsedMillis: number;
  readonly sinceCaptureMillis: number;
  /** Only checks that wait are left. */
  readonly expiring: boolean;
}

function after(course: Course, progress: SuiteProgress): Course {
  if (progress.kind === "planned") return { ...course, checks: progress.checks };
  if (progress.kind === "phase") return { ...course, expiring: progress.phase === "expiring" };
  if (progress.kind !== "check-ended") return course;
  const failed = course.failed + (progress.verdict.status === "failed" ? 1 : 0);
  return { ...course, ended: course.ended + 1, failed };
}

/** Before so many checks have ended, their pace says too little. */
const endedCountMin = 3;

/** Checks take very different times: what is left is only about as many times the mean as there are checks left. */
function timeLeft(course: Course, { agedCount, maxWaitMillis }: ProgressOptions): string {
  const { ended, checks, elapsedMillis, sinceCaptureMillis } = course;
  const waitMillis = Math.max(0, maxWaitMillis - sinceCaptureMillis);
  if (course.expiring && agedCount > 0) return `at most ${rough(waitMillis)} left`;
  const left = checks - agedCount - ended;
  if (ended < endedCountMin || left <= 0) return "";
  const paceMillis = (elapsedMillis * left) / ended;
  const expiry = agedCount === 0 ? "" : `, with expiry at most ${rough(Math.max(paceMillis, waitMillis))}`;
  return `about ${rough(paceMillis)} left${expiry}`;
}

/** `5 s` to `90 s` by fives, then whole minutes; rounded up. */
function rough(millis: number): string {
  if (millis <= 90_000) return `${Math.max(1, Math.ceil(millis / 5000)) * 5} s`;
  return `${Math.ceil(millis / 60_000)} min`;
}
