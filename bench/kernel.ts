/**
 * How fast the kernel fires events with all on that a run has on: the owner check, a cancel handle for
 * each timer, and a trace record for each event. Run alone: `node bench/kernel.ts`.
 */
import { Kernel } from "../sim/kernel/kernel.ts";
import type { Cancel } from "../sim/kernel/types.ts";
import { runVirtual } from "../sim/kernel/virtual-driver.ts";
import { type Bench, measure } from "./harness.ts";

const PENDING = 10_000;
const PROCESSES = 100;
const DELAY_MICROS_MAX = 20_000;
const ROUND_MICROS = 1_000_000; // about a million events

/** Each timer sets its successor at a distance from a table: the draws are not the kernel's cost. */
function steadyTimers(): Kernel {
  const kernel = new Kernel({ seed: "bench" });
  const { prng } = kernel.process("table");
  const delays = Array.from({ length: 4096 }, () => prng.intInclusive(1, DELAY_MICROS_MAX));
  for (let number = 0; number < PROCESSES; number++) {
    const { clock } = kernel.process(`process-${number}`);
    const beat = (turn: number): void => {
      clock.after(delays[turn & 4095] as number, () => beat(turn + 1));
    };
    for (let timer = 0; timer < PENDING / PROCESSES; timer++) beat((number * PENDING + timer) * 7919);
  }
  return kernel;
}

/** Each event draws the distance of its successor, and cancels a far timer and sets it anew, as deadlines are. */
function deadlines(): Kernel {
  const kernel = new Kernel({ seed: "bench" });
  const perProcess = PENDING / PROCESSES / 2;
  for (let number = 0; number < PROCESSES; number++) {
    const { clock, prng } = kernel.process(`process-${number}`);
    const farTimers: Cancel[] = [];
    const beat = (timer: number): void => {
      farTimers[timer]?.();
      farTimers[timer] = clock.after(30_000_000, () => {});
      clock.after(prng.intInclusive(1, DELAY_MICROS_MAX / 2), () => beat(timer));
    };
    for (let timer = 0; timer < perProcess; timer++) beat(timer);
  }
  return kernel;
}

/** Events that one round fires in a wall second, by the trace's own count. */
function eventsPerSecond(kernel: Kernel): number {
  const before = kernel.trace.count;
  const start = performance.now();
  kernel.run(kernel.nowMicros() + ROUND_MICROS);
  return Math.round(((kernel.trace.count - before) * 1000) / (performance.now() - start));
}

/** The first round builds the kernel, the later ones run it on. */
function inRounds(build: () => Kernel): () => number {
  let kernel: Kernel | undefined;
  return () => {
    kernel ??= build();
    return eventsPerSecond(kernel);
  };
}

/** Awaited requests that are answered within their entry, in a wall second. */
async function promptRequestsPerSecond(): Promise<number> {
  const kernel = new Kernel({ seed: "bench" });
  const server = kernel.process("server");
  const requests = 200_000;
  const start = performance.now();
  await runVirtual(kernel, async (driver) => {
    for (let request = 0; request < requests; request++) {
      await driver.wait<number>("a request", (resolve) => driver.enter(server, () => resolve(request)));
    }
  });
  return Math.round((requests * 1000) / (performance.now() - start));
}

/** Sleeps of user code, one after another: each costs a move of virtual time. */
async function sleepsPerSecond(): Promise<number> {
  const kernel = new Kernel({ seed: "bench" });
  const sleeps = 20_000;
  const start = performance.now();
  await runVirtual(kernel, async (driver) => {
    for (let sleep = 0; sleep < sleeps; sleep++) await driver.sleep(1000);
  });
  return Math.round((sleeps * 1000) / (performance.now() - start));
}

export const benches: readonly Bench[] = [
  { name: "kernel.events", unit: "events/s", run: inRounds(steadyTimers), target: 2_000_000 },
  { name: "kernel.deadlines", unit: "events/s", run: inRounds(deadlines) },
  { name: "kernel.prompt-requests", unit: "requests/s", run: promptRequestsPerSecond },
  { name: "kernel.sleeps", unit: "sleeps/s", run: sleepsPerSecond },
];

if (import.meta.main) {
  for (const bench of benches) {
    const { name, unit, min, median, max, rounds } = await measure(bench, 5);
    console.log(JSON.stringify({ name, unit, min, median, max, rounds, pending: PENDING }));
  }
}
