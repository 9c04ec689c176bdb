import { describe, expect, it } from "vitest";
import { bugsOn } from "../planted/server-bugs.ts";
import { kubernetesProfile, svcProfile } from "../contract/profile.ts";
import { type Answer, TestBed } from "./test-bed.fixture.ts";
import { Cluster, definition, group, json, widgets } from "./widget-cluster.fixture.ts";

const merge = { "content-type": "application/merge-patch+json" };

for (const profile of [kubernetesProfile, svcProfile]) {
  describe(`custom resources (${profile.name})`, () => {
    it("appear when they are established, in routes and in discovery, and not before", () => {
      const cluster = new Cluster(profile);
      cluster.define();
      expect(cluster.get(widgets).text).toBe("404 page not found\n");
      cluster.pass(1_000);
      expect(cluster.get(widgets).at("kind")).toBe("WidgetList");
      expect(cluster.get("/apis").text).toContain('"name":"shop.example.com"');
      expect(cluster.get(group).at("preferredVersion.version")).toBe("v1");
      expect(cluster.get(`${group}/v1`).at("resources.0.shortNames")).toEqual(["wi"]);
      expect(cluster.get(`${group}/v1/nothing`).text).toBe("404 page not found\n");
    });

    it("stay away when the controller is off", () => {
      const cluster = new Cluster(profile, { customResources: false }).establish();
      expect(cluster.get(widgets).status).toBe(404);
    });

    it("prune, default and keep, by their schema", () => {
      const cluster = new Cluster(profile).establish();
      const made = cluster.widget("a", { junk: 1, free: { any: [1, null] }, port: "http", note: null }, { extra: 1 });
      expect(made.status).toBe(201);
      expect(made.body["spec"]).toEqual({ size: 2, free: { any: [1, null] }, port: "http", note: null });
      expect(made.body["extra"]).toBeUndefined();
      expect([made.headers["warning"]].flat()).toEqual([
        '299 - "unknown field \\"extra\\""',
        '299 - "unknown field \\"spec.junk\\""',
      ]);
    });

    it("may have a field named items, which is not a list's", () => {
      const free = { type: "object", [`${profile.dialect.extensionPrefix}preserve-unknown-fields`]: true };
      const cluster = new Cluster(profile).establish({}, [{ name: "v1", schema: { openAPIV3Schema: free } }]);
      cluster.widget("a", {}, { items: [1, { kind: "Lamp", apiVersion: "v1" }] });
      const { items } = JSON.parse(cluster.get(`${widgets}/a`).text) as { items: unknown };
      expect(items).toEqual([1, { kind: "Lamp", apiVersion: "v1" }]);
    });

    it("refuse values that break the schema, with all causes", () => {
      const cluster = new Cluster(profile).establish();
      const refused = cluster.widget("a", { size: 9, tags: ["x", "x"], port: true });
      expect([refused.status, refused.reason]).toEqual([422, "Invalid"]);
      const fields = (refused.at("details.causes") as { field: string }[]).map(({ field }) => field);
      expect(fields).toEqual(["spec.port", "spec.size", "spec.tags[1]"]);
    });

    it("need a kind, the path's version, and a version on PUT", () => {
      const cluster = new Cluster(profile).establish();
      expect(cluster.post(widgets, { metadata: { name: "a" } }).status).toBe(400);
      const wrongKind = { apiVersion: "shop.example.com/v1", kind: "Gadget", metadata: { name: "a" } };
      expect(cluster.post(widgets, wrongKind).status).toBe(422);
      expect(cluster.post(widgets, { ...wrongKind, apiVersion: "shop.example.com/v2" }).status).toBe(400);
      cluster.widget("a");
      const body = { apiVersion: "shop.example.com/v1", kind: "Widget", metadata: { name: "a" } };
      expect(cluster.bed.ask(`PUT ${widgets}/a`, { headers: json, body }).status).toBe(422);
    });

    it("are watched in protobuf as metadata, but not where the watch would show them as they are", () => {
      const cluster = new Cluster(profile).establish();
      const { protobufMediaType, groupSuffix } = profile.dialect;
      const watch = (kind: string): Answer => {
        const accept = `${protobufMediaType};as=${kind};v=v1;g=meta.${groupSuffix}`;
        return cluster.bed.ask(`GET ${widgets}?watch=1`, { headers: { accept } });
      };
      expect(watch("PartialObjectMetadata").status).toBe(200);
      expect(watch("PartialObjectMetadataList").status).toBe(406);
    });

    it("know no strategic merge and no protobuf, and answer other verbs in their own words", () => {
      const cluster = new Cluster(profile).establish();
      cluster.widget("a");
      const ask = (request: string, headers: Record<string, string>) => cluster.bed.ask(request, { headers, body: {} });
      const strategic = { "content-type": "application/strategic-merge-patch+json" };
      expect(ask(`PATCH ${widgets}/a`, strategic).status).toBe(415);
      const protobuf = profile.dialect.protobufMediaType;
      expect(cluster.bed.ask(`GET ${widgets}/a`, { headers: { accept: protobuf } }).status).toBe(406);
      expect(ask(`POST ${widgets}`, { "content-type": protobuf }).status).toBe(415);
      expect(ask(`DELETE ${widgets}/a/status`, {}).at("message")).toBe(
        'delete is not supported on resources of kind "widgets.shop.example.com"',
      );
      expect(ask(`PUT ${widgets}`, json).at("message")).toBe("name must be provided");
      expect(cluster.get(`${widgets}/a/scale`).at("details.kind")).toBe("widgets.shop.example.com".split(".")[0]);
    });

    it("count generations of everything but metadata, and of status only where it has no path of its own", () => {
      for (const [subresources, expected] of [
        [{ status: {} }, 1],
        [undefined, 2],
      ] as const) {
        const cluster = new Cluster(profile).establish({}, [{ name: "v1", subresources: subresources ?? {} }]);
        cluster.widget("a");
        cluster.bed.ask(`PATCH ${widgets}/a`, { headers: merge, body: { metadata: { labels: { a: "b" } } } });
        const patched = cluster.bed.ask(`PATCH ${widgets}/a`, { headers: merge, body: { status: { replicas: 1 } } });
        expect(patched.at("metadata.generation")).toBe(expected);
      }
    });

    it("hold whole numbers of 64 bits as they are, for rules as well", () => {
      const wide = "9007199254740993";
      const prefix = profile.dialect.extensionPrefix;
      const spec = {
        type: "object",
        properties: {
          size: { type: "integer", format: "int64", maximum: Number(wide) * 2 },
          list: { type: "array", [`${prefix}list-type`]: "set", items: { type: "integer" } },
          one: { type: "integer", enum: [1] },
        },
        [`${prefix}validations`]: [{ rule: "!has(self.size) || self.size % 2 == 1" }],
      };
      const schema = { openAPIV3Schema: { type: "object", properties: { spec } } };
      const cluster = new Cluster(profile).establish({}, [{ name: "v1", schema }]);
      const body = (name: string, text: string): string =>
        `{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"${name}"},"spec":${text}}`;
      const post = (name: string, text: string): Answer =>
        cluster.bed.ask(`POST ${widgets}`, { headers: json, body: body(name, text) });
      expect(post("a", `{"size":${wide},"list":[${wide}]}`).status).toBe(201);
      for (const text of [
        cluster.get(`${widgets}/a`).text,
        cluster.bed.ask(`PATCH ${widgets}/a`, { headers: merge, body: `{"spec":{"size":${wide}}}` }).text,
      ]) {
        expect(text).toContain(`"size":${wide}`);
      }
      const problems = (text: string): unknown =>
        (post("b", text).at("details.causes") as { field: string; reason: string }[])[0];
      expect(problems('{"size":9223372036854775807}')).toMatchObject({ reason: "FieldValueInvalid" });
      expect(problems('{"size":99999999999999999999}')).toMatchObject({
        message: 'Invalid value: "number": spec.size in body must be of type integer: "number"',
      });
      expect(problems(`{"one":${wide}}`)).toMatchObject({ reason: "FieldValueNotSupported" });
      expect(problems('{"size":9007199254740994}')).toMatchObject({ field: "spec" });
    });

    it("warn of finalizers that do not say whose they are, once", () => {
      const cluster = new Cluster(profile).establish();
      const made = cluster.widget(
        "a",
        {},
        { metadata: { name: "a", finalizers: ["mine", "example.org/x", "orphan"] } },
      );
      const advice =
        "prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers";
      expect(made.headers["warning"]).toEqual([`299 - "metadata.finalizers: \\"mine\\": ${advice}"`]);
      const patched = cluster.bed.ask(`PATCH ${widgets}/a`, { headers: merge, body: { spec: { size: 3 } } });
      expect([patched.status, patched.headers["warning"]]).toEqual([200, undefined]);
    });

    it("take a first count by their scale, and none that is unset", () => {
      const scale = { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" };
      const cluster = new Cluster(profile).establish({}, [{ name: "v1", subresources: { scale } }]);
      cluster.widget("a");
      expect(cluster.get(`${widgets}/a/scale`).status).toBe(500);
      const patch = (body: unknown): Answer => cluster.bed.ask(`PATCH ${widgets}/a/scale`, { headers: merge, body });
      expect(patch({ metadata: { labels: {} } }).at("message")).toBe(
        'the spec replicas field ".spec.replicas" cannot be empty',
      );
      expect(patch({ spec: { replicas: 4 } }).at("spec.replicas")).toBe(4);
      expect(cluster.get(`${widgets}/a`).at("spec.replicas")).toBe(4);
    });

    it("scale by their own paths", () => {
      const scale = { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" };
      const cluster = new Cluster(profile).establish({}, [{ name: "v1", subresources: { scale } }]);
      cluster.widget("a", { replicas: 3 });
      expect(cluster.get(`${widgets}/a/scale`).at("spec.replicas")).toBe(3);
      const body = { spec: { replicas: 4 } };
      expect(cluster.bed.ask(`PATCH ${widgets}/a/scale`, { headers: merge, body }).at("spec.replicas")).toBe(4);
      expect(cluster.get(`${widgets}/a`).at("spec.replicas")).toBe(4);
      expect(cluster.widget("b", { replicas: -1 }).status).toBe(422);
    });

    it("are shown in every version that is served, and stored in one", () => {
      const cluster = new Cluster(profile).establish({}, [
        { name: "v1" },
        { name: "v1beta1", deprecated: true },
        { name: "v2", served: false },
      ]);
      cluster.widget("a", { size: 3 });
      const beta = cluster.get(`${group}/v1beta1/namespaces/default/widgets/a`);
      expect([beta.at("apiVersion"), beta.at("spec.size")]).toEqual(["shop.example.com/v1beta1", 3]);
      expect(String(beta.headers["warning"])).toContain("v1beta1 Widget is deprecated");
      expect(cluster.get(`${group}/v2/namespaces/default/widgets/a`).status).toBe(404);
      expect(cluster.get(group).text).toMatch(/v1"[^]*v1beta1"/);
    });

    it("show the columns that the definition asks for", () => {
      const additionalPrinterColumns = [{ name: "Size", type: "integer", jsonPath: ".spec.size" }];
      const cluster = new Cluster(profile).establish({}, [{ name: "v1", additionalPrinterColumns }]);
      cluster.widget("a", { size: 4 });
      const accept = `application/json;as=Table;g=meta.${profile.dialect.groupSuffix};v=v1`;
      expect(cluster.bed.ask(`GET ${widgets}`, { headers: { accept } }).at("rows.0.cells")).toEqual(["a", 4]);
    });

    it("are no lists because they have a field `items`", () => {
      const items = { type: "array", items: { type: "object", properties: { n: { type: "string" } } } };
      const schema = { openAPIV3Schema: { type: "object", properties: { items } } };
      const cluster = new Cluster(profile).establish({}, [{ name: "v1", schema }]);
      cluster.widget("a", undefined, { items: [{ n: "x" }] });
      const as = (kind: string, path: string): Answer => {
        const accept = `application/json;as=${kind};g=meta.${profile.dialect.groupSuffix};v=v1`;
        return cluster.bed.ask(`GET ${path}`, { headers: { accept } });
      };
      expect(as("Table", `${widgets}/a`).at("rows.0.cells.0")).toBe("a");
      expect(as("PartialObjectMetadata", `${widgets}/a`).at("metadata.name")).toBe("a");
      expect(as("PartialObjectMetadataList", `${widgets}/a`).at("message")).toBe(
        "you requested PartialObjectMetadataList, but the requested object is not a list (*unstructured.Unstructured)",
      );
      expect(as("PartialObjectMetadataList", widgets).at("items.0.metadata.name")).toBe("a");
    });

    it("select by the fields that the definition names, and by no other", () => {
      const selectableFields = [{ jsonPath: ".spec.size" }];
      const cluster = new Cluster(profile).establish({}, [{ name: "v1", selectableFields }]);
      cluster.widget("a", { size: 4 });
      cluster.widget("b", { size: 5 });
      expect(cluster.get(`${widgets}?fieldSelector=spec.size%3D5`).at("items.0.metadata.name")).toBe("b");
      expect(cluster.get(`${widgets}?fieldSelector=spec.port%3D5`).status).toBe(400);
    });

    it("go with their definition: streams end, instances go, the path is nobody's, and a new one begins afresh", () => {
      const cluster = new Cluster(profile).establish();
      cluster.widget("a");
      const watch = cluster.get(`${widgets}?watch=1&resourceVersion=0`);
      const deleted = cluster.bed.ask(`DELETE ${cluster.definitions}/${definition}`, { as: "admin" });
      expect(deleted.at("metadata.finalizers")).toEqual([
        `customresourcecleanup.apiextensions.${profile.dialect.groupSuffix}`,
      ]);
      cluster.pass(50);
      expect(cluster.widget("late").status === 405 || cluster.get(widgets).status === 404).toBe(true);
      cluster.pass(5_000);
      expect(cluster.get(`${cluster.definitions}/${definition}`).status).toBe(404);
      expect(cluster.get(widgets).text).toBe("404 page not found\n");
      expect(watch.over).toBe(true);
      expect(watch.events.map(({ type }) => type)).toEqual(["ADDED", "DELETED"]);
      cluster.establish();
      expect(cluster.get(widgets).at("items")).toEqual([]);
    });

    it("end their streams when the definition changes, unless the server has the bug", () => {
      for (const stranded of [false, true]) {
        const bugs = bugsOn(stranded ? ["watch-crd-change-strands-stream"] : []);
        const cluster = new Cluster(profile, { bugs }).establish();
        const watch = cluster.get(`${widgets}?watch=1`);
        const body = { spec: { names: { shortNames: ["wid"] } } };
        cluster.bed.ask(`PATCH ${cluster.definitions}/${definition}`, { headers: merge, body });
        cluster.pass(1_000);
        expect(watch.over).toBe(!stranded);
      }
    });

    it("take back what they gave, unless the server has the bug", () => {
      for (const broken of [false, true]) {
        const bugs = bugsOn(broken ? ["strict-rejects-metadata"] : []);
        const schema = {
          type: "object",
          properties: { metadata: { type: "object", properties: { name: { type: "string" } } } },
        };
        const cluster = new Cluster(profile, { bugs }).establish({}, [
          { name: "v1", schema: { openAPIV3Schema: schema } },
        ]);
        cluster.widget("a");
        const { body } = cluster.get(`${widgets}/a`);
        const put = cluster.bed.ask(`PUT ${widgets}/a?fieldValidation=Strict`, { headers: json, body });
        expect(put.status).toBe(broken ? 400 : 200);
      }
    });

    it("are served by a server that starts on a used store", () => {
      const first = new Cluster(profile).establish();
      first.widget("a");
      const second = new TestBed({ profile, store: first.bed.store }, first.bed.kernel, "second");
      expect(second.ask(`GET ${widgets}/a`).status).toBe(200);
    });

    it("are shown by the server that wrote them as by one that has not, however they were written", () => {
      const first = new Cluster(profile).establish({}, [{ name: "v1", subresources: { status: {} } }]);
      const { bed } = first;
      first.widget("a", { port: "http", free: { b: 1, a: [{ d: 1, c: null }] }, junk: 1 });
      const name = `${widgets}/a`;
      const as = "admin";
      const apply = { "content-type": "application/apply-patch+yaml" };
      const patch = { "content-type": "application/json-patch+json" };
      const typed = { apiVersion: first.get(name).at("apiVersion"), kind: "Widget" };
      const writes: (() => Answer)[] = [
        () => bed.ask(`PUT ${name}`, { as, headers: json, body: { ...first.get(name).body, status: { z: 1, a: 2 } } }),
        () => bed.ask(`PUT ${name}/status`, { as, headers: json, body: { ...first.get(name).body, status: { a: 2 } } }),
        () => bed.merge(name, { spec: { size: null, junk: 2 }, metadata: { labels: { b: "1", a: "2" } } }, { as }),
        () => bed.ask(`PATCH ${name}`, { as, headers: patch, body: [{ op: "add", path: "/spec/free/c", value: 1 }] }),
        () =>
          bed.ask(`PATCH ${name}?fieldManager=m&force=true`, {
            as,
            headers: apply,
            body: { ...typed, spec: { port: 1 } },
          }),
        () => bed.merge(`${name}/status`, { status: { b: 1 } }, { as }),
      ];
      const shownAlike = (what: string): void => {
        const second = new TestBed({ profile, store: bed.store }, bed.kernel, `second ${what}`);
        expect([what, first.get(name).text]).toEqual([what, second.ask(`GET ${name}`, { as }).text]);
      };
      for (const [index, write] of writes.entries()) {
        expect([index, write().status]).toEqual([index, 200]);
        shownAlike(`written the way ${index}`);
      }
      const [spec, version] = ["/spec/versions/0", "/schema/openAPIV3Schema/properties"];
      const late = { type: "integer", default: 7 };
      const body = [
        { op: "remove", path: `${spec}${version}/spec/properties/port` },
        { op: "add", path: `${spec}${version}/spec/properties/late`, value: late },
        { op: "add", path: `${spec}${version}/status/properties/a`, value: { type: "integer" } },
      ];
      const changed = bed.ask(`PATCH ${first.definitions}/widgets.shop.example.com`, { as, headers: patch, body });
      expect(changed.status).toBe(200);
      first.pass(1_000);
      shownAlike("by a schema that came later");
      expect(first.get(name).at("spec.late")).toBe(7);
      bed.merge(name, { metadata: { finalizers: ["example.com/a"] } }, { as });
      bed.merge(`${name}/status`, { status: { a: 3, replicas: 1 } }, { as });
      shownAlike("written to its status by the later schema");
      expect(bed.ask(`DELETE ${name}`, { as }).status).toBe(200);
      shownAlike("going");
    });
  });
}

it("refuses to pass an API on to another server, and says so", () => {
  const { bed } = new Cluster(kubernetesProfile);
  const spec = { group: "metrics.example.com", version: "v1", groupPriorityMinimum: 100, versionPriority: 10 };
  const register = (service: unknown): Answer =>
    bed.ask("POST /apis/apiregistration.k8s.io/v1/apiservices", {
      headers: json,
      body: { metadata: { name: "v1.metrics.example.com" }, spec: { ...spec, service } },
    });
  const refused = register({ name: "metrics", namespace: "default" });
  expect([refused.status, refused.at("details.causes.0")]).toEqual([
    422,
    {
      reason: "FieldValueForbidden",
      message: "Forbidden: aggregated APIs are not supported by this simulator",
      field: "spec.service",
    },
  ]);
});
