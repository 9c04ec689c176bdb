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
        timeout: 30_000,
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

describe("work that is long", () => {
  // A step of work is a microsecond: what takes long takes many turns of the box.
  it.each([
    [
      "names of many files",
      `i=0; while [ $i -lt 500 ]; do i=$((i+1)); : > f$i; done; echo *${"f*".repeat(50)}x`,
      1_000,
    ],
    ["a long pattern and a long text", `case ${"a".repeat(20_000)} in *${"a".repeat(500)}b) ;; esac`, 10_000],
    ["what is cut off a long value", `a=${"a".repeat(4_000)}; echo "\${a%%*ab}"`, 10_000],
    ["many words", `for i in ${"a ".repeat(20_000)}; do :; done`, 20_000],
    ["much output", "head -c 1000000 /dev/urandom > /dev/null; cat /dev/urandom | head -c 1000000 > x", 1_000],
  ])("%s", (_what, script, microsMin) => {
    expect(runScript(script).micros).toBeGreaterThan(microsMin);
  });

  it.each([
    ["case abcab in *ab) echo 1;; esac", "1"],
    ["case abcab in *a*b*b) echo 1;; *) echo 2;; esac", "1"],
    ["case ab in a**b) echo 1;; esac", "1"],
    ["case a in *a*a) echo 1;; *) echo 2;; esac", "2"],
    ["a=xayaz; echo ${a%%a*} ${a%a*} ${a#*a} ${a##*a}", "x xay yaz z"],
  ])("%s", (script, said) => expect(runScript(script).stdout.trim()).toBe(said));

  it("lets go when the turn of the loop is over, and comes to the same", () => {
    const script = "i=0; while [ $i -lt 1000 ]; do i=$((i+1)); echo $i | cat; done | tail -n 1; exit 3";
    const [whole, parts] = [runScript(script), runScript(script, { turnStepsMax: 10 })];
    expect([parts.stdout, parts.status]).toEqual(["1000\n", 3]);
    expect([whole.stdout, whole.status]).toEqual(["1000\n", 3]);
    expect(parts.turns).toBeGreaterThan(10 * whole.turns);
  });
});
