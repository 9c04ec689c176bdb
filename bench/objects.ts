/**
 * The object layer alone: what one creation costs between a body and a value that the store can keep.
 * Inputs differ in name and content from one object to the next, but for their shape, as in a real load.
 */
import { svcDialect } from "../wire/dialect.ts";
import { findResource } from "../wire/resources.ts";
import type { Prng } from "../sim/kernel/types.ts";
import type { Cause } from "../sim/contract/errors.ts";
import type { JsonObject } from "../sim/contract/http-message.ts";
import { decodeObject } from "../sim/objects/decode.ts";
import { decodePatched, readMergePatchBody } from "../sim/objects/decode-patch.ts";
import { digestOf } from "../sim/objects/digest.ts";
import { trackManagedFields } from "../sim/objects/managed-fields.ts";
import { seal } from "../sim/objects/seal.ts";
import { strategyOf } from "../sim/kinds/strategies.ts";
import type { Strategy } from "../sim/objects/strategy.ts";
import {
  prepareForCreate,
  prepareForUpdate,
  wipeSystemFields,
  withResourceVersion,
} from "../sim/objects/system-fields.ts";
import { type Draft, ownMetadata, type Target } from "../sim/contract/objects.ts";
import { validateCreate, validateUpdate } from "../sim/objects/validation.ts";
import type { Bench } from "./harness.ts";

const prng = counterPrng();
const write = { now: "2026-01-01T00:00:00Z", prng };
const tracking = { manager: "bench", apiVersion: "v1", subresource: "", now: write.now };

/** A cheap stream: the kernel's own is measured with the kernel. */
function counterPrng(): Prng {
  let state = 1;
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state;
  };
  return {
    uint32: next,
    intInclusive: (min, max) => min + (next() % (max - min + 1)),
    chance: () => false,
    stream: () => counterPrng(),
  };
}

function resource(plural: string, group = ""): { readonly target: Target; readonly strategy: Strategy } {
  const row = findResource(group, "v1", plural);
  const strategy = row === undefined ? undefined : strategyOf(row, svcDialect);
  if (row?.type === undefined || strategy === undefined) throw new Error(`no resource ${plural}`);
  const { defaults } = strategy.rules;
  return { target: { kind: row.kind, group, version: "v1", type: row.type, dialect: svcDialect, defaults }, strategy };
}

const configMaps = resource("configmaps");
const pods = resource("pods");
const leases = resource("leases", "coordination.svc.io");
const roleBindings = resource("rolebindings", "rbac.authorization.svc.io");

const configMap = (at: number): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: `config-${at}`, namespace: "bench" },
  data: { key: `value-${at}` },
});

const container = (name: string, image: string): JsonObject => ({
  name,
  image,
  command: ["/bin/app", "--listen", ":8080"],
  ports: [{ name: "http", containerPort: 8080, protocol: "TCP" }],
  env: [
    { name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
    { name: "LEVEL", value: "info" },
  ],
  resources: { limits: { cpu: "500m", memory: "256Mi" }, requests: { cpu: "100m", memory: "128Mi" } },
  volumeMounts: [{ name: "config", mountPath: "/etc/app" }],
  livenessProbe: { httpGet: { path: "/healthz", port: 8080 }, periodSeconds: 10 },
});

const pod = (at: number): JsonObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: `pod-${at}`, namespace: "bench", labels: { app: "web", tier: "front" } },
  spec: {
    volumes: [{ name: "config", configMap: { name: "app" } }],
    containers: [
      container("app", `registry.example.com/app:${at % 7}`),
      container("side", "registry.example.com/side:1"),
    ],
  },
});

const lease = (at: number): JsonObject => ({
  metadata: { name: `node-${at}` },
  spec: { holderIdentity: `node-${at}`, leaseDurationSeconds: 40, renewTime: "2026-01-01T00:00:00.000000Z" },
});

const roleBinding = (at: number): JsonObject => ({
  metadata: { name: `binding-${at}` },
  roleRef: { apiGroup: "rbac.authorization.svc.io", kind: "Role", name: `role-${at}` },
  subjects: [
    { kind: "User", name: `user-${at}`, apiGroup: "rbac.authorization.svc.io" },
    { kind: "ServiceAccount", name: "builder", namespace: "bench" },
  ],
});

/** The whole way of a creation through the layer; the answer is sealed. */
function create(body: JsonObject | Uint8Array, at: ReturnType<typeof resource>): JsonObject {
  const draft = prepared(body, at);
  if (validateCreate(draft, at.strategy).length > 0) throw new Error("the benchmark's object is invalid");
  return seal(withResourceVersion(draft, "1"));
}

/** As far as it goes before it is judged. */
function prepared(body: JsonObject | Uint8Array, { target, strategy }: ReturnType<typeof resource>): Draft {
  const { draft } = decodeObject(body, "json", target, "Warn");
  wipeSystemFields(draft);
  ownMetadata(draft).namespace ??= "bench";
  trackManagedFields(draft, undefined, strategy, tracking);
  prepareForCreate(draft, strategy, write);
  return draft;
}

const encoder = new TextEncoder();

/** Microseconds an object of so many, the inputs being ready before the clock starts. */
type Round = (count: number) => number;

function perObject<Input>(makeInput: (at: number) => Input, step: (input: Input) => unknown): Round {
  return (count) => {
    const inputs = Array.from({ length: count }, (_, at) => makeInput(at));
    const start = performance.now();
    for (const input of inputs) step(input);
    return ((performance.now() - start) * 1000) / count;
  };
}

function patchOnce(live: JsonObject): (body: Uint8Array) => JsonObject {
  return (body) => {
    const patch = readMergePatchBody(body);
    const { draft } = decodePatched(patch, live, configMaps.target, { level: "Warn", strictStatus: 422 });
    trackManagedFields(draft, live, configMaps.strategy, tracking);
    prepareForUpdate(draft, live, configMaps.strategy, "");
    if (validateUpdate(draft, live, configMaps.strategy).length > 0) throw new Error("invalid");
    return seal(withResourceVersion(draft, "2"));
  };
}

const bytesOf = (object: JsonObject): Uint8Array => encoder.encode(JSON.stringify(object));

/** What a kind's own rules cost for an object that they find nothing wrong with; its metadata is not judged. */
function validating(name: string, makeBody: (at: number) => JsonObject, at: ReturnType<typeof resource>): Row {
  const judge = (draft: Draft): void => {
    const causes: Cause[] = [];
    at.strategy.rules.validate?.(draft as JsonObject, causes, svcDialect);
    if (causes.length > 0) throw new Error(`the benchmark's object is invalid: ${JSON.stringify(causes[0])}`);
  };
  const run = perObject((number) => prepared(makeBody(number), at), judge);
  return { name: `objects.validate-${name}`, unit: "µs/object", better: "less", run };
}

type Row = Omit<Bench, "run"> & { readonly run: Round };

export const rows: readonly Row[] = [
  validating("lease", lease, leases),
  validating("role-binding", roleBinding, roleBindings),
  validating("pod", pod, pods),
  {
    name: "objects.create-configmap",
    unit: "µs/object",
    better: "less",
    target: 7,
    run: perObject(configMap, (body) => create(body, configMaps)),
  },
  {
    name: "objects.create-configmap-json",
    unit: "µs/object",
    better: "less",
    run: perObject(
      (at) => bytesOf(configMap(at)),
      (body) => create(body, configMaps),
    ),
  },
  {
    name: "objects.create-pod",
    unit: "µs/object",
    better: "less",
    target: 45,
    run: perObject(pod, (body) => create(body, pods)),
  },
  {
    name: "objects.create-pod-json",
    unit: "µs/object",
    better: "less",
    run: perObject(
      (at) => bytesOf(pod(at)),
      (body) => create(body, pods),
    ),
  },
  {
    name: "objects.patch-configmap",
    unit: "µs/object",
    better: "less",
    run: perObject(
      (at) => encoder.encode(`{"data":{"key":"other-${at}"}}`),
      patchOnce(create(configMap(0), configMaps)),
    ),
  },
  {
    name: "objects.digest-pod",
    unit: "µs/object",
    better: "less",
    run: perObject((at) => create(pod(at), pods), digestOf),
  },
];

export const benches: readonly Bench[] = rows.map((row) => ({ ...row, run: () => row.run(20_000) }));
