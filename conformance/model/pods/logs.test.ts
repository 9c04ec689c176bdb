import { expect, it } from "vitest";
import { linesOf, type LogQuestion, secondOf, toldOf } from "./logs.ts";

const text = ["01.1", "02.5", "02.7", "04.0"].map((second, at) => `2030-01-01T00:00:${second}Z line-${at}\n`).join("");
const lines = linesOf(text) ?? [];

it("is read line by line, and nothing else is a log", () => {
  expect(lines).toHaveLength(4);
  expect(lines[1]).toEqual({ time: "2030-01-01T00:00:02.5Z", text: "line-1" });
  expect(linesOf("line\n")).toBeUndefined();
  expect(linesOf(text.slice(0, -1))).toBeUndefined();
  expect(secondOf(lines, 2)).toBe("2030-01-01T00:00:02Z");
});

it.each<[question: LogQuestion, told: string]>([
  [{}, "line-0\nline-1\nline-2\nline-3\n"],
  [{ tailLines: 1 }, "line-3\n"],
  [{ tailLines: 0 }, ""],
  [{ sinceLine: 2 }, "line-1\nline-2\nline-3\n"],
  [{ sinceLine: 1, tailLines: 3 }, "line-3\n"],
  [{ limitBytes: 9 }, "line-0\nli"],
  [{ timestamps: true, tailLines: 1 }, "2030-01-01T00:00:04.0Z line-3\n"],
])("is told as asked: %j", (question, told) => expect(toldOf(lines, question)).toBe(told));
