import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { UsageError } from "../flags/usage-error.ts";
import { lineFile } from "./line-file.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "touchstone-lines-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const unexpected = (why: string): never => {
  throw new Error(why);
};

describe("a file of lines", () => {
  it("is emptied, and has each line at once", () => {
    const path = join(folder, "log");
    for (const lines of [["one\n", "two\n"], ["three\n"]]) {
      const file = lineFile(path, "--log", unexpected);
      for (const line of lines) file.write(line);
      expect([readFileSync(path, "utf8"), file.isWhole]).toEqual([lines.join(""), true]);
      file.close();
    }
  });

  it("says once that its disk is full, and takes no more", () => {
    const told: string[] = [];
    const file = lineFile("/dev/full", "--log", (why) => told.push(why));
    for (const line of ["one\n", "two\n"]) file.write(line);
    expect([told, file.isWhole]).toEqual([["--log /dev/full: cannot be written: its file system is full"], false]);
    file.close();
  });

  it("that cannot be made is the caller's mistake", () => {
    expect(() => lineFile(join(folder, "none", "log"), "--log", unexpected)).toThrow(UsageError);
  });
});
