import { expect, test } from "vitest";
import { Kernel } from "../kernel/kernel.ts";
import type { Injectable } from "./inject.ts";
import { Injector } from "./inject.ts";

test("what dies at one of its calls in the instant in which all is healed does not stay down", () => {
  const kernel = new Kernel({ seed: "1" });
  const director = kernel.process("director");
  let isAlive = true;
  let die = (): void => {};
  const cluster = {
    crash: () => (isAlive = false),
    restart: () => (isAlive = true),
    crashAfterCalls: (_place: string, _calls: number, died: () => void) => {
      die = died;
      return () => {};
    },
    noted: () => {},
  } as unknown as Injectable;
  const injector = new Injector(cluster, director);
  kernel.enter(director, () => {
    director.clock.after(1_000, () => die()); // before the healing, and told of after it
    injector.schedule([{ atMicros: 0, verb: "crash", places: ["client"], calls: 5, forMicros: 100 }], 1_000);
  });
  kernel.run(10_000);
  expect(isAlive).toBe(true);
});
