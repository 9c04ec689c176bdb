import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { readNodes } from "./cluster-files.ts";

const folder = mkdtempSync(join(tmpdir(), "nodes-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function read(text: string): unknown {
  const file = join(folder, "nodes.yaml");
  writeFileSync(file, text);
  return readNodes(file);
}

it("reads pools of nodes", () => {
  expect(read("pools: [{ name: a, count: 3, zones: [x, y] }]")).toMatchObject([{ name: "a", count: 3, cpu: "16" }]);
});

it.each([
  [
    "pools:\n  - { name: a, cout: 3 }\n",
    'nodes.yaml:2:16: pools[0]: there is no field "cout" here; did you mean count',
  ],
  ["pools:\n  - { name: a }\n  - { name: a }\n", "nodes.yaml:3:13: pools[1].name: the name a is taken"],
  ["pools: [{ name: a, cpu: many }]", "nodes.yaml:1:25: pools[0].cpu: expected a quantity such as"],
  ["pools: [{ name: a, taints: [{ key: b, effect: NoScedule }] }]", "did you mean NoSchedule"],
  ["pools: [", "not YAML: "],
  ["pools: [{ name: a, count: 32000 }, { name: b }]", "32001 nodes, and 32000 is the most"],
])("%j is refused with its place, and with what was probably meant", (text, message) => {
  expect(() => read(text)).toThrow(message);
});
