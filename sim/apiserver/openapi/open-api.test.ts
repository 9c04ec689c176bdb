import { describe, expect, it } from "vitest";
import { kubernetesProfile, svcProfile } from "../../contract/profile.ts";
import type { Payload } from "../../contract/http-message.ts";
import { type Answer, TestBed } from "../test-bed.fixture.ts";

const index = (bed: TestBed): Readonly<Record<string, { readonly serverRelativeURL: string }>> =>
  bed.ask("GET /openapi/v3").body["paths"] as never;

/** Every `$ref` and every `type` below a value, found without knowing what an OpenAPI document looks like. */
function collect(value: unknown, refs: Set<string>, types: Set<string>): void {
  if (typeof value !== "object" || value === null) return;
  for (const [key, child] of Object.entries(value)) {
    if (key === "$ref" && typeof child === "string") refs.add(child);
    if (key === "type" && typeof child === "string") types.add(child);
    collect(child, refs, types);
  }
}

describe.each([svcProfile, kubernetesProfile])("OpenAPI under $name", (profile) => {
  const bed = new TestBed({ profile });

  it("has a document for every group version of discovery, and every reference in it leads somewhere", () => {
    const paths = index(bed);
    const groups = bed.ask("GET /apis").body["groups"] as unknown as { versions: { groupVersion: string }[] }[];
    const served = groups.flatMap(({ versions }) => versions.map(({ groupVersion }) => `apis/${groupVersion}`));
    expect(Object.keys(paths)).toEqual(["api/v1", ...served].sort());
    for (const { serverRelativeURL } of Object.values(paths)) {
      const document = bed.ask(`GET ${serverRelativeURL}`).body;
      const refs = new Set<string>();
      const types = new Set<string>();
      collect(document, refs, types);
      const schemas = (document["components"] as { schemas: object }).schemas;
      expect(refs.size).toBeGreaterThan(0);
      for (const ref of refs) expect(schemas).toHaveProperty([ref.replace("#/components/schemas/", "")]);
      for (const type of types) expect(["object", "array", "string", "integer", "number", "boolean"]).toContain(type);
    }
  });

  it("speaks the dialect", () => {
    const text = bed.ask(`GET ${index(bed)["api/v1"]?.serverRelativeURL}`).text;
    expect(text.includes("kubernetes")).toBe(profile === kubernetesProfile);
    expect(text.includes("x-svc-")).toBe(profile === svcProfile);
  });
});

describe("OpenAPI documents", () => {
  const bed = new TestBed({ profile: kubernetesProfile });
  const address = (): string => index(bed)["api/v1"]?.serverRelativeURL ?? "";
  const ask = (path: string, headers = {}): Answer => bed.ask(`GET ${path}`, { headers });

  it("describe lists, defaults and kinds", () => {
    const schemas = ask(address()).at("components") as { schemas: Record<string, { properties: object }> };
    const spec = schemas.schemas["io.k8s.api.core.v1.PodSpec"]?.properties;
    expect(spec).toHaveProperty("containers.x-kubernetes-patch-merge-key", "name");
    expect(spec).toHaveProperty("containers.x-kubernetes-list-type", "map");
    expect(schemas.schemas["io.k8s.api.core.v1.Pod"]).toHaveProperty("x-kubernetes-group-version-kind", [
      { group: "", version: "v1", kind: "Pod" },
    ]);
  });

  it("name the parameters of a patch", () => {
    const paths = ask(address()).body["paths"] as Record<string, { patch: { parameters: { name: string }[] } }>;
    const { patch } = paths["/api/v1/namespaces/{namespace}/pods/{name}"] ?? {};
    expect(patch?.parameters.map(({ name }) => name)).toEqual(["dryRun", "fieldManager", "fieldValidation", "force"]);
  });

  it("may be kept for ever by their hash, and lead on from an old one", () => {
    expect(ask(address()).headers["cache-control"]).toBe("public, immutable");
    expect(ask("/openapi/v3/api/v1").headers["cache-control"]).toBe("no-cache, private");
    const stale = ask("/openapi/v3/api/v1?hash=old");
    expect(stale.status).toBe(301);
    expect(stale.headers["location"]).toBe(address());
    expect(ask(address(), { "if-none-match": ask(address()).headers["etag"] }).status).toBe(304);
  });

  it("come as JSON or not at all", () => {
    const protobuf = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf";
    expect(ask("/openapi/v3/api/v1", { accept: protobuf }).status).toBe(406);
    expect(ask("/openapi/v3/apis/none/v1").status).toBe(404);
    expect(ask("/openapi/v2/more").status).toBe(404);
  });
});

describe("documents of large definitions", () => {
  const properties = Object.fromEntries(
    Array.from({ length: 5_000 }, (_, at) => [`property${at}`, { type: "string" }]),
  );

  /** Two of them, and what comes of requests that are there together: when each was answered, counted in events, and what with. */
  function made(paths: readonly string[]) {
    const bed = new TestBed({ profile: kubernetesProfile });
    for (const name of ["one", "two"]) {
      const versions = [
        { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object", properties } } },
      ];
      const names = { plural: name, singular: name, kind: name, listKind: `${name}List` };
      const spec = { group: "large.example", scope: "Cluster", names, versions };
      const body = { metadata: { name: `${name}.large.example` }, spec };
      bed.ask("POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions", { body });
      bed.advance(5);
    }
    const { kernel, process, server } = bed;
    const answers: { events: number; payload: Payload | undefined }[] = [];
    for (const path of paths) {
      const answer: (typeof answers)[number] = { events: 0, payload: undefined };
      answers.push(answer);
      const request = { method: "GET", path, query: "", headers: {}, body: undefined };
      kernel.enter(process, () =>
        server.start(request, {
          respond: (_status, _headers, payload) => void (answer.payload = payload),
          open: () => {},
          frame: () => 0,
          close: () => {},
        }),
      );
    }
    for (let events = 0; answers.some(({ payload }) => payload === undefined) && events < 100_000; events++) {
      kernel.step();
      for (const answer of answers) if (answer.payload === undefined) answer.events++;
    }
    return answers;
  }

  it.each(["/openapi/v2", "/openapi/v3", "/openapi/v3/apis/large.example/v1"])(
    "are made in steps, once for all who wait: %s",
    (path) => {
      const [alone] = made([path]);
      const together = made([path, path, path]);
      expect(alone?.events).toBeGreaterThan(10);
      expect(together[2]?.events).toBeLessThan((alone?.events as number) * 2);
      expect(new Set(together.map(({ payload }) => payload)).size).toBe(1);
    },
  );
});
