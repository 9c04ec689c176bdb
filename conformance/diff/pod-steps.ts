/** Steps on pods, which are deleted with grace, bound and evicted. No node runs any: they are placed where none is. */
import fc from "fast-check";
import type { JsonObject } from "../client/types.ts";
import { inTurn, type Program, type Step } from "./step.ts";

const podsPath = "/api/v1/namespaces/{ns}/pods";
const anyName = fc.constantFrom("a", "b");

const createPod = (name: string, spec: JsonObject): Step => ({
  what: "create a pod",
  method: "POST",
  path: podsPath,
  body: {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, labels: { app: "x" } },
    spec: { automountServiceAccountToken: false, containers: [{ name: "main", image: "example.com/none:1" }], ...spec },
  },
});

/** A server that makes a service account for each namespace takes pods only then. */
const untilPodsAreTaken: Step = {
  ...createPod("first", { schedulerName: "nobody" }),
  what: "create the first pod",
  until: '"kind":"Pod"',
};

const placedPod = (name: string, terminationGracePeriodSeconds: number): Step =>
  createPod(name, { nodeName: "touchstone-no-such-node", terminationGracePeriodSeconds });
const placed = fc.tuple(anyName, fc.constantFrom(30, 60)).map(([name, seconds]) => placedPod(name, seconds));
const waiting = anyName.map((name) => createPod(name, { schedulerName: "nobody" }));

const options = (fields: JsonObject): JsonObject => ({ apiVersion: "v1", kind: "DeleteOptions", ...fields });

const deleted = fc
  .record({
    name: anyName,
    fields: fc.constantFrom<JsonObject>(
      {},
      { gracePeriodSeconds: 100 },
      { gracePeriodSeconds: 5 },
      { gracePeriodSeconds: 1 },
      { gracePeriodSeconds: 0 },
      { gracePeriodSeconds: -1 },
      { preconditions: { resourceVersion: "{version:a}" } },
      { preconditions: { uid: "{uid:b}" } },
      { dryRun: ["All"] },
    ),
  })
  .map(
    ({ name, fields }): Step => ({
      what: "delete a pod",
      method: "DELETE",
      path: `${podsPath}/${name}`,
      body: options(fields),
    }),
  );

const collectionDeleted = fc.constantFrom<JsonObject>({}, { gracePeriodSeconds: 7 }, { gracePeriodSeconds: 0 }).map(
  (fields): Step => ({
    what: "delete all pods",
    method: "DELETE",
    path: podsPath,
    query: { labelSelector: "app=x" },
    body: options(fields),
  }),
);

const anyUid = fc.constantFrom<JsonObject>({}, { uid: "{uid:b}" }, { uid: "00000000-0000-0000-0000-000000000001" });

const bound = fc.record({ name: anyName, metadata: anyUid }).map(
  ({ name, metadata }): Step => ({
    what: "bind a pod",
    method: "POST",
    path: `${podsPath}/${name}/binding`,
    body: {
      apiVersion: "v1",
      kind: "Binding",
      metadata: { name, ...metadata },
      target: { kind: "Node", name: "touchstone-no-such-node" },
    },
  }),
);

const evicted = fc
  .record({
    name: anyName,
    query: fc.constantFrom<Record<string, string>>({}, { dryRun: "All" }),
    deleteOptions: fc.constantFrom<JsonObject | undefined>(undefined, { dryRun: ["All"] }, { gracePeriodSeconds: 3 }),
  })
  .map(
    ({ name, query, deleteOptions }): Step => ({
      what: "evict a pod",
      method: "POST",
      path: `${podsPath}/${name}/eviction`,
      query,
      body: {
        apiVersion: "policy/v1",
        kind: "Eviction",
        metadata: { name },
        ...(deleteOptions === undefined ? {} : { deleteOptions }),
      },
    }),
  );

const read = anyName.map((name): Step => ({ what: "get a pod", method: "GET", path: `${podsPath}/${name}` }));
const listed: Step = { what: "list pods", method: "GET", path: podsPath, query: { labelSelector: "app=x" } };

export const podPrograms = inTurn(
  fc.constant([untilPodsAreTaken]),
  // Two with graces of their own, or any.
  fc.oneof(
    fc.constantFrom<Program>([placedPod("a", 30), placedPod("b", 60)], [placedPod("a", 60), placedPod("b", 30)]),
    fc.array(fc.oneof(placed, waiting), { minLength: 1, maxLength: 3 }),
  ),
  fc.array(
    fc.oneof(
      { weight: 4, arbitrary: deleted },
      { weight: 2, arbitrary: collectionDeleted },
      { weight: 2, arbitrary: bound },
      { weight: 2, arbitrary: evicted },
      { weight: 1, arbitrary: read },
      { weight: 1, arbitrary: fc.constant(listed) },
    ),
    { minLength: 1, maxLength: 5 },
  ),
);
