/** Steps on a custom resource that the program itself defines, in a group of its own. */
import fc from "fast-check";
import type { JsonObject } from "../client/types.ts";
import { definitionOf } from "../runner/custom-definition.ts";
import { inTurn, type Step } from "./step.ts";

const group = "{ns}.example.com";
const path = `/apis/${group}/v1/namespaces/{ns}/widgets`;
const definitionsPath = "/apis/apiextensions.svc.io/v1/customresourcedefinitions";

const schema: JsonObject = {
  type: "object",
  properties: {
    metadata: { type: "object" },
    spec: {
      type: "object",
      properties: {
        size: { type: "integer", minimum: 1, default: 3 },
        mode: { type: "string", enum: ["on", "off"] },
        parts: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
      },
    },
  },
};

const defined: readonly Step[] = [
  {
    what: "define a resource",
    method: "POST",
    path: definitionsPath,
    body: definitionOf("apiextensions.svc.io/v1", group, {
      subresources: { status: {} },
      schema: { openAPIV3Schema: schema },
      additionalPrinterColumns: [{ name: "Size", type: "integer", jsonPath: ".spec.size" }],
    }),
  },
  { what: "await the resource", method: "GET", path, until: '"WidgetList"' },
];

const anyName = fc.constantFrom("a", "b");
const widget = (name: string, parts: JsonObject): JsonObject => ({
  apiVersion: `${group}/v1`,
  kind: "Widget",
  metadata: { name, labels: { team: "red" } },
  ...parts,
});

const created = fc
  .record({
    name: anyName,
    parts: fc.constantFrom<JsonObject>(
      {},
      { spec: {} },
      { spec: { size: 0 } },
      { spec: { mode: "on", extra: 1 } },
      { spec: { parts: ["x", "x"] } },
      { spec: { size: "1" } },
      { status: { ready: true } },
      { extra: 1 },
    ),
    fieldValidation: fc.constantFrom<Record<string, string>>(
      {},
      { fieldValidation: "Strict" },
      { fieldValidation: "Warn" },
    ),
  })
  .map(
    ({ name, parts, fieldValidation }): Step => ({
      what: "create a custom object",
      method: "POST",
      path,
      query: fieldValidation,
      body: widget(name, parts),
    }),
  );

const patched = fc
  .record({
    name: anyName,
    sub: fc.constantFrom("", "/status"),
    body: fc.constantFrom<JsonObject>(
      { spec: { size: 4 } },
      { metadata: { labels: { team: "blue" } } },
      { status: { ready: false } },
      {},
    ),
  })
  .map(
    ({ name, sub, body }): Step => ({
      what: `merge patch of a custom object${sub}`,
      method: "PATCH",
      path: `${path}/${name}${sub}`,
      headers: { "content-type": "application/merge-patch+json" },
      body,
    }),
  );

const others: readonly Step[] = [
  { what: "list custom objects", method: "GET", path },
  { what: "get a custom object", method: "GET", path: `${path}/a` },
  {
    what: "table of custom objects",
    method: "GET",
    path,
    headers: { accept: "application/json;as=Table;g=meta.svc.io;v=v1" },
  },
  { what: "custom objects in protobuf", method: "GET", path, headers: { accept: "application/vnd.svc.protobuf" } },
  {
    what: "custom objects in protobuf or JSON",
    method: "GET",
    path,
    headers: { accept: "application/vnd.svc.protobuf,application/json" },
  },
  { what: "delete a custom object", method: "DELETE", path: `${path}/a` },
  {
    what: "strategic patch of a custom object",
    method: "PATCH",
    path: `${path}/a`,
    headers: { "content-type": "application/strategic-merge-patch+json" },
    body: {},
  },
  { what: "discover custom objects", method: "GET", path: `/apis/${group}/v1` },
];

export const customPrograms = inTurn(
  fc.constant(defined),
  fc.array(created, { minLength: 1, maxLength: 3 }),
  fc.array(
    fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...others) },
      { weight: 2, arbitrary: patched },
      { weight: 1, arbitrary: created },
    ),
    { minLength: 1, maxLength: 4 },
  ),
);
