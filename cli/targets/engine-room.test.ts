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
  const flags = ["--expose-gc", "--input-type=module", "--eval", program];
  return Number(spawnSync(process.execPath, flags, { encoding: "utf8" }).stdout);
}

it("a server's old objects stay where they are, and are moved together otherwise", () => {
  expect(megabytesLeft("")).toBeLessThan(20);
  expect(megabytesLeft("room.leaveObjectsInPlace();")).toBeGreaterThan(30);
}, 60_000);
