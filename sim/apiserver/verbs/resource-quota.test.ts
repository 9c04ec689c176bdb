import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addQuantities, compareQuantities, parseQuantity, type Quantity } from "../../../wire/quantity.ts";
import type { ApiServerOptions } from "../api-server.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { Kernel } from "../../kernel/kernel.ts";
import { RevisionStore } from "../../store/revision-store.ts";
import { isLargeObject } from "../../objects/value-limit.ts";
import { type Answer, configMaps, TestBed } from "../test-bed.fixture.ts";
import { countedPerTurn } from "./quota-sums.ts";

const namespace = "/api/v1/namespaces/default";

function bed(hard: JsonObject, spec: JsonObject = {}, options: Partial<ApiServerOptions> = {}): TestBed {
  const made = new TestBed(options);
  const body = { metadata: { name: "q" }, spec: { hard, ...spec } };
  expect(made.ask(`POST ${namespace}/resourcequotas`, { body }).status).toBe(201);
  return made;
}

const used = (made: TestBed): unknown => made.ask(`GET ${namespace}/resourcequotas/q`).at("status.used");
const map = (made: TestBed, name: string, query = ""): Answer =>
  made.ask(`POST ${configMaps}${query}`, { body: { metadata: { name } } });
const pod = (made: TestBed, name: string, resources: JsonObject = {}, more: JsonObject = {}): Answer =>
  made.ask(`POST ${namespace}/pods`, {
    body: { metadata: { name }, spec: { containers: [{ name: "c", image: "i", resources }], ...more } },
  });

describe("a quota", () => {
  it("counts objects, refuses those that do not fit, and frees what is deleted", () => {
    const made = bed({ configmaps: "2", "count/configmaps": "5" });
    expect(used(made)).toEqual({ configmaps: "0", "count/configmaps": "0" });
    expect(map(made, "a").status).toBe(201);
    expect(map(made, "b").status).toBe(201);
    expect(used(made)).toEqual({ configmaps: "2", "count/configmaps": "2" });
    const refused = map(made, "c");
    expect([refused.status, refused.reason]).toEqual([403, "Forbidden"]);
    expect(refused.at("message")).toBe(
      'configmaps "c" is forbidden: exceeded quota: q, requested: configmaps=1, used: configmaps=2, limited: configmaps=2',
    );
    made.ask(`DELETE ${configMaps}/a`);
    expect(used(made)).toEqual({ configmaps: "1", "count/configmaps": "1" });
    expect(map(made, "c").status).toBe(201);
  });

  it("judges a dry run, which consumes none of it", () => {
    const made = bed({ configmaps: "1" });
    for (const name of ["a", "b", "c"]) expect(map(made, name, "?dryRun=All").status).toBe(201);
    expect(used(made)).toEqual({ configmaps: "0" });
    expect(map(made, "a").status).toBe(201);
    expect(map(made, "b", "?dryRun=All").status).toBe(403);
    made.ask(`DELETE ${configMaps}/a?dryRun=All`);
    expect(used(made)).toEqual({ configmaps: "1" });
  });

  it("is consumed by a dry run when the server is told to have that bug", () => {
    const made = bed({ configmaps: "1" }, {}, { bugs: ["dry-run-consumes-quota"] });
    expect(map(made, "a", "?dryRun=All").status).toBe(201);
    expect(used(made)).toEqual({ configmaps: "1" });
    expect(map(made, "a").status).toBe(403);
  });

  it("sums what pods request, in one notation, until they have ended", () => {
    const made = bed({ pods: "3", cpu: "1", "limits.memory": "1Gi" });
    const resources = { requests: { cpu: "600m" }, limits: { memory: "512Mi" } };
    expect(pod(made, "a", resources).status).toBe(201);
    expect(used(made)).toEqual({ cpu: "600m", "limits.memory": "512Mi", pods: "1" });
    expect(pod(made, "b", resources).at("message")).toBe(
      'pods "b" is forbidden: exceeded quota: q, requested: cpu=600m, used: cpu=600m, limited: cpu=1',
    );
    made.merge(`${namespace}/pods/a/status`, { status: { phase: "Succeeded" } });
    expect(used(made)).toEqual({ cpu: "0", "limits.memory": "0", pods: "0" });
    expect(pod(made, "b", resources).status).toBe(201);
  });

  it("wants to be told what it limits", () => {
    const made = bed({ cpu: "1", "limits.memory": "1Gi" });
    expect(pod(made, "a", { requests: { memory: "1" } }).at("message")).toBe(
      'pods "a" is forbidden: failed quota: q: must specify cpu for: c; limits.memory for: c',
    );
  });

  it("counts only the pods in its scope", () => {
    const made = bed({ pods: "1" }, { scopes: ["BestEffort"] });
    expect(pod(made, "a").status).toBe(201);
    expect(pod(made, "b").status).toBe(403);
    expect(pod(made, "c", { requests: { cpu: "1" } }).status).toBe(201);
    expect(map(made, "m").status).toBe(201);
    const classes = bed(
      { pods: "0" },
      { scopeSelector: { matchExpressions: [{ scopeName: "PriorityClass", operator: "In", values: ["high"] }] } },
    );
    expect(pod(classes, "a").status).toBe(201);
  });

  it("is counted anew when its limits change, and counts ports of services", () => {
    const made = bed({ "services.nodeports": "1" });
    const service = (name: string): Answer =>
      made.ask(`POST ${namespace}/services`, {
        body: { metadata: { name }, spec: { type: "NodePort", ports: [{ port: 1 }] } },
      });
    expect(service("a").status).toBe(201);
    expect(service("b").status).toBe(403);
    made.merge(`${namespace}/resourcequotas/q`, { spec: { hard: { services: "9", "services.nodeports": "2" } } });
    expect(used(made)).toEqual({ services: "1", "services.nodeports": "1" });
    expect(service("b").status).toBe(201);
  });

  it("judges what a service or a claim uses more after an update, and no more than that", () => {
    const made = bed({ "services.nodeports": "1", "requests.storage": "3Gi" });
    const service = (name: string, type: string): Answer =>
      made.ask(`POST ${namespace}/services`, { body: { metadata: { name }, spec: { type, ports: [{ port: 1 }] } } });
    expect([service("a", "NodePort").status, service("b", "ClusterIP").status]).toEqual([201, 201]);
    const grown = made.merge(`${namespace}/services/b`, { spec: { type: "NodePort" } });
    expect([grown.status, grown.at("message")]).toEqual([
      403,
      'services "b" is forbidden: exceeded quota: q, requested: services.nodeports=1, used: services.nodeports=1, limited: services.nodeports=1',
    ]);
    expect(made.merge(`${namespace}/services/a`, { metadata: { labels: { a: "b" } } }).status).toBe(200);
    expect(
      made.merge(`${namespace}/services/a`, { spec: { type: "ClusterIP", externalTrafficPolicy: null } }).status,
    ).toBe(200);
    expect(used(made)).toEqual({ "services.nodeports": "0", "requests.storage": "0" });
  });

  it("sums the storage of claims, by class as well", () => {
    const gold = "gold.storageclass.storage.svc.io";
    const made = bed({
      [`${gold}/requests.storage`]: "1Gi",
      [`${gold}/persistentvolumeclaims`]: "3",
      "requests.storage": "5Gi",
    });
    const claim = (name: string, storageClassName: string, storage: string): Answer => {
      const spec = { accessModes: ["ReadWriteOnce"], storageClassName, resources: { requests: { storage } } };
      return made.ask(`POST ${namespace}/persistentvolumeclaims`, { body: { metadata: { name }, spec } });
    };
    expect(claim("a", "gold", "1Gi").status).toBe(201);
    expect(claim("b", "gold", "1").status).toBe(403);
    expect(claim("b", "tin", "3Gi").status).toBe(201);
    expect(used(made)).toEqual({
      [`${gold}/requests.storage`]: "1Gi",
      [`${gold}/persistentvolumeclaims`]: "1",
      "requests.storage": "4Gi",
    });
  });

  it("sums devices and huge pages, and wants only computing to be stated", () => {
    const made = bed({ "requests.example.com/gpu": "2", "hugepages-2Mi": "4Mi", "requests.ephemeral-storage": "1Gi" });
    expect(pod(made, "a").status).toBe(201);
    const limits = { "example.com/gpu": "2", "hugepages-2Mi": "4Mi", cpu: "1", memory: "1Gi" };
    expect(pod(made, "b", { limits, requests: limits }).status).toBe(201);
    expect(used(made)).toMatchObject({ "requests.example.com/gpu": "2", "hugepages-2Mi": "4Mi" });
    expect(pod(made, "c", { limits, requests: limits }).status).toBe(403);
  });

  it("counts custom resources once, whatever versions they are served in", () => {
    const made = bed({ "count/widgets.shop.example.com": "1" });
    const schema = { openAPIV3Schema: { type: "object" } };
    const versions = ["v1", "v2"].map((name) => ({ name, served: true, storage: name === "v1", schema }));
    const names = { plural: "widgets", kind: "Widget" };
    made.ask("POST /apis/apiextensions.svc.io/v1/customresourcedefinitions", {
      body: {
        metadata: { name: "widgets.shop.example.com" },
        spec: { group: "shop.example.com", scope: "Namespaced", names, versions },
      },
    });
    made.advance(1);
    const widget = (name: string): Answer =>
      made.ask("POST /apis/shop.example.com/v1/namespaces/default/widgets", {
        body: { apiVersion: "shop.example.com/v1", kind: "Widget", metadata: { name } },
      });
    expect([widget("a").status, widget("b").status]).toEqual([201, 403]);
    expect(used(made)).toEqual({ "count/widgets.shop.example.com": "1" });
  });
});

describe("a large quota", () => {
  const hard = (count: number): JsonObject =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`count/a${at}`, "1"]));

  it("that would have too many values with its status is refused, when it is made and when it grows", () => {
    const made = bed({ configmaps: "2" });
    const create = (name: string, count: number) =>
      made.ask(`POST ${namespace}/resourcequotas`, { body: { metadata: { name }, spec: { hard: hard(count) } } });
    expect(create("large", 34_000).status).toBe(413);
    expect(made.ask(`GET ${namespace}/resourcequotas/large`).status).toBe(404);
    const grown = made.ask(`PUT ${namespace}/resourcequotas/q`, {
      body: { metadata: { name: "q" }, spec: { hard: hard(34_000) } },
    });
    expect(grown.status).toBe(413);
    expect(used(made)).toEqual({ configmaps: "0" });
  });

  it("is known as large after the server has written its status, so that a word is added in steps", () => {
    const made = bed(hard(9_000));
    const live = made.store.range("/registry/resourcequotas/", "/registry/resourcequotas0");
    expect(typeof live === "object" && live.items.map(({ value }) => isLargeObject(value))).toEqual([true]);
  });
});

describe("many quotas", () => {
  const quotaCount = 300;
  const crowded = (hard: JsonObject, last: JsonObject): TestBed => {
    const made = new TestBed();
    for (let at = 0; at < quotaCount; at++) {
      const body = { metadata: { name: `q${at + 100}` }, spec: { hard: at === quotaCount - 1 ? last : hard } };
      expect(made.ask(`POST ${namespace}/resourcequotas`, { body }).status).toBe(201);
    }
    made.advance(0.1);
    return made;
  };
  const usedBy = (made: TestBed, at: number): unknown =>
    made.ask(`GET ${namespace}/resourcequotas/q${at + 100}`).at("status.used");

  it("have some statuses written in one event, and the others soon after", () => {
    const made = crowded({ pods: "50" }, { pods: "50" });
    const before = made.store.revision;
    expect(pod(made, "a").status).toBe(201);
    expect(made.store.revision - before).toBeLessThanOrEqual(26);
    for (let last = made.store.revision; made.kernel.nextEventMicros === made.kernel.nowMicros(); ) {
      made.kernel.step();
      expect(made.store.revision - last).toBeLessThanOrEqual(26);
      last = made.store.revision;
    }
    for (const at of [0, 99, 100, 299]) expect(usedBy(made, at)).toEqual({ pods: "1" });
  });

  it("judge by what is there, also before their statuses say so", () => {
    const made = crowded({ pods: "50" }, { pods: "2", "requests.cpu": "3" });
    const resources = { requests: { cpu: "1" } };
    for (const name of ["a", "b"]) expect(pod(made, name, resources).status).toBe(201);
    expect(usedBy(made, quotaCount - 1)).toEqual({ pods: "0", "requests.cpu": "0" });
    const refused = pod(made, "c", resources);
    expect([refused.status, refused.at("message")]).toEqual([
      403,
      'pods "c" is forbidden: exceeded quota: q399, requested: pods=1, used: pods=2, limited: pods=2',
    ]);
    made.ask(`DELETE ${namespace}/pods/a?gracePeriodSeconds=0`);
    expect(pod(made, "c", { requests: { cpu: "4" } }).status).toBe(403);
    expect(pod(made, "c", resources).status).toBe(201);
    made.advance(0.1);
    expect(usedBy(made, quotaCount - 1)).toEqual({ pods: "2", "requests.cpu": "2" });
  });
});

describe("a quota of thousands of amounts", () => {
  const devices = (count: number): JsonObject =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`requests.example.com/r${at}`, "5"]));

  it("is written soon after a pod has come, once for many, and judges at once", () => {
    const made = bed({ pods: "30", ...devices(5_000) });
    made.advance(0.1);
    const before = made.store.revision;
    for (let at = 0; at < 20; at++) {
      const amount = { "example.com/r7": at < 2 ? "2" : "0" };
      expect(pod(made, `p${at}`, { requests: amount, limits: amount }).status).toBe(201);
    }
    expect(made.store.revision - before).toBe(20);
    const amount = { "example.com/r7": "2" };
    expect(pod(made, "more", { requests: amount, limits: amount }).at("message")).toBe(
      'pods "more" is forbidden: exceeded quota: q, requested: requests.example.com/r7=2, used: requests.example.com/r7=4, limited: requests.example.com/r7=5',
    );
    made.advance(0.1);
    expect(made.store.revision - before).toBeLessThanOrEqual(22);
    expect(used(made)).toMatchObject({ pods: "20", "requests.example.com/r7": "4", "requests.example.com/r8": "0" });
  });
});

describe("a quota that comes where many objects are that nobody has counted", () => {
  const podCount = 2 * countedPerTurn + 10;
  const many = (): TestBed => {
    const made = new TestBed();
    for (let at = 0; at < podCount; at++) {
      const stored = { metadata: { name: `p${at}`, namespace: "default" }, spec: {} };
      made.store.put(`/registry/pods/default/p${at}`, 0, () => stored);
    }
    return made;
  };
  const secret = (made: TestBed, name: string): Answer =>
    made.ask(`POST ${namespace}/secrets`, { body: { metadata: { name } } });
  const limit = (made: TestBed, name: string, hard: JsonObject): Answer =>
    made.ask(`POST ${namespace}/resourcequotas`, { body: { metadata: { name }, spec: { hard } } });

  it("admits none too many: whoever creates one more waits until they are counted", () => {
    const made = many();
    expect(limit(made, "q", { pods: String(podCount + 1) }).status).toBe(201);
    expect(used(made)).toBeUndefined();
    const answers = ["a", "b", "c"].map((name) => pod(made, name));
    expect(answers[0]?.status).toBe(0);
    made.advance(0.1);
    expect(answers.map(({ status }) => status).sort((one, other) => one - other)).toEqual([201, 403, 403]);
    expect(used(made)).toEqual({ pods: String(podCount + 1) });
  });

  it("judges meanwhile what takes no counting", () => {
    const made = many();
    limit(made, "q", { pods: "1", secrets: "2" });
    expect(["a", "b", "c"].map((name) => secret(made, name).status)).toEqual([201, 201, 403]);
    made.advance(0.1);
    expect(used(made)).toEqual({ pods: String(podCount), secrets: "2" });
  });

  it("and a creation that is given up while it waits leaves nothing behind", () => {
    const made = many();
    limit(made, "q", { pods: String(podCount + 1) });
    const given = pod(made, "a");
    expect(given.status).toBe(0);
    made.kernel.enter(made.process, given.cancel);
    made.advance(0.1);
    expect([given.status, made.ask(`GET ${namespace}/pods/a`).status]).toEqual([0, 404]);
    expect(used(made)).toEqual({ pods: String(podCount) });
    expect(pod(made, "b").status).toBe(201);
  });

  it("holds back a service that would use more as well", () => {
    const made = new TestBed();
    const service = { metadata: { name: "s", namespace: "default" }, spec: { type: "NodePort", ports: [{ port: 1 }] } };
    for (let at = 0; at < podCount; at++) {
      const stored = { ...service, metadata: { ...service.metadata, name: `s${at}` } };
      made.store.put(`/registry/services/default/s${at}`, 0, () => stored);
    }
    const body = { metadata: { name: "plain" }, spec: { type: "ClusterIP", ports: [{ port: 1 }] } };
    expect(made.ask(`POST ${namespace}/services`, { body }).status).toBe(201);
    limit(made, "q", { "services.nodeports": String(podCount) });
    const grown = made.merge(`${namespace}/services/plain`, { spec: { type: "NodePort" } });
    expect(grown.status).toBe(0);
    made.advance(0.1);
    expect(grown.status).toBe(403);
  });
});

it("a new quota of very many amounts judges before it has a status", () => {
  const hard = Object.fromEntries(Array.from({ length: 1_300 }, (_, at) => [`requests.example.com/r${at}`, "5"]));
  const made = bed({ pods: "1", ...hard });
  expect(used(made)).toBeUndefined();
  expect([pod(made, "a").status, pod(made, "b").status]).toEqual([201, 403]);
});

/** Counts the objects that are read as ranges. */
class ReadCounter extends RevisionStore {
  readCount = 0;

  override range(...asked: Parameters<RevisionStore["range"]>): ReturnType<RevisionStore["range"]> {
    const found = super.range(...asked);
    if (typeof found !== "string") this.readCount += found.items.length;
    return found;
  }
}

describe("what all objects of a namespace use", () => {
  it("is not counted anew for each that comes or goes", () => {
    const store = new ReadCounter();
    const made = bed({ configmaps: "1000", pods: "1000", "requests.cpu": "1000" }, {}, { store });
    store.readCount = 0;
    for (let at = 0; at < 200; at++) expect(map(made, `m${at}`).status).toBe(201);
    for (let at = 0; at < 100; at++) made.ask(`DELETE ${configMaps}/m${at}`);
    expect(used(made)).toMatchObject({ configmaps: "100" });
    expect(store.readCount).toBeLessThan(1_000); // the quota itself, some times for each write
  });

  it("is what is left after whatever came, changed, ended and went, whoever counts it", () => {
    const amount = fc.constantFrom("1", "250m", "0", "1Gi", "512Mi", "3e2", "1500M", "0.5");
    const name = fc.constantFrom("a", "b", "c", "d");
    const step = fc.oneof(
      fc.record({ is: fc.constant("create" as const), name, cpu: amount, memory: amount, ends: fc.boolean() }),
      fc.record({ is: fc.constant("delete" as const), name }),
      fc.record({ is: fc.constant("end" as const), name, phase: fc.constantFrom("Failed", "Running", "Succeeded") }),
      fc.record({ is: fc.constant("limit" as const), keys: fc.subarray(["pods", "requests.cpu", "requests.memory"]) }),
      fc.record({ is: fc.constant("narrow" as const) }),
      fc.record({ is: fc.constant("restart" as const) }),
    );
    const all = { pods: "1000", "requests.cpu": "100Gi", "requests.memory": "100Gi" };
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
        let made = bed(all);
        let narrowCount = 0;
        for (const each of steps) {
          const path = "name" in each ? `${namespace}/pods/${each.name}` : "";
          if (each.is === "create") {
            const deadline = each.ends ? { activeDeadlineSeconds: 5 } : {};
            const requests = { cpu: each.cpu, memory: each.memory };
            pod(made, each.name, { requests }, { nodeName: "n", terminationGracePeriodSeconds: 0, ...deadline });
          } else if (each.is === "delete") made.ask(`DELETE ${path}?gracePeriodSeconds=0`);
          else if (each.is === "end") made.merge(`${path}/status`, { status: { phase: each.phase } });
          else if (each.is === "limit") {
            const hard = Object.fromEntries(each.keys.map((key) => [key, all[key as keyof typeof all]]));
            const gone = { pods: null, "requests.cpu": null, "requests.memory": null };
            made.merge(`${namespace}/resourcequotas/q`, { spec: { hard: { ...gone, configmaps: "5", ...hard } } });
          } else if (each.is === "narrow") {
            const spec = { hard: { pods: "1000" }, scopes: ["Terminating"] };
            made.ask(`POST ${namespace}/resourcequotas`, { body: { metadata: { name: `s${narrowCount++}` }, spec } });
          } else made = new TestBed({ store: made.store }, new Kernel({ seed: `again ${made.kernel.nowMicros()}` }));
        }
        // Written once more by whoever is left, with what it has kept count of.
        for (const last of ["x", "y"]) pod(made, last, { requests: { cpu: "1", memory: "1" } });
        const list = made.ask(`GET ${namespace}/pods`).body["items"] as unknown as readonly CountedPod[];
        const present = list.filter(({ status }) => status.phase !== "Failed" && status.phase !== "Succeeded");
        const sum = (field: "cpu" | "memory"): Quantity =>
          present.reduce(
            (total, { spec }) => addQuantities(total, quantity(spec.containers[0]?.resources.requests?.[field] ?? "0")),
            quantity("0"),
          );
        const wanted: Readonly<Record<string, Quantity>> = {
          pods: quantity(String(present.length)),
          "requests.cpu": sum("cpu"),
          "requests.memory": sum("memory"),
          configmaps: quantity("0"),
        };
        for (const [key, text] of Object.entries(used(made) as Readonly<Record<string, string>>))
          expect([key, compareQuantities(quantity(text), wanted[key] as Quantity)]).toEqual([key, 0]);
        const ending = present.filter(({ spec }) => spec.activeDeadlineSeconds !== undefined).length;
        for (let at = 0; at < narrowCount; at++) {
          const narrowed = made.ask(`GET ${namespace}/resourcequotas/s${at}`);
          if (ending > 0 || narrowed.at("status.used") !== undefined)
            expect(narrowed.at("status.used.pods")).toBe(String(ending));
        }
      }),
      { seed: 1, numRuns: 150 },
    );
  });
});

interface CountedPod {
  readonly spec: {
    readonly activeDeadlineSeconds?: number;
    readonly containers: readonly {
      readonly resources: { readonly requests?: { readonly cpu?: string; readonly memory?: string } };
    }[];
  };
  readonly status: { readonly phase?: string };
}

const quantity = (text: string): Quantity => parseQuantity(text) as Quantity;
