import { expect, it } from "vitest";
import { TestBed } from "../test-bed.fixture.ts";
import { askedResource } from "./asked-resource.ts";

function shown(method: string, path: string, watch = false): string {
  const asked = askedResource(method, path, watch);
  if (asked?.is !== "resource") return "no resource";
  const { verb, resource, version, subresource, namespace, name } = asked;
  return [verb, `${resource.group}/${version}`, namespace, resource.resource, name, subresource].join(" ").trimEnd();
}

it.each([
  ["GET", "/api/v1/namespaces/a/things", "list /v1 a things"],
  ["PUT", "/api/v1/namespaces/a/things", "update /v1 a things"],
  ["DELETE", "/apis/g.io/v2/things", "deletecollection g.io/v2  things"],
  ["GET", "/apis/g.io/v2/things/b/part", "get g.io/v2  things b part"],
  ["GET", "/api/v1/namespaces/a", "get /v1 a namespaces a"],
  ["PUT", "/api/v1/namespaces/a/finalize", "update /v1 a namespaces a finalize"],
  ["GET", "/api/v1/watch/things", "watch /v1  things"],
  ["GET", "/api/v1", "no resource"],
  ["GET", "/apis/g.io/v2", "no resource"],
  ["GET", "/healthz/a/b/c", "no resource"],
])("%s %s", (method, path, expected) => {
  expect(shown(method, path)).toBe(expected);
});

it("knows a watch", () => {
  expect(shown("GET", "/api/v1/things", true)).toBe("watch /v1  things");
});

it("hides from a caller without rights what is not served, although discovery is open to it", () => {
  const bed = new TestBed({ authorizationModes: ["RBAC"] });
  const refused = bed.ask("GET /api/v1/namespaces/default/touchstonethings");
  expect([refused.status, refused.at("message")]).toEqual([
    403,
    'touchstonethings is forbidden: User "alice" cannot list resource "touchstonethings" in API group "" in the namespace "default"',
  ]);
  expect(bed.ask("GET /api/v1").status).toBe(200);
});
