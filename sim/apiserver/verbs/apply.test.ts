import { describe, expect, it } from "vitest";
import { decidedAtOnce } from "../access/authorize.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import type { ManagedFieldsEntry } from "../../contract/objects.ts";
import { kubernetesProfile } from "../../contract/profile.ts";
import { type Answer, configMaps, TestBed } from "../test-bed.fixture.ts";
import { apply, deployment, deployments, map, template } from "./apply.fixture.ts";

const pods = "/api/v1/namespaces/default/pods";

/** Who owns what: `alpha Apply` → fieldsV1, with the subresource when there is one. */
function owners(answer: Answer): Record<string, unknown> {
  const entries = answer.at("metadata.managedFields") as readonly ManagedFieldsEntry[];
  return Object.fromEntries(
    entries.map(({ manager, operation, subresource, fieldsV1 }) => [
      [manager, operation, ...(subresource === undefined ? [] : [subresource])].join(" "),
      fieldsV1,
    ]),
  );
}

describe("an object that is not there", () => {
  it("is made, whatever version is sent, but not with a uid", () => {
    const bed = new TestBed({ profile: kubernetesProfile });
    const other = apply(bed, `${configMaps}/a`, map({}, { uid: "u" }));
    expect([other.status, other.reason, other.at("message")]).toEqual([
      409,
      "Conflict",
      'Operation cannot be fulfilled on configmaps "a": uid mismatch: the provided object specified uid u, and no existing object was found',
    ]);
    const made = apply(bed, `${configMaps}/a`, map({ k: "v" }, { resourceVersion: "1" }));
    expect([made.status, owners(made)]).toEqual([201, { "alpha Apply": { "f:data": { "f:k": {} } } }]);
  });

  it("is not made by its subresource, in a namespace that is not there, dry, or without the right to create", () => {
    const onlyPatches = decidedAtOnce((_, attributes) =>
      attributes.verb === "create" ? { allowed: false, denied: false, reason: "" } : { allowed: true, reason: "" },
    );
    const bed = new TestBed({ profile: kubernetesProfile, authorizer: onlyPatches });
    expect(apply(bed, `${configMaps}/a`, map({})).at("message")).toBe(
      'configmaps "a" is forbidden: User "alice" cannot create resource "configmaps" in API group "" in the namespace "default"',
    );
    const lease = "/apis/coordination.k8s.io/v1/namespaces/default/leases/l";
    const headers = { "content-type": "application/json" };
    expect(bed.ask(`PUT ${lease}`, { headers, body: { metadata: { name: "l" } } }).status).toBe(403);
    const free = new TestBed({ profile: kubernetesProfile });
    expect(free.ask(`PUT ${lease}`, { headers, body: { metadata: { name: "l" } } }).status).toBe(201);
    expect(apply(free, `${pods}/p/status`, "{}").status).toBe(404);
    expect(apply(free, configMaps.replace("default", "nowhere") + "/a", map({})).status).toBe(404);
    expect(apply(free, `${configMaps}/a`, map({}), { query: "&dryRun=All" }).status).toBe(201);
    expect(free.ask(`GET ${configMaps}/a`).status).toBe(404);
  });
});

describe("an object that is there", () => {
  const made = (): TestBed => {
    const bed = new TestBed({ profile: kubernetesProfile });
    apply(bed, `${configMaps}/a`, map({ x: "1", y: "2" }));
    return bed;
  };

  it("is not written when nothing changes: same version, same time, no event", () => {
    const bed = made();
    const watch = bed.ask(
      `GET ${configMaps}?watch=1&resourceVersion=${String(bed.ask(`GET ${configMaps}`).at("metadata.resourceVersion"))}`,
    );
    const before = bed.ask(`GET ${configMaps}/a`).text;
    bed.advance(100);
    expect(apply(bed, `${configMaps}/a`, map({ x: "1", y: "2" })).text).toBe(before);
    expect(apply(bed, `${configMaps}/a`, map({ x: "1", y: "2" }, { creationTimestamp: null })).text).toBe(before);
    expect(watch.events).toEqual([]);
  });

  it("keeps what another applies as well, and loses what nobody applies any more", () => {
    const bed = made();
    const shared = apply(bed, `${configMaps}/a`, map({ x: "1" }), { manager: "beta" });
    expect(owners(shared)).toEqual({
      "alpha Apply": { "f:data": { "f:x": {}, "f:y": {} } },
      "beta Apply": { "f:data": { "f:x": {} } },
    });
    const [first, second] = shared.at("metadata.managedFields") as readonly ManagedFieldsEntry[];
    expect([first?.manager, first?.time, second?.manager]).toEqual(["beta", undefined, "alpha"]);
    const left = apply(bed, `${configMaps}/a`, map({ y: "2" }));
    expect(left.at("data")).toEqual({ x: "1", y: "2" });
    const none = apply(bed, `${configMaps}/a`, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } });
    expect([none.at("data"), owners(none)]).toEqual([{ x: "1" }, { "beta Apply": { "f:data": { "f:x": {} } } }]);
  });

  it("tells all conflicts, owners in order, and takes the fields by force", () => {
    const bed = made();
    bed.merge(`${configMaps}/a?fieldManager=editor`, { data: { y: "3", z: "3" } });
    const theirs = map({ x: "9", y: "9", z: "9" });
    const refused = apply(bed, `${configMaps}/a`, theirs, { manager: "beta" });
    expect([refused.status, refused.at("message"), refused.at("details")]).toEqual([
      409,
      'Apply failed with 3 conflicts: conflicts with "alpha":\n- .data.x\nconflicts with "editor" using v1:\n- .data.y\n- .data.z',
      {
        causes: [
          { reason: "FieldManagerConflict", message: 'conflict with "alpha"', field: ".data.x" },
          { reason: "FieldManagerConflict", message: 'conflict with "editor" using v1', field: ".data.y" },
          { reason: "FieldManagerConflict", message: 'conflict with "editor" using v1', field: ".data.z" },
        ],
      },
    ]);
    const forced = apply(bed, `${configMaps}/a`, theirs, { manager: "beta", query: "&force=true" });
    expect(forced.at("data")).toEqual({ x: "9", y: "9", z: "9" });
    expect(owners(forced)).toEqual({ "beta Apply": { "f:data": { "f:x": {}, "f:y": {}, "f:z": {} } } });
    expect(apply(bed, `${configMaps}/a`, map({ x: "1" }), { query: "&force=false" }).status).toBe(409);
  });

  it("is only changed at the version and with the uid that are sent", () => {
    const bed = made();
    const stale = apply(bed, `${configMaps}/a`, map({ x: "1" }, { resourceVersion: "1" }));
    expect([stale.status, stale.reason]).toEqual([409, "Conflict"]);
    const other = apply(bed, `${configMaps}/a`, map({ x: "1", y: "2" }, { uid: "u" }));
    expect([other.status, other.at("message")]).toEqual([
      422,
      'ConfigMap "a" is invalid: metadata.uid: Invalid value: "u": field is immutable',
    ]);
    const current = bed.ask(`GET ${configMaps}/a`).at("metadata.resourceVersion");
    expect(apply(bed, `${configMaps}/a`, map({ x: "1" }, { resourceVersion: current })).at("data")).toEqual({ x: "1" });
  });

  it("that nobody tracked gets an owner for what it was", () => {
    const bed = made();
    bed.merge(`${configMaps}/a`, { metadata: { managedFields: [{}] } });
    expect(bed.ask(`GET ${configMaps}/a`).at("metadata.managedFields")).toBeUndefined();
    const refused = apply(bed, `${configMaps}/a`, map({ x: "2" }));
    expect(refused.at("message")).toBe(
      'Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .data.x',
    );
    expect(owners(apply(bed, `${configMaps}/a`, map({ z: "1" })))).toEqual({
      "alpha Apply": { "f:data": { "f:z": {} } },
      "before-first-apply Update": { "f:data": { ".": {}, "f:x": {}, "f:y": {} } },
    });
  });

  it("goes with its last finalizer", () => {
    const bed = new TestBed({ profile: kubernetesProfile });
    apply(bed, `${configMaps}/a`, map({}, { finalizers: ["e.com/f"] }));
    expect(bed.ask(`DELETE ${configMaps}/a`).at("metadata.finalizers")).toEqual(["e.com/f"]);
    expect(apply(bed, `${configMaps}/a`, map({})).status).toBe(200);
    expect(bed.ask(`GET ${configMaps}/a`).status).toBe(404);
  });
});

describe("lists", () => {
  it("with keys are merged in the order of the configuration, and a key's default is no field of the applier", () => {
    const bed = new TestBed({ profile: kubernetesProfile });
    const first = apply(
      bed,
      `${deployments}/d`,
      deployment(template({ name: "b", image: "1" }, { name: "c", image: "1" })),
    );
    expect(first.status).toBe(201);
    const ports = [{ containerPort: 443 }, { containerPort: 80, protocol: "UDP" }];
    const added = { spec: { template: { spec: { containers: [{ name: "a", image: "1", ports }, { name: "c" }] } } } };
    const second = apply(bed, `${deployments}/d`, { ...deployment({}), ...added }, { manager: "beta" });
    const containers = second.at("spec.template.spec.containers") as readonly JsonObject[];
    expect(containers.map(({ name }) => name)).toEqual(["b", "a", "c"]);
    expect(containers[1]?.["ports"]).toEqual([
      { containerPort: 443, protocol: "TCP" },
      { containerPort: 80, protocol: "UDP" },
    ]);
    expect(owners(second)["beta Apply"]).toEqual({
      "f:spec": {
        "f:template": {
          "f:spec": {
            "f:containers": {
              'k:{"name":"a"}': {
                ".": {},
                "f:image": {},
                "f:name": {},
                "f:ports": {
                  'k:{"containerPort":443,"protocol":"TCP"}': { ".": {}, "f:containerPort": {} },
                  'k:{"containerPort":80,"protocol":"UDP"}': { ".": {}, "f:containerPort": {}, "f:protocol": {} },
                },
              },
              'k:{"name":"c"}': { ".": {}, "f:name": {} },
            },
          },
        },
      },
    });
    const gone = apply(bed, `${deployments}/d`, deployment({}), { manager: "beta" });
    const left = gone.at("spec.template.spec.containers") as readonly JsonObject[];
    expect(left.map(({ name }) => name)).toEqual(["b", "c"]);
  });

  it("of ports tell their conflicts by number, and atomic ones as a whole", () => {
    const bed = new TestBed({ profile: kubernetesProfile });
    const at = (name: string, args: string) => ({
      name: "c",
      image: "1",
      args: [args],
      ports: [
        { containerPort: 443, name },
        { containerPort: 80, name: `${name}x` },
      ],
    });
    apply(bed, `${deployments}/d`, deployment(template(at("a", "1"))));
    const fields = apply(bed, `${deployments}/d`, deployment(template(at("b", "2"))), { manager: "beta" }).at(
      "details.causes",
    ) as readonly { field: string }[];
    expect(fields.map(({ field }) => field)).toEqual([
      '.spec.template.spec.containers[name="c"].args',
      '.spec.template.spec.containers[name="c"].ports[containerPort=80,protocol="TCP"].name',
      '.spec.template.spec.containers[name="c"].ports[containerPort=443,protocol="TCP"].name',
    ]);
  });
});

describe("subresources", () => {
  const pod = (status: object, metadata: object = {}) => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "p", ...metadata },
    status,
  });

  it("status owns status alone", () => {
    const bed = new TestBed({ profile: kubernetesProfile });
    bed.ask(`POST ${pods}`, { body: { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "i" }] } } });
    const conditions = [{ type: "X", status: "True" }];
    const body = { ...pod({ conditions }, { ownerReferences: [] }), spec: { nodeName: "n" } };
    const answer = apply(bed, `${pods}/p/status`, body, { manager: "st" });
    expect(answer.status).toBe(200);
    expect(answer.at("spec.nodeName")).toBeUndefined();
    expect(owners(answer)["st Apply status"]).toEqual({
      "f:status": { "f:conditions": { 'k:{"type":"X"}': { ".": {}, "f:status": {}, "f:type": {} } } },
    });
    const refused = apply(bed, `${pods}/p/status`, pod({ conditions: [{ type: "X", status: "False" }] }));
    expect(refused.at("message")).toBe(
      'Apply failed with 1 conflict: conflict with "st" with subresource "status": .status.conditions[type="X"].status',
    );
  });

  it("a status request does not own the metadata that it cannot write", () => {
    const bed = new TestBed({ profile: kubernetesProfile });
    apply(bed, `${deployments}/d`, deployment(template({ name: "c", image: "i" })));
    const body = { metadata: { labels: { l: "1" }, annotations: { a: "1" } }, status: { replicas: 1 } };
    const answer = bed.merge(`${deployments}/d/status?fieldManager=st`, body);
    expect([answer.at("metadata.labels"), answer.at("metadata.annotations")]).toEqual([undefined, { a: "1" }]);
    expect(owners(answer)["st Update status"]).toEqual({
      "f:metadata": { "f:annotations": { ".": {}, "f:a": {} } },
      "f:status": { "f:replicas": {} },
    });
  });

  const scale = (replicas: number) => ({
    apiVersion: "autoscaling/v1",
    kind: "Scale",
    metadata: { name: "d" },
    spec: { replicas },
  });

  it("scale takes the replicas from their owner, and nothing else", () => {
    const bed = new TestBed({ profile: kubernetesProfile });
    const spec = { ...template({ name: "c", image: "i" }), replicas: 2 };
    apply(bed, `${deployments}/d`, deployment(spec));
    const json = { headers: { "content-type": "application/json" } };
    expect(bed.ask(`PUT ${deployments}/d/scale?fieldManager=hand`, { ...json, body: scale(3) }).at("spec")).toEqual({
      replicas: 3,
    });
    const owned = owners(bed.ask(`GET ${deployments}/d`));
    expect(owned["hand Update scale"]).toEqual({ "f:spec": { "f:replicas": {} } });
    expect((owned["alpha Apply"] as { "f:spec": object })["f:spec"]).not.toHaveProperty("f:replicas");
    expect(apply(bed, `${deployments}/d`, deployment(spec)).at("message")).toBe(
      'Apply failed with 1 conflict: conflict with "hand" with subresource "scale" using apps/v1: .spec.replicas',
    );
    const refused = apply(bed, `${deployments}/d/scale`, scale(4), { manager: "auto" });
    expect(refused.at("message")).toBe(
      'Apply failed with 1 conflict: conflict with "hand" with subresource "scale" using autoscaling/v1: .spec.replicas',
    );
    const forced = apply(bed, `${deployments}/d/scale`, scale(4), { manager: "auto", query: "&force=true" });
    expect([forced.status, forced.at("spec.replicas"), forced.at("metadata.managedFields")]).toEqual([
      200,
      4,
      undefined,
    ]);
    const after = owners(bed.ask(`GET ${deployments}/d`));
    expect(Object.keys(after)).toEqual(["auto Apply scale", "alpha Apply"]);
    expect(bed.merge(`${deployments}/d/scale`, { spec: { replicas: -1 } }).at("message")).toBe(
      'Scale.autoscaling "d" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
    );
  });
});

describe("a client that used to merge by itself", () => {
  const annotation = "kubectl.kubernetes.io/last-applied-configuration";

  it("meets no conflict in what it left, and the annotation follows it", () => {
    const bed = new TestBed({ profile: kubernetesProfile });
    const last = JSON.stringify(map({ k: "1", other: "1" }, { annotations: {}, namespace: "default" }));
    bed.ask(`POST ${configMaps}?fieldManager=kubectl-client-side-apply`, {
      body: map({ k: "1", other: "1" }, { annotations: { [annotation]: last } }),
    });
    const answer = apply(bed, `${configMaps}/a`, map({ k: "2", other: "1" }), { manager: "kubectl" });
    expect([answer.status, answer.at("data")]).toEqual([200, { k: "2", other: "1" }]);
    const annotations = answer.at("metadata.annotations") as Record<string, string>;
    expect(annotations[annotation]).toBe(
      '{"apiVersion":"v1","data":{"k":"2","other":"1"},"kind":"ConfigMap","metadata":{"name":"a"}}\n',
    );
  });

  it("but does in what others have changed since", () => {
    const bed = new TestBed({ profile: kubernetesProfile });
    const last = JSON.stringify(map({ k: "1" }));
    bed.ask(`POST ${configMaps}`, { body: map({ k: "1" }, { annotations: { [annotation]: last } }) });
    bed.merge(`${configMaps}/a?fieldManager=editor`, { data: { k: "edited" } });
    expect(apply(bed, `${configMaps}/a`, map({ k: "2" }), { manager: "kubectl" }).at("message")).toBe(
      'Apply failed with 1 conflict: conflict with "editor" using v1: .data.k',
    );
  });
});
