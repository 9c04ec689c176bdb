import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";

const room = new URL("engine-room.ts", import.meta.url).href;

/** What old objects take in a process, in megabytes, once nine in ten of them have gone. */
function megabytesLeft(prepare: string): number {
  const program = `
    import { getHeapSpaceStatistics } from "node:v8";
    import * as room from ${JSON.stringify(room)};
    ${prepare}
    let kept = Array.from({ length: 400_000 }, (_, at) => ({ at, list: [at] }));
    gc();
    gc();
    kept = kept.filter(({ at }) => at % 10 === 0);
    for (let time = 0; time < 3; time++) gc();
    const old = getHeapSpaceStatistics().find(({ space_name: name }) => name === "old_space");
    console.log(Math.round(old.physical_space_size / 1_048_576) + 0 * kept.length);
  `;
  const flags = ["--expose-gc", "--single-threaded-gc", "--input-type=module", "--eval", program];
  return Number(spawnSync(process.execPath, flags, { encoding: "utf8" }).stdout);
}

it("a server's old objects stay where they are, and are moved together otherwise", () => {
  expect(megabytesLeft("")).toBeLessThan(20);
  expect(megabytesLeft("room.pauseShortly();")).toBeGreaterThan(30);
}, 60_000);

/** How often everything is gone through while two gigabytes of buffers come and go beside some objects. */
function collections(prepare: string): number {
  const program = `
    import { PerformanceObserver, constants } from "node:perf_hooks";
    import * as room from ${JSON.stringify(room)};
    ${prepare}
    const kept = Array.from({ length: 200_000 }, (_, at) => ({ at, list: [at] }));
    gc();
    let count = 0;
    new PerformanceObserver((list) => {
      for (const { detail } of list.getEntries()) if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) count++;
    }).observe({ entryTypes: ["gc"] });
    const few = [];
    for (let at = 0; at < 2_400; at++) {
      few[at % 10] = Buffer.alloc(1_000_000);
      if (at % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
    console.log(count + 0 * kept.length);
  `;
  const flags = ["--expose-gc", "--single-threaded-gc", "--input-type=module", "--eval", program];
  return Number(spawnSync(process.execPath, flags, { encoding: "utf8" }).stdout);
}

it("buffers that come and go have a server go through everything seldom, and often otherwise", () => {
  expect(collections("room.pauseShortly();")).toBeLessThan(collections("") / 2); // 1 and 6, always: one thread collects
}, 60_000);
