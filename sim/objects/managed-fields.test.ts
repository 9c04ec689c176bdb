import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../contract/http-message.ts";
import { readMergePatchBody } from "./decode-patch.ts";
import { managerName } from "./managed-fields.ts";
import { create, endpoint, patch, update } from "./objects.fixture.ts";
import { type ManagedFieldsEntry, metadataOf } from "../contract/objects.ts";

const configMaps = endpoint("v1/configmaps");
const pods = endpoint("v1/pods");
const nodes = endpoint("v1/nodes");
const events = endpoint("events.svc.io/v1/events");

const map = (data: JsonObject, more: JsonObject = {}): JsonObject => ({ metadata: { name: "a", ...more }, data });
const entriesOf = (object: JsonObject): readonly ManagedFieldsEntry[] => metadataOf(object).managedFields ?? [];
const sets = (object: JsonObject): Json =>
  entriesOf(object).map(({ manager, fieldsV1 }) => [manager, fieldsV1 as Json] as const) as unknown as Json;
const data = (...keys: string[]): JsonObject => ({
  "f:data": Object.fromEntries([[".", {}], ...keys.map((key) => [`f:${key}`, {}])]),
});

describe("a creation", () => {
  it("gives its manager every field that a new object of the kind lacks", () => {
    expect(entriesOf(create(map({ k: "v" }, { generateName: "g-", labels: { l: "1" } }), configMaps))).toEqual([
      {
        manager: "unknown",
        operation: "Update",
        apiVersion: "v1",
        time: "2026-01-01T00:00:00Z",
        fieldsType: "FieldsV1",
        fieldsV1: { ...data("k"), "f:metadata": { "f:generateName": {}, "f:labels": { ".": {}, "f:l": {} } } },
      },
    ]);
  });

  it("of an object without content makes no entry", () => {
    expect(metadataOf(create({ metadata: { name: "a" } }, configMaps)).managedFields).toBeUndefined();
  });

  it("names elements of lists by their keys, with the defaults that were filled in", () => {
    const pod = create(
      { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "i", ports: [{ containerPort: 80 }] }] } },
      pods,
    );
    expect(sets(pod)).toEqual([
      [
        "unknown",
        {
          "f:spec": {
            "f:containers": {
              'k:{"name":"c"}': {
                ".": {},
                "f:image": {},
                "f:imagePullPolicy": {},
                "f:name": {},
                "f:ports": {
                  ".": {},
                  'k:{"containerPort":80,"protocol":"TCP"}': { ".": {}, "f:containerPort": {}, "f:protocol": {} },
                },
                "f:resources": {},
                "f:terminationMessagePath": {},
                "f:terminationMessagePolicy": {},
              },
            },
            "f:dnsPolicy": {},
            "f:enableServiceLinks": {},
            "f:restartPolicy": {},
            "f:schedulerName": {},
            "f:securityContext": {},
            "f:terminationGracePeriodSeconds": {},
          },
        },
      ],
    ]);
  });

  it("names elements of sets by value, and what is atomic as a whole", () => {
    expect(sets(create({ metadata: { name: "a", finalizers: ["x.io/b", "x.io/a"] } }, configMaps))).toEqual([
      ["unknown", { "f:metadata": { "f:finalizers": { ".": {}, 'v:"x.io/a"': {}, 'v:"x.io/b"': {} } } }],
    ]);
    const event = create({ metadata: { name: "e" }, regarding: { kind: "Pod", name: "p" }, type: "Normal" }, events);
    expect(sets(event)).toEqual([["unknown", { "f:regarding": {}, "f:type": {} }]]);
  });

  it("shares one set among all objects of a shape", () => {
    const [one, other] = [create(map({ k: "1" }), configMaps), create(map({ k: "2" }), configMaps)];
    expect(entriesOf(one)[0]?.fieldsV1).toBe(entriesOf(other)[0]?.fieldsV1);
  });

  it("shares all entries among objects of a shape that one manager makes in one second, whatever others make meanwhile", () => {
    const later = "2026-01-01T00:00:05Z";
    const made = (key: string, manager: string, now?: string) =>
      entriesOf(create(map({ [key]: "1" }), configMaps, now === undefined ? { manager } : { manager, now }));
    const one = made("k", "one");
    made("other", "one");
    made("other", "two");
    expect(made("k", "one")).toBe(one);
    const told = (entries: readonly ManagedFieldsEntry[]) => entries.map(({ manager, time }) => [manager, time]);
    expect(told(made("k", "two"))).toEqual([["two", "2026-01-01T00:00:00Z"]]);
    expect(told(made("k", "two", later))).toEqual([["two", later]]);
    expect(made("k", "one")).toEqual(one);
  });
});

describe("an update", () => {
  const first = create(map({ a: "1", b: "1" }), configMaps, { manager: "one" });
  const later = "2026-01-01T00:00:05Z";

  it("takes what it changes from others, and what it removes from all", () => {
    const changed = update(map({ a: "2", b: "1" }), first, configMaps, { manager: "two", now: later });
    expect(sets(changed)).toEqual([
      ["one", data("b")],
      ["two", { "f:data": { "f:a": {} } }],
    ]);
    const removed = update(map({ a: "2" }), changed, configMaps, { manager: "three", now: later });
    expect(sets(removed)).toEqual(
      [
        ["one", { "f:data": { ".": {} } }],
        ["two", { "f:data": { "f:a": {} } }],
      ].map(([name, set]) => [name, name === "one" ? { "f:data": {} } : set]),
    );
  });

  it("adds to its manager's own entry and renews the time", () => {
    const more = update(map({ a: "1", b: "1", c: "1" }), first, configMaps, { manager: "one", now: later });
    expect(sets(more)).toEqual([["one", data("a", "b", "c")]]);
    expect(entriesOf(more)[0]?.time).toBe(later);
  });

  it("that changes nothing, or only removes, keeps times", () => {
    expect(entriesOf(update(map({ a: "1", b: "1" }), first, configMaps, { manager: "two", now: later }))).toEqual(
      entriesOf(first),
    );
    const less = update(map({ a: "1" }), first, configMaps, { manager: "one", now: later });
    expect(sets(less)).toEqual([["one", data("a")]]);
    expect(entriesOf(less)[0]?.time).toBe("2026-01-01T00:00:00Z");
  });

  it("drops entries that have become empty", () => {
    const all = update({ metadata: { name: "a" } }, first, configMaps, { manager: "two" });
    expect(metadataOf(all).managedFields).toBeUndefined();
  });

  it("does not take up tracking that an object never had", () => {
    const bare = create({ metadata: { name: "a" } }, configMaps);
    expect(entriesOf(update(map({ k: "v" }), bare, configMaps))).toEqual([]);
  });

  it.each([
    ["[]", []],
    ["[{}]", [{}]],
  ] as const)("with managedFields %s makes the server forget", (_, managedFields) => {
    const object = map({ a: "9" }, { managedFields: managedFields as unknown as Json });
    expect(entriesOf(update(object, first, configMaps, { manager: "two" }))).toEqual([]);
  });

  it("keeps what a client says of managed fields, unless it makes no sense", () => {
    const entry = {
      manager: "x",
      operation: "Update",
      apiVersion: "v1",
      fieldsType: "FieldsV1",
      fieldsV1: { "f:data": { "f:b": {} } },
    };
    const said = update(map({ a: "1", b: "1" }, { managedFields: [entry] }), first, configMaps);
    expect(sets(said)).toEqual([["x", { "f:data": { "f:b": {} } }]]);
    const wrong = { ...entry, operation: "Guess" };
    expect(sets(update(map({ a: "1", b: "1" }, { managedFields: [wrong] }), first, configMaps))).toEqual(sets(first));
  });

  it("through status owns status and metadata, and through the object no status", () => {
    const node = create({ metadata: { name: "n", labels: { a: "1" } } }, nodes);
    const status = readMergePatchBody({ status: { capacity: { cpu: "4" } }, spec: { unschedulable: true } });
    const patched = patch(status, node, nodes, { subresource: "status", manager: "agent", now: later });
    expect(entriesOf(patched)[1]).toMatchObject({ manager: "agent", subresource: "status" });
    expect(sets(patched)).toEqual([
      ["unknown", { "f:metadata": { "f:labels": { ".": {}, "f:a": {} } } }],
      ["agent", { "f:status": { "f:allocatable": { ".": {}, "f:cpu": {} }, "f:capacity": { ".": {}, "f:cpu": {} } } }],
    ]);
    const main = readMergePatchBody({ status: { phase: "X" }, metadata: { labels: { b: "2" } } });
    expect(sets(patch(main, patched, nodes, { manager: "agent", now: later }))).toEqual([
      ["unknown", { "f:metadata": { "f:labels": { ".": {}, "f:a": {} } } }],
      ["agent", { "f:metadata": { "f:labels": { "f:b": {} } } }],
      ["agent", { "f:status": { "f:allocatable": { ".": {}, "f:cpu": {} }, "f:capacity": { ".": {}, "f:cpu": {} } } }],
    ]);
  });

  it("merges the oldest entries when there are more than ten", () => {
    let object = create(map({ k: "0" }), configMaps, { manager: "m00" });
    for (let at = 1; at <= 12; at++) {
      const two = String(at).padStart(2, "0");
      const change = readMergePatchBody({ data: { [`k${two}`]: "1" } });
      object = patch(change, object, configMaps, { manager: `m${two}`, now: `2026-01-01T00:00:${two}Z` });
    }
    const entries = entriesOf(object);
    expect(entries).toHaveLength(10);
    expect(entries[0]).toMatchObject({ manager: "ancient-changes", time: "2026-01-01T00:00:03Z" });
    expect(entries[0]?.fieldsV1).toEqual(data("k", "k01", "k02", "k03"));
  });
});

describe("the name of a manager", () => {
  it.each([
    ["given", "agent/1", "given"],
    [undefined, "tool/v1.33 (linux)", "tool"],
    ["", "", "unknown"],
    [undefined, undefined, "unknown"],
    [undefined, "a\u0000b/1", "ab"],
    [undefined, "x".repeat(200), "x".repeat(128)],
  ])("%j, %j → %j", (fieldManager, userAgent, expected) => {
    expect(managerName(fieldManager, userAgent)).toBe(expected);
  });
});
