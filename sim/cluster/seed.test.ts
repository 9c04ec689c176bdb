import { expect, it } from "vitest";
import { svcDialect } from "../../wire/dialect.ts";
import { Kernel } from "../kernel/kernel.ts";
import { Cluster } from "./cluster.ts";
import { seed, type SeedResult } from "./seed.ts";

/** What came of objects in the order in which they are given, and after how many seconds. */
function seeded(...objects: readonly object[]): SeedResult & { readonly seconds: number } {
  const kernel = new Kernel({ seed: "seed" });
  const cluster = new Cluster({ kernel });
  cluster.addServer("server", () => ({
    tokens: [{ token: "admin", user: "admin", uid: "1", groups: ["system:masters"] }],
  }));
  const process = kernel.process("seed");
  let result: SeedResult | undefined;
  const given = objects.map((object, at) => ({ object: object as never, where: `document ${at + 1}` }));
  kernel.enter(process, () => seed(process, cluster.api(process), svcDialect, given, (made) => (result = made)));
  while (result === undefined) kernel.step();
  return { ...result, seconds: kernel.nowMicros() / 1_000_000 };
}

const map = (name: string, namespace: string): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace },
});
const space = { apiVersion: "v1", kind: "Namespace", metadata: { name: "later" } };

it("tries again what lacks something that comes later", () => {
  const { made, problems } = seeded(map("a", "later"), space);
  expect([made, problems]).toEqual([2, []]);
});

it("waits for nothing when an object itself is wrong, and else for as long as something may yet come", () => {
  const wrong = seeded(map("Not_a_name", "default"), map("b", "default"));
  expect([wrong.made, wrong.problems.length, wrong.seconds < 5]).toEqual([1, 1, true]);
  const lacking = seeded(map("Not_a_name", "default"), map("a", "nowhere"));
  expect([lacking.made, lacking.problems.length, lacking.seconds >= 10]).toEqual([0, 2, true]);
});

it("tries again what others let in later, though the server called it wrong", () => {
  const names = { plural: "things", singular: "thing", kind: "Thing" };
  const openAPIV3Schema = { type: "object", properties: { size: { type: "integer" } } };
  const definition = {
    apiVersion: "apiextensions.svc.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "things.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names,
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  };
  const thing = (name: string, size: unknown): object => ({
    apiVersion: "example.com/v1",
    kind: "Thing",
    metadata: { name, namespace: "default" },
    size,
  });
  const { made, problems, seconds } = seeded(thing("a", 1), thing("b", "large"), definition);
  expect([made, problems.length, seconds < 5]).toEqual([2, 1, true]);
  expect(problems[0]).toContain('size: Invalid value: "string"');
});
