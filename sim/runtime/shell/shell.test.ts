import { spawnSync } from "node:child_process";
import { existsSync, readlinkSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { runScript } from "./script.fixture.ts";
import { scripts } from "./scripts.fixture.ts";

const realShell = existsSync("/bin/dash") ? "/bin/dash" : undefined;

describe("the shell beside a real one", () => {
  it.runIf(realShell !== undefined)("writes what dash writes, and ends as dash ends", () => {
    expect(readlinkSync("/proc/self/exe")).not.toBe("");
    const differing = scripts.flatMap((script) => {
      const real = spawnSync(realShell as string, ["-c", script], {
        encoding: "utf8",
        cwd: "/tmp",
        env: { PATH: "/usr/bin:/bin" },
        stdio: ["ignore", "pipe", "pipe"],
        timeout: 5000,
      });
      const ours = runScript(script);
      const same = ours.stdout === real.stdout && ours.status === real.status;
      return same ? [] : [{ script, real: [real.stdout, real.status], ours: [ours.stdout, ours.status, ours.stderr] }];
    });
    expect(differing).toEqual([]);
    expect(scripts.length).toBeGreaterThan(100);
  });
});

describe("more than a container has room for", () => {
  it("a pipeline ends at the first part that cannot be started, and says so once", () => {
    const { stdout, stderr } = runScript(`${"true | ".repeat(20_000)}true; echo $?`);
    expect([stdout, stderr]).toEqual(["2\n", "sh: Cannot fork\n"]);
  });
});
