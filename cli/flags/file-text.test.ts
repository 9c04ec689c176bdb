import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it, vi } from "vitest";
import { cleanUp, scratch } from "../spawned-command.fixture.ts";
import { fileHead, fileJson, fileText } from "./file-text.ts";
import { UsageError } from "./usage-error.ts";

afterAll(cleanUp);
const path = join(scratch, "text");

it("is the whole text, however its parts come", () => {
  const text = "a\u{1f600}é".repeat(200_000);
  writeFileSync(path, text);
  expect(fileText(path)).toBe(text);
});

it("gives up a file without an end after 256 parts of a mebibyte", () => {
  let reads = 0;
  const endless = (_: number, into: Buffer): number => {
    reads++;
    return into.length;
  };
  expect(() => fileText(path, 256, endless)).toThrow(UsageError);
  expect(reads).toBe(257);
});

it("is read as JSON up to so many values, and so deep", () => {
  const parsed = vi.spyOn(JSON, "parse");
  try {
    writeFileSync(path, `[${"0,".repeat(9_999_999)}0]`);
    expect(fileJson(path)).toHaveLength(10_000_000);
    parsed.mockClear();
    writeFileSync(path, `[${"{},".repeat(10_000_000)}0]`);
    expect(() => fileJson(path)).toThrow(
      new UsageError(`${path}: it has more than 10,000,000 values. Give a smaller file.`),
    );
    writeFileSync(path, `${"[".repeat(1001)}${"]".repeat(1001)}`);
    expect(() => fileJson(path)).toThrow(
      new UsageError(`${path}: it is nested more than 1,000 deep. Give another file.`),
    );
    expect(parsed).not.toHaveBeenCalled();
    writeFileSync(path, "{");
    expect(() => fileJson(path)).toThrow(SyntaxError);
  } finally {
    parsed.mockRestore();
  }
});

it("fails as reading does", () => {
  expect(() => fileText(join(scratch, "none"))).toThrow("ENOENT");
  expect(() => fileText(scratch)).toThrow("EISDIR");
});

it("is its beginning alone where no more is asked for", () => {
  writeFileSync(path, "abc".repeat(1000));
  expect([fileHead(path, 4), fileHead("/dev/zero", 2)]).toEqual(["abca", "\0\0"]);
  writeFileSync(path, "ab");
  expect(fileHead(path, 4)).toBe("ab");
});
