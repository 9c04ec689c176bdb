import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { formatMessage } from "@optique/core/message";
import { parseSync } from "@optique/core/parser";
import { afterAll, describe, expect, it } from "vitest";
import { refusalHere, runHere } from "../command-here.fixture.ts";
import { commandLine } from "../command-line.ts";

const scratch = mkdtempSync(join(tmpdir(), "touchstone-"));
const at = (...path: string[]): string => join(scratch, ...path);
const judge = ["conform", "--only", "lists-come-in-key-order", "--runs", "1"];
const compare = ["diff", "embedded:svc", "embedded:svc", "--only", "lists", "--runs", "1"];

afterAll(() => rmSync(scratch, { recursive: true }));

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
