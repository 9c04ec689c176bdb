/** What the progress line of a suite says: how far it is, and about how long it still takes. */
import type { SuiteProgress } from "../../conformance/run-suite.ts";
import { type Going, type Kind, millisLeft } from "./time-left.ts";

export interface ProgressOptions {
  /** Of each check of the run its kind: those of one kind take about as long. What only waits for expiry is not among them. */
  readonly kinds: ReadonlyMap<string, Kind>;
  /** Checks at a time. */
  readonly jobs: number;
  /** Checks that end only when the target has forgotten. 0 where its time is virtual. */
  readonly agedCount: number;
  /** How long the target is given to forget, in milliseconds. */
  readonly maxWaitMillis: number;
  /** Real time, from any origin. */
  readonly nowMillis: () => number;
}

/** Turns each progress, told in order, into the text of the line from then on. */
export function progressText(options: ProgressOptions): (progress: SuiteProgress) => string {
  const course = new Course(options);
  return (progress) => {
    course.note(progress);
    const { checks, ended, failed, now } = course;
    const parts = [`${ended}/${checks} checks`, failed === 0 ? "" : `${failed} failed`, course.timeLeft()];
    return `${parts.filter((part) => part !== "").join(", ")}  ${now}`;
  };
}

class Course {
  checks = 0;
  ended = 0;
  failed = 0;
  now = "";
  /** Only checks that wait are left. */
  private expiring = false;
  private capturedMillis: number;
  private readonly going = new Map<string, Going>();
  private readonly seen = new Map<string, number[]>();
  private readonly next: Map<string, Kind>;
  private readonly options: ProgressOptions;

  constructor(options: ProgressOptions) {
    this.options = options;
    this.next = new Map(options.kinds);
    this.capturedMillis = options.nowMillis();
  }

  note(progress: SuiteProgress): void {
    const nowMillis = this.options.nowMillis();
    switch (progress.kind) {
      case "planned":
        this.checks = progress.checks;
        break;
      case "phase":
        if (progress.phase === "checking") this.capturedMillis = nowMillis;
        this.expiring = progress.phase === "expiring";
        this.now = progress.phase;
        break;
      case "check-started":
        this.now = progress.check;
        this.begin(progress.check, nowMillis);
        break;
      case "program-ended": {
        const going = this.going.get(progress.check);
        if (going !== undefined) this.going.set(progress.check, { ...going, done: progress.done, of: progress.of });
        break;
      }
      case "finding":
        break; // its check has ended
      case "check-ended":
        this.ended += 1;
        if (progress.verdict.status === "failed") this.failed += 1;
        this.end(progress.check, nowMillis);
    }
  }

  timeLeft(): string {
    const { options, checks, ended } = this;
    const nowMillis = options.nowMillis();
    const waitMillis = Math.max(0, options.maxWaitMillis - (nowMillis - this.capturedMillis));
    if (this.expiring && options.agedCount > 0) return `at most ${rough(waitMillis)} left`;
    if (ended < endedCountMin || checks - options.agedCount - ended <= 0) return "";
    const millis = millisLeft(nowMillis, options.jobs, [...this.going.values()], [...this.next.values()], this.seen);
    const expiry = options.agedCount === 0 ? "" : `, with expiry at most ${rough(Math.max(millis, waitMillis))}`;
    return `about ${rough(millis, Math.round)} left${expiry}`;
  }

  private begin(check: string, beganMillis: number): void {
    const kind = this.next.get(check);
    if (kind === undefined) return; // it waits for expiry
    this.next.delete(check);
    this.going.set(check, { kind, beganMillis, done: 0, of: 0 });
  }

  private end(check: string, nowMillis: number): void {
    const going = this.going.get(check);
    if (going === undefined) return;
    this.going.delete(check);
    const seen = this.seen.get(going.kind.name) ?? [];
    seen.push(nowMillis - going.beganMillis);
    this.seen.set(going.kind.name, seen);
  }
}

/** Before so many checks have ended, their pace says too little. */
const endedCountMin = 3;

/** `5 s` to `90 s` by fives, rounded up; then whole minutes. */
function rough(millis: number, rounded: (value: number) => number = Math.ceil): string {
  if (millis <= 90_000) return `${Math.max(1, Math.ceil(millis / 5000)) * 5} s`;
  return `${rounded(millis / 60_000)} min`;
}
