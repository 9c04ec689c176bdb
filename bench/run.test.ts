import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const program = fileURLToPath(new URL("run.ts", import.meta.url));

it.each([
  [["--help"], 0, /^Usage: npm run bench -- .*\nFiles: .*\bkernel\b.*\n$/s, /^$/],
  [["--bogus"], 2, /^$/, /^bench: Unknown option '--bogus'\. See: npm run bench -- --help\n$/],
  [["bogus", "kernel"], 2, /^$/, /^bench: no benchmark begins with bogus\n$/],
  [["--rounds", "0"], 2, /^$/, /^bench: --rounds 0: must be an integer of 1 or more\. See: npm run bench -- --help\n$/],
  [
    ["--against", "/nowhere"],
    2,
    /^$/,
    /^bench: --against \/nowhere: no cli\/main\.ts is there; it must be another checkout of this project\n$/,
  ],
  [["--against", ".", "bogus"], 2, /^$/, /^bench: --against compares http\.gets, .*; none begins with bogus\n$/],
  [
    ["--against", ".", "--page", "x"],
    2,
    /^$/,
    /^bench: --against FOLDER prints a comparison, and goes with neither --page nor --from\./,
  ],
])("%j says how it is used, and measures nothing", (args, code, out, error) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { encoding: "utf8" });
  expect(stderr).toMatch(error);
  expect(stdout).toMatch(out);
  expect(status).toBe(code);
});
