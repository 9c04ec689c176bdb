/** A start of `serve` that is refused: one error, exit code 2, the process ends, and nothing is there that was not before. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { memoryBytesMax } from "../../sim/http/memory-limit.ts";
import { refusalHere } from "../command-here.fixture.ts";
import { cleanUp, get, run, scratch, scratchFile, start } from "../spawned-command.fixture.ts";

afterAll(cleanUp);

const configMap = (name: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: ${name}, namespace: default }\n`;
const objects = scratchFile("objects.yaml", `${configMap("a")}---\n${configMap("b")}`);
const halfBad = scratchFile("half-bad.yaml", `${configMap("c")}---\n${configMap("B_bad")}`);
const configMaps = "/api/v1/namespaces/default/configmaps";

/** Names of config maps of a server with this data, which ends. */
async function kept(dataDir: string, ...flags: readonly string[]): Promise<readonly string[]> {
  const { child, firstLine, ended } = start(
    "serve",
    "--port",
    "0",
    "--anonymous-auth=true",
    "--data-dir",
    dataDir,
    ...flags,
  );
  const { body } = await get((await firstLine).replace("serving on ", "") + configMaps);
  child.kill("SIGTERM");
  expect((await ended).code).toBe(0);
  return (JSON.parse(body) as { items: { metadata: { name: string } }[] }).items.map(({ metadata }) => metadata.name);
}

/** A start that ends with one error, and the code of a wrong command line: what the error says. */
const refusedStart = async (...args: readonly string[]): Promise<string> => {
  const { code, stderr, stdout } = await run(...args);
  expect({ code, stdout }, stderr).toEqual({ code: 2, stdout: "" });
  return stderr;
};

/** `refused`: a process that ends by itself, or a start in this one, which takes a tenth of the time. */
const refusals = async (dataDir: string, refused: typeof refusedStart): Promise<void> => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  const { port } = taken.address() as AddressInfo;
  const log = scratchFile("chaos.ndjson", "of an earlier run\n");
  const plan = scratchFile("plan.yaml", "apiVersion: chaos/v1\nname: test\nfaults: [{ throttle: 1s, rate: 1/5 }]\n");
  const chaos = ["--chaos", plan, "--chaos-log", log];
  for (const [flags, says] of [
    [["--port", "0", "--objects", objects, "--objects", halfBad], "B_bad"],
    [["--port", String(port), "--objects", objects, ...chaos], "another process listens there"],
    [["--port", "0", "--memory-max", "10Mi", "--objects", objects], "before anybody has asked for anything"],
    [["--port", "0", "--memory-max", "10"], "--memory-max 10: this server holds"],
    [["--port", "0", "--nodes", "nowhere.yaml"], "neither a number of nodes nor a file"],
    [["--port", "0", "--cluster-signing-cert-file", objects], "go together"],
    [["--port", "0", "--nodes", "1", "--objects", halfBad], "B_bad"],
  ] as const) {
    expect(await refused("serve", "--speed", "1000", "--data-dir", dataDir, ...flags)).toContain(says);
  }
  expect(readFileSync(log, "utf8")).toBe("of an earlier run\n");
  await new Promise((resolve) => taken.close(resolve));
};

it("makes no data directory", async () => {
  await refusals(join(scratch, "outer", "inner"), refusalHere);
  expect(existsSync(join(scratch, "outer"))).toBe(false);
  const mine = join(scratch, "mine");
  mkdirSync(mine);
  writeFileSync(join(mine, "notes.txt"), "");
  await refusals(mine, refusalHere);
  expect(readdirSync(mine)).toEqual(["notes.txt"]);
}, 60_000);

it("changes none: objects are all made, or none of them", async () => {
  const dataDir = join(scratch, "used");
  expect(await kept(dataDir, "--objects", objects)).toEqual(["a", "b"]);
  await refusals(dataDir, refusedStart);
  expect(await kept(dataDir)).toEqual(["a", "b"]);
}, 60_000);

it("says of memory beyond the heap that less will do, or a larger heap, where the machine can have one", async () => {
  const most = memoryBytesMax();
  const here = `here ${Math.floor(most / 2 ** 20)}Mi. Give less`;
  expect(await refusalHere("serve", "--memory-max", "900Ti")).toMatch(new RegExp(`^--memory-max 900Ti: .*${here}\\.$`));
  expect(await refusalHere("serve", "--memory-max", String(most + 1))).toMatch(
    new RegExp(
      `${here}, or a larger heap, .*: NODE_OPTIONS=--max-old-space-size=${Math.ceil((2 * (most + 1)) / 2 ** 20)}\\.$`,
    ),
  );
});
