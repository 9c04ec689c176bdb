import { describe, expect, it } from "vitest";
import { structOfKind, type TypeRow } from "../../../wire/schema.ts";
import { kubernetesProfile, svcProfile } from "../../contract/profile.ts";
import { decodeProtobuf, encodeProtobuf, openEnvelope } from "../encodings/protobuf/envelope.ts";
import { configMaps, TestBed } from "../test-bed.fixture.ts";
import { warningHeaders } from "./warnings.ts";

const json = { "content-type": "application/json" };

describe("paths", () => {
  const bed = new TestBed({ profile: kubernetesProfile });
  const status = (request: string): number => bed.ask(request).status;

  it("answers paths that nobody has in plain text, and resources that nobody has as a Status", () => {
    for (const path of ["/no/such/path", "/apis/nope.example.com/v1/things", "/apis//apps/v1", "/readyz/etcd"]) {
      const answer = bed.ask(`GET ${path}`);
      expect([answer.status, answer.contentType, answer.text]).toEqual([
        404,
        "text/plain; charset=utf-8",
        "404 page not found\n",
      ]);
    }
    for (const path of [
      "/api/v1/widgets",
      "/api/v2/pods",
      "/api//v1/configmaps",
      "/apis/apps/v9",
      "/apis/apps//deployments",
      `${configMaps}/a/nope`,
      "/api/v1//namespaces",
      "/api/v1/configmaps/a",
      "/api/v1/namespaces/default/nodes",
    ]) {
      const answer = bed.ask(`GET ${path}`);
      expect([answer.status, answer.reason, answer.at("details")]).toEqual([404, "NotFound", {}]);
    }
  });

  it("speaks the profile's dialect and no other", () => {
    const svc = new TestBed({ profile: svcProfile });
    expect([status("GET /apis/events.k8s.io/v1"), status("GET /apis/events.svc.io/v1")]).toEqual([200, 404]);
    expect([svc.ask("GET /apis/events.k8s.io/v1").status, svc.ask("GET /apis/events.svc.io/v1").status]).toEqual([
      404, 200,
    ]);
  });

  it("resolves dots and a trailing slash, and refuses malformed percent-encoding and thousands of segments", () => {
    expect(bed.ask("GET /api/v1/namespaces/../nodes").at("kind")).toBe("NodeList");
    expect(bed.ask("GET /api/v1/namespaces/").at("kind")).toBe("NamespaceList");
    expect(bed.ask(`GET /api${"/x".repeat(4_095)}`).status).toBe(404);
    expect(bed.ask("GET /api/v1/namespaces/%64efault").at("metadata.name")).toBe("default");
    for (const request of [
      "GET /api/v1/namespaces/%zz",
      "GET /api/v1/namespaces?limit=%f",
      `POST ${configMaps}?dryRun=%`,
      `GET /api${"/".repeat(4_096)}`,
    ]) {
      const answer = bed.ask(request);
      expect([answer.status, answer.reason]).toEqual([400, "BadRequest"]);
    }
  });

  it("refuses methods that a place does not have, and HEAD without a word", () => {
    for (const request of [
      `PUT ${configMaps}`,
      `POST ${configMaps}/a`,
      "DELETE /api/v1/namespaces",
      "POST /api/v1/configmaps",
    ]) {
      const answer = bed.ask(request);
      expect([answer.status, answer.reason, answer.at("details")]).toEqual([405, "MethodNotAllowed", {}]);
    }
    expect(bed.ask(`HEAD ${configMaps}/a`)).toMatchObject({ status: 405, text: "" });
    expect(status("GET /apis/authorization.k8s.io/v1/subjectaccessreviews")).toBe(405);
  });

  it("still watches under the old prefix, a collection or one object", () => {
    bed.ask(`POST ${configMaps}`, { headers: json, body: { metadata: { name: "one" } } });
    bed.ask(`POST ${configMaps}`, { headers: json, body: { metadata: { name: "two" } } });
    const names = (path: string) =>
      bed.ask(`GET ${path}`).events.map(({ object }) => (object["metadata"] as { name: string }).name);
    expect(names("/api/v1/watch/namespaces/default/configmaps")).toEqual(["one", "two"]);
    expect(names("/api/v1/watch/namespaces/default/configmaps/two")).toEqual(["two"]);
  });
});

describe("representations", () => {
  const bed = new TestBed({ profile: kubernetesProfile });
  bed.ask(`POST ${configMaps}`, { headers: json, body: { metadata: { name: "a" }, data: { 9: "<nine>", 10: "ten" } } });
  const get = (headers: Record<string, string>, query = "", path = `${configMaps}/a`) =>
    bed.ask(`GET ${path}${query}`, { headers });

  it("ends compact JSON with a newline and pretty JSON without, by parameter or by agent", () => {
    expect(get({}).text).toMatch(/^\{"kind":"ConfigMap","apiVersion":"v1","metadata":\{"name":"a".*\}\n$/);
    expect(get({}).text).toContain(String.raw`"data":{"10":"ten","9":"\u003cnine\u003e"}`);
    for (const pretty of [
      get({}, "?pretty=true"),
      get({ "user-agent": "curl/8" }),
      get({ "user-agent": "Mozilla/5.0" }),
    ]) {
      expect(pretty.text).toMatch(/^\{\n {2}"kind": "ConfigMap",\n.*\n\}$/s);
    }
    expect(get({ "user-agent": "curl/8" }, "?pretty=false").text).toMatch(/^\{"kind"/);
  });

  it("makes lists of the same bytes, without the items' kinds", () => {
    const listed = bed.ask(`GET ${configMaps}`);
    const item = get({}).text.trimEnd().replace('{"kind":"ConfigMap","apiVersion":"v1",', "{");
    const version = listed.at("metadata.resourceVersion") as string;
    expect(listed.text).toBe(
      `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"${version}"},"items":[${item}]}\n`,
    );
    expect(listed.object?.["items"]).toEqual([get({}).object]);
    expect((listed.object as { items?: unknown[] } | undefined)?.items?.[0]).toBe(get({}).object); // shared, not copied
  });

  it("refuses in two voices what it cannot write", () => {
    const outer = get({ accept: "application/cbor" });
    expect([outer.status, outer.at("details"), outer.at("message")]).toEqual([
      406,
      {},
      "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf",
    ]);
    const inner = get({ accept: "application/json;as=Nonsense;g=meta.k8s.io;v=v1" });
    expect([inner.status, inner.at("details"), inner.at("message")]).toEqual([
      406,
      undefined,
      "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf",
    ]);
    const unreadable = get({ accept: "text/html" }, "", `${configMaps}/missing`);
    expect(unreadable.text).toMatch(/^\{\n {2}"kind": "Status",/); // indented, for want of anything better
    // Nothing else is made of an error: what asks for it is passed over, and JSON is left.
    const asked = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
    expect(get({ accept: asked }, "", `${configMaps}/missing`).text.startsWith("{\n  ")).toBe(true);
    const next = get({ accept: `${asked}, application/yaml` }, "", `${configMaps}/missing`);
    expect([next.status, next.contentType]).toEqual([404, "application/yaml"]);
    const watch = bed.ask(`GET ${configMaps}?watch=1`, { headers: { accept: "application/yaml" } });
    expect([watch.status, watch.contentType]).toEqual([406, "application/yaml"]);
  });

  it("shows metadata alone when asked, to items, lists and watches", () => {
    const as = (kind: string) => ({ accept: `application/json;as=${kind};g=meta.k8s.io;v=v1` });
    const item = get(as("PartialObjectMetadata"));
    expect([item.at("kind"), item.at("apiVersion"), item.at("data"), item.contentType]).toEqual([
      "PartialObjectMetadata",
      "meta.k8s.io/v1",
      undefined,
      "application/json",
    ]);
    expect(get(as("PartialObjectMetadataList"), "", configMaps).at("items.0.metadata.name")).toBe("a");
    expect(get(as("PartialObjectMetadata"), "", configMaps).status).toBe(406);
    const watch = get(as("PartialObjectMetadata"), "?watch=1", configMaps);
    expect(watch.events[0]?.object["kind"]).toBe("PartialObjectMetadata");
    expect(get(as("PartialObjectMetadata"), "", `${configMaps}/missing`).status).toBe(404);
  });

  it("sends what every answer carries", () => {
    const { headers } = get({});
    expect(headers["cache-control"]).toBe("no-cache, private");
    expect(headers["audit-id"]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(get({}).headers["audit-id"]).not.toBe(headers["audit-id"]);
    expect(get({ "audit-id": "mine" }).headers["audit-id"]).toBe("mine");
  });
});

describe("discovery", () => {
  const bed = new TestBed({ profile: kubernetesProfile });

  it("tells of health, check by check", () => {
    expect(bed.ask("GET /healthz")).toMatchObject({ status: 200, text: "ok" });
    expect(bed.ask("GET /livez?verbose").text).toMatch(
      /^\[\+]ping ok\n\[\+]log ok\n\[\+]etcd ok\n(.*\n)+livez check passed\n$/,
    );
    expect(bed.ask("GET /readyz?verbose&exclude=log&exclude=x").text).toContain("[+]log excluded: ok\n");
  });

  it("gives everything at once, and nothing when nothing has changed", () => {
    const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
    const all = bed.ask("GET /apis", { headers: { accept } });
    expect(all.contentType).toBe("application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
    expect([all.headers["vary"], all.headers["cache-control"]]).toEqual(["Accept", "public"]);
    const same = bed.ask("GET /apis", { headers: { accept, "if-none-match": String(all.headers["etag"]) } });
    expect([same.status, same.text]).toEqual([304, ""]);
    expect(bed.ask("GET /apis").at("kind")).toBe("APIGroupList");
    expect(bed.ask("GET /api", { headers: { accept } }).at("items.0.versions.0.version")).toBe("v1");
    expect(bed.ask("POST /apis").status).toBe(405);
  });

  it("gives everything at once in every form", () => {
    const parameters = "g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    const forms = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];
    const answers = forms.map((form) => bed.ask("GET /apis", { headers: { accept: `${form};${parameters}` } }));
    expect(answers.map(({ status, contentType }) => [status, contentType])).toEqual(
      forms.map((form) => [200, `${form};${parameters}`]),
    );
    expect(answers[2]?.text.startsWith("k8s\0")).toBe(true);
    const object = bed.ask("GET /apis", { headers: { accept: `application/json;${parameters}` } }).body;
    const type = structOfKind("apidiscovery.svc.io/v2", "APIGroupDiscoveryList") as TypeRow;
    const read = decodeProtobuf(type, openEnvelope(encodeProtobuf(type, object)));
    expect(read).toEqual({ ...object, metadata: {} });
    const [, yaml] = answers;
    expect(yaml?.text).toMatch(/^apiVersion: apidiscovery\.k8s\.io\/v2\nitems:\n- metadata:\n/);
    expect(bed.ask("GET /apis", { headers: { accept: `text/plain;${parameters}` } }).status).toBe(406);
  });
});

describe("warnings", () => {
  it("are said once, escaped, and cut when they are too many", () => {
    expect(warningHeaders(['a "b" \\c', 'a "b" \\c'])).toEqual(['299 - "a \\"b\\" \\\\c"']);
    expect(warningHeaders(["naïve 漢字 😀", "", "a\nb", "a\u0085b"])).toEqual(['299 - "naïve 漢字 😀"']);
    const long = Array.from({ length: 40 }, (_, index) => `${index} ${"x".repeat(400)}`);
    const cut = warningHeaders(long);
    expect(cut.length).toBeLessThan(40);
    expect(cut.every((value) => [...value].length <= 256 + 8)).toBe(true);
    expect(cut.join("").length).toBeLessThanOrEqual(4096);
  });
});
