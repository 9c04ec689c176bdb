import { expect, it } from "vitest";
import { WalkContext } from "./walk-context.ts";

it("remembers unknown fields with their paths, in a deep body as many as there is room for", () => {
  const context = new WalkContext();
  context.path.push("spec", 0, ["a.b"]);
  context.unknownField("first");
  expect(context.unknown).toEqual(["spec[0].a.b.first"]);
  context.path.push("x".repeat(10_000));
  for (let at = 0; at < 1_000; at++) context.unknownField(`k${at}`);
  expect(context.unknown.join("").length).toBeLessThan(1_100_000); // and not ten million
  expect(context.unknown.length).toBeGreaterThan(90);
});
