/** Small things that the observed server says, as recorded from it, each with who must not say them. */
import { describe, expect, it } from "vitest";
import { profiles, svcProfile } from "../contract/profile.ts";
import { TestBed } from "./test-bed.fixture.ts";
import { Cluster, widgets } from "./widget-cluster.fixture.ts";

const inDefault = "namespaces/default";

describe.each(["kubernetes-1.33", "kubernetes-1.36"] as const)("%s", (name) => {
  const bed = new TestBed({ profile: profiles[name] });

  it("writes null for a table of nothing only where a type has no columns of its own", () => {
    const rows = (path: string): unknown => {
      const accept = "application/json;as=Table;g=meta.k8s.io;v=v1";
      return bed.ask(`GET ${path}`, { headers: { accept } }).at("rows");
    };
    expect(rows(`/api/v1/${inDefault}/limitranges`)).toBeNull();
    for (const path of [`/api/v1/${inDefault}/configmaps`, `/apis/policy/v1/${inDefault}/poddisruptionbudgets`])
      expect(rows(path)).toEqual([]);
  });

  it.each(["json", "yaml"])("writes null for metadata of nothing, in %s", (format) => {
    const accept = `application/${format};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1`;
    const { text } = bed.ask(`GET /apis/apps/v1/${inDefault}/deployments`, { headers: { accept } });
    expect(text).toMatch(/items"?: ?null/);
  });

  it("warns of jobs whose pods stay, whatever comes of the deletion, unless it says what shall become of them", () => {
    const warning = (request: string, body?: unknown): unknown =>
      bed.ask(request, body === undefined ? {} : { body }).headers["warning"];
    const jobs = `/apis/batch/v1/${inDefault}/jobs`;
    const told = [expect.stringMatching(/^299 - "child pods are preserved by default when jobs are deleted; /)];
    expect([warning(`DELETE ${jobs}/none`), warning(`DELETE ${jobs}`)]).toEqual([told, told]);
    for (const policy of ["Orphan", "Background", "Foreground"]) {
      expect(warning(`DELETE ${jobs}/none?propagationPolicy=${policy}`)).toBeUndefined();
      const options = { kind: "DeleteOptions", apiVersion: "v1", propagationPolicy: policy };
      expect(warning(`DELETE ${jobs}/none`, options)).toBeUndefined();
    }
    expect(warning(`DELETE /apis/apps/v1/${inDefault}/deployments/none`)).toBeUndefined();
  });

  describe("variables that hide others of their name", () => {
    const deployments = `/apis/apps/v1/${inDefault}/deployments`;
    const container = (env: readonly object[]) => ({ name: "one", image: "one:1", env });
    const [first, other, second] = [
      { name: "A", value: "1" },
      { name: "B", value: "2" },
      { name: "A", value: "3" },
    ];
    const template = (env: readonly object[]) => ({
      metadata: { labels: { app: "d" } },
      spec: { containers: [container(env)] },
    });
    const deployment = (named: string, env: readonly object[]) => ({
      metadata: { name: named },
      spec: { replicas: 0, selector: { matchLabels: { app: "d" } }, template: template(env) },
    });
    const told = (path: string) => [
      `299 - "${path}.containers[0].env[2]: hides previous definition of \\"A\\", which may be dropped when using apply"`,
    ];
    const patch = (path: string, kind: string, body: unknown) =>
      bed.ask(`PATCH ${path}`, { headers: { "content-type": `application/${kind}` }, body });
    const owned = (answer: { body: unknown }): unknown => {
      const text = JSON.stringify(answer.body);
      const at = text.indexOf('"f:env":');
      return at < 0
        ? undefined
        : /"k:\{\\"name\\":\\"A\\"\}":(\{[^}]*\}(?:,"f:[a-z]+":\{\})*\}?)/.exec(text.slice(at))?.[1];
    };

    it("are warned of, and owned as one, while they are there", () => {
      const path = `${deployments}/d`;
      const made = bed.ask(`POST ${deployments}`, { body: deployment("d", [first, other, second]) });
      expect([made.status, made.headers["warning"]]).toEqual([201, told("spec.template.spec")]);
      expect(owned(made)).toMatch(/^\{\}/);
      const labelled = patch(path, "merge-patch+json", { metadata: { labels: { team: "red" } } });
      expect([labelled.status, labelled.headers["warning"]]).toEqual([200, undefined]);
      const changed = patch(path, "merge-patch+json", { spec: { replicas: 0, minReadySeconds: 1 } });
      expect(changed.headers["warning"]).toEqual(told("spec.template.spec"));
      expect(owned(changed)).toMatch(/^\{\}/);
      const alone = patch(path, "merge-patch+json", { spec: { template: template([other, second]) } });
      expect(alone.headers["warning"]).toBeUndefined();
      expect(owned(alone)).toBe('{".":{},"f:name":{},"f:value":{}}');
      const again = patch(path, "merge-patch+json", { spec: { template: template([first, other, second]) } });
      expect(again.headers["warning"]).toEqual(told("spec.template.spec"));
      expect(owned(again)).toMatch(/^\{\}/);
    });

    it.each([
      [`/api/v1/${inDefault}/pods`, "spec", (env: object[]) => ({ spec: template(env).spec })],
      [`/api/v1/${inDefault}/podtemplates`, "template.spec", (env: object[]) => ({ template: template(env) })],
      [
        `/apis/batch/v1/${inDefault}/cronjobs`,
        "spec.jobTemplate.spec.template.spec",
        (env: object[]) => {
          const { spec, ...rest } = template(env);
          const job = { spec: { template: { ...rest, spec: { ...spec, restartPolicy: "Never" } } } };
          return { spec: { schedule: "0 0 1 1 *", jobTemplate: job } };
        },
      ],
    ] as const)("are warned of in %s", (path, place, bodyOf) => {
      const warned = (...env: object[]): unknown =>
        bed.ask(`POST ${path}?dryRun=All`, { body: { metadata: { name: "v" }, ...bodyOf(env) } }).headers["warning"];
      expect(warned(first, other, second)).toEqual(told(place));
      expect(warned(first, other, { name: "A", value: "$(A)" })).toEqual(told(place));
      // What builds on the earlier one hides nothing.
      expect(warned(first, other, { name: "A", value: "$(A):more" })).toBeUndefined();
      expect(warned(first, other)).toBeUndefined();
    });
  });

  it("counts quotas as the controller that others know", () => {
    const quotas = `/api/v1/${inDefault}/resourcequotas`;
    const entries = (): unknown => bed.ask(`GET ${quotas}/few`).at("metadata.managedFields");
    bed.ask(`POST ${quotas}`, { body: { metadata: { name: "few" }, spec: { hard: { "count/configmaps": "9" } } } });
    const amounts = { ".": {}, "f:count/configmaps": {} };
    const counted = expect.objectContaining({
      manager: "kube-controller-manager",
      operation: "Update",
      subresource: "status",
      fieldsV1: { "f:status": { "f:hard": amounts, "f:used": amounts } },
    }) as unknown;
    expect(entries()).toEqual([counted, expect.objectContaining({ fieldsV1: { "f:spec": { "f:hard": amounts } } })]);
    bed.ask(`POST /api/v1/${inDefault}/configmaps`, { body: { metadata: { name: "counted" } } });
    expect(entries()).toEqual([counted, expect.anything()]);
  });

  it("warns of deprecated types with every answer", () => {
    const path = "/api/v1/componentstatuses";
    for (const request of [`GET ${path}`, `GET ${path}/none`, `GET ${path}?watch=true`]) {
      expect(bed.ask(request).headers["warning"]).toEqual(['299 - "v1 ComponentStatus is deprecated in v1.19+"']);
    }
  });

  it("names its own source where it knows no such version", () => {
    const body = { apiVersion: "v2", kind: "ConfigMap", metadata: { name: "a" } };
    expect(bed.ask(`POST /api/v1/${inDefault}/configmaps`, { body }).at("message")).toContain(
      'no kind "ConfigMap" is registered for version "v2" in scheme "k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30"',
    );
  });

  it("tells of every stored type in which version it is stored", () => {
    const hashes = (path: string): unknown =>
      (bed.ask(`GET ${path}`).at("resources") as { name: string; storageVersionHash?: string }[]).flatMap(
        ({ name: resource, storageVersionHash }) => (storageVersionHash ? [[resource, storageVersionHash]] : []),
      );
    const core = Object.fromEntries(hashes("/api/v1") as [string, string][]);
    // As recorded.
    expect(core).toMatchObject({ pods: "xPOwRZ+Yhw8=", services: "0/CO1lhkEBI=", limitranges: "EBKMFVe6cwo=" });
    expect(core).not.toHaveProperty("componentstatuses");
    expect(hashes("/apis/coordination.k8s.io/v1")).toContainEqual(["leases", "gqkMMb/YqFM="]);
    expect(hashes("/apis/events.k8s.io/v1")).toEqual([["events", core["events"]]]);
    expect(hashes("/apis/autoscaling/v1")).toEqual(hashes("/apis/autoscaling/v2"));
    const apps = (hashes("/apis/apps/v1") as [string, string][]).map(([resource]) => resource);
    expect(apps).toEqual(["controllerrevisions", "daemonsets", "deployments", "replicasets", "statefulsets"]);
  });

  it("says what is wrong with a token as its decoder does", () => {
    const said = (token: string): unknown =>
      bed.ask(`GET /api/v1/${inDefault}/configmaps?continue=${token}`).at("message");
    const encoded = (fields: unknown): string => Buffer.from(JSON.stringify(fields)).toString("base64url");
    const why = "invalid continue token: continue key is not valid: ";
    expect(said("nonsense")).toBe(`${why}invalid character '\\u009e' looking for beginning of value`);
    expect(said(encoded([]))).toBe(`${why}json: cannot unmarshal array into Go value of type storage.continueToken`);
    expect(said(encoded({ rv: "1" }))).toBe(
      `${why}json: cannot unmarshal string into Go struct field continueToken.rv of type int64`,
    );
  });
});

it.each(["kubernetes-1.33", "kubernetes-1.36", "svc"] as const)(
  "Whole lists of custom resources say so in %s",
  (name) => {
    const cluster = new Cluster(profiles[name]).establish();
    const group = profiles[name].dialect.groupSuffix;
    const metadata = (as?: string): unknown =>
      cluster.bed
        .ask(`GET ${widgets}`, {
          headers: as === undefined ? {} : { accept: `application/json;as=${as};g=meta.${group};v=v1` },
        })
        .at("metadata");
    const resourceVersion: unknown = expect.any(String);
    expect(metadata()).toEqual({ resourceVersion, ...(name === "svc" ? {} : { continue: "" }) });
    // What is made of a list does not repeat it.
    for (const as of ["Table", "PartialObjectMetadataList"]) expect(metadata(as)).toEqual({ resourceVersion });
  },
);

it.each(["kubernetes-1.33", "kubernetes-1.36"] as const)(
  "Labels sent with a custom status are owned, not written, in %s",
  (name) => {
    const cluster = new Cluster(profiles[name]).establish();
    cluster.widget("a", { size: 1 });
    const label = (path: string, team: string) =>
      cluster.bed.ask(`PATCH ${widgets}/a${path}?fieldManager=${path === "" ? "maker" : "teller"}`, {
        headers: { "content-type": "application/merge-patch+json" },
        body: { metadata: { labels: { team } } },
      });
    const made = label("", "red");
    const told = label("/status", "blue");
    expect([told.status, told.at("metadata.labels")]).toEqual([200, { team: "red" }]);
    expect(told.at("metadata.resourceVersion")).not.toBe(made.at("metadata.resourceVersion"));
    const entries = told.at("metadata.managedFields") as { manager: string; subresource?: string; fieldsV1: object }[];
    expect(entries.find(({ manager }) => manager === "teller")).toMatchObject({
      subresource: "status",
      fieldsV1: { "f:metadata": { "f:labels": { "f:team": {} } } },
    });
    expect(JSON.stringify(entries.find(({ manager }) => manager === "maker"))).not.toContain("f:team");
    // The same once more says nothing new.
    expect(label("/status", "blue").at("metadata.resourceVersion")).toBe(told.at("metadata.resourceVersion"));
  },
);

it("The documents' server writes empty arrays", () => {
  const svc = new TestBed({ profile: svcProfile });
  const of = (as: string, field: string): unknown =>
    svc
      .ask(`GET /api/v1/${inDefault}/limitranges`, {
        headers: { accept: `application/json;as=${as};g=meta.svc.io;v=v1` },
      })
      .at(field);
  expect([of("Table", "rows"), of("PartialObjectMetadataList", "items")]).toEqual([[], []]);
});
