/**
 * A distribution of microseconds that merges exactly: 32 buckets to each power of two, so that a bucket is at most 3.2 %
 * wide. Integers only, so that a histogram is the same on every machine, in whatever order it was filled.
 */

/** As reports hold it: buckets with something in them, by rising value. */
export interface HistogramData {
  /** [bucket, count], alternating. */
  counts: number[];
  sum: number;
  max: number;
}

const subBits = 5;
const subCount = 1 << subBits;

function bucketOf(micros: number): number {
  if (micros < subCount) return micros;
  let exponent = 0;
  let rest = micros;
  while (rest >= 2 * subCount) {
    rest = Math.floor(rest / 2);
    exponent++;
  }
  return exponent * subCount + rest;
}

/** The largest value that falls into it. */
function upperOf(bucket: number): number {
  if (bucket < 2 * subCount) return bucket;
  const exponent = Math.floor(bucket / subCount) - 1;
  let width = 1;
  for (let step = 0; step < exponent; step++) width *= 2;
  return (bucket - exponent * subCount + 1) * width - 1;
}

export class LatencyHistogram {
  private readonly byBucket = new Map<number, number>();
  count = 0;
  sum = 0;
  max = 0;

  static of(parts: readonly HistogramData[]): LatencyHistogram {
    const whole = new LatencyHistogram();
    for (const part of parts) whole.merge(part);
    return whole;
  }

  /** Whole microseconds ≥ 0. */
  add(micros: number): void {
    const bucket = bucketOf(micros);
    this.byBucket.set(bucket, (this.byBucket.get(bucket) ?? 0) + 1);
    this.count++;
    this.sum += micros;
    if (micros > this.max) this.max = micros;
  }

  merge({ counts, sum, max }: HistogramData): void {
    for (let at = 0; at < counts.length; at += 2) {
      const [bucket = 0, count = 0] = [counts[at], counts[at + 1]];
      this.byBucket.set(bucket, (this.byBucket.get(bucket) ?? 0) + count);
      this.count += count;
    }
    this.sum += sum;
    this.max = Math.max(this.max, max);
  }

  /** The value that `percent` of all do not exceed, at most 3.2 % above it; undefined when there is none. */
  percentile(percent: number): number | undefined {
    if (this.count === 0) return undefined;
    const wanted = Math.ceil((percent * this.count) / 100);
    let seen = 0;
    for (const [bucket, count] of this.sorted()) {
      seen += count;
      if (seen >= wanted) return Math.min(upperOf(bucket), this.max);
    }
    return this.max;
  }

  data(): HistogramData {
    return { counts: this.sorted().flat(), sum: this.sum, max: this.max };
  }

  private sorted(): readonly [bucket: number, count: number][] {
    return [...this.byBucket].sort(([left], [right]) => left - right);
  }
}
