/**
 * The one cluster that holds the process's time. A test that forgot to close its cluster, or that waits for virtual
 * time which nobody lets pass, shows up in another place: what is known here leads back to it.
 */

/** A timer that was made while no time was passing, and has not fired. */
export interface WaitingTimer {
  readonly millis: number;
  /** `function (file:line:column)`. */
  readonly madeAt: string;
}

export interface OpenCluster {
  /** Where `createCluster` was called. */
  readonly createdAt: string;
  readonly waitingTimers: () => readonly WaitingTimer[];
}

let open: OpenCluster | undefined;

const shownMax = 3;

/** Takes the process's time for this cluster; the returned function gives it back. Throws while another one has it. */
export function holdTime(cluster: OpenCluster): () => void {
  if (open !== undefined) throw new Error(stillOpen(open));
  open = cluster;
  return () => {
    if (open === cluster) open = undefined;
  };
}

/** One sentence on what waits for time that does not pass, or nothing. */
export function waitingText(timers: readonly WaitingTimer[]): string {
  if (timers.length === 0) return "";
  const shown = timers.slice(0, shownMax).map(({ millis, madeAt }) => `a timer of ${millis} ms, made at ${madeAt}`);
  const more = timers.length > shownMax ? [`${timers.length - shownMax} more`] : [];
  return (
    `Waiting for time that nobody lets pass: ${[...shown, ...more].join("; ")}. ` +
    "Wrap what sleeps in cluster.run(() => …), or call cluster.advance(…)."
  );
}

function stillOpen({ createdAt, waitingTimers }: OpenCluster): string {
  const waiting = waitingText(waitingTimers());
  return (
    `virtual time is already in force: the cluster that was created at ${createdAt} is still open. Close it with ` +
    `await cluster.close(), also when its test fails, or declare it with await using.${waiting === "" ? "" : ` ${waiting}`}`
  );
}

// The real ones, taken before anybody puts virtual time in their place.
const realSetInterval = globalThis.setInterval;
const realClearInterval = globalThis.clearInterval;

/** Real time after which a standstill is told: sooner than the time-outs of test runners. */
const standstillMillis = 2500;

/** Warns once, on stderr, when the same text has been there for a while; an empty one is no standstill. Ends when called. */
export function warnOfStandstill(text: () => string): () => void {
  let before = "";
  const timer = realSetInterval(() => {
    const now = text();
    if (now !== "" && now === before) {
      process.emitWarning(now, { type: "TouchstoneWarning", code: "standstill" });
      realClearInterval(timer);
    }
    before = now;
  }, standstillMillis / 2);
  timer.unref();
  return () => realClearInterval(timer);
}
