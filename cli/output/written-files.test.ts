import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
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
import { afterAll, describe, expect, it } from "vitest";
import { refusalHere, runHere } from "../command-here.fixture.ts";
import { commandLine } from "../command-line.ts";
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

  // Blocks of 512 bytes.
  const inSmall = (...command: string[]): { status: number | null; stdout: string; stderr: string } =>
    spawnSync("sh", ["-c", 'ulimit -f 4; exec "$0" "$@"', process.execPath, main, ...command], {
      cwd: root,
      encoding: "utf8",
    });

  it("keeps the old text when there is no room for the new one", () => {
    const file = at("trace.txt");
    writeFileSync(file, "old");
    const scenario = "scenarios/regress/watch-half-open-silence.yaml";
    const { status, stderr } = inSmall("run", scenario, "--trace", file);
    expect(stderr).toContain(
      `--trace ${file}: cannot be written: it would be longer than this process's files may be.`,
    );
    expect([status, readFileSync(file, "utf8")]).toEqual([2, "old"]);
    expect(readdirSync(scratch).filter((name) => name.includes(".new"))).toEqual([]);
  });

  it("is what a report lacks on a full disk, in a sentence", () => {
    const { status, stdout, stderr } = inSmall(...judge, "--report", at("small"));
    expect(stdout).toMatch(/^CONFORMANT/m); // nobody's verdict is lost for it
    expect(stderr).toMatch(
      /^Error: \S+report\.\w+ cannot be written: it would be longer .+\. Make room, or name another place\.\n$/,
    );
    expect(status).toBe(3);
  });
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
