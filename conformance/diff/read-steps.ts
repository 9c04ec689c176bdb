/** Steps that read: lists, watches, representations, errors, discovery. */
import fc from "fast-check";
import type { JsonObject } from "../client/types.ts";
import { configMapsPath, deploymentsPath } from "./object-steps.ts";
import { inTurn, type Program, type Step } from "./step.ts";

const written = fc.record({ name: fc.constantFrom("a", "a-0", "b", "c"), team: fc.constantFrom("red", "blue") }).map(
  ({ name, team }): Step => ({
    what: "create",
    method: "POST",
    path: configMapsPath,
    body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name, labels: { team } } },
  }),
);

const relabelled = fc.record({ name: fc.constantFrom("a", "b"), team: fc.constantFrom("red", "blue", null) }).map(
  ({ name, team }): Step => ({
    what: "merge patch",
    method: "PATCH",
    path: `${configMapsPath}/${name}`,
    headers: { "content-type": "application/merge-patch+json" },
    body: { metadata: { labels: { team } } },
  }),
);

const removed = fc
  .constantFrom("a", "b")
  .map((name): Step => ({ what: "delete", method: "DELETE", path: `${configMapsPath}/${name}` }));

const listed = (query: Record<string, string>): Step => ({ what: "list", method: "GET", path: configMapsPath, query });

const lateWrites: readonly Step[] = ["a-late", "z-late"].map((name) => ({
  what: "create",
  method: "POST",
  path: configMapsPath,
  body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name } },
}));

const lists: readonly Step[] = [
  listed({}),
  listed({ limit: "1" }),
  listed({ limit: "2", labelSelector: "team=red" }),
  listed({ limit: "-1" }),
  listed({ limit: "x" }),
  listed({ limit: "1", continue: "{continue}" }),
  listed({ continue: "{continue}" }),
  listed({ continue: "{continue}", resourceVersion: "{version}" }),
  listed({ continue: "nonsense" }),
  listed({ resourceVersion: "0" }),
  listed({ resourceVersion: "0", limit: "1" }),
  listed({ resourceVersion: "{version}" }),
  listed({ resourceVersion: "{version}", resourceVersionMatch: "Exact" }),
  listed({ resourceVersion: "{version}", resourceVersionMatch: "NotOlderThan" }),
  listed({ resourceVersion: "{version}", resourceVersionMatch: "Sometimes" }),
  listed({ resourceVersion: "x" }),
  listed({ resourceVersion: "-1" }),
  listed({ resourceVersion: "0", resourceVersionMatch: "Exact" }),
  listed({ resourceVersionMatch: "Exact" }),
  listed({ resourceVersionMatch: "NotOlderThan", limit: "1", resourceVersion: "{version}" }),
  listed({ resourceVersion: "999999999", resourceVersionMatch: "Exact" }),
  listed({ labelSelector: "team in (red,blue)" }),
  listed({ labelSelector: "!team" }),
  listed({ labelSelector: "team notin (red)" }),
  listed({ labelSelector: "team in red" }),
  listed({ labelSelector: "team=not a value!" }),
  listed({ labelSelector: "a > 1" }),
  listed({ fieldSelector: "metadata.name=a" }),
  listed({ fieldSelector: "metadata.name!=a" }),
  listed({ fieldSelector: "data.value=1" }),
  listed({ fieldSelector: "metadata.name" }),
  listed({ sendInitialEvents: "true" }),
  listed({ allowWatchBookmarks: "true" }),
  listed({ timeoutSeconds: "x" }),
  { what: "get", method: "GET", path: `${configMapsPath}/a`, query: { resourceVersion: "0" } },
  { what: "get", method: "GET", path: `${configMapsPath}/a`, query: { resourceVersion: "x" } },
];

/** Most of what lists are asked needs something to be there, and a list before; an empty one is asked for as well. */
export const listPrograms = inTurn(
  fc.array(written, { minLength: 0, maxLength: 4 }),
  fc.constantFrom<Program>(
    [listed({})],
    [listed({ limit: "1" })],
    [],
    // The second page is of the first one's moment, whatever was written in between.
    [listed({ limit: "1" }), ...lateWrites, listed({ limit: "1", continue: "{continue}" })],
  ),
  fc.array(
    fc.oneof(
      { weight: 1, arbitrary: written },
      { weight: 1, arbitrary: removed },
      { weight: 5, arbitrary: fc.constantFrom(...lists) },
    ),
    { minLength: 1, maxLength: 6 },
  ),
);

const watched = (query: Record<string, string>): Step => ({
  what: "watch",
  method: "GET",
  path: configMapsPath,
  query: { watch: "true", timeoutSeconds: "20", ...query },
});

/** None of them may shut the fence out: it has the label `team: red`. */
const watches: readonly Step[] = [
  watched({}),
  watched({ resourceVersion: "0" }),
  watched({ resourceVersion: "{version}" }),
  watched({ resourceVersion: "{version}", labelSelector: "team=red" }),
  watched({ resourceVersion: "{version}", labelSelector: "team!=blue" }),
  watched({ resourceVersion: "{version}", labelSelector: "team in red" }),
  watched({ resourceVersion: "{version}", allowWatchBookmarks: "true" }),
  watched({ resourceVersion: "{version}", resourceVersionMatch: "NotOlderThan" }),
  watched({ resourceVersion: "x" }),
  watched({ resourceVersion: "{version}", limit: "1" }),
  watched({ resourceVersion: "{version}", continue: "x" }),
  watched({ sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan", allowWatchBookmarks: "true" }),
  watched({ sendInitialEvents: "true", allowWatchBookmarks: "true" }),
  watched({ sendInitialEvents: "false", resourceVersionMatch: "NotOlderThan", resourceVersion: "{version}" }),
];

/** A watch tells what happened after the list that it begins at. */
export const watchPrograms = inTurn(
  fc.array(written, { maxLength: 3 }),
  fc.constant([listed({})]),
  fc.array(
    fc.oneof(
      { weight: 2, arbitrary: written },
      { weight: 3, arbitrary: relabelled },
      { weight: 2, arbitrary: removed },
    ),
    { maxLength: 5 },
  ),
  fc.array(fc.constantFrom(...watches), { minLength: 1, maxLength: 2 }),
);

const accepts: readonly string[] = [
  "application/json",
  "application/json;as=Table;g=meta.svc.io;v=v1",
  "application/json;as=Table;g=meta.svc.io;v=v1beta1",
  "application/json;as=Table;g=meta.svc.io;v=v1,application/json",
  "application/json;as=PartialObjectMetadata;g=meta.svc.io;v=v1",
  "application/json;as=PartialObjectMetadataList;g=meta.svc.io;v=v1",
  "application/json;as=Poem;g=meta.svc.io;v=v1",
  "application/json;as=Poem;g=meta.svc.io;v=v1,application/json",
  "text/html,application/json;q=0.5",
  "application/yaml",
  "application/vnd.svc.protobuf",
  "application/cbor",
  "text/html",
  "*/*",
  "application/*;q=0.5",
  "nonsense",
];

const shown = fc
  .record({
    path: fc.constantFrom(configMapsPath, `${configMapsPath}/a`, `${configMapsPath}/absent`, deploymentsPath),
    accept: fc.constantFrom(...accepts),
    query: fc.constantFrom<Record<string, string>>(
      {},
      {},
      { limit: "1" },
      ...["None", "Object", "Metadata", "All"].map((includeObject) => ({ includeObject })),
    ),
  })
  .map(
    ({ path, accept, query }): Step => ({
      what: `read as ${accept.split(/[,;]g=/)[0] as string}`,
      method: "GET",
      path,
      headers: { accept },
      ...(Object.keys(query).length === 0 ? {} : { query }),
    }),
  );

/** More than a server that packs only what is worth it sends plain. */
const large: Step = {
  what: "create something large",
  method: "POST",
  path: configMapsPath,
  body: {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "large" },
    data: { filler: "filler ".repeat(20_000) },
  },
};

const packed = fc
  .record({
    path: fc.constantFrom(configMapsPath, `${configMapsPath}/a`, `${configMapsPath}/large`),
    coding: fc.constantFrom("gzip", "deflate, gzip", "identity", "br"),
  })
  .map(
    ({ path, coding }): Step => ({
      what: `read packed as ${coding}`,
      method: "GET",
      path,
      headers: { "accept-encoding": coding },
    }),
  );

const representationSteps = fc.oneof(
  { weight: 1, arbitrary: written },
  { weight: 8, arbitrary: shown },
  { weight: 1, arbitrary: fc.constant(large) },
  { weight: 2, arbitrary: packed },
);

/** An empty collection looks alike in every form. */
export const representationPrograms = inTurn(
  fc.array(written, { minLength: 1, maxLength: 3 }),
  fc.array(representationSteps, { minLength: 1, maxLength: 8, size: "max" }),
);

const json = { "content-type": "application/json" };

/** Requests that go wrong in ways of their own: the words say which. */
const errors: readonly Step[] = [
  { what: "path outside the API", method: "GET", path: "/nowhere" },
  { what: "unknown group", method: "GET", path: "/apis/absent.example.com/v1" },
  { what: "unknown version", method: "GET", path: "/api/v2/configmaps" },
  { what: "unknown resource", method: "GET", path: "/api/v1/namespaces/{ns}/poems" },
  { what: "unknown subresource", method: "GET", path: `${configMapsPath}/a/status` },
  { what: "absent object", method: "GET", path: `${configMapsPath}/absent` },
  { what: "absent namespace", method: "GET", path: "/api/v1/namespaces/absent-{ns}/configmaps" },
  {
    what: "create in an absent namespace",
    method: "POST",
    path: "/api/v1/namespaces/absent-{ns}/configmaps",
    body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } },
  },
  { what: "post to an object", method: "POST", path: `${configMapsPath}/a`, body: {} },
  { what: "put to a collection", method: "PUT", path: configMapsPath, body: {} },
  {
    what: "patch of a collection",
    method: "PATCH",
    path: configMapsPath,
    headers: { "content-type": "application/merge-patch+json" },
    body: {},
  },
  { what: "unknown method", method: "OPTIONS", path: configMapsPath },
  {
    what: "unknown content type",
    method: "POST",
    path: configMapsPath,
    headers: { "content-type": "text/plain" },
    body: "hello",
  },
  {
    what: "form as a body",
    method: "POST",
    path: configMapsPath,
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: "a=1",
  },
  { what: "no object", method: "POST", path: configMapsPath, headers: json, body: "[]" },
  { what: "null", method: "POST", path: configMapsPath, headers: json, body: "null" },
  {
    what: "no name",
    method: "POST",
    path: configMapsPath,
    body: { apiVersion: "v1", kind: "ConfigMap", metadata: {} },
  },
  {
    what: "other name than the path's",
    method: "PUT",
    path: `${configMapsPath}/a`,
    body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "b" } },
  },
  {
    what: "version in a create",
    method: "POST",
    path: configMapsPath,
    body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "v", resourceVersion: "1" } },
  },
  {
    what: "unknown dry run",
    method: "POST",
    path: configMapsPath,
    query: { dryRun: "Some" },
    body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } },
  },
  {
    what: "empty dry run",
    method: "POST",
    path: configMapsPath,
    query: { dryRun: "" },
    body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } },
  },
  { what: "watch of a single object", method: "DELETE", path: `${configMapsPath}/absent` },
  { what: "namespaced list of a cluster's type", method: "GET", path: "/api/v1/namespaces/{ns}/nodes" },
  {
    what: "watch of what cannot be watched",
    method: "GET",
    path: "/api/v1/componentstatuses",
    query: { watch: "true" },
  },
  { what: "trailing slash", method: "GET", path: `${configMapsPath}/` },
  { what: "double slash", method: "GET", path: "/api//v1/configmaps" },
];

export const errorSteps = fc.oneof(
  { weight: 1, arbitrary: written },
  { weight: 4, arbitrary: fc.constantFrom(...errors) },
);

const aggregated = (kind: string): JsonObject => ({ accept: `application/json;g=apidiscovery.svc.io;v=v2;as=${kind}` });

const documents: readonly string[] = [
  "/api",
  "/apis",
  "/api/v1",
  "/apis/apps",
  "/apis/apps/v1",
  "/apis/batch/v1",
  "/apis/policy/v1",
  "/apis/autoscaling/v2",
  "/apis/networking.svc.io/v1",
  "/apis/rbac.authorization.svc.io/v1",
  "/apis/coordination.svc.io/v1",
  "/apis/discovery.svc.io/v1",
  "/apis/events.svc.io/v1",
  "/apis/admissionregistration.svc.io/v1",
  "/apis/apiextensions.svc.io/v1",
  "/apis/authentication.svc.io/v1",
  "/apis/authorization.svc.io/v1",
  "/healthz",
  "/livez",
  "/readyz",
];

export const discoverySteps = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom(...documents).map((path): Step => ({ what: `read ${path}`, method: "GET", path })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom("/api", "/apis").map(
      (path): Step => ({
        what: `read ${path} whole`,
        method: "GET",
        path,
        headers: aggregated("APIGroupDiscoveryList") as Record<string, string>,
      }),
    ),
  },
);
