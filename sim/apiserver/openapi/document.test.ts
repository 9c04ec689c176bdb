import { expect, it } from "vitest";
import { kubernetesDialect } from "../../../wire/dialect.ts";
import { resourcesOf, type ResourceRow } from "../../../wire/resources.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { noCustomSchemas } from "./custom-schemas.ts";
import { openApiSteps } from "./document.ts";
import { swaggerWith } from "./swagger.ts";

const [like] = resourcesOf("apps", "v1") as [ResourceRow];
const rows = Array.from({ length: 400 }, (_, at) => ({ ...like, resource: `r${at}` }));
const document = (): Generator<void, JsonObject> =>
  openApiSteps(kubernetesDialect, "large.example", "v1", { rows, schemas: noCustomSchemas });

/** What it comes to, and how often it stopped on the way. */
function followed<Result>(work: Generator<void, Result>): { readonly result: Result; readonly stopCount: number } {
  for (let stopCount = 0; ; stopCount++) {
    const { done, value } = work.next();
    if (done === true) return { result: value, stopCount };
  }
}

it("the document of a group with hundreds of resources is made some resources at a time", () => {
  const { result, stopCount } = followed(document());
  expect(Object.keys(result["paths"] as JsonObject).length).toBeGreaterThan(1_000);
  expect(stopCount).toBeGreaterThanOrEqual(20);
});

it("so is what Swagger makes of it", () => {
  const { stopCount: before } = followed(document());
  const base = { paths: {}, definitions: {} };
  const { result, stopCount } = followed(swaggerWith(base, [document], kubernetesDialect));
  const { components, paths } = followed(document()).result as {
    readonly components: JsonObject;
    readonly paths: object;
  };
  expect(Object.keys(result["paths"] as JsonObject)).toEqual(Object.keys(paths));
  const schemaCount = Object.keys(components["schemas"] as JsonObject).length;
  // Each schema is converted in two steps.
  expect(stopCount - before - 2 * schemaCount).toBeGreaterThanOrEqual(10);
});
