/** Steps that write: plain writes, patches, server-side apply, deletions, fields that are wrong. */
import fc from "fast-check";
import { isJsonObject, type Json, type JsonObject } from "../client/types.ts";
import { inTurn, type Program, type Step } from "./step.ts";

export const configMapsPath = "/api/v1/namespaces/{ns}/configmaps";
export const deploymentsPath = "/apis/apps/v1/namespaces/{ns}/deployments";

const anyName = fc.constantFrom("a", "b");
const anyTeam = fc.constantFrom("red", "blue");

/** Fields that are left out half of the time. */
const perhaps = <T>(...values: readonly T[]): fc.Arbitrary<T | undefined> =>
  fc.option(fc.constantFrom(...values), { nil: undefined });

const query = (fields: Readonly<Record<string, string | undefined>>): { query?: Record<string, string> } => {
  const given = Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return given.length === 0 ? {} : { query: Object.fromEntries(given) };
};

const configMap = (metadata: JsonObject, rest: JsonObject = {}): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata,
  ...rest,
});

/** Undefined members are left out when the step becomes text. */
const created = fc
  .record({
    name: fc.oneof(
      { weight: 8, arbitrary: anyName },
      { weight: 1, arbitrary: fc.constantFrom("A", "a_b", "-a", "a".repeat(254)) },
    ),
    team: anyTeam,
    value: fc.constantFrom("1", "2", ""),
    finalizer: fc.option(fc.constant("example.com/hold"), { nil: undefined, freq: 6 }),
    deletion: fc.option(fc.constant("2020-01-01T00:00:00Z"), { nil: undefined, freq: 12 }),
    dryRun: fc.option(fc.constantFrom("All", "None"), { nil: undefined, freq: 8 }),
    immutable: fc.option(fc.boolean(), { nil: undefined, freq: 8 }),
  })
  .map(
    ({ name, team, value, finalizer, deletion, dryRun, immutable }): Step => ({
      what: "create",
      method: "POST",
      path: configMapsPath,
      ...query({ dryRun }),
      body: configMap(
        {
          name,
          labels: { team },
          ...(finalizer === undefined ? {} : { finalizers: [finalizer] }),
          ...(deletion === undefined ? {} : { deletionTimestamp: deletion }),
        },
        { data: { value }, ...(immutable === undefined ? {} : { immutable }) },
      ),
    }),
  );

const generated: fc.Arbitrary<Step> = fc.constant({
  what: "create by prefix",
  method: "POST",
  path: configMapsPath,
  body: configMap({ generateName: "gen-", labels: { team: "red" } }),
});

const read = anyName.map((name): Step => ({ what: "get", method: "GET", path: `${configMapsPath}/${name}` }));

const replaced = fc
  .record({
    name: anyName,
    value: fc.constantFrom("1", "2", "3"),
    version: perhaps("{version:a}", "{version:b}", "7", "x"),
    uid: fc.option(fc.constantFrom("{uid:a}", "00000000-0000-0000-0000-000000000001"), { nil: undefined, freq: 3 }),
    generation: fc.option(fc.constant(9), { nil: undefined, freq: 6 }),
  })
  .map(
    ({ name, value, version, uid, generation }): Step => ({
      what: "replace",
      method: "PUT",
      path: `${configMapsPath}/${name}`,
      body: configMap(
        {
          name,
          ...(version === undefined ? {} : { resourceVersion: version }),
          ...(uid === undefined ? {} : { uid }),
          ...(generation === undefined ? {} : { generation }),
        },
        { data: { value } },
      ),
    }),
  );

const deleteOptions = fc.constantFrom<JsonObject | undefined>(
  undefined,
  undefined,
  { preconditions: { uid: "{uid:a}" } },
  { preconditions: { resourceVersion: "{version:b}" } },
  { preconditions: { uid: "00000000-0000-0000-0000-000000000001" } },
  { propagationPolicy: "Foreground" },
  { propagationPolicy: "Orphan" },
  { propagationPolicy: "Sideways" },
  { orphanDependents: true, propagationPolicy: "Background" },
  { gracePeriodSeconds: 0 },
  { gracePeriodSeconds: -1 },
  { dryRun: ["All"] },
  { dryRun: ["All"], propagationPolicy: "Background" },
);

const deletionOf = (name: string, options?: JsonObject): Step => ({
  what: "delete",
  method: "DELETE",
  path: `${configMapsPath}/${name}`,
  ...(options === undefined ? {} : { body: { apiVersion: "v1", kind: "DeleteOptions", ...options } }),
});

const deleted = fc
  .record({ name: anyName, options: deleteOptions })
  .map(({ name, options }) => deletionOf(name, options));

const collectionDeleted = fc
  .record({ labelSelector: fc.constantFrom("team=red", "team!=red", "team in (red", ""), options: deleteOptions })
  .map(
    ({ labelSelector, options }): Step => ({
      what: "delete a collection",
      method: "DELETE",
      path: configMapsPath,
      query: { labelSelector },
      ...(options === undefined ? {} : { body: { apiVersion: "v1", kind: "DeleteOptions", ...options } }),
    }),
  );

const finalizersTaken = fc.record({ name: anyName, left: fc.constantFrom(null, ["example.com/hold"]) }).map(
  ({ name, left }): Step => ({
    what: "take finalizers away",
    method: "PATCH",
    path: `${configMapsPath}/${name}`,
    headers: { "content-type": "application/merge-patch+json" },
    body: { metadata: { finalizers: left } },
  }),
);

export const objectSteps = fc.oneof(
  { weight: 5, arbitrary: created },
  { weight: 1, arbitrary: generated },
  { weight: 2, arbitrary: read },
  { weight: 4, arbitrary: replaced },
  { weight: 3, arbitrary: deleted },
);

const deletionSteps = fc.oneof(
  { weight: 4, arbitrary: created },
  { weight: 4, arbitrary: deleted },
  { weight: 2, arbitrary: collectionDeleted },
  { weight: 2, arbitrary: finalizersTaken },
  { weight: 1, arbitrary: read },
);

const held = (name: string): Step => ({
  what: "create",
  method: "POST",
  path: configMapsPath,
  body: configMap({ name, labels: { team: "red" }, finalizers: ["example.com/hold"] }),
});

/** Deleted once more while a finalizer holds it: the second deletion may add nothing. */
const heldTwice = fc
  .tuple(anyName, fc.constantFrom<JsonObject>({}, { propagationPolicy: "Foreground" }, { propagationPolicy: "Orphan" }))
  .map(([name, options]): Program => [held(name), deletionOf(name, {}), deletionOf(name, options)]);

/** The finalizers of a policy go when its actor is done, in its own time: on one server sooner than on another. */
function withActors(program: Program): Program {
  return program.flatMap((step) => {
    const policy = isJsonObject(step.body) ? step.body["propagationPolicy"] : undefined;
    const finalizer = policy === "Orphan" ? "orphan" : policy === "Foreground" ? "foregroundDeletion" : undefined;
    if (finalizer === undefined) return [step];
    const { path } = step;
    return [step, { what: "await the policy's actor", method: "GET", path, untilWithout: JSON.stringify(finalizer) }];
  });
}

export const deletionPrograms = inTurn(
  fc.oneof(
    anyName.map((name): Program => [held(name)]),
    heldTwice,
    fc.constant<Program>([]),
  ),
  fc.array(deletionSteps, { minLength: 1, maxLength: 8, size: "max" }),
).map(withActors);

/** A Deployment, whose lists have merge keys. */
const deployment: JsonObject = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "d", labels: { team: "red" } },
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: "d" } },
    template: {
      metadata: { labels: { app: "d" } },
      spec: { containers: [{ name: "one", image: "one:1", env: [{ name: "A", value: "1" }] }] },
    },
  },
};

const patchTypes = {
  merge: "application/merge-patch+json",
  json: "application/json-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
} as const;

const patch = (kind: keyof typeof patchTypes, path: string, body: Json, fields: Record<string, string> = {}): Step => ({
  what: `${kind === "apply" ? "apply" : `${kind} patch`}`,
  method: "PATCH",
  path,
  headers: { "content-type": patchTypes[kind] },
  ...query(fields),
  body,
});

const containers = (...rows: readonly JsonObject[]): JsonObject => ({
  spec: { template: { spec: { containers: rows } } },
});

const env = (...rows: readonly JsonObject[]): JsonObject => containers({ name: "one", env: rows });

/** Two elements of one key, with another between them: what servers take, and merge by that key. */
const doubled: JsonObject = {
  ...deployment,
  spec: {
    ...(deployment["spec"] as JsonObject),
    template: {
      metadata: { labels: { app: "d" } },
      spec: {
        containers: [
          {
            name: "one",
            image: "one:1",
            env: [
              { name: "A", value: "1" },
              { name: "B", value: "2" },
              { name: "A", value: "3" },
            ],
          },
        ],
      },
    },
  },
};

const patches: readonly Step[] = [
  patch("merge", `${configMapsPath}/a`, { data: { value: null, more: "1" } }),
  patch("merge", `${configMapsPath}/a`, { data: null }),
  patch("merge", `${configMapsPath}/a`, { data: { dry: "1" } }, { dryRun: "All" }),
  patch("merge", `${configMapsPath}/a`, { metadata: { resourceVersion: "7" } }),
  patch("merge", `${configMapsPath}/a`, { metadata: { name: "b" } }),
  patch("merge", `${configMapsPath}/a`, {}),
  patch("merge", `${configMapsPath}/a`, []),
  patch("merge", `${deploymentsPath}/d`, containers({ name: "two", image: "two:1" })),
  patch("merge", `${deploymentsPath}/d`, { spec: { replicas: "0" } }),
  patch("json", `${configMapsPath}/a`, [{ op: "add", path: "/data/more", value: "1" }]),
  patch("json", `${configMapsPath}/a`, [{ op: "remove", path: "/data/absent" }]),
  patch("json", `${configMapsPath}/a`, [{ op: "test", path: "/data/value", value: "9" }]),
  patch("json", `${configMapsPath}/a`, [{ op: "turn", path: "/data" }]),
  patch("json", `${configMapsPath}/a`, { op: "add" }),
  patch("json", `${deploymentsPath}/d`, [
    { op: "replace", path: "/spec/template/spec/containers/0/image", value: "one:2" },
  ]),
  patch(
    "strategic",
    `${deploymentsPath}/d`,
    containers({ name: "one", image: "one:3" }, { name: "two", image: "two:1" }),
  ),
  patch("strategic", `${deploymentsPath}/d`, containers({ name: "one", $patch: "delete" })),
  patch("strategic", `${deploymentsPath}/d`, containers({ image: "nameless:1" })),
  patch("strategic", `${deploymentsPath}/d`, { spec: { template: { spec: { $setElementOrder: 1 } } } }),
  patch("strategic", `${deploymentsPath}/d`, env({ name: "A", $patch: "delete" })),
  patch("strategic", `${deploymentsPath}/d`, env({ name: "C", value: "3" }, { name: "A", value: "2" })),
  patch("strategic", `${deploymentsPath}/d`, {
    spec: {
      template: {
        spec: {
          containers: [
            {
              name: "one",
              "$setElementOrder/env": [{ name: "Z" }, { name: "A" }, { name: "B" }],
              env: [{ name: "Z", value: "1" }],
            },
          ],
        },
      },
    },
  }),
  patch("strategic", `${configMapsPath}/a`, { data: { $patch: "replace", only: "1" } }),
  patch("strategic", `${configMapsPath}/a`, "{"),
  {
    what: "patch of no type",
    method: "PATCH",
    path: `${configMapsPath}/a`,
    headers: { "content-type": "application/json" },
    body: {},
  },
  patch("merge", `${deploymentsPath}/d/scale`, { spec: { replicas: 1 } }),
  patch("merge", `${deploymentsPath}/d/status`, { status: { replicas: 1, observedGeneration: 1 } }),
];

const madeFirst = fc.constantFrom<Step>(
  { what: "create", method: "POST", path: configMapsPath, body: configMap({ name: "a" }, { data: { value: "1" } }) },
  { what: "create", method: "POST", path: deploymentsPath, body: deployment },
  { what: "create", method: "POST", path: deploymentsPath, body: doubled },
);

export const patchPrograms = inTurn(
  fc.array(madeFirst, { maxLength: 3 }),
  fc.array(fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...patches) }, { weight: 1, arbitrary: read }), {
    minLength: 1,
    maxLength: 6,
  }),
);

const applied = fc
  .record({
    manager: perhaps("one", "two"),
    force: perhaps("true", "false"),
    fields: fc.subarray(["x", "y", "z"]),
    value: fc.constantFrom("1", "2"),
    managedFields: fc.option(fc.constant([] as Json), { nil: undefined, freq: 8 }),
  })
  .map(({ manager, force, fields, value, managedFields }) =>
    patch(
      "apply",
      `${configMapsPath}/a`,
      configMap(
        { name: "a", ...(managedFields === undefined ? {} : { managedFields }) },
        { data: Object.fromEntries(fields.map((field) => [field, value])) },
      ),
      query({ fieldManager: manager, force }).query,
    ),
  );

const deploymentApplied = fc.subarray(["one", "two"]).map((names) =>
  patch(
    "apply",
    `${deploymentsPath}/d`,
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "d" },
      ...containers(...names.map((name) => ({ name, image: `${name}:9` }))),
    },
    { fieldManager: "one" },
  ),
);

export const applySteps = fc.oneof(
  { weight: 4, arbitrary: applied },
  { weight: 1, arbitrary: deploymentApplied },
  { weight: 2, arbitrary: madeFirst },
  { weight: 1, arbitrary: fc.constantFrom(...patches.slice(0, 2)) },
  { weight: 1, arbitrary: read },
);

const strays: readonly string[] = [
  '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"zz":1}',
  '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","zz":1}}',
  '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"1","k":"2"}}',
  '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"Data":{"k":"1"}}',
  '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":1}}',
  '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"not a key!":"1"}}',
  '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","labels":{"a":"not a label!"}}}',
  '{"apiVersion":"v2","kind":"ConfigMap","metadata":{"name":"a"}}',
  '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"}}',
  '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"elsewhere"}}',
  '{"metadata":{"name":"a"}}',
  "{",
  "",
];

export const validationSteps = fc
  .record({
    body: fc.constantFrom(...strays),
    level: perhaps("Strict", "Warn", "Ignore", "Loud"),
    method: fc.constantFrom("POST", "PUT"),
  })
  .map(
    ({ body, level, method }): Step => ({
      what: method === "POST" ? "create" : "replace",
      method,
      path: method === "POST" ? configMapsPath : `${configMapsPath}/a`,
      headers: { "content-type": "application/json" },
      ...query({ fieldValidation: level }),
      body,
    }),
  );
