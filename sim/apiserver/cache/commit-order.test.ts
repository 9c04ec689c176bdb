import { expect, it } from "vitest";
import { Kernel } from "../../kernel/kernel.ts";
import type { StoreEvent } from "../../store/types.ts";
import { holdCreations, NotedHead } from "./commit-order.ts";

const event = (revision: number, previous?: object): StoreEvent => ({
  revision,
  key: "/registry/a",
  value: {},
  previous,
  previousRevision: previous === undefined ? 0 : 1,
});

it("holds every other creation back, until others have overtaken it", () => {
  const kernel = new Kernel({ seed: "test" });
  const process = kernel.process("apiserver");
  const arrived: number[] = [];
  kernel.enter(process, () => {
    for (const each of [event(2), event(3), event(4, {})]) {
      holdCreations(process, each, () => arrived.push(each.revision));
    }
  });
  expect(arrived).toEqual([3, 4]);
  kernel.run(10_000);
  expect(arrived).toEqual([3, 4, 2]);
});

it("notes the version of the writer that was last to finish, not the newest", () => {
  const kernel = new Kernel({ seed: "test" });
  const process = kernel.process("apiserver");
  const head = new NotedHead(process);
  expect(head.revision).toBeUndefined();
  kernel.enter(process, () => [event(2), event(3)].forEach((each) => head.hear(each)));
  expect(head.revision).toBe(3);
  kernel.run(10_000);
  expect(head.revision).toBe(2);
});
