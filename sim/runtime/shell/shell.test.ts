import { spawnSync } from "node:child_process";
import { existsSync, readlinkSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseScript } from "./parse.ts";
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
    const { stdout, stderr } = runScript(`${"true | ".repeat(18_000)}true; echo $?`);
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

describe("a script of any length", () => {
  it("is read a command at a time", () => {
    const parsing = parseScript("true;".repeat(40_000));
    for (let command = 0; command < 40_000; command++) expect(parsing.next().done).toBe(false);
    expect(parsing.next().value).toMatchObject({ is: "list" });
    // Four texts of 40,000 commands are read in as many turns as have room for them, and carried out in as many.
    const script =
      's="true;true;true;true;true;"; i=0; while [ $i -lt 13 ]; do i=$((i+1)); s="$s$s"; done; eval "$s"; echo $?';
    const { stdout, turns } = runScript(script, { turnStepsMax: 1_000 });
    expect(stdout).toBe("0\n");
    expect(turns).toBeGreaterThan(80);
  });

  it.each([
    ["a pipeline", `${"a|".repeat(60_000)}a`],
    ["words", `a${" b".repeat(60_000)}`],
    ["parts of a word", `a ${"''".repeat(60_000)}`],
    ["a substitution of commands", `a $(${"b;".repeat(60_000)})`],
    ["a here-document", `cat <<E\n${"$a".repeat(60_000)}\nE\n`],
    ["redirections", `a${" >b".repeat(60_000)}`],
    ["arms", `case a in ${"a);;".repeat(60_000)} esac`],
    ["what is between backquotes", `a \`${"b;".repeat(60_000)}\``],
    ["a loop", `while a; do ${"b;".repeat(60_000)} done`],
  ])("has no command of more parts than are read at once: %s", (_what, script) => {
    expect(() => [...parseScript(script)]).toThrow("a command of the script is too long");
    expect([...parseScript(script.replaceAll(/(.{3,5})\1{9999,}/g, "$1".repeat(2)))].length).toBeLessThan(3);
  });

  it("is not looked at again and again for the end of what may be arithmetic", () => {
    expect(() => [...parseScript(`${"$((".repeat(20)}${" ".repeat(1_000_000)}`)]).toThrow("is too long");
    expect(() => [...parseScript(`${"$((".repeat(20)}${" ".repeat(1_000)}`)]).toThrow("end of file unexpected");
    const long = runScript(`echo $((${"1+".repeat(40_000)}1)); echo $?`);
    expect(long).toMatchObject({ stdout: "", stderr: expect.stringContaining("the expression is too long") });
  });

  it("is given to no process in a word that is longer than a kernel takes", () => {
    const long = "s=aaaaaaaa; while [ ${#s} -lt 131072 ]; do s=$s$s; done;";
    expect(runScript(`${long} cat "$s"; echo $?`)).toMatchObject({
      stdout: "126\n",
      stderr: "sh: 1: cat: Argument list too long\n",
    });
    expect(runScript(`${long} echo "\${s#a}" | cat | tail -c 2`)).toMatchObject({
      status: 0,
      stderr: "sh: a value is too long to be trimmed\n",
    });
    expect(runScript(`${long} [ "$s" = a ]; echo $?`)).toMatchObject({ stdout: "1\n" });
  });
});
