import { expect, it } from "vitest";
import { serverBugRows } from "./server-bugs.ts";
import { simulatedBugRows } from "./simulated-bugs.ts";

it("no bug of a simulation has the name of a server's", () => {
  expect(Object.keys(simulatedBugRows).filter((name) => name in serverBugRows)).toEqual([]);
});

it("each says where it lives, what goes wrong and where it was reported", () => {
  for (const [name, { symptom, source }] of Object.entries(simulatedBugRows)) {
    expect(symptom, name).toMatch(/\.$/);
    expect(source, name).toMatch(/#\d+|@[0-9a-f]{7}|^a common mistake/);
  }
});
