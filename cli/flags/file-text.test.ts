import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { cleanUp, scratch } from "../spawned-command.fixture.ts";
import { fileHead, fileText } from "./file-text.ts";
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
