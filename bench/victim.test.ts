import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { Victim } from "./victim.ts";

const scratch = mkdtempSync(join(tmpdir(), "victim-"));
afterAll(() => rmSync(scratch, { recursive: true }));

it("finds an address however much was said before it", async () => {
  const program = join(scratch, "talker.mjs");
  writeFileSync(
    program,
    `for (let at = 0; at < 2_000; at++) console.log("not yet: " + at);
    console.log("serving on http://127.0.0.1:1234");
    setInterval(() => {}, 1_000);`,
  );
  const victim = await Victim.started([], undefined, program);
  expect(victim.address).toBe("http://127.0.0.1:1234");
  victim.stop();
});
