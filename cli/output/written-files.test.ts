import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatMessage } from "@optique/core/message";
import { parseSync } from "@optique/core/parser";
import { afterAll, describe, expect, it, vi } from "vitest";
import { refusalHere, runHere } from "../command-here.fixture.ts";
import { commandLine } from "../command-line.ts";
import { hunt } from "../commands/hunt.ts";
import { explain } from "../explain.ts";
import { main, root } from "../spawned-command.fixture.ts";
import { writeWhole } from "./written-files.ts";

const scratch = mkdtempSync(join(tmpdir(), "touchstone-"));
const at = (...path: string[]): string => join(scratch, ...path);
const judge = ["conform", "--only", "lists-come-in-key-order", "--runs", "1"];
const compare = ["diff", "embedded:svc", "embedded:svc", "--only", "lists", "--runs", "1"];

afterAll(() => rmSync(scratch, { recursive: true }));

describe("a file that is written whole", () => {
  it("has the new text, and is otherwise what it was", () => {
    const [file, link] = [at("whole"), at("link")];
    writeWhole(file, "one");
    chmodSync(file, 0o640);
    symlinkSync(file, link);
    writeWhole(link, "two");
    expect([readFileSync(file, "utf8"), statSync(file).mode & 0o777, readlinkSync(link)]).toEqual(["two", 0o640, file]);
    expect(readdirSync(scratch).filter((name) => name.endsWith(".new"))).toEqual([]);
    expect(() => writeWhole("/dev/full", "x")).toThrow("no space left on device");
    expect(() => writeWhole(at("none", "whole"), "x")).toThrow(expect.objectContaining({ path: at("none", "whole") }));
  });

  /** With files of so many blocks of 512 bytes at most. */
  const inSmall = (blocks: number, ...command: string[]) =>
    spawnSync("sh", ["-c", `ulimit -f ${blocks}; exec "$0" "$@"`, process.execPath, main, ...command], {
      cwd: root,
      encoding: "utf8",
    });

  it("keeps the old text when there is no room for the new one", () => {
    const file = at("trace.txt");
    writeFileSync(file, "old");
    const scenario = "scenarios/regress/watch-half-open-silence.yaml";
    const { status, stdout, stderr } = inSmall(4, "run", scenario, "--trace", file);
    expect(stderr).toBe(
      `Error: ${file} cannot be written: it would be longer than this process's files may be. Make room, or name another place.\n`,
    );
    expect([status, readFileSync(file, "utf8")]).toEqual([3, "old"]);
    expect(stdout).toContain("PASSED");
    expect(readdirSync(scratch).filter((name) => name.includes(".new"))).toEqual([]);
  });

  it("is what a report lacks on a full disk, in a sentence", () => {
    const { status, stdout, stderr } = inSmall(4, ...judge, "--report", at("small"));
    expect(stdout).toMatch(/^CONFORMANT/m); // nobody's verdict is lost for it
    expect(stderr).toMatch(
      /^Error: \S+report\.\w+ cannot be written: it would be longer .+\. Make room, or name another place\.\n$/,
    );
    expect(status).toBe(3);
  });

  it("is what a hunt lacks on a full disk, in a sentence", () => {
    const small = ["--jobs", "1", "--seeds", "400", "--output", at("small-hunt")];
    const { status, stderr } = inSmall(80, "hunt", "scenarios/explore/canary.yaml", ...small);
    expect(stderr).toMatch(/^Error: \S+hunt\.sqlite cannot be written: \S.+\. Name another place\.\n$/);
    expect(status).toBe(3);
  });
});

describe("a folder that goes away while a command is at work", () => {
  it("is told in a sentence when a hunt wants to write into it", async () => {
    const folder = at("gone");
    const parsed = parseSync(commandLine, [
      "hunt",
      "scenarios/explore/canary.yaml",
      "--seeds",
      "1",
      "--output",
      folder,
    ]);
    if (!parsed.success || parsed.value.command !== "hunt") throw new Error("not understood");
    const hunted = hunt(parsed.value, () => ({
      async run(part) {
        rmSync(folder, { recursive: true });
        return part.seeds.map((seed) => ({ seed, traceHash: "", records: 0, coverage: [] }));
      },
      close: async () => {},
    }));
    const error = await hunted.catch((thrown: unknown) => thrown);
    expect(explained(error)).toEqual([
      3,
      `Error: ${folder}/report.json cannot be written: the folder that it would be in is not there. Name another place.\n`,
    ]);
  });

  it("is no excuse for a file of our own that is not there, or for a connection", () => {
    expect(explained(thrownBy(() => mkdirSync(at("none", "more"))))[0]).toBe(3);
    expect(explained(thrownBy(() => writeWhole(at("none", "file"), "")))[0]).toBe(3);
    expect(explained(thrownBy(() => readFileSync(at("none"))))[0]).toBe(4);
    const broken = { code: "EPIPE", syscall: "write" };
    expect(explained(Object.assign(new Error("write EPIPE"), broken))[0]).toBe(4);
  });

  function explained(error: unknown): readonly [number, string] {
    const said = vi.spyOn(process.stderr, "write").mockReturnValue(true);
    const code = explain(error);
    const text = said.mock.calls.map(([line]) => String(line)).join("");
    said.mockRestore();
    return [code, text];
  }

  function thrownBy(work: () => void): unknown {
    try {
      work();
    } catch (error) {
      return error;
    }
    return undefined;
  }
});

describe("the folder of a report", () => {
  it("is made, and so are those above it", async () => {
    expect((await runHere(...judge, "--report", at("out", "conform"))).code).toBe(0);
    expect(readdirSync(at("out", "conform"))).toContain("report.html");
    expect((await runHere(...compare, "--report", at("other", "diff"))).code).toBe(0);
    expect(readdirSync(at("other", "diff"))).toEqual(["diff.json", "diff.txt"]);
  });

  it("is refused where a file has its name", async () => {
    writeFileSync(at("file"), "");
    for (const command of [judge, compare])
      expect(await refusalHere(...command, "--report", at("file"))).toContain(`${at("file")} is a file`);
  });

  it("is not left behind when something else is refused", async () => {
    await refusalHere(...judge, "--report", at("never"), "--events", scratch);
    await refusalHere(...judge, "--report", at("never"), "--write-baseline", scratch);
    writeFileSync(at("empty"), "");
    await refusalHere("conform", "--svcconfig", at("empty"), "--report", at("never"), "--events", at("no-events"));
    expect(existsSync(at("no-events"))).toBe(false);
    await refusalHere("diff", `svcconfig:${at("nofile")}`, "embedded:svc", "--report", at("never"));
    expect(existsSync(at("never"))).toBe(false);
  });
});

describe("a file to read", () => {
  const parsed = (file: string): string => {
    const result = parseSync(commandLine, ["conform", "http://127.0.0.1:1", "--token-file", file]);
    return result.success ? "taken" : formatMessage(result.error);
  };

  it("may be a device or a pipe, and no folder", () => {
    expect(parsed("/dev/null")).toBe("taken");
    expect(parsed(scratch)).toContain("is a folder");
    expect(parsed(at("nowhere"))).toContain("does not exist");
  });
});
