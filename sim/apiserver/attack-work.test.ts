/**
 * What attacks of the benchmark cost, counted: events, slices of an answer and their bytes, versions, what is told. A count
 * grows where somebody does again in one piece what is done in parts, or for each what was done once.
 */
import { describe, expect, it } from "vitest";
import { Kernel } from "../kernel/kernel.ts";
import { kubernetesProfile } from "../contract/profile.ts";
import type { JsonObject, Payload, ResponseHeaders } from "../contract/http-message.ts";
import { Pace, TurnBudget } from "../expressions/pace.ts";
import { RevisionStore } from "../store/revision-store.ts";
import type { AdmissionReview } from "./admission/admission.ts";
import { type Equivalent, shownAs } from "./admission/equivalents.ts";
import type { ApiServerOptions } from "./api-server.ts";
import { type Attack, type AttackRequest, attacks } from "./attack-requests.fixture.ts";
import { compactJson, prettyJson, yaml } from "./encodings/encode.ts";
import { attackTable } from "./attack-table.fixture.ts";
import { tellable, warningHeaders } from "./requests/warnings.ts";
import { TestBed } from "./test-bed.fixture.ts";

const tokens = [
  { token: "admin", user: "admin", uid: "1", groups: ["system:masters"] },
  { token: "nobody", user: "nobody", uid: "2", groups: [] },
];

interface Told {
  status: number;
  headers: ResponseHeaders;
  payload: Payload | undefined;
  /** Events until there was an answer. */
  eventCount: number;
}

class Struck {
  readonly failures: unknown[] = [];
  readonly bed: TestBed;

  constructor(
    attack: Attack,
    scale: number,
    more: Pick<Partial<ApiServerOptions>, "historyBytesMax" | "store" | "webhooks"> = {},
  ) {
    const kernel = new Kernel({ seed: "attacked", caught: ({ cause }) => this.failures.push(cause) });
    const options = { profile: kubernetesProfile, tokens, authorizationModes: ["RBAC"] as const, ...more };
    this.bed = new TestBed({ ...options, featureGates: { CBORServingAndStorage: true } }, kernel);
    this.bed.advance(1);
    for (const each of attack.prepare?.(scale) ?? []) this.send(each);
    this.bed.advance(2);
  }

  send({ method = "GET", path, headers = {}, body, as = "admin" }: AttackRequest): Told {
    const [plain = "", query = ""] = path.split(/\?(.*)/s);
    const told: Told = { status: 0, headers: {}, payload: undefined, eventCount: 1 };
    const sent = {
      method,
      path: plain,
      query,
      headers: { authorization: `Bearer ${as}`, ...headers },
      body: typeof body === "string" ? new TextEncoder().encode(body) : body,
    };
    const { kernel, process, server } = this.bed;
    kernel.enter(process, () =>
      server.start(sent, {
        respond(status, responseHeaders, payload) {
          told.status = status;
          told.headers = responseHeaders;
          told.payload = payload;
        },
        open: (status) => void (told.status = status),
        frame: () => 0,
        close: () => {},
      }),
    );
    for (const now = kernel.nowMicros(); told.status === 0 && kernel.nextEventMicros === now; told.eventCount++) {
      kernel.step();
    }
    return told;
  }
}

/** Bytes of each slice of an answer. */
function sliceBytes({ payload }: Told): readonly number[] {
  const slices = payload?.slices?.();
  if (slices === undefined) return [payload?.bytes().length ?? 0];
  const sizes: number[] = [];
  for (let { done, value } = slices.next(); done !== true; { done, value } = slices.next()) {
    sizes.push((value as Uint8Array).length);
  }
  return sizes;
}

const strike = (name: string, scale: number): { readonly struck: Struck; readonly told: readonly Told[] } => {
  const attack = attacks[name] as Attack;
  const struck = new Struck(attack, scale);
  const told = [...(attack.strike?.() ?? [])].map((each) => struck.send(each));
  return { struck, told };
};

const times = <Item>(count: number, make: (at: number) => Item): Item[] =>
  Array.from({ length: count }, (_, at) => make(at));

const created = (path: string, object: object): AttackRequest => ({
  method: "POST",
  path,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(object),
});

describe("a long list", () => {
  it.each(["json", "yaml", "table", "protobuf", "cbor", "pretty"])("in %s is made in parts", (encoding) => {
    const { struck, told } = strike(`list-${encoding}`, 1 / 40); // 2,000 objects
    const sizes = sliceBytes(told[0] as Told);
    expect([told[0]?.status, struck.failures]).toEqual([200, []]);
    expect(sizes.length).toBeGreaterThanOrEqual(10); // 200 objects each at most, or a megabyte
    expect(Math.max(...sizes)).toBeLessThan(1_200_000);
  });

  it("of large objects on lines of their own is made in parts", () => {
    const { told } = strike("pretty-list", 1 / 56);
    const sizes = sliceBytes(told[0] as Told);
    expect(sizes.reduce((sum, bytes) => sum + bytes, 0)).toBeGreaterThan(9_000_000);
    expect(Math.max(...sizes)).toBeLessThan(1_200_000);
  });
});

it("what was counted of many resources is told in parts, each in an event of its own", () => {
  const names = times(150, (at) => `r${at}s`);
  const definition = (plural: string): AttackRequest =>
    created("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
      metadata: { name: `${plural}.example.com` },
      spec: {
        group: "example.com",
        scope: "Namespaced",
        names: { plural, kind: `K${plural}` },
        versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
      },
    });
  const struck = new Struck({ prepare: () => names.map(definition) }, 1);
  expect(new Struck({}, 1).send({ path: "/metrics" }).eventCount).toBe(1);
  for (const name of names) struck.send({ path: `/apis/example.com/v1/namespaces/default/${name}` });
  const told = struck.send({ path: "/metrics" });
  expect(told.eventCount).toBeGreaterThanOrEqual(10);
  expect(Math.max(...sliceBytes(told))).toBeLessThan(800_000);
  const text = new TextDecoder().decode(told.payload?.bytes());
  const counted = text.match(/apiserver_request_total\{.*resource="r\d+s".*verb="LIST".*\} [12]\n/g) ?? [];
  expect(new Set(counted).size).toBeGreaterThanOrEqual(150);
});

describe("tables of custom resources", () => {
  const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const path = "/apis/example.com/v1/namespaces/default/cols";
  const schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const defined = (additionalPrinterColumns: readonly object[]): AttackRequest =>
    created(definitions, {
      metadata: { name: "cols.example.com" },
      spec: {
        group: "example.com",
        scope: "Namespaced",
        names: { plural: "cols", kind: "Col" },
        versions: [
          { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema }, additionalPrinterColumns },
        ],
      },
    });
  const custom = (name: string, spec: unknown): AttackRequest =>
    created(path, { apiVersion: "example.com/v1", kind: "Col", metadata: { name }, spec });
  const columnsOf = (count: number, jsonPath: (at: number) => string): readonly object[] =>
    times(count, (at) => ({ name: `c${at}`, type: "string", jsonPath: jsonPath(at) }));
  const staged = (columns: readonly object[], specs: readonly unknown[]): Struck => {
    const struck = new Struck({ prepare: () => [defined(columns)] }, 1);
    for (const [at, spec] of specs.entries()) expect(struck.send(custom(`a${at}`, spec)).status).toBe(201);
    return struck;
  };
  const accept = (format: string): string => `application/${format};as=Table;v=v1;g=meta.k8s.io`;

  it.each([
    ["json", ""],
    ["json", "&pretty=1"],
    ["yaml", ""],
  ])("with long rows are made in parts: %s%s", (format, more) => {
    const struck = staged(
      columnsOf(200, () => ".spec.s"),
      times(30, () => ({ s: "x".repeat(1_000) })),
    );
    for (const include of ["None", "Metadata", "Object"]) {
      const told = struck.send({
        path: `${path}?includeObject=${include}${more}`,
        headers: { accept: accept(format) },
      });
      const sizes = sliceBytes(told);
      expect(told.status).toBe(200);
      expect(sizes.reduce((sum, bytes) => sum + bytes, 0)).toBeGreaterThan(6_000_000);
      expect(Math.max(...sizes)).toBeLessThan(800_000);
    }
    const one = struck.send({ path: `${path}/a1`, headers: { accept: accept(format) } });
    expect(Math.max(...sliceBytes(one))).toBeLessThan(300_000);
    expect(struck.failures).toEqual([]);
  });

  it.each(["json", "yaml"])("whose rows cost much are made some at a time: %s", (format) => {
    const struck = staged(
      columnsOf(10, (at) => `.spec.n[?(@.a==${at + 2})].a`),
      times(40, () => ({ n: times(1_000, () => ({ a: 1 })) })),
    );
    for (const query of ["", "?pretty=1"]) {
      const told = struck.send({ path: `${path}${query}`, headers: { accept: accept(format) } });
      expect(sliceBytes(told).length).toBeGreaterThanOrEqual(40); // 200 rows in one
    }
  });

  it.each(["json", "yaml"])("with thousands of columns say in parts what these are: %s", (format) => {
    const columns = columnsOf(3_000, (at) => `.spec.c${at}`).map((column) => ({
      ...column,
      description: "d".repeat(100),
    }));
    const told = staged(columns, [{}]).send({ path, headers: { accept: accept(format) } });
    const sizes = sliceBytes(told);
    expect(sizes.reduce((sum, bytes) => sum + bytes, 0)).toBeGreaterThan(500_000);
    expect(Math.max(...sizes)).toBeLessThan(100_000);
  });

  it("are what the encoder makes of the whole", () => {
    const struck = staged(
      [...columnsOf(150, (at) => `.spec.c${at}`), ...columnsOf(3, () => ".spec"), ...columnsOf(2, () => ".spec.n[*]")],
      times(230, (at) => ({ c1: "<&>", c7: "a: b\nc", n: times(at % 40, () => at), long: "v".repeat((at % 9) ** 5) })),
    );
    for (const include of ["None", "Metadata", "Object"]) {
      const asked = (format: string, query = ""): Payload =>
        struck.send({ path: `${path}?includeObject=${include}${query}`, headers: { accept: accept(format) } })
          .payload as Payload;
      const json = asked("json");
      expect(Buffer.from(json.bytes()).equals(compactJson(json.object as JsonObject))).toBe(true);
      const inYaml = asked("yaml");
      expect(Buffer.from(inYaml.bytes()).equals(yaml(inYaml.object as JsonObject))).toBe(true);
      const pretty = asked("json", "&pretty=1");
      expect(Buffer.from(pretty.bytes()).equals(prettyJson(pretty.object as JsonObject))).toBe(true);
    }
  });

  interface Heard {
    readonly frames: Payload[];
  }

  const watched = (struck: Struck): Heard => {
    const frames: Payload[] = [];
    const { kernel, process, server } = struck.bed;
    const headers = { authorization: "Bearer admin", accept: accept("json") };
    const responder = {
      respond: () => {},
      open: () => {},
      frame(payload: Payload) {
        frames.push(payload);
        return 0;
      },
      whenTaken: (resume: () => void) => void process.clock.after(1, resume),
      close: () => {},
    };
    kernel.enter(process, () =>
      server.start({ method: "GET", path, query: "watch=1", headers, body: undefined }, responder),
    );
    return { frames };
  };

  it("are made once for all watches that show the same", () => {
    const struck = staged(
      columnsOf(50, () => ".spec.n[*]"),
      [],
    );
    const all = times(3, () => watched(struck));
    for (const name of ["one", "two"]) struck.send(custom(name, { n: [1] }));
    struck.bed.advance(0.1);
    const told = all.map(({ frames }) => frames);
    expect(told.map(({ length }) => length)).toEqual([2, 2, 2]);
    expect(new Set(told.flat()).size).toBe(2);
  });

  it("tell a watch what there is some rows at a time where these cost much", () => {
    const struck = staged(
      columnsOf(10, (at) => `.spec.n[?(@.a==${at + 2})].a`),
      times(40, () => ({ n: times(1_000, () => ({ a: 1 })) })),
    );
    const { frames } = watched(struck);
    const { kernel } = struck.bed;
    let most = frames.length;
    for (let before = frames.length; frames.length < 40; before = frames.length) {
      kernel.step();
      most = Math.max(most, frames.length - before);
    }
    expect(most).toBeLessThanOrEqual(4);
  });
});

describe("YAML", () => {
  it.each([
    ["yaml-flow-list", 413, 100], // 2.9 million tokens, of which an event reads some twenty thousand
    ["yaml-merge-keys", 400, 1],
    ["yaml-brackets", 400, 1],
  ])("%s is answered with %i, and read in at least %i events", (name, status, eventCountMin) => {
    const { struck, told } = strike(name, 1);
    expect([told[0]?.status, struck.failures]).toEqual([status, []]);
    expect(told[0]?.eventCount).toBeGreaterThanOrEqual(eventCountMin);
  });
});

it("keys that are merged again and again are told of in a text of bounded length", () => {
  const { told } = strike("yaml-merge-keys", 1);
  expect(told[0]?.payload?.bytes().length).toBeLessThan(20_000_000);
});

it("who owns deeply nested fields is told on lines of their own in parts, of which none is long", () => {
  let fields: object = {};
  for (let depth = 0; depth < 950; depth++) fields = { [`f:${"a".repeat(20)}`]: fields };
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`f:k${at}`, fields]));
  const entry = { manager: "m", operation: "Update", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1: many };
  const path = "/api/v1/namespaces/default/configmaps";
  const headers = { "content-type": "application/json" };
  const struck = new Struck({}, 1);
  const body = JSON.stringify({ metadata: { name: "deep", managedFields: [entry] } });
  expect(struck.send({ method: "POST", path, headers, body }).status).toBe(201);
  const sizes = sliceBytes(struck.send({ path: `${path}/deep?pretty=1` }));
  expect(sizes.reduce((sum, bytes) => sum + bytes, 0)).toBeGreaterThan(15_000_000);
  expect(Math.max(...sizes)).toBeLessThan(100_000);
});

it("thousands of managers of one object take turns together, and are merged in one go", () => {
  const path = "/api/v1/namespaces/default/configmaps";
  const managedFields = times(6_000, (at) => ({
    manager: `m${at}`,
    operation: "Update",
    apiVersion: "v1",
    time: "2026-01-01T00:00:00Z",
    fieldsType: "FieldsV1",
    fieldsV1: { "f:metadata": { "f:labels": { [`f:k${at}`]: {} } } },
  }));
  const struck = new Struck({}, 1);
  expect(struck.send(created(path, { metadata: { name: "owned", managedFields } })).status).toBe(201);
  const headers = { "content-type": "application/merge-patch+json" };
  const body = JSON.stringify({ metadata: { annotations: { a: "b" } } });
  const told = struck.send({ method: "PATCH", path: `${path}/owned`, headers, body });
  expect(told.status).toBe(200);
  expect(told.eventCount).toBeLessThan(30);
  const metadata = told.payload?.object?.["metadata"] as { readonly managedFields: readonly JsonObject[] } | undefined;
  const after = metadata?.managedFields ?? [];
  expect(after).toHaveLength(10);
  const [{ manager, fieldsV1 } = {}] = after;
  expect(manager).toBe("ancient-changes");
  const owned = (fieldsV1 as { "f:metadata": { "f:labels": object } })["f:metadata"]["f:labels"];
  expect(Object.keys(owned).length).toBeGreaterThan(5_900);
});

it("a review of rules tells no more than it may, and says so", () => {
  const rules = times(1_000, (at) => ({ apiGroups: [""], resources: [`r${at}`], verbs: ["get"] }));
  const group = "rbac.authorization.k8s.io";
  const prepare = () =>
    times(21, (at) => at).flatMap((at) => [
      created(`/apis/${group}/v1/clusterroles`, { metadata: { name: `many-${at}` }, rules }),
      created(`/apis/${group}/v1/clusterrolebindings`, {
        metadata: { name: `many-${at}` },
        roleRef: { apiGroup: group, kind: "ClusterRole", name: `many-${at}` },
        subjects: [{ kind: "User", apiGroup: group, name: "nobody" }],
      }),
    ]);
  const struck = new Struck({ prepare }, 1);
  const [review] = [...(attacks["rules-review"]?.strike?.() ?? [])];
  const status = struck.send(review as AttackRequest).payload?.object?.["status"] as JsonObject;
  expect((status["resourceRules"] as readonly unknown[]).length).toBe(20_000);
  expect(status["evaluationError"]).toBe("only the first 20000 rules are told");
});

it("a collection of quotas is deleted with a write for each, and the fewer in one event the more of them there are", () => {
  const { struck, told } = strike("quotas", 1 / 10); // 200, of which 67 go at first
  const { kernel } = struck.bed;
  const revision = (): number => struck.bed.store.revision;
  for (let before = revision(); told[0]?.status === 0; before = revision()) {
    kernel.step();
    expect(revision() - before).toBeLessThanOrEqual(100);
  }
  expect(told[0]?.status).toBe(200);
  const after = revision();
  struck.bed.advance(5);
  expect(revision() - after).toBeLessThanOrEqual(200); // nothing is counted again for each that went
});

it("a large quota is counted in events of its own, and anew when it changes meanwhile", () => {
  const path = "/api/v1/namespaces/default/resourcequotas";
  const quota = (count: number, amount: string): object => {
    const hard = Object.fromEntries(times(count, (at) => [`count/r${at}.example.com`, amount]));
    return { metadata: { name: "large" }, spec: { hard: { ...hard, "count/configmaps": "9" } } };
  };
  const struck = new Struck({}, 1);
  const { kernel } = struck.bed;
  const read = (): JsonObject => struck.send({ path: `${path}/large` }).payload?.object as JsonObject;
  const counted = (): number => {
    const before = kernel.nowMicros();
    let eventCount = 0;
    for (; kernel.nextEventMicros === before; eventCount++) kernel.step();
    return eventCount;
  };
  expect(struck.send(created(path, quota(6_000, "1"))).status).toBe(201);
  expect(counted()).toBeGreaterThanOrEqual(10);
  expect((read()["status"] as JsonObject)["used"]).toMatchObject({
    "count/configmaps": "0",
    "count/r1.example.com": "0",
  });
  const put = (object: object): Told => struck.send({ ...created(`${path}/large`, object), method: "PUT" });
  expect(put(quota(6_000, "2")).status).toBe(200);
  for (let at = 0; at < 4; at++) kernel.step();
  expect(put(quota(7_000, "3")).status).toBe(200);
  struck.send(created("/api/v1/namespaces/default/configmaps", { metadata: { name: "one-more" } }));
  struck.bed.advance(0.1);
  const { spec, status } = read() as { readonly spec: JsonObject; readonly status: JsonObject };
  expect(status["hard"]).toEqual(spec["hard"]);
  expect(Object.keys(status["used"] as object)).toHaveLength(7_001);
  expect(status["used"]).toMatchObject({ "count/configmaps": "1" });
  expect(struck.failures).toEqual([]);
});

it("an eviction reads large budgets some at a time, and spends what is there at last", () => {
  const namespace = "/api/v1/namespaces/default";
  const budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
  const absent = times(4_000, (at) => ({ key: `k${at}`, operator: "DoesNotExist" }));
  const budget = (at: number): object => ({
    metadata: { name: `b${at + 10}` },
    spec: { maxUnavailable: 1, selector: { matchExpressions: [{ key: `z${at}`, operator: "Exists" }, ...absent] } },
  });
  const struck = new Struck({}, 1);
  const pod = { metadata: { name: "p", labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } };
  struck.send(created(`${namespace}/pods`, pod));
  const headers = { "content-type": "application/merge-patch+json" };
  const body = JSON.stringify({ status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] } });
  struck.send({ method: "PATCH", path: `${namespace}/pods/p/status`, headers, body });
  for (let at = 0; at < 50; at++) expect(struck.send(created(budgets, budget(at))).status).toBe(201);
  const covering = { metadata: { name: "c" }, spec: { minAvailable: 1, selector: { matchLabels: { a: "b" } } } };
  struck.send(created(budgets, covering));
  struck.bed.advance(2);
  const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "p" } };
  const evict = (): Told => struck.send(created(`${namespace}/pods/p/eviction`, eviction));
  const refused = evict();
  expect(refused.status).toBe(429);
  expect(refused.eventCount).toBeGreaterThanOrEqual(5);
  struck.send({ method: "DELETE", path: `${budgets}/c` });
  expect(evict().status).toBe(201);
  expect(struck.failures).toEqual([]);
});

describe("expressions that each cost much are evaluated some at a time", () => {
  it.each([
    ["costly-policies", 1 / 10, 10], // two policies
    ["costly-rules", 1, 12],
    ["costly-conditions", 1 / 10, 10],
  ])("%s", (name, scale, eventCountMin) => {
    const { struck, told } = strike(name, scale);
    expect([told[0]?.status, struck.failures]).toEqual([201, []]);
    expect(told[0]?.eventCount).toBeGreaterThanOrEqual(eventCountMin);
  });

  // Each variable may use all before it: 8,000 were compiled in four seconds, each beside a copy of the ones before.
  it.each([
    ["validations", times(8_000, (at) => ({ expression: `object.metadata.name != 'n${at}'` })), 25, 7],
    [
      "variables",
      times(8_000, (at) => ({ name: `v${at}`, expression: at === 0 ? "1" : `variables.v${at - 1} + 1` })),
      24,
      5,
    ],
  ])("and compiled some at a time: %s", (field, items, storedMin, usedMin) => {
    const struck = new Struck({}, 1);
    const group = "/apis/admissionregistration.k8s.io/v1";
    const rule = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] };
    const spec = { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: "true" }], [field]: items };
    const stored = struck.send(created(`${group}/validatingadmissionpolicies`, { metadata: { name: "many" }, spec }));
    expect(stored.status).toBe(201);
    expect(stored.eventCount).toBeGreaterThanOrEqual(storedMin);
    const binding = { metadata: { name: "many" }, spec: { policyName: "many", validationActions: ["Deny"] } };
    expect(struck.send(created(`${group}/validatingadmissionpolicybindings`, binding)).status).toBe(201);
    struck.bed.advance(1);
    const used = struck.send(created("/api/v1/namespaces/default/configmaps", { metadata: { name: "c" } }));
    expect([used.status, struck.failures]).toEqual([201, []]);
    expect(used.eventCount).toBeGreaterThanOrEqual(usedMin);
  });

  it("also where a collection is deleted, and each object costs little", () => {
    const { struck, told } = strike("policies-of-collections", 1 / 10); // 200 objects, 200 policies
    const { kernel } = struck.bed;
    let eventCount = told[0]?.eventCount ?? 0;
    for (; told[0]?.status === 0; eventCount++) kernel.step();
    expect([told[0]?.status, struck.failures]).toEqual([200, []]);
    expect(eventCount).toBeGreaterThanOrEqual(4);
  });

  it("and others are heard in between", () => {
    const attack = attacks["costly-policies"] as Attack;
    const struck = new Struck(attack, 1 / 10);
    const { kernel, process, server } = struck.bed;
    const headers = { authorization: "Bearer admin" };
    const order: string[] = [];
    const heard = (name: string) => ({
      respond: (status: number) => void order.push(`${name} ${status}`),
      open: () => {},
      frame: () => 0,
      close: () => {},
    });
    const [request] = [...(attack.strike?.() ?? [])] as [AttackRequest];
    const body = new TextEncoder().encode(request.body as string);
    const costly = { method: "POST", path: request.path, query: "", headers: { ...headers, ...request.headers }, body };
    kernel.enter(process, () => server.start(costly, heard("costly")));
    kernel.step();
    const small = { method: "GET", path: request.path, query: "", headers, body: undefined };
    kernel.enter(process, () => server.start(small, heard("small")));
    struck.bed.advance(0);
    expect(order).toEqual(["small 200", "costly 201"]);
  });
});

it("a collection of large objects is deleted a few megabytes at a time", () => {
  const path = "/api/v1/namespaces/default/configmaps";
  const data = { k: "v".repeat(200_000) };
  const prepare = () =>
    Array.from({ length: 50 }, (_, at) => ({
      method: "POST",
      path,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ metadata: { name: `c${at}` }, data }),
    }));
  const struck = new Struck({ prepare }, 1);
  const { kernel, store } = struck.bed;
  const gone = new Map<number, number>();
  store.subscribe(() => void gone.set(kernel.nowMicros(), (gone.get(kernel.nowMicros()) ?? 0) + 1));
  const told = struck.send({ method: "DELETE", path });
  while (told.status === 0) kernel.step();
  expect([told.status, struck.failures]).toEqual([200, []]);
  expect(gone.size).toBeGreaterThanOrEqual(5);
  expect(Math.max(...gone.values())).toBeLessThanOrEqual(10);
});

it("a collection is deleted ten objects at a time where each write waits for a disk", () => {
  const path = "/api/v1/namespaces/default/configmaps";
  const headers = { "content-type": "application/json" };
  const prepare = () =>
    Array.from({ length: 50 }, (_, at) => ({
      method: "POST",
      path,
      headers,
      body: JSON.stringify({ metadata: { name: `c${at}` } }),
    }));
  const store = new RevisionStore({ journal: { write: () => {} } });
  const struck = new Struck({ prepare }, 1, { store });
  const before = store.revision;
  const told = struck.send({ method: "DELETE", path });
  expect([told.status, store.revision - before]).toEqual([0, 10]);
  while (told.status === 0) struck.bed.kernel.step();
  expect([told.status, struck.failures]).toEqual([200, []]);
});

it("overwrites of a large object keep no more old versions than fit, and each is carried out in several events", () => {
  const attack = attacks["overwrites"] as Attack;
  const struck = new Struck(attack, 1, { historyBytesMax: 4_000_000 });
  const { store } = struck.bed;
  const first = store.revision;
  for (const request of attack.strike?.() ?? []) {
    const { status, eventCount } = struck.send(request);
    expect(status).toBe(200);
    expect(eventCount).toBeGreaterThanOrEqual(6);
    struck.bed.advance(0.001);
    expect(store.revision - Math.max(first, store.compactedRevision)).toBeLessThanOrEqual(5); // of a megabyte each
    if (store.revision === first + 16) break;
  }
  expect(store.revision).toBe(first + 16);
  expect(struck.failures).toEqual([]);
});

it("budgets that all cover a pod are looked at some at a time, once for what happened together, and not written again", () => {
  const attack = attacks["budgets"] as Attack;
  const struck = new Struck(attack, 1 / 20); // 15 pods, 100 budgets
  const { kernel, store } = struck.bed;
  struck.bed.advance(5);
  const before = store.revision;
  const told = [...(attack.strike?.() ?? [])].map((each) => struck.send(each));
  expect(told.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  const until = kernel.nowMicros() + 1_000_000;
  let eventCount = 0;
  for (; kernel.nextEventMicros !== undefined && kernel.nextEventMicros <= until; eventCount++) kernel.step();
  expect(store.revision).toBe(before + 5);
  expect(eventCount).toBeGreaterThanOrEqual(10); // ten budgets each
  expect(eventCount).toBeLessThanOrEqual(20); // and not for each of the five pods anew
  expect(struck.failures).toEqual([]);
});

describe("what has nearly as many values as an object may have", () => {
  it.each([
    ["patch-copies", 200, 13],
    ["embedded-metadata", 201, 10],
    ["alternatives", 422, 9],
  ])("%s is answered with %i in at least %i events", (name, status, eventCountMin) => {
    const { struck, told } = strike(name, 1);
    expect([told[0]?.status, struck.failures]).toEqual([status, []]);
    expect(told[0]?.eventCount).toBeGreaterThanOrEqual(eventCountMin);
  });
});

it("a selector of sixty thousand terms is read in an event of its own", () => {
  const attack = attacks["selectors"] as Attack;
  const [request] = attack.strike?.() ?? [];
  const { status, eventCount } = new Struck(attack, 1 / 100).send(request as AttackRequest);
  expect(status).toBe(200);
  expect(eventCount).toBeGreaterThan(1);
});

describe("an attack of the second round, at the size from which on a request is large", () => {
  const table = attackTable(140_000);
  const names = Object.keys(table).filter((name) => {
    const [verb = "", encoding, shape = ""] = name.split(" ");
    return shape === "labels" || (encoding === "json" && verb === "create" && !shape.endsWith("schema"));
  });
  const struck = new Struck({}, 1);

  it.each(names)("%s throws nothing, and is carried out in several events where it writes", (name) => {
    const attack = table[name] as Attack;
    for (const each of attack.prepare?.() ?? []) struck.send(each);
    for (const request of attack.strike?.() ?? []) {
      const { status, eventCount } = struck.send(request);
      expect(status).toBeGreaterThan(0);
      expect(status).not.toBe(500);
      const isLarge = (request.body?.length ?? 0) >= 128 * 1024;
      if (isLarge) expect(eventCount).toBeGreaterThanOrEqual(status < 300 && request.method !== "DELETE" ? 6 : 2);
    }
    struck.bed.advance(0.1);
    expect(struck.failures.splice(0)).toEqual([]);
  });
});

it("a large configuration is applied in a step for each part of that work", () => {
  const struck = new Struck(attackTable()["apply json labels"] as Attack, 1);
  const [told] = [...(attackTable()["apply json labels"]?.strike?.() ?? [])].map((each) => struck.send(each));
  expect([told?.status, struck.failures]).toEqual([200, []]);
  expect(told?.eventCount).toBeGreaterThanOrEqual(25); // labels and who owns them are digested one after the other
});

// Each was carried out in some twenty events, one of which took up to half a second.
it.each([
  ["create json patterns-schema", 201, 30],
  ["create json ruled-schema", 201, 30],
  ["create json deep-schema", 201, 24],
  ["create json custom-depth", 201, 30],
])("%s is answered with %i, and judged or read in at least %i events", (name, status, eventCountMin) => {
  const struck = new Struck({}, 1);
  const attack = attackTable()[name] as Attack;
  for (const each of attack.prepare?.() ?? []) struck.send(each);
  struck.bed.advance(1);
  const [told] = [...(attack.strike?.() ?? [])].map((each) => struck.send(each));
  expect([told?.status, struck.failures]).toEqual([status, []]);
  expect(told?.eventCount).toBeGreaterThanOrEqual(eventCountMin);
});

it.each([
  ["POST", "/api/v1/namespaces/default/configmaps", "application/json", 201],
  ["PUT", "/api/v1/namespaces/default/configmaps/exact", "application/json", 200],
  ["PATCH", "/api/v1/namespaces/default/configmaps/exact", "application/merge-patch+json", 200],
])("%s %s with JSON that only the exact reader can read is read in steps", (method, path, type, status) => {
  const struck = new Struck({}, 1);
  struck.send(
    created("/api/v1/namespaces/default/configmaps", { metadata: { name: method === "POST" ? "o" : "exact" } }),
  );
  const text = JSON.stringify({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "exact" },
    data: { a: "here" },
  });
  const lone = String.raw`\ud800`;
  const body = text.replace("here", `${lone}${String.raw`\n`.repeat(400_000)}`);
  const told = struck.send({ method, path, headers: { "content-type": type }, body });
  expect([told.status, struck.failures]).toEqual([status, []]);
  const data = told.payload?.object?.["data"] as JsonObject | undefined;
  expect(data?.["a"] === `\ufffd${"\n".repeat(400_000)}`).toBe(true);
  expect(told.eventCount).toBeGreaterThanOrEqual(400_000 / 16_384 + 10); // some twenty without
});

describe("selectors of webhooks", () => {
  it("are read some at a time, once", () => {
    const hook = (at: number) => ({
      name: `a${at}.example.org`,
      clientConfig: { url: "https://a.example.org/" },
      rules: [{ operations: ["*"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] }],
      objectSelector: { matchExpressions: times(20_000, (each) => ({ key: `k${at}.${each}`, operator: "Exists" })) },
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
    });
    const struck = new Struck({}, 1);
    const path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    for (const at of times(8, (each) => each)) {
      const object = { metadata: { name: `hooks-${at}` }, webhooks: [hook(at)] };
      expect(struck.send(created(path, object)).status).toBe(201);
    }
    struck.bed.advance(1);
    const make = (name: string) =>
      struck.send(created("/api/v1/namespaces/default/configmaps", { metadata: { name } }));
    const [first, second] = [make("a"), make("b")];
    expect([first.status, second.status, struck.failures]).toEqual([201, 201, []]);
    expect(first.eventCount).toBeGreaterThanOrEqual(4); // 160,000 requirements, of which an event reads 40,000
    expect(second.eventCount).toBeLessThan(4);
  });
});

it("a large request is put in another version once for all webhooks and policies that are shown it", () => {
  let madeCount = 0;
  const shown = (object: JsonObject): JsonObject => {
    madeCount++;
    return { ...object };
  };
  const place = { row: { version: "v2" } } as unknown as Equivalent["place"];
  const form: Equivalent = { place, shown, taken: shown };
  const turn = { budget: new TurnBudget(), isLarge: true };
  const review = { object: {}, oldObject: {}, place, turn } as unknown as AdmissionReview;
  const pace = new Pace(turn.budget);
  const judge = (): readonly AdmissionReview[] => times(60, () => shownAs(form, review));
  expect(pace.turn(judge)).toBeUndefined();
  let made = pace.turn(judge);
  for (let turnCount = 0; made === undefined && turnCount < 10; turnCount++) {
    turn.budget.refill();
    made = pace.turn(judge);
  }
  expect(new Set(made?.result).size).toBe(1);
  expect(madeCount).toBe(2);
});

describe("a webhook", () => {
  const rule = { operations: ["*"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] };
  const answered = (response: (uid: string) => object, more: object = {}) => {
    const webhooks: ApiServerOptions["webhooks"] = ({ body }, done) => {
      const { uid } = body["request"] as { readonly uid: string };
      const review = { kind: "AdmissionReview", apiVersion: "admission.k8s.io/v1", response: response(uid) };
      done({ status: 200, body: review, ...more });
      return () => {};
    };
    const struck = new Struck({}, 1, { webhooks });
    const hook = {
      name: "a.example.org",
      clientConfig: { url: "https://a.example.org/" },
      rules: [rule],
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
    };
    const path = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
    expect(struck.send(created(path, { metadata: { name: "hooks" }, webhooks: [hook] })).status).toBe(201);
    const told = struck.send(created("/api/v1/namespaces/default/configmaps", { metadata: { name: "c" } }));
    expect(struck.failures).toEqual([]);
    return told;
  };
  const patching = (operations: readonly object[]) => (uid: string) => ({
    uid,
    allowed: true,
    patchType: "JSONPatch",
    patch: btoa(JSON.stringify(operations)),
  });
  const many = (count: number): object => Object.fromEntries(times(count, (at) => [`k${at}`, `value ${at} of many`]));

  // Each was carried out in one event, or in two where what is written is stored.
  it.each([
    ["a map of 45,000 texts", [{ op: "add", path: "/data", value: many(45_000) }], 201, 24],
    [
      "9,900 operations",
      [
        { op: "add", path: "/data", value: {} },
        ...times(9_900, (at) => ({ op: "add", path: `/data/k${at}`, value: "v" })),
      ],
      201,
      16,
    ],
    ["a copy that makes it large", [...copies(5_000)], 201, 8],
    ["more values than one object may have", [{ op: "add", path: "/data", value: many(110_000) }], 500, 8],
  ])("that patches an object with %s is followed in steps", (_, operations, status, eventCountMin) => {
    const told = answered(patching(operations));
    expect(told.status).toBe(status);
    expect(told.eventCount).toBeGreaterThanOrEqual(eventCountMin);
  });

  it("that refuses with megabytes is told with as much as has room", () => {
    const causes = times(60_000, (at) => ({ reason: "r", message: `m${at}`.padEnd(40, "."), field: "f" }));
    const status = { code: 403, reason: "r".repeat(1_200_000), message: "m".repeat(1_200_000), details: { causes } };
    const { payload } = answered((uid) => ({ uid, allowed: false, status }));
    const told = payload?.object as { readonly message: string; readonly details: { readonly causes: object[] } };
    expect(told.message).toHaveLength(1_000_000 + 'admission webhook "a.example.org" denied the request: '.length);
    expect(told.details.causes.length).toBeGreaterThan(10_000);
    expect(JSON.stringify(told.details).length).toBeLessThan(2_000_000);
  });

  it("that refuses with a hundred causes is told in its own words", () => {
    const details = { causes: times(100, (at) => ({ message: `m${at}`, other: [at, { a: "b" }] })), what: "else" };
    const { payload, status } = answered((uid) => ({ uid, allowed: false, status: { code: 409, details } }));
    expect([status, payload?.object?.["details"]]).toEqual([409, details]);
  });

  it("whose refusal says in no number when to come again is told without a header", () => {
    const details = { retryAfterSeconds: "1\n2" };
    const { payload, headers } = answered((uid) => ({ uid, allowed: false, status: { code: 429, details } }));
    expect([headers["retry-after"], payload?.object?.["details"]]).toEqual([undefined, details]);
  });

  it("with a hundred thousand warnings is told with the first that have room", () => {
    const warnings = times(100_000, (at) => `w${at % 50_000}`);
    const { headers } = answered((uid) => ({ uid, allowed: true, warnings }));
    const told = headers["warning"] as readonly string[];
    expect(told).toEqual(warningHeaders(warnings));
    expect(tellable(warnings).length).toBeLessThan(500);
  });

  it.each([
    ["of another review", (uid: string) => ({ uid: `${uid}${"\u0007".repeat(2_000_000)}`, allowed: true })],
    ["with a patch of no type", (uid: string) => ({ ...patching([])(uid), patchType: "\u0007".repeat(2_000_000) })],
  ])("whose answer is %s is told with its beginning", (_, response) => {
    const { status, payload } = answered(response);
    expect(status).toBe(500);
    expect(String(payload?.object?.["message"]).length).toBeLessThan(500_000);
  });
});

function copies(count: number): readonly object[] {
  const list = [{ op: "add", path: "/metadata/finalizers", value: ["e.com/a"] }];
  return [
    ...list,
    ...times(count, () => ({ op: "copy", from: "/metadata/finalizers/0", path: "/metadata/finalizers/-" })),
  ];
}

it("a large object is answered in parts, with the same bytes, the first time", () => {
  const struck = new Struck({}, 1);
  const [told] = [...(attackTable()["create json labels"]?.strike?.() ?? [])].map((each) => struck.send(each));
  expect([told?.status, struck.failures]).toEqual([201, []]);
  expect(told?.eventCount).toBeGreaterThanOrEqual(16);
  const slices: Uint8Array[] = [];
  const made = told?.payload?.slices?.();
  for (let next = made?.next(); next?.done === false; next = made?.next()) slices.push(next.value);
  expect(Math.max(...slices.map(({ length }) => length))).toBeLessThan(40_000);
  expect(Buffer.concat(slices).equals(told?.payload?.bytes() as Uint8Array)).toBe(true);
  expect(Buffer.concat(slices).toString()).toBe(`${JSON.stringify(told?.payload?.object)}\n`);
  const path = "/api/v1/namespaces/default/configmaps/labels";
  expect(struck.send({ path }).payload?.slices?.()).toBeUndefined(); // it is written already
});

describe("roles", () => {
  const group = "rbac.authorization.k8s.io";
  const path = `/apis/${group}/v1`;
  const bound = (name: string, role = name): AttackRequest =>
    created(`${path}/clusterrolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: group, kind: "ClusterRole", name: role },
      subjects: [{ kind: "User", apiGroup: group, name: "nobody" }],
    });
  const held = (...rules: readonly object[]) => [
    created(`${path}/clusterroles`, { metadata: { name: "held" }, rules }),
    bound("held"),
  ];
  const writing = { apiGroups: [group], resources: ["*"], verbs: ["create", "update"] };
  const names = { apiGroups: [""], resources: ["configmaps"], verbs: ["get"], resourceNames: times(30_000, String) };
  const urls = { nonResourceURLs: times(30_000, (at) => `/some/path/${at}`), verbs: ["get"] };

  it.each([
    ["names", names],
    ["URLs", urls],
  ])(
    "of many %s are held against what their writer holds in several events, also where a binding gives them",
    (_, rule) => {
      const other = created(`${path}/clusterroles`, { metadata: { name: "other" }, rules: [rule] });
      const struck = new Struck({ prepare: () => [...held(writing, rule), other] }, 1);
      const small = struck.send({ ...bound("small", "view"), as: "nobody" });
      expect([small.status, small.eventCount]).toEqual([403, 1]);
      const bind = struck.send({ ...bound("more", "other"), as: "nobody" });
      expect([bind.status, struck.failures]).toEqual([201, []]);
      expect(bind.eventCount).toBeGreaterThanOrEqual(4);
    },
  );

  it("of which many rules are missing are refused in a text of bounded length", () => {
    const struck = new Struck({ prepare: () => held(writing) }, 1);
    const wanted = { ...names, resourceNames: times(60_000, (at) => `name-${at}`) };
    const refused = struck.send({
      ...created(`${path}/clusterroles`, { metadata: { name: "more" }, rules: [wanted] }),
      as: "nobody",
    });
    expect([refused.status, struck.failures]).toEqual([403, []]);
    expect(refused.payload?.bytes().length).toBeLessThan(1_500_000); // each name told is eighty characters
    expect(refused.eventCount).toBeGreaterThanOrEqual(8);
  });

  it("that are absent are told in a text of bounded length, whatever their names", () => {
    const prepare = () => times(12, (at) => bound(`b${at}`, `${at}`.padEnd(400_000, "a")));
    const refused = new Struck({ prepare }, 1).send({ path: "/api/v1/namespaces", as: "nobody" });
    expect(refused.status).toBe(403);
    const { length } = refused.payload?.bytes() ?? [];
    expect(length).toBeGreaterThan(1_000_000);
    expect(length).toBeLessThan(1_400_000);
  });

  it("of long lists are told by a review as far as they may be, and each whole", () => {
    const rule = (at: number) => ({ ...names, resourceNames: times(40_000, (name) => `${at}-${name}`) });
    const prepare = () =>
      times(5, (at) => at).flatMap((at) => [
        created(`${path}/clusterroles`, { metadata: { name: `many-${at}` }, rules: [rule(at)] }),
        bound(`many-${at}`),
      ]);
    const [review] = [...(attacks["rules-review"]?.strike?.() ?? [])];
    const told = new Struck({ prepare }, 1).send(review as AttackRequest);
    const status = told.payload?.object?.["status"] as JsonObject;
    const resourceRules = status["resourceRules"] as readonly { readonly resourceNames?: readonly string[] }[];
    const counts = resourceRules.map(({ resourceNames = [] }) => resourceNames.length);
    expect(counts).toEqual([40_000, 40_000, 40_000]);
    expect(status["incomplete"]).toBe(true);
    expect(status["evaluationError"]).toMatch(/^only the first \d rules are told$/);
  });

  it("are bound to tens of thousands of subjects in several events, and nobody waits for that twice", () => {
    const subjects = times(18_000, (at) => ({ kind: "User", apiGroup: group, name: `u${at}` }));
    const roleRef = { apiGroup: group, kind: "ClusterRole", name: "view" };
    const prepare = () =>
      times(5, (at) => created(`${path}/clusterrolebindings`, { metadata: { name: `b${at}` }, roleRef, subjects }));
    const struck = new Struck({ prepare }, 1);
    const asked = { path: "/api/v1/namespaces/default/configmaps", headers: { authorization: "Bearer nobody" } };
    expect(struck.send(asked).eventCount).toBeGreaterThanOrEqual(5);
    expect(struck.send(asked)).toMatchObject({ status: 403, eventCount: 1 });
    expect(struck.send(bound("one-more", "view")).status).toBe(201);
    expect(struck.send(asked)).toMatchObject({ status: 200, eventCount: 1 });
  });

  it("that let somebody be thousands of groups are asked for them in several events", () => {
    const acting = { apiGroups: [""], resources: ["users", "groups"], verbs: ["impersonate"] };
    const others = times(3_000, (at) => ({ apiGroups: ["g"], resources: [`r${at}`], verbs: ["get"] }));
    const struck = new Struck({ prepare: () => held(...others, acting) }, 1);
    const headers = (count: number) => ({
      authorization: "Bearer nobody",
      "impersonate-user": "x",
      "impersonate-group": times(count, (at) => `g${at}`).join(","),
    });
    expect(struck.send({ path: "/api", headers: headers(5) })).toMatchObject({ status: 200, eventCount: 1 });
    const many = struck.send({ path: "/api", headers: headers(30_000) });
    expect([many.status, struck.failures]).toEqual([200, []]);
    expect(many.eventCount).toBeGreaterThanOrEqual(4);
    expect(many.eventCount).toBeLessThan(60); // no rule is looked at for each group
  });
});

it("groups that are asked for may be many spaces apart", () => {
  const headers = { "impersonate-user": "x", "impersonate-group": `a${" ".repeat(500_000)}b ,  c` };
  const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
  const asked = created(path, {});
  const told = new Struck({}, 1).send({ ...asked, headers: { ...asked.headers, ...headers } });
  const status = told.payload?.object?.["status"] as JsonObject | undefined;
  const userInfo = status?.["userInfo"] as JsonObject | undefined;
  const groups = (userInfo?.["groups"] ?? []) as readonly string[];
  expect(groups.map(({ length }) => length)).toEqual([500_002, 1, 20]);
});
