/**
 * What attacks of the benchmark cost that write or read much, counted: events and versions. A count grows where somebody does again in
 * one piece what is done in parts, or for each what was done once.
 */
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../contract/http-message.ts";
import { RevisionStore } from "../store/revision-store.ts";
import { type Attack, type AttackRequest, attacks, post, times } from "./attack-requests.fixture.ts";
import { attackTable } from "./attack-table.fixture.ts";
import { strike, Struck } from "./struck.fixture.ts";

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
  expect(struck.send(post(path, { metadata: { name: "owned", managedFields } })).status).toBe(201);
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
  ["create protobuf binary-data", 201, 50],
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
  struck.send(post("/api/v1/namespaces/default/configmaps", { metadata: { name: method === "POST" ? "o" : "exact" } }));
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

// Its type, and then its defaults, which are as many values again and once too many of them.
it("what a large pod is given by default is an event of its own", () => {
  const struck = new Struck({}, 1);
  const limits = Object.fromEntries(times(700, (at) => [`of.a/${at}`, "1"]));
  const containers = times(100, (at) => ({ name: `c${at}`, image: "i", resources: { limits } }));
  const told = struck.send(
    post("/api/v1/namespaces/default/pods", { metadata: { name: "limited" }, spec: { containers } }),
  );
  expect([told.status, struck.failures]).toEqual([413, []]);
  expect(told.eventCount).toBeGreaterThanOrEqual(14);
});

it("thousands of unknown fields in YAML are read in many events", () => {
  const struck = new Struck({}, 1);
  const body = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: y}\n${times(90_000, (at) => `x${at}: y`).join("\n")}`;
  const headers = { "content-type": "application/yaml" };
  const path = "/api/v1/namespaces/default/configmaps?fieldValidation=Strict";
  const told = struck.send({ method: "POST", path, headers, body });
  expect([told.status, struck.failures]).toEqual([400, []]);
  expect(told.eventCount).toBeGreaterThanOrEqual(70);
});

// What takes a part of the time each: who owns what of a long list, whether its elements are of their type, what becomes of each.
describe("a pod of long lists is written in many events", () => {
  const path = "/api/v1/namespaces/default/pods";
  const spec = {
    containers: [{ name: "c", image: "i" }],
    initContainers: times(8_000, (at) => ({ name: `i${at}`, image: "i", ports: [{ containerPort: at + 1 }] })),
  };
  const pod = (labels: JsonObject): string =>
    JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata: { name: "long", labels }, spec });
  const struck = new Struck({}, 1);

  it.each([
    ["applied", `${path}/long?fieldManager=one`, "apply-patch+yaml", pod({}), 201, 37],
    ["applied again", `${path}/long?fieldManager=two`, "apply-patch+yaml", pod({ a: "b" }), 409, 30],
    ["patched", `${path}/long`, "strategic-merge-patch+json", pod({ c: "d" }), 200, 34],
    ["edited", `${path}/long`, "json-patch+json", '[{"op":"test","path":"/kind","value":"Pod"}]', 200, 18],
  ])("%s", (_, target, type, body, status, eventCountMin) => {
    const [pathname = "", query = ""] = target.split("?");
    const headers = { "content-type": `application/${type}` };
    const told = struck.send({ method: "PATCH", path: `${pathname}?${query}`, headers, body });
    expect([told.status, struck.failures]).toEqual([status, []]);
    expect(told.eventCount).toBeGreaterThanOrEqual(eventCountMin);
  });
});
