import { expect, it } from "vitest";
import { structNamed } from "../../wire/schema.ts";
import { hasDoubledKey } from "./doubled-keys.ts";

it("sees two elements of one key, and takes no others for doubled", () => {
  const type = structNamed("core.v1.PodTemplate");
  const template = (names: readonly string[], args: readonly string[] = []) => ({
    template: { spec: { containers: [{ name: "c", args, env: names.map((name) => ({ name })) }] } },
  });
  expect(hasDoubledKey(type, template(["E", "F", "E"]))).toBe(true);
  expect(hasDoubledKey(type, template(["E", "F"], ["x", "x"]))).toBe(false);
  expect(hasDoubledKey(type, {})).toBe(false);
});
