/**
 * How long a run still takes, from what it has seen of itself: programs of checks that are going on, and the checks of a kind
 * that have ended. The rest is dealt out to as many workers as there are, as the run itself will do.
 */

/** Checks of one kind take about as long: what waits, what tries one program, what tries many. */
export interface Kind {
  readonly name: string;
  /** How long such checks took elsewhere: believed until this run has seen some. */
  readonly usualMillis: number;
}

export interface Going {
  readonly kind: Kind;
  readonly beganMillis: number;
  readonly done: number;
  /** Programs that it has if nothing is found. 0: not known yet. */
  readonly of: number;
}

/** What has been seen: of each kind, by its name, how long the checks took that have ended, in order. */
export type Seen = ReadonlyMap<string, readonly number[]>;

/** In milliseconds. `next` are the kinds of what has not begun, in order. */
export function millisLeft(
  nowMillis: number,
  workers: number,
  going: readonly Going[],
  next: readonly Kind[],
  seen: Seen,
): number {
  const expected = expectationFrom(seen);
  const loads = Array.from({ length: Math.max(1, workers) }, () => 0);
  const give = (millis: number): void => {
    const least = loads.indexOf(loads.reduce((low, load) => (load < low ? load : low)));
    loads[least] = (loads[least] as number) + millis;
  };
  for (const check of going) give(leftOf(check, nowMillis, expected(check.kind)));
  for (const kind of next) give(expected(kind));
  return loads.reduce((high, load) => (load > high ? load : high), 0);
}

/** By its own pace once it has one. What takes longer than others of its kind does not end this moment. */
function leftOf({ beganMillis, done, of }: Going, nowMillis: number, expectedMillis: number): number {
  const goneMillis = nowMillis - beganMillis;
  if (done > 0) return (goneMillis / done) * Math.max(0, of - done);
  return Math.max(expectedMillis - goneMillis, expectedMillis / 4);
}

/** The latest of a kind tell of the pace that the target has now; what is usual counts as some of them. */
function expectationFrom(seen: Seen): (kind: Kind) => number {
  const known = new Map<string, number>();
  return ({ name, usualMillis }) => {
    const usual = Array.from({ length: usualCount }, () => usualMillis);
    const expected = known.get(name) ?? meanOf([...usual, ...(seen.get(name) ?? []).slice(-lastCount)]);
    known.set(name, expected);
    return expected;
  };
}

const meanOf = (millis: readonly number[]): number => millis.reduce((sum, each) => sum + each, 0) / millis.length;

const usualCount = 5;
const lastCount = 20;
