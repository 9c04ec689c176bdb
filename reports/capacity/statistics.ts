/** What repetitions say: means, intervals of confidence by Student's t, and whether two arms differ. */

export interface Estimate {
  readonly mean: number;
  /** Half the width of the interval; 0 for one repetition, which says nothing of its spread. */
  readonly halfWidth: number;
  readonly count: number;
}

/** Of the mean, at 95 %. Undefined without values. */
export function estimate(values: readonly number[], confidence = 0.95): Estimate | undefined {
  const count = values.length;
  if (count === 0) return undefined;
  const mean = meanOf(values);
  if (count === 1) return { mean, halfWidth: 0, count };
  const error = Math.sqrt(varianceOf(values, mean) / count);
  return { mean, halfWidth: error === 0 ? 0 : error * tQuantile(1 - (1 - confidence) / 2, count - 1), count };
}

export interface Difference {
  readonly before: number;
  readonly after: number;
  /** (after - before) / before; Infinity when there was nothing before. */
  readonly relative: number;
  /** Of the relative difference, at the confidence that was asked for. */
  readonly low: number;
  readonly high: number;
  /** How likely a difference at least as large would be if the arms were equal. */
  readonly chance: number;
}

/**
 * Of two arms over their repetitions. `paired`: the repetitions have their chance in common one by one, so that what is
 * judged is the difference of each. Otherwise by Welch's test.
 */
export function difference(
  before: readonly number[],
  after: readonly number[],
  paired: boolean,
  confidence = 0.95,
): Difference | undefined {
  if (before.length === 0 || after.length === 0) return undefined;
  const [one, other] = [meanOf(before), meanOf(after)];
  const by = paired && before.length === after.length ? pairedTest(before, after) : welch(before, after);
  const gap = other - one;
  const scale = Math.abs(one);
  const relative = scale === 0 ? (gap === 0 ? 0 : Math.sign(gap) * Infinity) : gap / scale;
  const half = by.error === 0 || by.freedom < 1 ? 0 : by.error * tQuantile(1 - (1 - confidence) / 2, by.freedom);
  const part = (value: number): number => (scale === 0 ? relative : value / scale);
  return { before: one, after: other, relative, low: part(gap - half), high: part(gap + half), chance: by.chance };
}

interface Test {
  readonly error: number;
  readonly freedom: number;
  readonly chance: number;
}

function pairedTest(before: readonly number[], after: readonly number[]): Test {
  const gaps = before.map((value, index) => (after[index] as number) - value);
  const mean = meanOf(gaps);
  const count = gaps.length;
  if (count === 1) return { error: 0, freedom: 0, chance: mean === 0 ? 1 : 0 };
  const error = Math.sqrt(varianceOf(gaps, mean) / count);
  return { error, freedom: count - 1, chance: chanceOf(mean, error, count - 1) };
}

function welch(before: readonly number[], after: readonly number[]): Test {
  const gap = meanOf(after) - meanOf(before);
  if (before.length === 1 || after.length === 1) return { error: 0, freedom: 0, chance: gap === 0 ? 1 : 0 };
  const [one, other] = [
    varianceOf(before, meanOf(before)) / before.length,
    varianceOf(after, meanOf(after)) / after.length,
  ];
  const error = Math.sqrt(one + other);
  const freedom =
    error === 0
      ? before.length + after.length - 2
      : (one + other) ** 2 / (one ** 2 / (before.length - 1) + other ** 2 / (after.length - 1));
  return { error, freedom, chance: chanceOf(gap, error, freedom) };
}

function chanceOf(gap: number, error: number, freedom: number): number {
  if (error === 0) return gap === 0 ? 1 : 0;
  return 2 * (1 - tDistribution(Math.abs(gap / error), freedom));
}

const meanOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

function varianceOf(values: readonly number[], mean: number): number {
  return values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
}

/** Student's t: the share below `t`. By the incomplete beta function. */
export function tDistribution(t: number, freedom: number): number {
  const tail = incompleteBeta(freedom / (freedom + t * t), freedom / 2, 0.5) / 2;
  return t > 0 ? 1 - tail : tail;
}

/** The inverse, for shares from a half on. */
export function tQuantile(share: number, freedom: number): number {
  let [low, high] = [0, 1];
  while (tDistribution(high, freedom) < share && high < 1e9) high *= 2;
  for (let step = 0; step < 100; step++) {
    const middle = (low + high) / 2;
    if (tDistribution(middle, freedom) < share) low = middle;
    else high = middle;
  }
  return high;
}

/** Regularized, by its continued fraction (Lentz). Source: Abramowitz and Stegun, 26.5.8. */
function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a);
  const front = Math.exp(a * Math.log(x) + b * Math.log(1 - x) - logBeta(a, b)) / a;
  const tiny = 1e-300;
  const nonzero = (value: number): number => (Math.abs(value) < tiny ? tiny : value);
  let c = 1;
  let d = 1 / nonzero(1 - ((a + b) * x) / (a + 1));
  let fraction = d;
  for (let m = 1; m <= 1000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / nonzero(1 + even * d);
    c = nonzero(1 + even / c);
    fraction *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / nonzero(1 + odd * d);
    c = nonzero(1 + odd / c);
    const step = d * c;
    fraction *= step;
    if (Math.abs(step - 1) < 1e-15) break;
  }
  return front * fraction;
}

const logBeta = (a: number, b: number): number => logGamma(a) + logGamma(b) - logGamma(a + b);

/** Lanczos' approximation. */
function logGamma(x: number): number {
  const coefficients = [
    76.180091729471, -86.5053203294168, 24.01409824083091, -1.231739572450155, 0.1208650973866179e-2,
    -0.5395239384953e-5,
  ];
  const base = x + 5.5;
  const series = coefficients.reduce(
    (sum, coefficient, index) => sum + coefficient / (x + index + 1),
    1.000000000190015,
  );
  return -(base - (x + 0.5) * Math.log(base)) + Math.log((2.506628274631 * series) / x);
}
