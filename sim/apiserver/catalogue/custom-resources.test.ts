import { expect, it } from "vitest";
import { dialects } from "../../../wire/dialect.ts";
import type { ResourceRow } from "../../../wire/resources.ts";
import { Kernel } from "../../kernel/kernel.ts";
import { RevisionStore } from "../../store/revision-store.ts";
import { customResource } from "./custom-resource.ts";
import { CustomResources } from "./custom-resources.ts";

it("finds the resources of a version by its name, however many versions there are", () => {
  const count = 300;
  const versions = Array.from({ length: count }, (_, at) => ({ name: `v${at + 1}`, served: true, storage: at === 0 }));
  const object = {
    metadata: { name: "bigs.many.example" },
    spec: { group: "many.example", names: { plural: "bigs", kind: "Big" }, versions },
    status: { conditions: [{ type: "Established", status: "True" }] },
  };
  const store = new RevisionStore();
  store.put("/registry/customresourcedefinitions.apiextensions.svc.io/bigs.many.example", 0, () => object);
  let lookedAt = 0;
  const custom = new CustomResources({
    store,
    process: new Kernel({ seed: "versions" }).process("server"),
    dialect: dialects.kubernetes,
    resourceOf: (definition, version, dialect) => {
      const { row, ...resource } = customResource(definition, version, dialect);
      return Object.defineProperty(resource as never, "row", {
        get: (): ResourceRow => {
          lookedAt++;
          return row;
        },
      });
    },
  });
  const found = versions.flatMap(({ name }) => custom.rowsOf("many.example", name).map(({ version }) => version));
  expect(found).toEqual(versions.map(({ name }) => name));
  expect(custom.rowsOf("many.example", "v0")).toEqual([]);
  expect(custom.rowsOf("other.example", "v1")).toEqual([]);
  expect(lookedAt).toBeLessThan(10 * count);
});
