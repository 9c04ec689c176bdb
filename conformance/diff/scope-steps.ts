/** Steps that reach beyond one namespace: a neighbour whose name is longer, its end, quotas, events and what regards them. */
import fc from "fast-check";
import type { JsonObject } from "../client/types.ts";
import { configMapsPath } from "./object-steps.ts";
import { inTurn, type Step } from "./step.ts";

const mergePatch = { "content-type": "application/merge-patch+json" };
const neighboursPath = "/api/v1/namespaces/{other}/configmaps";
const neighbour = "/api/v1/namespaces/{other}";

const configMap = (name: string, metadata: JsonObject = {}): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, labels: { team: "red" }, ...metadata },
});

const anyPlace = fc.constantFrom(configMapsPath, neighboursPath);
const anyName = fc.constantFrom("a", "b");

const written = fc.record({ path: anyPlace, name: anyName, held: fc.boolean() }).map(
  ({ path, name, held }): Step => ({
    what: "create",
    method: "POST",
    path,
    body: configMap(name, held ? { finalizers: ["example.com/hold"] } : {}),
  }),
);

const around: readonly Step[] = [
  { what: "list", method: "GET", path: configMapsPath },
  { what: "list", method: "GET", path: neighboursPath },
  { what: "list in all namespaces", method: "GET", path: "/api/v1/configmaps", query: { labelSelector: "team=red" } },
  {
    what: "list in all namespaces",
    method: "GET",
    path: "/api/v1/configmaps",
    query: { fieldSelector: "metadata.name=a" },
  },
  {
    what: "list in all namespaces",
    method: "GET",
    path: "/api/v1/configmaps",
    query: { fieldSelector: "metadata.namespace={other}" },
  },
  { what: "delete a collection", method: "DELETE", path: configMapsPath, query: { labelSelector: "team=red" } },
  { what: "get a namespace", method: "GET", path: neighbour },
  { what: "delete a namespace", method: "DELETE", path: neighbour, query: { dryRun: "All" } },
  { what: "merge patch of a namespace", method: "PATCH", path: neighbour, headers: mergePatch, body: { spec: null } },
  {
    what: "read continued elsewhere",
    method: "GET",
    path: neighboursPath,
    query: { continue: "{continue}", limit: "1" },
  },
  { what: "first page", method: "GET", path: configMapsPath, query: { limit: "1" } },
];

/** A namespace that something holds is going for as long as a program lasts. */
const going: readonly Step[] = [
  {
    what: "create what holds its namespace",
    method: "POST",
    path: neighboursPath,
    body: configMap("holder", { finalizers: ["example.com/hold"] }),
  },
  { what: "delete a namespace", method: "DELETE", path: neighbour },
  // Its controller says what holds it in its own time: on one server sooner than on another.
  { what: "await what is said of it", method: "GET", path: neighbour, until: '"conditions":[' },
];

const inGoing: readonly Step[] = [
  { what: "create in what is going", method: "POST", path: neighboursPath, body: configMap("late") },
  {
    what: "apply in what is going",
    method: "PATCH",
    path: `${neighboursPath}/late`,
    query: { fieldManager: "one" },
    headers: { "content-type": "application/apply-patch+yaml" },
    body: configMap("late"),
  },
  { what: "delete a namespace again", method: "DELETE", path: neighbour },
];

const quota: readonly Step[] = [
  {
    what: "create a quota",
    method: "POST",
    path: "/api/v1/namespaces/{ns}/resourcequotas",
    body: {
      apiVersion: "v1",
      kind: "ResourceQuota",
      metadata: { name: "few" },
      spec: { hard: { "count/services": "1" } },
    },
  },
  {
    what: "await the quota",
    method: "GET",
    path: "/api/v1/namespaces/{ns}/resourcequotas/few",
    until: '"used":{',
  },
];

const service = (name: string, query: Record<string, string> = {}): Step => ({
  what: "create under a quota",
  method: "POST",
  path: "/api/v1/namespaces/{ns}/services",
  query,
  body: { apiVersion: "v1", kind: "Service", metadata: { name }, spec: { ports: [{ port: 80 }] } },
});

const underQuota = fc.constantFrom(service("a"), service("b"), service("c", { dryRun: "All" }));

export const scopePrograms = fc.oneof(
  {
    weight: 4,
    arbitrary: inTurn(
      fc.array(written, { minLength: 1, maxLength: 4 }),
      fc.array(fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...around) }, { weight: 1, arbitrary: written }), {
        minLength: 1,
        maxLength: 5,
      }),
    ),
  },
  {
    weight: 1,
    arbitrary: inTurn(fc.constant(going), fc.array(fc.constantFrom(...inGoing), { minLength: 1, maxLength: 3 })),
  },
  { weight: 1, arbitrary: inTurn(fc.constant(quota), fc.array(underQuota, { minLength: 2, maxLength: 4 })) },
);

const eventsPath = "/apis/events.svc.io/v1/namespaces/{ns}/events";
const coreEventsPath = "/api/v1/namespaces/{ns}/events";

const event = fc
  .record({
    name: anyName,
    regards: fc.constantFrom("x", "y"),
    reason: fc.constantFrom("Seen", "Heard"),
    more: fc.constantFrom<JsonObject>(
      {},
      { series: { count: 1, lastObservedTime: "2026-01-01T00:00:00.000000Z" } },
      { series: { count: 2, lastObservedTime: "2026-01-01T00:00:00.000000Z" } },
      { action: "" },
      { type: "Poem" },
      { note: "n".repeat(1025) },
      { eventTime: null },
    ),
  })
  .map(
    ({ name, regards, reason, more }): Step => ({
      what: "create an event",
      method: "POST",
      path: eventsPath,
      body: {
        apiVersion: "events.svc.io/v1",
        kind: "Event",
        metadata: { name },
        eventTime: "2026-01-01T00:00:00.000000Z",
        reportingController: "example.com/diff",
        reportingInstance: "one",
        action: "Look",
        reason,
        type: "Normal",
        regarding: { apiVersion: "v1", kind: "ConfigMap", namespace: "{ns}", name: regards },
        note: "n",
        ...more,
      },
    }),
  );

const selected = (path: string, fieldSelector: string): Step => ({
  what: "select events",
  method: "GET",
  path,
  query: { fieldSelector },
});

const eventReads: readonly Step[] = [
  ...["regarding.name=x", "regarding.kind=ConfigMap", "reason=Seen", "type=Normal", "note=n"].map((selector) =>
    selected(eventsPath, selector),
  ),
  ...["involvedObject.name=x", "involvedObject.kind=ConfigMap", "reason!=Seen", "source=x", "type=Warning"].map(
    (selector) => selected(coreEventsPath, selector),
  ),
  { what: "get an event", method: "GET", path: `${eventsPath}/a` },
  { what: "get an event of the core", method: "GET", path: `${coreEventsPath}/a` },
  {
    what: "count an event on",
    method: "PATCH",
    path: `${eventsPath}/a`,
    headers: mergePatch,
    body: { series: { count: 3, lastObservedTime: "2026-01-01T00:01:00.000000Z" } },
  },
  { what: "change an event", method: "PATCH", path: `${eventsPath}/a`, headers: mergePatch, body: { reason: "Other" } },
];

export const eventPrograms = inTurn(
  fc.array(event, { minLength: 1, maxLength: 4 }),
  fc.array(fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...eventReads) }, { weight: 1, arbitrary: event }), {
    minLength: 1,
    maxLength: 4,
  }),
);
