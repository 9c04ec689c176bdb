import { expect, it } from "vitest";
import type { ServerBugName } from "../planted/server-bugs.ts";
import { kubernetesProfile } from "../contract/profile.ts";
import { metadataOf } from "../contract/objects.ts";
import { type Answer, configMaps, TestBed } from "./test-bed.fixture.ts";

const named = (name: string, more: object = {}) => ({ metadata: { name }, ...more });
const pods = "/api/v1/namespaces/default/pods";
const pod = (name: string, spec: object = {}) =>
  named(name, { spec: { nodeName: "n", containers: [{ name: "c", image: "i" }], ...spec } });
const held = { metadata: { name: "a", finalizers: ["example.com/hold"] } };
const version = (bed: TestBed, path: string): string => bed.ask(`GET ${path}`).at("metadata.resourceVersion") as string;
const made = (bed: TestBed, body: object = named("a")): void => void bed.ask(`POST ${configMaps}`, { body });

const podTemplates = "/api/v1/namespaces/default/podtemplates";
const podTemplate = (variables: readonly string[]) => {
  const env = variables.map((name) => ({ name }));
  return named("a", { template: { spec: { containers: [{ name: "c", image: "i", env }] } } });
};

/** The variables of a container that had `variables`, after a strategic patch of it. */
function patchedNames(bed: TestBed, variables: readonly string[], change: object): unknown {
  bed.ask(`POST ${podTemplates}`, { body: podTemplate(variables) });
  const body = { template: { spec: { containers: [{ name: "c", ...change }] } } };
  const headers = { "content-type": "application/strategic-merge-patch+json" };
  const env = bed.ask(`PATCH ${podTemplates}/a`, { body, headers }).at("template.spec.containers.0.env");
  return (env as readonly { name: string }[] | undefined)?.map(({ name }) => name);
}

const namesIn = (list: Answer): unknown =>
  (list.body["items"] as readonly { metadata: { name: string } }[]).map(({ metadata }) => metadata.name);
const toldTypes = (watch: Answer): unknown => watch.events.map(({ type }) => type);
const toldNames = (watch: Answer): unknown => watch.events.map(({ object }) => metadataOf(object).name);
const streaming = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";

const statusOf = (bed: TestBed, query: string): number => bed.ask(`GET ${configMaps}?${query}`).status;
const watched = "/api/v1/watch/namespaces/default/configmaps";

/** Two objects, one of them with a label; the version after them. */
function labelled(bed: TestBed): string {
  made(bed, { metadata: { name: "a", labels: { l: "x" } } });
  made(bed, named("b"));
  return version(bed, `${configMaps}/b`);
}

function seenBelow(bed: TestBed, path: string): unknown {
  labelled(bed);
  return toldNames(bed.ask(`GET ${path}`));
}

function tableOf(bed: TestBed, query: string): Answer {
  const headers = { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" };
  return bed.ask(`GET ${configMaps}?${query}`, { headers });
}

const sets = "/apis/apps/v1/namespaces/default/replicasets";

function scaled(bed: TestBed): void {
  const labels = { app: "a" };
  const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }] } };
  const spec = { replicas: 1, selector: { matchLabels: labels }, template };
  bed.ask(`POST ${sets}`, { body: named("a", { spec }) });
}

/** For each bug that shows in a few requests: something that a client sees, with what is right. */
const symptoms: Partial<Record<ServerBugName, readonly [right: unknown, see: (bed: TestBed) => unknown]>> = {
  "rv-not-bumped-on-write": [
    true,
    (bed) => {
      made(bed);
      const before = version(bed, `${configMaps}/a`);
      return bed.merge(`${configMaps}/a`, { data: { k: "v" } }).at("metadata.resourceVersion") !== before;
    },
  ],
  "noop-update-returns-empty-rv": [
    false,
    (bed) => {
      made(bed);
      return bed.merge(`${configMaps}/a`, {}).at("metadata.resourceVersion") === "";
    },
  ],
  "fake-create-mutates-on-error": [
    true,
    (bed) => {
      made(bed);
      const before = version(bed, `${configMaps}/a`);
      made(bed);
      return version(bed, `${configMaps}/a`) === before;
    },
  ],
  "create-existing-wrong-error": [
    409,
    (bed) => {
      made(bed);
      return bed.ask(`POST ${configMaps}`, { body: named("a") }).status;
    },
  ],
  "patch-retry-spurious-409": [
    [200, 200],
    (bed) => {
      made(bed);
      const answers = [1, 2].map((n) => bed.merge(`${configMaps}/a`, { data: { [`k${n}`]: "v" } }));
      bed.advance(1);
      return answers.map(({ status }) => status);
    },
  ],
  "patch-lost-update": [
    { k1: "v", k2: "v" },
    (bed) => {
      made(bed);
      for (const n of [1, 2]) bed.merge(`${configMaps}/a`, { data: { [`k${n}`]: "v" } });
      bed.advance(1);
      return bed.ask(`GET ${configMaps}/a`).at("data");
    },
  ],
  "patch-rv-not-a-precondition": [
    409,
    (bed) => {
      made(bed);
      return bed.merge(`${configMaps}/a`, { metadata: { resourceVersion: "1" }, data: { k: "v" } }).status;
    },
  ],
  "smp-duplicate-mergekey": [
    ["F", "G"],
    (bed) => patchedNames(bed, ["E", "F", "E", "G"], { env: [{ name: "E", $patch: "delete" }] }),
  ],
  "smp-setelementorder-mismatch": [
    ["F", "E"],
    (bed) => patchedNames(bed, ["E", "F"], { "$setElementOrder/env": [{ name: "F" }, { name: "E" }] }),
  ],
  "ssa-managedfields-wiped": [
    "creator",
    (bed) => {
      const made = bed.ask(`POST ${podTemplates}?fieldManager=creator`, { body: podTemplate(["E", "E"]) });
      return made.at("metadata.managedFields.0.manager");
    },
  ],
  "accept-params-no-fallback": [
    200,
    (bed) => {
      const accept = "application/json;as=Table;g=example.com;v=v9, application/json";
      return bed.ask(`GET ${configMaps}`, { headers: { accept } }).status;
    },
  ],
  "protobuf-unmarshalable-half-200": [
    406,
    (bed) => {
      const names = { plural: "widgets", kind: "Widget" };
      const schema = { openAPIV3Schema: { type: "object" } };
      const versions = [{ name: "v1", served: true, storage: true, schema }];
      const spec = { group: "example.com", scope: "Namespaced", names, versions };
      bed.ask("POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
        body: { ...named("widgets.example.com"), spec },
      });
      bed.advance(10);
      const widgets = "/apis/example.com/v1/namespaces/default/widgets";
      bed.ask(`POST ${widgets}`, { body: { apiVersion: "example.com/v1", kind: "Widget", ...named("a") } });
      const headers = { accept: "application/vnd.kubernetes.protobuf" };
      return bed.ask(`GET ${widgets}/a`, { headers }).status;
    },
  ],
  "delete-precondition-ignored": [
    409,
    (bed) => {
      made(bed);
      return bed.ask(`DELETE ${configMaps}/a`, { body: { preconditions: { uid: "other" } } }).status;
    },
  ],
  "delete-precondition-self-conflict": [
    200,
    (bed) => {
      bed.ask(`POST ${pods}`, { body: pod("p") });
      const preconditions = { resourceVersion: version(bed, `${pods}/p`) };
      return bed.ask(`DELETE ${pods}/p`, { body: { gracePeriodSeconds: 0, preconditions } }).status;
    },
  ],
  "delete-ignores-finalizers": [
    200,
    (bed) => {
      made(bed, held);
      bed.ask(`DELETE ${configMaps}/a`);
      return bed.ask(`GET ${configMaps}/a`).status;
    },
  ],
  "last-finalizer-removed-object-stays": [
    404,
    (bed) => {
      made(bed, held);
      bed.ask(`DELETE ${configMaps}/a`);
      bed.merge(`${configMaps}/a`, { metadata: { finalizers: null } });
      return bed.ask(`GET ${configMaps}/a`).status;
    },
  ],
  "foreground-finalizer-readded": [
    ["example.com/hold"],
    (bed) => {
      bed.advance(1);
      made(bed, held);
      for (let times = 0; times < 2; times += 1) {
        bed.ask(`DELETE ${configMaps}/a?propagationPolicy=Foreground`);
        bed.advance(2);
      }
      return bed.ask(`GET ${configMaps}/a`).at("metadata.finalizers");
    },
  ],
  "deletiontimestamp-moves-back": [
    "2030-01-01T00:00:20Z",
    (bed) => {
      bed.ask(`POST ${pods}`, { body: pod("p") });
      bed.ask(`DELETE ${pods}/p`);
      bed.advance(20);
      return bed.ask(`DELETE ${pods}/p?gracePeriodSeconds=1`).at("metadata.deletionTimestamp");
    },
  ],
  "repeat-delete-extends-grace": [
    "2030-01-01T00:00:30Z",
    (bed) => {
      bed.ask(`POST ${pods}`, { body: pod("p") });
      bed.ask(`DELETE ${pods}/p`);
      bed.advance(20);
      return bed.ask(`DELETE ${pods}/p`).at("metadata.deletionTimestamp");
    },
  ],
  "negative-grace-undeletable": [
    404,
    (bed) => {
      bed.ask(`POST ${pods}`, { body: pod("p") });
      bed.ask(`DELETE ${pods}/p?gracePeriodSeconds=-1`);
      bed.ask(`DELETE ${pods}/p?gracePeriodSeconds=0`);
      return bed.ask(`GET ${pods}/p`).status;
    },
  ],
  "deletecollection-options-leak": [
    [5, 60],
    (bed) => {
      bed.ask(`POST ${pods}`, { body: pod("a", { terminationGracePeriodSeconds: 5 }) });
      bed.ask(`POST ${pods}`, { body: pod("b", { terminationGracePeriodSeconds: 60 }) });
      bed.ask(`DELETE ${pods}`);
      return ["a", "b"].map((name) => bed.ask(`GET ${pods}/${name}`).at("metadata.deletionGracePeriodSeconds"));
    },
  ],
  "deletecollection-body-500": [
    200,
    (bed) => bed.ask(`DELETE ${configMaps}`, { body: { kind: "DeleteOptions" } }).status,
  ],
  "dry-run-persists": [
    200,
    (bed) => {
      made(bed);
      bed.ask(`DELETE ${configMaps}/a?dryRun=All`);
      return bed.ask(`GET ${configMaps}/a`).status;
    },
  ],
  "dry-run-invalid-value-accepted": [
    422,
    (bed) => bed.ask(`POST ${configMaps}?dryRun=Some`, { body: named("a") }).status,
  ],
  "event-series-count-one": [
    422,
    (bed) => {
      const series = { count: 1, lastObservedTime: "2030-01-01T00:00:00.000000Z" };
      const report = { reportingController: "c", reportingInstance: "i", action: "a", reason: "r", type: "Normal" };
      const regarding = { kind: "Pod", namespace: "default", name: "p" };
      const body = named("e", { ...report, regarding, eventTime: "2030-01-01T00:00:00.000000Z", series });
      return bed.ask("POST /apis/events.k8s.io/v1/namespaces/default/events", { body }).status;
    },
  ],
  "eviction-dry-run-evicts": [
    undefined,
    (bed) => {
      bed.ask(`POST ${pods}`, { body: pod("a") });
      bed.ask(`POST ${pods}/a/eviction?dryRun=All`, {
        body: { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "a" } },
      });
      return bed.ask(`GET ${pods}/a`).at("metadata.deletionTimestamp");
    },
  ],
  "namespace-takes-new-while-going": [
    403,
    (bed) => {
      bed.ask("POST /api/v1/namespaces", { body: named("n") });
      bed.ask("POST /api/v1/namespaces/n/configmaps", { body: held });
      bed.ask("DELETE /api/v1/namespaces/n");
      return bed.ask("POST /api/v1/namespaces/n/configmaps", { body: named("b") }).status;
    },
  ],
  "event-selectors-missing": [
    200,
    (bed) => bed.ask("GET /apis/events.k8s.io/v1/events?fieldSelector=regarding.name%3Dp").status,
  ],
  "unwatchable-watch-200": [405, (bed) => bed.ask("GET /api/v1/componentstatuses?watch=1").status],
  "error-not-status-object": ["application/json", (bed) => bed.ask(`GET ${configMaps}/missing`).contentType],
  "unsupported-media-wrong-code": [
    415,
    (bed) => bed.ask(`POST ${configMaps}`, { headers: { "content-type": "text/plain" }, body: "x" }).status,
  ],
  "list-invalid-rv-500": [400, (bed) => bed.ask(`GET ${configMaps}?resourceVersion=abc`).status],
  "list-stale-when-consistent-asked": [
    ["a"],
    (bed) => {
      made(bed);
      return namesIn(bed.ask(`GET ${configMaps}`));
    },
  ],
  "compacted-read-inconsistent": [
    410,
    (bed) => {
      made(bed);
      const before = version(bed, `${configMaps}/a`);
      bed.merge(`${configMaps}/a`, { data: { k: "v" } });
      bed.advance(1000);
      return bed.ask(`GET ${configMaps}?resourceVersion=${before}&resourceVersionMatch=Exact`).status;
    },
  ],
  "head-rev-rollback-race": [
    [200, 200],
    (bed) => {
      // Only every other version has a slow writer before it.
      const statuses = [
        ["a", "b"],
        ["c", "d", "e"],
      ].map((names) => {
        for (const name of names) made(bed, named(name));
        const last = version(bed, `${configMaps}/${names.at(-1)}`);
        bed.advance(1);
        return bed.ask(`GET ${configMaps}?resourceVersion=${last}&resourceVersionMatch=Exact`).status;
      });
      return statuses;
    },
  ],
  "watch-buffered-events-replayed": [
    ["ADDED"],
    (bed) => {
      made(bed);
      bed.merge(`${configMaps}/a`, { data: { k: "v" } });
      return toldTypes(bed.ask(`GET ${configMaps}?watch=1`));
    },
  ],
  "watch-unset-rv-from-stale-cache": [
    ["ADDED"],
    (bed) => {
      made(bed);
      return toldTypes(bed.ask(`GET ${configMaps}?watch=1`));
    },
  ],
  "watch-compacted-events-then-error": [
    ["ERROR"],
    (bed) => {
      made(bed);
      const before = version(bed, `${configMaps}/a`);
      bed.merge(`${configMaps}/a`, { data: { k: "v" } });
      bed.server.forgetHistory();
      bed.merge(`${configMaps}/a`, { data: { k: "w" } });
      return toldTypes(bed.ask(`GET ${configMaps}?watch=1&resourceVersion=${before}`));
    },
  ],
  "watch-commit-order-gap": [
    ["a", "b", "c"],
    (bed) => {
      made(bed, named("c"));
      bed.advance(1);
      for (const name of ["a", "b"]) made(bed, named(name)); // one of them is slow
      bed.merge(`${configMaps}/c`, { data: { k: "v" } });
      return namesIn(bed.ask(`GET ${configMaps}`));
    },
  ],
  "initial-events-stale-snapshot": [
    ["ADDED"],
    (bed) => {
      made(bed);
      return toldTypes(bed.ask(`GET ${configMaps}?${streaming}`));
    },
  ],
  "initial-events-unsorted-resume": [
    ["a", "b"],
    (bed) => {
      for (const name of ["b", "a"]) made(bed, named(name));
      return toldNames(bed.ask(`GET ${configMaps}?${streaming}`));
    },
  ],
  "generate-name-collision": [
    5,
    (bed) => {
      const body = { metadata: { generateName: "a-" } };
      const names = [1, 2, 3, 4, 5].map(() => bed.ask(`POST ${configMaps}`, { body }).at("metadata.name"));
      return new Set(names).size;
    },
  ],
  "binding-wipes-uid-precondition": [
    409,
    (bed) => {
      bed.ask(`POST ${pods}`, { body: named("p", { spec: { containers: [{ name: "c", image: "i" }] } }) });
      const body = { metadata: { name: "p", uid: "another" }, target: { name: "n" } };
      return bed.ask(`POST ${pods}/p/binding`, { body }).status;
    },
  ],
  "deletecollection-partial-unreported": [
    [],
    (bed) => {
      for (const name of ["a", "b", "c", "d", "e"]) made(bed, named(name));
      bed.ask(`DELETE ${configMaps}`);
      return namesIn(bed.ask(`GET ${configMaps}`));
    },
  ],
  "dry-run-consumes-quota": [
    201,
    (bed) => {
      const quota = named("q", { spec: { hard: { "count/configmaps": "1" } } });
      bed.ask("POST /api/v1/namespaces/default/resourcequotas", { body: quota });
      bed.ask(`POST ${configMaps}?dryRun=All`, { body: named("a") });
      return bed.ask(`POST ${configMaps}`, { body: named("a") }).status;
    },
  ],
  "discovery-wrong-content-type": ["application/json", (bed) => bed.ask("GET /apis").contentType],
  "bad-query-param-ignored": [
    [400, 400],
    (bed) => ["abc", "9223372036854775808"].map((n) => statusOf(bed, `limit=${n}`)),
  ],
  "watch-path-unselected": [
    [["a"], ["a"]],
    (bed) => [`${watched}?labelSelector=l%3Dx`, `${watched}/a`].map((path) => seenBelow(bed, path)),
  ],
  "watch-path-name-ignored": [
    [["a"], ["a"]],
    (bed) => [`${watched}/a`, `${watched}?labelSelector=l%3Dx`].map((path) => seenBelow(bed, path)),
  ],
  "watch-path-forgets-version": [[], (bed) => toldNames(bed.ask(`GET ${watched}?resourceVersion=${labelled(bed)}`))],
  "metadata-watch-is-whole": [
    [["PartialObjectMetadata", undefined]],
    (bed) => {
      made(bed, named("a", { data: { k: "v" } }));
      const headers = { accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1" };
      const { events } = bed.ask(`GET ${configMaps}?watch=1&resourceVersion=0`, { headers });
      return events.map(({ object }) => [object["kind"], object["data"]]);
    },
  ],
  "table-include-object-ignored": [
    null,
    (bed) => {
      made(bed);
      return tableOf(bed, "includeObject=None").at("rows.0.object");
    },
  ],
  "table-cells-misplaced": [
    [
      ["a", 0, "0s"],
      ["a", 0, "0s"],
    ],
    (bed) => {
      made(bed);
      const watch = tableOf(bed, "watch=1&resourceVersion=0");
      const rows = watch.events.flatMap(({ object }) => object["rows"] as readonly { readonly cells: unknown }[]);
      return [tableOf(bed, "").at("rows.0.cells"), rows[0]?.cells];
    },
  ],
  "table-drops-page": [
    ["string", 1],
    (bed) => {
      for (const name of ["a", "b"]) made(bed, named(name));
      const table = tableOf(bed, "limit=1");
      return [typeof table.at("metadata.continue"), table.at("metadata.remainingItemCount")];
    },
  ],
  "protobuf-lists-drop-token": [
    true,
    (bed) => {
      for (const name of ["a", "b"]) made(bed, named(name));
      const headers = { accept: "application/vnd.kubernetes.protobuf" };
      const { object, text } = bed.ask(`GET ${configMaps}?limit=1`, { headers });
      const token = object === undefined ? undefined : (object["metadata"] as { continue?: string }).continue;
      return token !== undefined && text.includes(token);
    },
  ],
  "collection-forgets-fields": [
    ["b"],
    (bed) => {
      for (const name of ["a", "b"]) made(bed, named(name));
      bed.ask(`DELETE ${configMaps}?fieldSelector=metadata.name%3Da`);
      return namesIn(bed.ask(`GET ${configMaps}`));
    },
  ],
  "collection-dry-run-in-body-is-real": [
    ["a"],
    (bed) => {
      made(bed);
      bed.ask(`DELETE ${configMaps}`, { body: { kind: "DeleteOptions", apiVersion: "v1", dryRun: ["All"] } });
      return namesIn(bed.ask(`GET ${configMaps}`));
    },
  ],
  "create-with-version-taken": [
    500,
    (bed) => bed.ask(`POST ${configMaps}`, { body: { metadata: { name: "a", resourceVersion: "5" } } }).status,
  ],
  "status-of-any-uid": [
    409,
    (bed) => {
      bed.ask(`POST ${pods}`, { body: pod("a") });
      const found = bed.ask(`GET ${pods}/a`).body;
      const body = { ...found, metadata: { ...metadataOf(found), uid: "another" } };
      return bed.ask(`PUT ${pods}/a/status`, { body }).status;
    },
  ],
  "status-takes-stale": [
    409,
    (bed) => {
      bed.ask(`POST ${pods}`, { body: pod("a") });
      const found = bed.ask(`GET ${pods}/a`).body;
      bed.merge(`${pods}/a`, { metadata: { labels: { l: "x" } } });
      return bed.ask(`PUT ${pods}/a/status`, { body: found }).status;
    },
  ],
  "status-apply-takes-over": [
    409,
    (bed) => {
      bed.ask(`POST ${pods}`, { body: pod("a") });
      const status = (phase: string, manager: string): number => {
        const body = { apiVersion: "v1", kind: "Pod", ...named("a"), status: { phase } };
        const headers = { "content-type": "application/apply-patch+yaml" };
        return bed.ask(`PATCH ${pods}/a/status?fieldManager=${manager}`, { headers, body }).status;
      };
      status("Running", "one");
      return status("Failed", "two");
    },
  ],
  "scale-takes-stale": [
    409,
    (bed) => {
      scaled(bed);
      return bed.merge(`${sets}/a/scale`, { metadata: { resourceVersion: "1" }, spec: { replicas: 3 } }).status;
    },
  ],
  "scale-dry-run-is-real": [
    1,
    (bed) => {
      scaled(bed);
      bed.merge(`${sets}/a/scale?dryRun=All`, { spec: { replicas: 3 } });
      return bed.ask(`GET ${sets}/a`).at("spec.replicas");
    },
  ],
  "table-default-columns": [
    ["Data", 0],
    (bed) => {
      made(bed);
      const table = tableOf(bed, "");
      return [table.at("columnDefinitions.1.name"), table.at("rows.0.cells.1")];
    },
  ],
  "eviction-of-any-version": [
    409,
    (bed) => {
      bed.ask(`POST ${pods}`, { body: pod("a") });
      const deleteOptions = { preconditions: { resourceVersion: "1" } };
      const body = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "a" }, deleteOptions };
      return bed.ask(`POST ${pods}/a/eviction`, { body }).status;
    },
  ],
  "unsafe-delete-heeds-no-options": [
    "Invalid value: true: cannot be set together with .gracePeriodSeconds",
    (bed) => {
      made(bed);
      const unsafe = "ignoreStoreReadErrorWithClusterBreakingPotential=true";
      return bed.ask(`DELETE ${configMaps}/a?${unsafe}&gracePeriodSeconds=0`).at("details.causes.0.message");
    },
  ],
};

for (const [bug, [right, see]] of Object.entries(symptoms) as [ServerBugName, [unknown, (bed: TestBed) => unknown]][]) {
  it(`${bug} shows, and nothing does without it`, () => {
    const options = {
      profile: kubernetesProfile,
      featureGates: { WatchList: true, AllowUnsafeMalformedObjectDeletion: true },
    };
    expect(see(new TestBed(options))).toEqual(right);
    expect(see(new TestBed({ ...options, bugs: [bug] }))).not.toEqual(right);
  });
}
