import { describe, expect, it } from "vitest";
import { Exchange } from "../../client/exchange.ts";
import type { Json, JsonObject } from "../../client/types.ts";
import { Witness } from "./witness.ts";

const collection = "/api/v1/namespaces/n/configmaps";

function exchange(method: string, path: string, status = 200): Exchange {
  const made = new Exchange(0, { method, path, headers: { accept: "application/json" } }, 1, 0);
  made.status = status;
  return made;
}

const meta = (parts: JsonObject = {}): JsonObject => ({
  name: "a",
  namespace: "n",
  uid: "u-a",
  resourceVersion: "5",
  creationTimestamp: "2026-01-01T00:00:00Z",
  ...parts,
});
const object = (metadata: JsonObject = {}, parts: JsonObject = {}): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: meta(metadata),
  data: { k: "v" },
  ...parts,
});
const list = (items: readonly Json[], metadata: JsonObject = {}): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMapList",
  metadata: { resourceVersion: "9", ...metadata },
  items,
});
const refusal = (parts: JsonObject = {}): JsonObject => ({
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Failure",
  message: 'configmaps "a" not found',
  reason: "NotFound",
  code: 404,
  ...parts,
});

type Seen = readonly [method: string, path: string, status: number, document: Json];

const found = (...history: readonly Seen[]): string | undefined => foundWithout([], ...history);

/** By a law that leaves these requirements open. */
function foundWithout(open: readonly string[], ...history: readonly Seen[]): string | undefined {
  const witness = new Witness((requirement) => !open.includes(requirement));
  for (const [method, path, status, document] of history) {
    witness.answered(exchange(method, path, status), document, undefined);
  }
  return witness.first?.requirement;
}

const get = (document: Json): Seen => ["GET", `${collection}/a`, 200, document];
const listed = (document: Json, query = ""): Seen => ["GET", `${collection}${query}`, 200, document];
const held = { deletionTimestamp: "2026-01-01T00:00:01Z", deletionGracePeriodSeconds: 0 };
const widgets = "/apis/g.example.com/v1/namespaces/n/widgets/a";
const widget = (spec: JsonObject): JsonObject => object({}, { apiVersion: "g.example.com/v1", kind: "Widget", spec });
const applied = {
  manager: "m",
  operation: "Apply",
  apiVersion: "v1",
  time: "2026-01-01T00:00:00Z",
  fieldsType: "FieldsV1",
};

describe("answers that any law may look at", () => {
  it.each<readonly [string, readonly Seen[]]>([
    [
      "one state under one version",
      [get(object()), listed(list([object({}, { kind: undefined, apiVersion: undefined })]))],
    ],
    ["two versions, two states", [get(object()), get(object({ resourceVersion: "6" }, { data: {} }))]],
    ["null for what is absent", [get(object()), get(object({ annotations: null }))]],
    [
      "a dry run's state",
      [get(object()), ["PUT", `${collection}/a?dryRun=All`, 200, object({}, { data: { k: "w" } })]],
    ],
    ["what the last finalizer's removal sent", [get(object()), ["PUT", `${collection}/a`, 200, object(held)]]],
    ["a deletion that waits", [["DELETE", `${collection}/a`, 200, object({ ...held, finalizers: ["x/y"] })]]],
    ["a deletion that does not", [["DELETE", `${collection}/a`, 200, object()]]],
    ["one that is held", [get(object({ ...held, finalizers: ["x/y"] }))]],
    ["a scale, which is another view", [["GET", `${collection}/a/scale`, 200, object({}, { kind: "Scale" })]]],
    ["a refusal", [["GET", `${collection}/a`, 404, refusal()]]],
    [
      "a webhook's own words",
      [
        [
          "GET",
          `${collection}/a`,
          403,
          refusal({ code: 403, reason: "Odd", message: 'admission webhook "w" denied the request' }),
        ],
      ],
    ],
    [
      "a policy's own words",
      [
        [
          "GET",
          `${collection}/a`,
          422,
          refusal({
            code: 422,
            reason: "Invalid",
            message: "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no",
            details: { causes: [{ message: "no" }] },
          }),
        ],
      ],
    ],
    [
      "what a definition that was changed makes of an object",
      [
        ["GET", widgets, 200, widget({ size: 1 })],
        ["PATCH", "/apis/apiextensions.svc.io/v1/customresourcedefinitions/widgets.g.example.com", 200, {}],
        ["GET", widgets, 200, widget({ size: 1, late: "later" })],
      ],
    ],
    [
      "items of every selector",
      [
        listed(
          list([object({ resourceVersion: "8", labels: { a: "x" } })]),
          "?labelSelector=a+in+(x,y),!b&fieldSelector=metadata.name!%3Db",
        ),
        listed(list([object({ resourceVersion: "6" }, { type: "Opaque" })]), "?fieldSelector=type%3DOpaque"),
        listed(list([object({ resourceVersion: "7" })]), "?fieldSelector=spec.hostNetwork%3Dfalse"),
      ],
    ],
    ["a page", [listed(list([object()], { continue: "t", remainingItemCount: 2 }), "?limit=1")]],
    [
      "records of two managers",
      [
        get(
          object({
            managedFields: [
              { ...applied, fieldsV1: {} },
              { ...applied, manager: "o", fieldsV1: {} },
            ],
          }),
        ),
      ],
    ],
    [
      "paths that are none",
      [
        ["GET", "/api/v1/%zz/a", 200, {}],
        ["GET", "/version", 200, {}],
      ],
    ],
  ])("takes %s", (_what, history) => {
    expect(found(...history)).toBeUndefined();
  });

  it.each<readonly [string, string, readonly Seen[]]>([
    [
      "two states under one version",
      "versions.last-modification",
      [get(object()), listed(list([object({}, { data: {} })]))],
    ],
    [
      "a uid of two objects",
      "objects.uid",
      [get(object()), listed(list([object({ name: "b", resourceVersion: "6" })]))],
    ],
    [
      "a second time of creation",
      "objects.creation-time",
      [get(object()), get(object({ resourceVersion: "6", creationTimestamp: "2026-01-01T00:00:02Z" }))],
    ],
    ["another object than the path's", "objects.fields", [get(object({ name: "b" }))]],
    ["another type than the path's", "objects.fields", [get(object({}, { apiVersion: "v2" }))]],
    ["no version", "objects.fields", [get(object({ resourceVersion: "" }))]],
    ["an object of another namespace", "lists.scope", [listed(list([object({ namespace: "m" })]))]],
    [
      "a deletion that waits and is answered as if there were none",
      "deletion.answered",
      [["DELETE", `${collection}/a`, 200, object({ finalizers: ["x/y"] })]],
    ],
    ["what should be gone", "deletion.last-finalizer", [get(object(held))]],
    ["a bare List", "lists.collection", [listed({ ...list([]), kind: "List" })]],
    ["items: null", "lists.fields", [listed({ ...list([]), items: null })]],
    ["an object twice", "lists.complete", [listed(list([object(), object()]))]],
    ["no order", "lists.key-order", [listed(list([object({ name: "b", uid: "u-b" }), object()]))]],
    ["what does not match", "lists.selectors", [listed(list([object()]), "?labelSelector=team%3Dred")]],
    ["a set that does not match", "lists.selectors", [listed(list([object()]), "?labelSelector=team+in+(red)")]],
    [
      "a field that does not match, on a later page",
      "lists.selectors",
      [listed(list([object({}, { type: "Opaque" })]), "?fieldSelector=type!%3DOpaque&limit=1&continue=t")],
    ],
    ["items of another version", "lists.collection", [listed(list([object({}, { apiVersion: "v2" })]))]],
    [
      "two states of one version, though another group was defined anew",
      "versions.last-modification",
      [
        ["GET", widgets, 200, widget({ size: 1 })],
        ["PATCH", "/apis/apiextensions.svc.io/v1/customresourcedefinitions/widgets.h.example.com", 200, {}],
        ["GET", widgets, 200, widget({ size: 2 })],
      ],
    ],
    [
      "more on a further page than its limit",
      "pages.limit",
      [listed(list([object(), object()]), "?continue=t&limit=1")],
    ],
    [
      "a count with a selector",
      "pages.remaining-absent",
      [listed(list([], { continue: "t", remainingItemCount: 2 }), "?labelSelector=a&limit=1")],
    ],
    [
      "another version than exactly asked for",
      "versions.list-exact",
      [listed(list([]), "?resourceVersion=8&resourceVersionMatch=Exact")],
    ],
    ["another code", "errors.status", [["GET", `${collection}/a`, 409, refusal()]]],
    ["another reason", "errors.status", [["GET", `${collection}/a`, 404, refusal({ reason: "Conflict" })]]],
    [
      "no name of what it is about",
      "errors.details",
      [["GET", `${collection}/a`, 404, refusal({ details: { kind: "configmaps" } })]],
    ],
    ["no apiVersion", "errors.status", [["GET", `${collection}/a`, 404, refusal({ apiVersion: undefined })]]],
    [
      "a cause without a reason",
      "errors.status",
      [["POST", collection, 422, refusal({ code: 422, reason: "Invalid", details: { causes: [{ field: "a" }] } })]],
    ],
    [
      "a wait that no header tells",
      "errors.status",
      [["GET", collection, 429, refusal({ code: 429, reason: "TooManyRequests", details: { retryAfterSeconds: 1 } })]],
    ],
    ["an owner without fields", "apply.owners", [get(object({ managedFields: [applied] }))]],
    [
      "an owner of the uid",
      "apply.untracked",
      [get(object({ managedFields: [{ ...applied, fieldsV1: { "f:metadata": { "f:uid": {} } } }] }))],
    ],
  ])("rejects %s", (_what, requirement, history) => {
    expect(found(...history)).toBe(requirement);
  });
});

describe("a law that promises less", () => {
  const backwards = [object({ name: "b", uid: "u-b" }), object()];
  const owned = object({
    resourceVersion: "6",
    managedFields: [{ ...applied, fieldsV1: { "f:metadata": { "f:uid": {} } } }],
  });
  const open = ["lists.key-order", "apply.untracked", "errors.status"];

  it("takes what it leaves open", () => {
    expect(
      foundWithout(open, listed(list(backwards)), get(owned), ["GET", `${collection}/a`, 404, {}]),
    ).toBeUndefined();
  });

  it.each<readonly [string, string, readonly Seen[]]>([
    ["in the same list", "lists.scope", [listed(list([...backwards, object({ namespace: "m", uid: "u-c" })]))]],
    [
      "in the same object",
      "versions.last-modification",
      [get(object({ resourceVersion: "6" })), get({ ...owned, data: {} })],
    ],
    ["later", "objects.fields", [listed(list(backwards)), get(object({ name: "b" }))]],
  ])("still finds what it promises, %s", (_where, requirement, history) => {
    expect(foundWithout(open, ...history)).toBe(requirement);
  });
});

describe("events that any law may look at", () => {
  const told = (
    events: readonly (readonly [type: string, object: JsonObject])[],
    query = "watch=1",
    silentMillis = 0,
  ) => {
    const witness = new Witness(() => true);
    const stream = exchange("GET", `${collection}?${query}`);
    for (const [type, shown] of events) witness.told(stream, { type, object: shown });
    witness.left(stream, silentMillis);
    return witness.first?.requirement;
  };
  const bookmark = { apiVersion: "v1", kind: "ConfigMap", metadata: { resourceVersion: "7" } };
  const next = object({ resourceVersion: "6" }, { data: {} });

  it("takes a life, bookmarks that were asked for, and an error that is the last", () => {
    const life = [
      ["ADDED", object()],
      ["MODIFIED", next],
      ["DELETED", object({ resourceVersion: "8" })],
      ["BOOKMARK", bookmark],
      ["ERROR", refusal()],
    ] as const; // prettier-ignore
    expect(told(life, "watch=1&allowWatchBookmarks=true", 1000)).toBeUndefined();
    expect(told([["MODIFIED", next]])).toBeUndefined();
  });

  it.each<readonly [string, string, Parameters<typeof told>]>([
    [
      "a change twice",
      "watch.unique",
      [
        [
          ["ADDED", object()],
          ["MODIFIED", object()],
        ],
      ],
    ],
    [
      "an object added twice",
      "watch.types",
      [
        [
          ["ADDED", object()],
          ["ADDED", next],
        ],
      ],
    ],
    [
      "a change of what is gone",
      "watch.types",
      [
        [
          ["DELETED", object()],
          ["MODIFIED", next],
        ],
      ],
    ],
    ["an unknown type", "watch.stream", [[["CHANGED", object()]]]],
    ["an object without a kind", "watch.stream", [[["ADDED", object({}, { kind: undefined })]]]],
    ["a bookmark that nobody asked for", "bookmarks.asked", [[["BOOKMARK", bookmark]]]],
    [
      "a bookmark of another type",
      "watch.stream",
      [[["BOOKMARK", { ...bookmark, apiVersion: "v2" }]], "watch=1&allowWatchBookmarks=true"],
    ],
    ["what does not match", "watch.filtered", [[["ADDED", object()]], "watch=1&labelSelector=team%3Dred"]],
    ["an error that is no Status", "errors.stream", [[["ERROR", { code: 410 }]]]],
    [
      "words after an error",
      "errors.stream",
      [
        [
          ["ERROR", refusal()],
          ["ADDED", object()],
        ],
      ],
    ],
    ["a stream that goes on after its error", "errors.stream", [[["ERROR", refusal()]], "watch=1", 2000]],
  ])("rejects %s", (_what, requirement, events) => {
    expect(told(...events)).toBe(requirement);
  });
});

describe("answers and events that come in either order", () => {
  const stream = exchange("GET", `${collection}?watch=1`);
  const later = object({}, { data: { k: "w" } }); // another state of the same version
  const moments: readonly ((witness: Witness) => void)[] = [
    (witness) => witness.told(stream, { type: "ADDED", object: object() }),
    (witness) => witness.told(stream, { type: "MODIFIED", object: later }),
    (witness) => witness.answered(exchange("PATCH", `${collection}/a`), later, undefined),
  ];

  it.each([[[0, 1, 2]], [[0, 2, 1]], [[2, 0, 1]]])("are one finding: %j", (order) => {
    const witness = new Witness(() => true);
    for (const index of order) moments[index]?.(witness);
    expect(witness.first?.requirement).toBe("versions.last-modification");
  });

  it("nor does a law that binds nobody hide another", () => {
    const witness = new Witness((requirement) => requirement !== "watch.unique");
    for (const moment of moments.slice(0, 2)) moment(witness);
    expect(witness.first?.requirement).toBe("versions.last-modification");
  });
});

it("judges a document once, however often the client gives it", () => {
  const witness = new Witness(() => true);
  let looks = 0;
  const document = {
    ...object(),
    get metadata() {
      looks += 1;
      return meta();
    },
  };
  const answer = (seen: JsonObject): void => witness.answered(exchange("GET", `${collection}/a`), seen, undefined);
  answer(document);
  const looksOnce = looks;
  answer(document);
  expect([looksOnce > 0, looks]).toEqual([true, looksOnce]);
  answer(object({}, { data: { k: "w" } }));
  expect(witness.first?.requirement).toBe("versions.last-modification");
});
