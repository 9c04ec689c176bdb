import { describe, expect, it } from "vitest";
import { kubernetesProfile, svcProfile } from "../../contract/profile.ts";
import { configMaps, TestBed } from "../test-bed.fixture.ts";

const named = (name: string, more: object = {}) => ({ metadata: { name }, ...more });
const pods = "/api/v1/namespaces/default/pods";
const pod = (name: string, spec: object = {}) =>
  named(name, { spec: { containers: [{ name: "c", image: "i" }], ...spec } });

describe("creating", () => {
  it("generates names, and gives up after eight that are taken", () => {
    const bed = new TestBed();
    const body = { metadata: { generateName: "gen-" } };
    expect(bed.ask(`POST ${configMaps}`, { body }).at("metadata.name")).toMatch(
      /^gen-[bcdfghjklmnpqrstvwxz2456789]{5}$/,
    );
    const put = bed.store.put.bind(bed.store);
    let attempts = 0;
    bed.store.put = (key, expected, make) => {
      attempts++;
      return expected === 0 ? undefined : put(key, expected, make);
    };
    const refused = bed.ask(`POST ${configMaps}`, { body });
    expect([refused.status, refused.reason, refused.headers["retry-after"], attempts]).toEqual([
      409,
      "AlreadyExists",
      "1",
      8,
    ]);
  });

  it("begins anew with every generated name: a job's labels name the job that it becomes", () => {
    const bed = new TestBed();
    const put = bed.store.put.bind(bed.store);
    let attempts = 0;
    bed.store.put = (key, expected, make) => (attempts++ === 0 ? undefined : put(key, expected, make));
    const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } };
    const body = { metadata: { generateName: "gen-" }, spec: { template } };
    const made = bed.ask("POST /apis/batch/v1/namespaces/default/jobs", { body });
    expect([made.status, attempts]).toEqual([201, 2]);
    const { labels } = made.at("spec.template.metadata") as { readonly labels: Readonly<Record<string, string>> };
    expect([labels["job-name"], labels["controller-uid"]]).toEqual([made.at("metadata.name"), made.at("metadata.uid")]);
  });

  it("warns of what it drops, or refuses it, as the level says", () => {
    const bed = new TestBed();
    const body = (name: string) => named(name, { bogus: 1 });
    expect(bed.ask(`POST ${configMaps}`, { body: body("a") }).headers["warning"]).toEqual([
      '299 - "unknown field \\"bogus\\""',
    ]);
    expect(
      bed.ask(`POST ${configMaps}?fieldValidation=Ignore`, { body: body("b") }).headers["warning"],
    ).toBeUndefined();
    expect(bed.ask(`POST ${configMaps}?fieldValidation=Strict`, { body: body("c") }).status).toBe(400);
    expect(bed.ask(`POST ${configMaps}?fieldValidation=Loud`, { body: body("d") }).status).toBe(422);
  });

  it("takes YAML, and no more than three mebibytes", () => {
    const bed = new TestBed();
    const yaml = {
      headers: { "content-type": "application/yaml", accept: "application/yaml" },
      body: "metadata:\n  name: from-yaml\n",
    };
    const made = bed.ask(`POST ${configMaps}`, yaml);
    expect([made.status, made.contentType]).toEqual([201, "application/yaml"]);
    expect(made.text).toMatch(/^apiVersion: v1\nkind: ConfigMap\nmetadata:\n {2}creationTimestamp: "20/);
    const big = bed.ask(`POST ${configMaps}`, { body: named("big", { data: { x: "y".repeat(3 * 1024 * 1024) } }) });
    expect([big.status, big.reason]).toEqual([413, "RequestEntityTooLarge"]);
    expect(bed.ask(`POST ${configMaps}`, { headers: { "content-type": "text/plain" }, body: "hello" }).status).toBe(
      415,
    );
  });
});

describe("dry runs", () => {
  it("show what would be and leave no trace", () => {
    const bed = new TestBed();
    bed.ask(`POST ${configMaps}`, { body: named("a", { data: { k: "v" } }) });
    const revision = bed.store.revision;
    const made = bed.ask(`POST ${configMaps}?dryRun=All`, { body: named("b") });
    expect([made.status, made.at("metadata.resourceVersion")]).toEqual([201, undefined]);
    expect(bed.ask(`POST ${configMaps}?dryRun=All`, { body: named("a") }).status).toBe(409);
    const patched = bed.merge(`${configMaps}/a?dryRun=All`, { data: { k: "w" } });
    expect([patched.at("data.k"), bed.ask(`GET ${configMaps}/a`).at("data.k")]).toEqual(["w", "v"]);
    for (const request of [`DELETE ${configMaps}/a?dryRun=All`, `DELETE ${configMaps}?dryRun=All`]) {
      expect(bed.ask(request).status).toBe(200);
    }
    expect(bed.ask(`DELETE ${configMaps}/a`, { body: { dryRun: ["All"] } }).status).toBe(200);
    expect(bed.store.revision).toBe(revision);
  });

  it("know one value only, and the profiles differ about none", () => {
    const [svc, kubernetes] = [new TestBed({ profile: svcProfile }), new TestBed({ profile: kubernetesProfile })];
    for (const bed of [svc, kubernetes]) {
      expect([400, 422]).toContain(bed.ask(`POST ${configMaps}?dryRun=Some`, { body: named("a") }).status);
    }
    expect(svc.ask(`POST ${configMaps}?dryRun=`, { body: named("a") }).status).toBe(201);
    expect(kubernetes.ask(`POST ${configMaps}?dryRun=`, { body: named("a") }).status).toBe(422);
  });
});

describe("updating", () => {
  it("does not write what changes nothing", () => {
    const bed = new TestBed();
    const made = bed.ask(`POST ${configMaps}`, { body: named("a", { data: { k: "v" } }) });
    const revision = bed.store.revision;
    const watch = bed.ask(`GET ${configMaps}?watch=1&resourceVersion=${revision}`);
    const put = bed.ask(`PUT ${configMaps}/a`, { body: made.body });
    const patched = bed.merge(`${configMaps}/a`, { data: { k: "v" } });
    expect([put.text, patched.text]).toEqual([made.text, made.text]);
    expect([bed.store.revision, watch.events]).toEqual([revision, []]);
  });

  it("creates by PUT what may be created so", () => {
    const kubernetes = new TestBed({ profile: kubernetesProfile });
    expect(kubernetes.ask(`PUT ${configMaps}/new`, { body: named("new") }).status).toBe(404);
    const leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
    expect(kubernetes.ask(`PUT ${leases}/l`, { body: named("l", { spec: {} }) }).status).toBe(201);
    const svc = new TestBed({ profile: svcProfile });
    expect(svc.ask(`PUT ${configMaps}/new`, { body: named("new") }).status).toBe(201);
    const stale = { metadata: { name: "gone", resourceVersion: "3" } };
    expect(svc.ask(`PUT ${configMaps}/gone`, { body: stale }).status).toBe(409);
  });

  it("shows one event to both of its groups", () => {
    const bed = new TestBed({ profile: kubernetesProfile });
    const event = {
      metadata: { name: "e" },
      eventTime: "2026-01-01T00:00:00.000001Z",
      regarding: { kind: "Pod", namespace: "default", name: "p" },
      reportingController: "example.com/c",
      reportingInstance: "c-1",
      action: "Bind",
      reason: "Bound",
      note: "done",
      type: "Normal",
    };
    const events = "/apis/events.k8s.io/v1/namespaces/default/events";
    const made = bed.ask(`POST ${events}`, { body: event });
    const core = bed.ask("GET /api/v1/namespaces/default/events/e");
    expect([made.status, core.at("message"), core.at("involvedObject.name")]).toEqual([201, "done", "p"]);
    for (const path of ["metadata.uid", "metadata.resourceVersion"]) expect(core.at(path)).toBe(made.at(path));
    const watch = bed.ask("GET /api/v1/events?watch=1&fieldSelector=involvedObject.name=p");
    expect(watch.events.map(({ object }) => object["apiVersion"])).toEqual(["v1"]);
    const listed = bed.ask(`GET ${events}?fieldSelector=regarding.name=p`);
    expect(listed.at("items.0.note")).toBe("done");
    const patched = bed.merge("/api/v1/namespaces/default/events/e", { message: "again" });
    expect([patched.status, bed.ask(`GET ${events}/e`).at("note")]).toEqual([200, "again"]);
    expect(bed.ask(`DELETE ${events}/e`).status).toBe(200);
    expect(bed.ask("GET /api/v1/namespaces/default/events/e").status).toBe(404);
  });
});

describe("deleting", () => {
  it("takes nothing for its options that says it is something else", () => {
    const bed = new TestBed();
    bed.ask(`POST ${configMaps}`, { body: { metadata: { name: "a" } } });
    const refused = bed.ask(`DELETE ${configMaps}/a`, { body: { kind: "Pod", apiVersion: "v1" } });
    expect([refused.status, refused.reason]).toEqual([400, "BadRequest"]);
    expect(bed.ask(`DELETE ${configMaps}`, { body: { kind: "Pod", apiVersion: "v1" } }).status).toBe(400);
    for (const kind of ["12345678901234567890", "1", "[]"]) {
      const odd = bed.ask(`DELETE ${configMaps}/a`, { body: `{"kind":${kind}}` });
      expect([odd.status, odd.at("message")]).toEqual([
        400,
        expect.stringMatching(/into Go struct field \.kind of type string/),
      ]);
    }
    expect(bed.ask(`DELETE ${configMaps}/a`, { body: { kind: null, dryRun: ["All"] } }).status).toBe(200);
    expect(bed.ask(`DELETE ${configMaps}/a`, { body: { kind: "DeleteOptions", apiVersion: "apps/v1" } }).status).toBe(
      200,
    );
  });

  it("waits for finalizers, in any order, and shows every step to watchers", () => {
    const bed = new TestBed();
    bed.ask(`POST ${configMaps}`, {
      body: { metadata: { name: "a", finalizers: ["example.com/x", "example.com/y"] } },
    });
    const watch = bed.ask(`GET ${configMaps}?watch=1&resourceVersion=${bed.store.revision}`);
    const first = bed.ask(`DELETE ${configMaps}/a`);
    const again = bed.ask(`DELETE ${configMaps}/a`);
    expect([first.at("kind"), again.text]).toEqual(["ConfigMap", first.text]);
    expect(bed.ask(`POST ${configMaps}`, { body: named("a") }).at("message")).toMatch(/^object is being deleted: /);
    expect(bed.merge(`${configMaps}/a`, { metadata: { finalizers: ["example.com/z"] } }).status).toBe(422);
    expect(bed.merge(`${configMaps}/a`, { metadata: { finalizers: ["example.com/x"] } }).status).toBe(200);
    const last = bed.merge(`${configMaps}/a`, { metadata: { finalizers: null } });
    expect([last.status, bed.ask(`GET ${configMaps}/a`).status]).toEqual([200, 404]);
    expect(watch.events.map(({ type }) => type)).toEqual(["MODIFIED", "MODIFIED", "DELETED"]);
  });

  it("gives pods their grace, which only becomes shorter", () => {
    const bed = new TestBed({ profile: kubernetesProfile });
    bed.ask(`POST ${pods}`, { body: pod("p", { nodeName: "n" }) });
    const seconds = (request: string) => {
      const answer = bed.ask(request);
      return [answer.at("metadata.deletionGracePeriodSeconds"), answer.at("metadata.deletionTimestamp")];
    };
    expect(seconds(`DELETE ${pods}/p`)).toEqual([30, "2030-01-01T00:00:30Z"]);
    bed.advance(10);
    expect(seconds(`DELETE ${pods}/p`)).toEqual([30, "2030-01-01T00:00:30Z"]);
    expect(seconds(`DELETE ${pods}/p?gracePeriodSeconds=60`)).toEqual([30, "2030-01-01T00:00:30Z"]);
    expect(seconds(`DELETE ${pods}/p?gracePeriodSeconds=5`)).toEqual([5, "2030-01-01T00:00:10Z"]); // never the past
    expect(seconds(`DELETE ${pods}/p?gracePeriodSeconds=-1`)).toEqual([1, "2030-01-01T00:00:10Z"]);
    expect(bed.ask(`DELETE ${pods}/p?gracePeriodSeconds=0`).at("kind")).toBe("Pod");
    expect(bed.ask(`GET ${pods}/p`).status).toBe(404);
  });

  it("notes the time of the request where the documents are the law, whatever the grace", () => {
    const bed = new TestBed({ profile: svcProfile });
    bed.ask(`POST ${pods}`, { body: pod("p", { nodeName: "n" }) });
    const ended = (request: string) => {
      const answer = bed.ask(request);
      return [answer.at("metadata.deletionGracePeriodSeconds"), answer.at("metadata.deletionTimestamp")];
    };
    bed.advance(5);
    expect(ended(`DELETE ${pods}/p`)).toEqual([30, "2030-01-01T00:00:05Z"]);
    bed.advance(10);
    expect(ended(`DELETE ${pods}/p?gracePeriodSeconds=60`)).toEqual([30, "2030-01-01T00:00:05Z"]);
    expect(ended(`DELETE ${pods}/p?gracePeriodSeconds=2`)).toEqual([2, "2030-01-01T00:00:05Z"]);
    expect(bed.ask(`DELETE ${pods}/p?gracePeriodSeconds=0`).status).toBe(200);
    expect(bed.ask(`GET ${pods}/p`).status).toBe(404);
  });

  it("holds to preconditions", () => {
    const bed = new TestBed();
    const made = bed.ask(`POST ${configMaps}`, { body: named("a") });
    const [uid, resourceVersion] = [made.at("metadata.uid"), made.at("metadata.resourceVersion")];
    for (const preconditions of [{ uid: "other" }, { resourceVersion: "1" }]) {
      expect(bed.ask(`DELETE ${configMaps}/a`, { body: { preconditions } }).status).toBe(409);
    }
    expect(bed.ask(`DELETE ${configMaps}/a`, { body: { preconditions: { uid, resourceVersion } } }).status).toBe(200);
  });

  it("notes what becomes of dependents", () => {
    const bed = new TestBed();
    const after = (name: string, policy: string) => {
      bed.ask(`POST ${configMaps}`, { body: named(name) });
      return bed.ask(`DELETE ${configMaps}/${name}?${policy}`).at("metadata.finalizers");
    };
    expect(after("a", "propagationPolicy=Orphan")).toEqual(["orphan"]);
    expect(after("b", "propagationPolicy=Foreground")).toEqual(["foregroundDeletion"]);
    expect(after("c", "propagationPolicy=Background")).toBeUndefined();
    expect(after("d", "orphanDependents=true")).toEqual(["orphan"]);
    expect(bed.ask(`DELETE ${configMaps}/a?propagationPolicy=Sideways`).status).toBe(422);
  });

  it("deletes collections by selector, a page at a time if asked", () => {
    const bed = new TestBed({ profile: kubernetesProfile });
    for (const [name, app] of ["a x", "b x", "c y", "d x"].map((pair) => pair.split(" "))) {
      bed.ask(`POST ${configMaps}`, { body: { metadata: { name, labels: { app } } } });
    }
    const names = (request: string) =>
      (bed.ask(request).body["items"] as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name);
    expect(names(`DELETE ${configMaps}?labelSelector=app=x&limit=1`)).toEqual(["a"]);
    expect(names(`DELETE ${configMaps}?labelSelector=app=x`)).toEqual(["b", "d"]);
    expect(names(`GET ${configMaps}`)).toEqual(["c"]);
    const svc = new TestBed({ profile: svcProfile });
    expect(svc.ask(`DELETE ${configMaps}`).at("kind")).toBe("Status");
  });

  it("deletes a collection of many thousands without running out of stack", () => {
    const bed = new TestBed();
    for (let index = 0; index < 12_000; index++) bed.ask(`POST ${configMaps}`, { body: named(`c${index}`) });
    const deleted = bed.ask(`DELETE ${configMaps}`);
    expect(deleted.over).toBe(false); // others have their turns in between
    bed.advance(1);
    expect(deleted.status).toBe(200);
    expect(bed.ask(`GET ${configMaps}`).at("items")).toEqual([]);
  });
});

describe("namespaces", () => {
  it("are emptied and go, and take nothing new meanwhile", () => {
    const bed = new TestBed();
    bed.ask("POST /api/v1/namespaces", { body: named("n") });
    const inside = "/api/v1/namespaces/n/configmaps";
    bed.ask(`POST ${inside}`, { body: { metadata: { name: "held", finalizers: ["example.com/hold"] } } });
    bed.ask("POST /apis/apps/v1/namespaces/n/deployments", {
      body: named("d", {
        spec: {
          selector: { matchLabels: { a: "b" } },
          template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } },
        },
      }),
    });
    expect(bed.ask("DELETE /api/v1/namespaces/n").at("status.phase")).toBe("Terminating");
    const late = bed.ask(`POST ${inside}`, { body: named("late") });
    expect([late.status, late.at("details.causes.0.reason")]).toEqual([403, "NamespaceTerminating"]);
    bed.advance(5);
    expect(bed.ask("GET /apis/apps/v1/namespaces/n/deployments").at("items")).toEqual([]);
    expect(bed.ask("GET /api/v1/namespaces/n").status).toBe(200);
    bed.merge(`${inside}/held`, { metadata: { finalizers: null } });
    bed.advance(5);
    expect(bed.ask("GET /api/v1/namespaces/n").status).toBe(404);
    expect(bed.ask("POST /api/v1/namespaces/n/configmaps", { body: named("a") }).at("details.kind")).toBe("namespaces");
  });

  it("stay when the service needs them, and wait for whoever finalizes them", () => {
    const bed = new TestBed({ controllers: { namespace: false } });
    expect(bed.ask("DELETE /api/v1/namespaces/default").status).toBe(403);
    bed.ask("POST /api/v1/namespaces", { body: named("n") });
    bed.ask("DELETE /api/v1/namespaces/n");
    bed.advance(60);
    expect(bed.ask("GET /api/v1/namespaces/n").status).toBe(200);
    expect(
      bed.ask("PUT /api/v1/namespaces/n/finalize", { body: named("n", { spec: { finalizers: [] } }) }).status,
    ).toBe(200);
    expect(bed.ask("GET /api/v1/namespaces/n").status).toBe(404);
  });
});

describe("subresources", () => {
  it("write status alone, and the object's own path never does", () => {
    const bed = new TestBed();
    bed.ask(`POST ${pods}`, { body: pod("p") });
    const status = bed.merge(`${pods}/p/status`, { spec: { priority: 9 }, status: { message: "m" } });
    expect([status.at("status.message"), status.at("spec.priority")]).toEqual(["m", 0]);
    bed.merge(`${pods}/p`, { metadata: { labels: { a: "b" } }, status: { message: "x" } });
    expect(bed.ask(`GET ${pods}/p/status`).at("status.message")).toBe("m");
  });

  it("scale what has replicas", () => {
    const bed = new TestBed();
    const deployments = "/apis/apps/v1/namespaces/default/deployments";
    const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } };
    bed.ask(`POST ${deployments}`, { body: named("d", { spec: { selector: { matchLabels: { a: "b" } }, template } }) });
    expect(bed.ask(`GET ${deployments}/d/scale`).at("spec.replicas")).toBe(1);
    const scaled = bed.ask(`PUT ${deployments}/d/scale`, { body: named("d", { spec: { replicas: 5 } }) });
    expect([scaled.at("kind"), scaled.at("status.selector")]).toEqual(["Scale", "a=b"]);
    expect(bed.merge(`${deployments}/d/scale`, { spec: { replicas: 0 } }).at("spec")).toEqual({});
    expect(bed.ask(`GET ${deployments}/d`).at("spec.replicas")).toBe(0);
  });

  it("bind a pod that the body names", () => {
    const bed = new TestBed();
    bed.ask(`POST ${pods}`, { body: pod("p") });
    const bind = (metadata: object) =>
      bed.ask("POST /api/v1/namespaces/default/bindings", {
        body: { apiVersion: "v1", kind: "Binding", metadata, target: { kind: "Node", name: "n1" } },
      });
    expect(bind({}).at("message")).toBe("Name parameter required.");
    expect(bind({ name: "none" }).at("message")).toBe('pods "none" not found');
    expect([bind({ name: "p" }).status, bind({ name: "p" }).status]).toEqual([201, 409]);
    expect(bed.ask(`GET ${pods}/p`).at("spec.nodeName")).toBe("n1");
  });

  it("bind a pod once, and evict it when its budget allows", () => {
    const bed = new TestBed();
    bed.ask(`POST ${pods}`, { body: { ...pod("p"), metadata: { name: "p", labels: { app: "web" } } } });
    const binding = named("p", { target: { kind: "Node", name: "n1" } });
    expect(bed.ask(`POST ${pods}/p/binding`, { body: binding }).status).toBe(201);
    expect(bed.ask(`POST ${pods}/p/binding`, { body: binding }).status).toBe(409);
    expect(bed.ask(`GET ${pods}/p`).at("spec.nodeName")).toBe("n1");
    const ready = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };
    bed.merge(`${pods}/p/status`, { status: ready });
    const budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
    const spec = { minAvailable: 1, selector: { matchLabels: { app: "web" } } };
    bed.ask(`POST ${budgets}`, { body: named("b", { spec }) });
    const evict = () => bed.ask(`POST ${pods}/p/eviction`, { body: named("p") });
    const unseen = evict();
    expect([unseen.status, unseen.headers["retry-after"]]).toEqual([429, "10"]);
    const observed = { observedGeneration: 1, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 };
    bed.merge(`${budgets}/b/status`, { status: { ...observed, disruptionsAllowed: 0 } });
    expect(evict().at("details.causes.0.reason")).toBe("DisruptionBudget");
    bed.merge(`${budgets}/b/status`, { status: { ...observed, disruptionsAllowed: 1 } });
    // The version before is not served, and clients that drain by it are still understood.
    const old = (version: string) => ({ body: { apiVersion: version, kind: "Eviction", metadata: { name: "p" } } });
    expect(bed.ask(`POST ${pods}/p/eviction?dryRun=All`, old("policy/v1alpha1")).status).toBe(400);
    expect(bed.ask(`POST ${pods}/p/eviction?dryRun=All`, old("policy/v1beta1")).status).toBe(201);
    expect(evict().status).toBe(201);
    expect(bed.ask(`GET ${budgets}/b`).at("status.disruptionsAllowed")).toBe(0);
    expect(bed.ask(`GET ${pods}/p`).at("metadata.deletionTimestamp")).toBeDefined();
  });

  it("answer reviews", () => {
    const bed = new TestBed({ profile: kubernetesProfile });
    const review = bed.ask("POST /apis/authentication.k8s.io/v1/tokenreviews", { body: { spec: { token: "alice" } } });
    expect([review.status, review.at("status.user.username")]).toEqual([201, "alice"]);
    const access = { spec: { resourceAttributes: { verb: "get", resource: "pods" } } };
    expect(
      bed.ask("POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews", { body: access }).at("status.allowed"),
    ).toBe(true);
  });
});
