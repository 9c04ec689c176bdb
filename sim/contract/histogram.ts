/** A distribution over fixed bounds, cheap to add to: what it looks like as text is made when somebody asks. */

/** Seconds, as the real server's histograms of requests have them. */
export const requestSeconds = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
] as const;
export const sliSeconds = requestSeconds.slice(2);
export const webhookSeconds = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25] as const;
export const queueSeconds = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10, 100, 1000] as const;
export const admissionSeconds = [0.005, 0.025, 0.1, 0.5, 1, 2.5] as const;
/** Bytes. */
export const responseBytes = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9] as const;
export const watchEventBytes = [1024, 2048, 4096, 8192, 16_384, 32_768, 65_536, 131_072] as const;

export class Histogram {
  /** Upper bounds, ascending. */
  readonly bounds: readonly number[];
  /** How many were no greater than a bound and greater than the one before; the last has no bound. */
  private readonly counts: number[];
  sum = 0;
  /** Many observations in a row are the same: an event that all watches are told. */
  private lastValue = Number.NaN;
  private lastAt = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = [...bounds, 0].fill(0);
  }

  observe(value: number): void {
    const { bounds, counts } = this;
    if (value !== this.lastValue) {
      let at = 0;
      while (at < bounds.length && value > (bounds[at] as number)) at++;
      this.lastValue = value;
      this.lastAt = at;
    }
    (counts[this.lastAt] as number)++;
    this.sum += value;
  }

  get count(): number {
    return this.counts.reduce((sum, count) => sum + count, 0);
  }

  /** How many were no greater than each bound, and at last how many there were: each includes the ones before. */
  cumulative(): readonly number[] {
    let sum = 0;
    return this.counts.map((count) => (sum += count));
  }
}
