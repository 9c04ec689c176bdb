/** Time in the test's hand: one loop drives the run for as long as anybody has asked for it. */
import { invariant } from "../kernel/invariant.ts";
import type { Kernel } from "../kernel/kernel.ts";
import type { Process } from "../kernel/types.ts";
import { type VirtualDriver, VirtualTimeError } from "../kernel/virtual-driver.ts";
import { type Duration, durationMicros, durationText } from "./duration.ts";

export interface Within {
  /** Virtual time after which it is given up. */
  readonly within?: Duration;
}

export interface TestClockOptions {
  readonly kernel: Kernel;
  readonly driver: VirtualDriver;
  /** Owns the limits. */
  readonly process: Process;
}

export class TestClock {
  readonly #options: TestClockOptions;
  /** How to reject each job that is asked for and has not ended. */
  readonly #jobs = new Set<(error: unknown) => void>();
  #becomeIdle: () => void = () => undefined;
  #driving = false;
  #failure: { readonly error: unknown } | undefined;

  constructor(options: TestClockOptions) {
    this.#options = options;
  }

  /** Whether anybody has asked for time to pass and is not yet served. */
  get busy(): boolean {
    return this.#jobs.size > 0;
  }

  /** Ends what runs now, and all that is asked for later, with this error: the run is spoilt. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#abandon(error);
  }

  advance(duration: Duration): Promise<void> {
    const micros = durationMicros(duration);
    const { driver } = this.#options;
    return this.#job(async () => {
      await driver.sleep(micros);
      await driver.settled();
    });
  }

  settle(): Promise<void> {
    return this.#job(() => this.#options.driver.settled());
  }

  /** Looks at `condition` whenever nothing is left to do at an instant. */
  runUntil(condition: () => boolean | Promise<boolean>, { within = "1h" }: Within): Promise<void> {
    const { kernel, driver } = this.#options;
    const limit = driver.nowMicros() + durationMicros(within);
    return this.#job(async () => {
      for (;;) {
        await driver.settled();
        if (await condition()) return;
        const next = kernel.nextEventMicros;
        if (next === undefined || next > limit) {
          const message = `the condition does not hold within ${durationText(within)}: ${kernel.pendingReason()}`;
          throw new VirtualTimeError("time-limit", message);
        }
        await driver.sleep(next - driver.nowMicros());
      }
    });
  }

  run<T>(main: () => Promise<T>, { within = "24h" }: Within): Promise<T> {
    const { clock } = this.#options.process;
    const limitMicros = durationMicros(within);
    return this.#job(async () => {
      const limit = Promise.withResolvers<never>();
      const cancel = clock.after(limitMicros, () => limit.reject(notFinished(within)));
      try {
        return await Promise.race([main(), limit.promise]);
      } finally {
        cancel();
      }
    });
  }

  /** Time passes until `main` has ended. Jobs may be begun in one another, and several at once. */
  #job<T>(main: () => Promise<T>): Promise<T> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure.error);
    return new Promise<T>((resolve, reject) => {
      this.#jobs.add(reject);
      const end = (): void => {
        this.#jobs.delete(reject);
        if (!this.busy) this.#becomeIdle();
      };
      main().then(
        (value) => {
          end();
          resolve(value);
        },
        (error: unknown) => {
          end();
          reject(error);
        },
      );
      if (!this.#driving) void this.#drive();
    });
  }

  async #drive(): Promise<void> {
    this.#driving = true;
    try {
      // Whoever awaited the last job may have begun another one by the time that the driver has returned.
      while (this.busy) await this.#options.driver.run(() => this.#idle());
    } catch (error) {
      this.#abandon(error);
    } finally {
      this.#driving = false;
    }
    invariant(!this.busy, "every job is served before the loop ends");
  }

  #idle(): Promise<void> {
    return this.busy ? new Promise((resolve) => (this.#becomeIdle = resolve)) : Promise.resolve();
  }

  #abandon(error: unknown): void {
    const rejects = [...this.#jobs];
    this.#jobs.clear();
    this.#becomeIdle();
    for (const reject of rejects) reject(error);
  }
}

function notFinished(within: Duration): VirtualTimeError {
  return new VirtualTimeError(
    "time-limit",
    `run: not finished after ${durationText(within)} of virtual time. It waits for something that does not happen, or ` +
      "for something outside the run (a dynamic import, a worker's message, a socket): do that before the run, or " +
      "wrap it: await cluster.outside(name, () => work())",
  );
}
