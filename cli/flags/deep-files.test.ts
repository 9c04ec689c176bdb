/** Files whose lists stand in one another deeper than anybody could walk, or that are too long: each reader of files refuses them as it refuses others. */
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { saidHere } from "../said-here.fixture.ts";
import { cleanUp, scratch, scratchFile } from "../spawned-command.fixture.ts";

afterAll(cleanUp);

const depth = 40_000; // deeper than any walk by recursion on four megabytes of stack, which is what a thread has
const file = scratchFile("deep.json", `${"[".repeat(depth)}${"]".repeat(depth)}\n`);
const listen = ["--listen", `unix://${join(scratch, "cri.sock")}`];

it.each([
  ["runtime --images", ["runtime", ...listen, "--images", file]],
  ["runtime --state", ["runtime", ...listen, "--state", file]],
  ["run", ["run", file]],
  ["capacity --cost-model", ["capacity", "scenarios/capacity/thousand-nodes.yaml", "--cost-model", file]],
  ["conform --svcconfig", ["conform", "--svcconfig", file]],
  ["conform --baseline", ["conform", "--baseline", file]],
  ["serve --nodes", ["serve", "--port", "0", "--nodes", file]],
  ["serve --objects", ["serve", "--port", "0", "--objects", file]],
  ["serve --chaos", ["serve", "--port", "0", "--chaos", file]],
])("deep lists: %s", async (_, args) => {
  const { code, stderr } = await saidHere(...args);
  expect(stderr).not.toMatch(/stack|^ +at /im);
  expect(stderr).toContain("deep.json");
  expect(code).toBe(2);
});

/** Longer than people write: to look through it all would take minutes, and gigabytes. */
const long = scratchFile("long.json", `{"a":"${"a".repeat(5 << 20)}"}`);

it.each([
  ["runtime --images", ["runtime", ...listen, "--images", long]],
  ["config check", ["config", "check", long]],
])("a long text: %s", async (_, args) => {
  const { code, stderr } = await saidHere(...args);
  expect(stderr).toContain("long.json: it is longer than 4 MiB. Give a smaller file.");
  expect(code).toBe(2);
});
