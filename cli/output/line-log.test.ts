import { describe, expect, it } from "vitest";
import { lineLog, unreadBytesMax } from "./line-log.ts";

describe("lines of a log", () => {
  it("wait to be read up to a limit; beyond it they are counted, and that is said when there is room again", () => {
    const written: string[] = [];
    const stream = { writableLength: 0, write: (text: string) => written.push(text) };
    const log = lineLog(stream);
    log("one\n");
    stream.writableLength = unreadBytesMax - 4;
    log("two\n");
    log("three\n");
    log("four\nfive\n");
    expect(written).toEqual(["one\n", "two\n"]);
    stream.writableLength = 0;
    log("six\n");
    log("seven\n");
    const missing = "(3 lines are missing here: what was before them was not read in time)\n";
    expect(written.slice(2)).toEqual([missing, "six\n", "seven\n"]);
  });
});
