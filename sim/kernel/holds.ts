import type { Cancel } from "./types.ts";

/**
 * Work outside the run's events (a compression, a file, a worker) that virtual time must wait for. While
 * a hold is open the clock stands still.
 */
export class Holds {
  private readonly open = new Map<number, string>();
  private readonly results: { settled: boolean; deliver: () => void }[] = [];
  private takenCount = 0;
  private releasedCount = 0;
  private wakeWaiters: (() => void)[] = [];

  /** Holds taken and released so far, in sum: it moves whenever something happened. */
  get activityCount(): number {
    return this.takenCount + this.releasedCount;
  }

  get openCount(): number {
    return this.open.size;
  }

  /** What the clock waits for, in the order of taking. */
  names(): string[] {
    return [...this.open.values()];
  }

  /** Stops the clock until the returned function is called; calling it again does nothing. */
  take(name: string): Cancel {
    const id = this.takenCount++;
    this.open.set(id, name);
    return () => {
      if (!this.open.delete(id)) return;
      this.releasedCount++;
      for (const wake of this.wakeWaiters.splice(0)) wake();
    };
  }

  /**
   * Runs outside work under a hold. However the world schedules pieces of work that overlap, their results
   * arrive in the order in which they began, so that a run stays the same.
   */
  outside<T>(name: string, work: () => Promise<T>): Promise<T> {
    const release = this.take(name);
    return new Promise<T>((resolve, reject) => {
      const result = { settled: false, deliver: (): void => {} };
      this.results.push(result);
      const settle = (deliver: () => void): void => {
        result.settled = true;
        result.deliver = () => {
          deliver();
          release();
        };
        this.deliverSettled();
      };
      work().then(
        (value) => settle(() => resolve(value)),
        (error: unknown) => settle(() => reject(error)),
      );
    });
  }

  /** Resolves at the next release. */
  released(): Promise<void> {
    return new Promise((resolve) => this.wakeWaiters.push(resolve));
  }

  private deliverSettled(): void {
    while (this.results[0]?.settled === true) this.results.shift()?.deliver();
  }
}
