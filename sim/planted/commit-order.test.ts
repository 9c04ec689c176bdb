import { expect, it } from "vitest";
import { Kernel } from "../kernel/kernel.ts";
import { RevisionStore } from "../store/revision-store.ts";
import type { StoreEvent } from "../store/types.ts";
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
  const store = new RevisionStore();
  const head = new NotedHead(process, store);
  expect(head.revision).toBeUndefined();
  kernel.enter(process, () => [1, 2].forEach((at) => store.put(`/registry/${at}`, 0, () => ({}))));
  expect(head.revision).toBe(store.revision);
  kernel.run(10_000);
  expect(head.revision).toBe(store.revision - 1);
});
