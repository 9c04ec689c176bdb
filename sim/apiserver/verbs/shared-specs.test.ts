import { expect, it } from "vitest";
import type { JsonObject } from "../../contract/http-message.ts";
import { seal } from "../../objects/seal.ts";
import type { Draft } from "../../contract/objects.ts";
import type { ServedResource } from "../catalogue/served-resource.ts";
import { SharedSpecs } from "./shared-specs.ts";

const pods = {} as ServedResource;
const others = {} as ServedResource;

const stored = (spec: JsonObject): JsonObject => seal({ kind: "Pod", spec });

function shared(specs: SharedSpecs, resource: ServedResource, spec: unknown): unknown {
  const draft = { kind: "Pod", spec } as Draft;
  specs.share(resource, draft);
  return draft["spec"];
}

it("gives a new object the very spec of an earlier one that says the same", () => {
  const specs = new SharedSpecs();
  const first = stored({ containers: [{ name: "a", ports: [80, 81] }], nodeName: "n" });
  specs.keep(pods, first);
  expect(shared(specs, pods, { nodeName: "n", containers: [{ name: "a", ports: [80, 81] }] })).toBe(first["spec"]);
});

it.each([
  ["a field more", { a: 1, b: 2 }],
  ["a field less", {}],
  ["another value", { a: 2 }],
  ["another type", { a: "1" }],
  ["no object", [1]],
])("leaves %s alone", (_what, spec) => {
  const specs = new SharedSpecs();
  specs.keep(pods, stored({ a: 1 }));
  expect(shared(specs, pods, spec)).toBe(spec);
});

it("keeps resources apart", () => {
  const specs = new SharedSpecs();
  specs.keep(pods, stored({ a: 1 }));
  const spec = { a: 1 };
  expect(shared(specs, others, spec)).toBe(spec);
});

it("remembers what was used last, and not all there ever was", () => {
  const specs = new SharedSpecs();
  const all = [0, 1, 2, 3, 4].map((a) => stored({ a }));
  for (const object of all.slice(0, 4)) specs.keep(pods, object);
  expect(shared(specs, pods, { a: 0 })).toBe(all[0]?.["spec"]); // used again: the next to go is 1
  specs.keep(pods, all[4] as JsonObject);
  expect([0, 1].map((a) => shared(specs, pods, { a }) === all[a]?.["spec"])).toEqual([true, false]);
});

it("keeps nothing that may still be written to", () => {
  const specs = new SharedSpecs();
  specs.keep(pods, { spec: { a: 1 } });
  const spec = { a: 1 };
  expect(shared(specs, pods, spec)).toBe(spec);
});
