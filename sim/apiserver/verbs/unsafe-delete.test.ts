import { describe, expect, it } from "vitest";
import { kubernetesProfile } from "../../contract/profile.ts";
import { configMaps, TestBed } from "../test-bed.fixture.ts";

const path = `${configMaps}/a`;
const key = "/registry/configmaps/default/a";
const option = "ignoreStoreReadErrorWithClusterBreakingPotential";
const unsafe = `${option}=true`;
const rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";

/** A config map that has a finalizer and cannot be read. */
function bed(gate = true, rbacOn = false): TestBed {
  const made = new TestBed({
    profile: kubernetesProfile,
    featureGates: { AllowUnsafeMalformedObjectDeletion: gate },
    ...(rbacOn ? { authorizationModes: ["RBAC"] } : {}),
  });
  const body = (name: string) => ({ metadata: { name, finalizers: ["example.com/x"] } });
  for (const name of ["a", "b"]) made.ask(`POST ${configMaps}`, { as: "admin", body: body(name) });
  made.server.makeUnreadable(path);
  return made;
}

describe("an object that cannot be read", () => {
  it("is an error to whoever asks the store, and still in the caches", () => {
    const server = bed();
    const text =
      `Internal error occurred: StorageError: corrupt object, Code: 7, Key: ${key}, ResourceVersion: 0, ` +
      "AdditionalErrorMsg: data from the storage is not transformable revision=0: no matching prefix found";
    const put = { body: { metadata: { name: "a" }, data: { k: "v" } } };
    for (const answer of [
      server.ask(`GET ${path}`),
      server.ask(`PUT ${path}`, put),
      server.merge(path, { data: { k: "v" } }),
      server.ask(`DELETE ${path}`),
      server.ask(`DELETE ${configMaps}`),
    ]) {
      expect([answer.status, answer.reason, answer.at("message")]).toEqual([500, "InternalError", text]);
    }
    expect(server.ask(`POST ${configMaps}`, { body: { metadata: { name: "a" } } }).reason).toBe("AlreadyExists");
    expect(server.ask(`GET ${path}?resourceVersion=0`).status).toBe(200);
    expect(server.ask(`GET ${configMaps}`).status).toBe(200);
    const version = server.ask(`GET ${configMaps}`).at("metadata.resourceVersion");
    const list = server.ask(`GET ${configMaps}?resourceVersion=${version}&resourceVersionMatch=Exact`);
    expect([list.status, list.reason, list.at("message")]).toEqual([
      500,
      "StorageReadError",
      "failed to read one or more configmaps from the storage",
    ]);
    expect(list.at("details.causes.0")).toMatchObject({ reason: "UnexpectedServerResponse", field: key });
    expect(server.ask(`GET ${configMaps}/b`).status).toBe(200);
  });

  it("goes by the unsafe deletion, finalizers and all, and can be made again", () => {
    const server = bed();
    const gone = server.ask(`DELETE ${path}?${unsafe}`);
    expect([gone.status, gone.body]).toEqual([
      200,
      {
        kind: "Status",
        apiVersion: "v1",
        metadata: {},
        status: "Success",
        details: { name: "a", kind: "ConfigMap" },
        code: 200,
      },
    ]);
    expect(server.ask(`GET ${path}`).status).toBe(404);
    expect(server.ask(`GET ${path}?resourceVersion=0`).status).toBe(404);
    expect(server.ask(`POST ${configMaps}`, { body: { metadata: { name: "a" } } }).status).toBe(201);
    expect(server.ask(`DELETE ${path}`).status).toBe(200);
  });

  it("leaves its watchers without an event: they list anew", () => {
    const server = bed();
    const version = server.ask(`GET ${configMaps}`).at("metadata.resourceVersion");
    const watches = [
      server.ask(`GET ${configMaps}?watch=1&resourceVersion=${version}`),
      server.ask(`GET ${configMaps}?watch=1&resourceVersion=${version}&fieldSelector=metadata.name=b`),
    ];
    server.ask(`DELETE ${path}?${unsafe}`);
    expect(watches.map(({ over, text }) => [over, text])).toEqual([
      [true, ""],
      [true, ""],
    ]);
    const late = server.ask(`GET ${configMaps}?watch=1&resourceVersion=${version}`);
    expect(late.events.map(({ type, object }) => [type, object["code"]])).toEqual([["ERROR", 410]]);
    const list = server.ask(`GET ${configMaps}`);
    expect((list.at("items") as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name)).toEqual(["b"]);
  });

  it("ends watches of a type without a cache by an error event", () => {
    const server = bed();
    const events = "/api/v1/namespaces/default/events";
    const involvedObject = { kind: "Pod", name: "p", namespace: "default" };
    const made = server.ask(`POST ${events}`, { body: { metadata: { name: "e" }, involvedObject } });
    const watch = server.ask(`GET ${events}?watch=1&resourceVersion=${made.at("metadata.resourceVersion")}`);
    server.server.makeUnreadable(`${events}/e`);
    for (const query of ["", "?resourceVersion=0", "?watch=1"])
      expect(server.ask(`GET ${events}${query}`).status).toBe(500);
    expect(server.ask(`DELETE ${events}/e?${unsafe}`).status).toBe(200);
    expect(watch.over).toBe(true);
    expect(watch.events.map(({ type, object }) => [type, object["code"], object["reason"]])).toEqual([
      ["ERROR", 500, "StorageReadError"],
    ]);
  });
});

describe("the unsafe deletion", () => {
  it("is for what cannot be read alone, one object at a time, and with no other option", () => {
    const server = bed();
    const refused = server.ask(`DELETE ${configMaps}/b?${unsafe}`);
    expect([refused.status, refused.at("details.causes.0.field")]).toEqual([422, option]);
    expect(server.ask(`DELETE ${configMaps}/none?${unsafe}`).status).toBe(422);
    for (const other of [
      "dryRun=All",
      "gracePeriodSeconds=0",
      "propagationPolicy=Background",
      "orphanDependents=false",
    ]) {
      const both = server.ask(`DELETE ${path}?${unsafe}&${other}`);
      const [field] = other.split("=");
      expect([both.status, both.at("details.causes.0.message")]).toEqual([
        422,
        `Invalid value: true: cannot be set together with .${field}`,
      ]);
    }
    const body = { kind: "DeleteOptions", apiVersion: "v1", [option]: true, preconditions: { uid: "x" } };
    expect(server.ask(`DELETE ${path}`, { body }).at("details.causes.0.message")).toMatch(/\.preconditions$/);
    const all = server.ask(`DELETE ${configMaps}?${unsafe}`);
    expect([all.status, all.at("details.kind")]).toEqual([422, "DeleteOptions"]);
    expect(server.ask(`GET ${configMaps}/b`).status).toBe(200);
    expect(server.ask(`DELETE ${path}?${unsafe}`).status).toBe(200);
  });

  it("needs a verb of its own beside delete", () => {
    const server = bed(true, true);
    const role = (verbs: string[]) => ({
      metadata: { name: "r" },
      rules: [{ apiGroups: [""], resources: ["configmaps"], verbs }],
    });
    server.ask(`POST ${rbac}/roles`, { as: "admin", body: role(["delete"]) });
    const subjects = [{ kind: "User", name: "alice" }];
    const binding = { metadata: { name: "b" }, roleRef: { kind: "Role", name: "r" }, subjects };
    server.ask(`POST ${rbac}/rolebindings`, { as: "admin", body: binding });
    const refused = server.ask(`DELETE ${path}?${unsafe}`);
    expect(refused.status).toBe(403);
    expect(refused.at("message")).toContain('not permitted to do "unsafe-delete-ignore-read-errors"');
    server.ask(`PUT ${rbac}/roles/r`, { as: "admin", body: role(["delete", "unsafe-delete-ignore-read-errors"]) });
    expect(server.ask(`DELETE ${path}?${unsafe}`).status).toBe(200);
  });

  it("does not exist while its gate is off: then nothing helps, and nothing says which object it is", () => {
    const server = bed(false);
    for (const query of ["", `?${unsafe}`, `?${unsafe}&gracePeriodSeconds=3`]) {
      const answer = server.ask(`DELETE ${path}${query}`);
      expect([answer.status, answer.at("message")]).toEqual([500, "Internal error occurred: no matching prefix found"]);
    }
  });
});

it("is planned by a path that names an object, before or after it is there", () => {
  const server = bed();
  server.server.makeUnreadable(`${configMaps}/later`);
  expect(server.ask(`GET ${configMaps}/later`).status).toBe(404);
  expect(server.ask(`POST ${configMaps}`, { body: { metadata: { name: "later" } } }).status).toBe(201);
  expect(server.ask(`GET ${configMaps}/later`).status).toBe(500);
  for (const wrong of [configMaps, "/healthz", `${path}/status`, "/api/v1/bogus/a"]) {
    expect(() => server.server.makeUnreadable(wrong)).toThrow("no object's path");
  }
});
