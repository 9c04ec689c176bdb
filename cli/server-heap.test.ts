import { expect, it } from "vitest";
// @ts-expect-error -- plain JavaScript, since it runs before anything is installed
import { serverHeapFlags } from "./server-heap.mjs";

const gibi = 1024 ** 3;

it.each([
  [[], 24, 6144],
  [[], 8, 4096],
  [["--memory-max", "8Gi"], 24, 16_384],
  [["--memory-max=20Gi"], 24, 22_118],
  [["--memory-max", "2Gi"], 4, 3686],
  [["--memory-max", "8Gi", "--memory-max", "1200Mi"], 24, 6144],
  [["--memory-max", "9000000000"], 64, 17_166],
  [["--memory-max", "lots"], 24, 6144],
  [["--memory-max"], 24, 6144],
])("a server with %j on a machine of %i GiB has a heap of %i MiB", (args, machine, heap) => {
  expect(serverHeapFlags(args, {}, machine * gibi)).toEqual([`--max-old-space-size=${heap}`]);
});

it("has the heap that NODE_OPTIONS says", () => {
  expect(serverHeapFlags([], { NODE_OPTIONS: "--trace-gc --max-old-space-size=900" }, 24 * gibi)).toEqual([]);
});
