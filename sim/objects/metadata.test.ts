import { describe, expect, it } from "vitest";
import { kubernetesDialect } from "../../wire/dialect.ts";
import type { Cause } from "../contract/errors.ts";
import {
  annotationBytesMax,
  areLabels,
  labelCauses,
  metadataCauses,
  metadataUpdateCauses,
  type MetadataRules,
} from "./metadata.ts";
import { create, endpoint } from "./objects.fixture.ts";
import type { Metadata, OwnerReference } from "../contract/objects.ts";
import { validateCreate } from "./validation.ts";

const rules: MetadataRules = {
  nameRule: "subdomain",
  namespaced: true,
  knownFinalizersOnly: true,
  dialect: kubernetesDialect,
};
const good: Metadata = { name: "a", namespace: "ns" };
const texts = (causes: readonly Cause[]): readonly string[] =>
  causes.map(({ field, message }) => `${field}: ${message}`);
const judge = (metadata: Metadata, more: Partial<MetadataRules> = {}): readonly string[] =>
  texts(metadataCauses(metadata, { ...rules, ...more }));

const owner: OwnerReference = { apiVersion: "v1", kind: "Pod", name: "p", uid: "u" };

it("finds nothing wrong with what is right", () => {
  expect(judge(good)).toEqual([]);
  const full: Metadata = {
    ...good,
    generateName: "a-",
    labels: { "example.com/k": "v", empty: "" },
    annotations: { "Example.com/K": "any text" },
    finalizers: ["example.com/f", "orphan", "kubernetes"],
    ownerReferences: [owner, { ...owner, uid: "w", controller: true }],
  };
  expect(judge(full)).toEqual([]);
});

describe("names", () => {
  it("must be there", () => {
    expect(judge({ namespace: "ns" })).toEqual(["metadata.name: Required value: name or generateName is required"]);
  });

  it("follow the type's rule", () => {
    expect(judge({ ...good, name: "Bad_Name!" })[0]).toContain(
      'metadata.name: Invalid value: "Bad_Name!": a lowercase RFC 1123',
    );
    expect(judge({ ...good, name: "a.b" })).toEqual([]);
    expect(judge({ ...good, name: "a.b" }, { nameRule: "label" })[0]).toContain("must not contain dots");
    expect(judge({ ...good, name: "1a" }, { nameRule: "label1035" })[0]).toContain("a DNS-1035 label");
    expect(judge({ ...good, name: "system:node" }, { nameRule: "pathSegment" })).toEqual([]);
    expect(judge({ ...good, name: "a/b" }, { nameRule: "pathSegment" })[0]).toContain("may not contain '/'");
    expect(judge({ ...good, name: "???" }, { nameRule: "any" })).toEqual([]);
  });

  it("may be generated from a prefix that ends in a dash", () => {
    expect(judge({ ...good, generateName: "web-" })).toEqual([]);
    expect(judge({ ...good, generateName: "Web-" })[0]).toContain("metadata.generateName: Invalid value");
  });
});

it("a namespace is there just when the type has one", () => {
  expect(judge({ name: "a" })).toEqual(["metadata.namespace: Required value"]);
  expect(judge(good, { namespaced: false })).toEqual(["metadata.namespace: Forbidden: not allowed on this type"]);
});

it("label keys and values are judged in turn", () => {
  const found = judge({ ...good, labels: { "bad key!": "x".repeat(70) } });
  expect(found).toHaveLength(2);
  expect(found[0]).toMatch(/^metadata\.labels: Invalid value: "bad key!": name part must consist of/);
  expect(found[1]).toBe(`metadata.labels: Invalid value: "${"x".repeat(70)}": must be no more than 63 characters`);
});

it("annotations are counted in bytes, keys and values together", () => {
  const filled = (bytes: number): Metadata => ({ ...good, annotations: { k: "é".repeat((bytes - 2) / 2), l: "" } });
  expect(judge(filled(annotationBytesMax))).toEqual([]);
  expect(judge(filled(annotationBytesMax + 2))).toEqual([
    "metadata.annotations: Too long: may not be more than 262144 bytes",
  ]);
});

describe("owners", () => {
  it("need all four of their fields, and one controls at most", () => {
    const empty = { apiVersion: "", kind: "", name: "", uid: "" };
    expect(judge({ ...good, ownerReferences: [empty] }).map((text) => text.split(":")[0])).toEqual([
      "metadata.ownerReferences.apiVersion",
      "metadata.ownerReferences.kind",
      "metadata.ownerReferences.name",
      "metadata.ownerReferences.uid",
    ]);
    const two = [
      { ...owner, controller: true },
      { ...owner, name: "q", controller: true },
    ];
    expect(judge({ ...good, ownerReferences: two })[0]).toContain(
      'Only one reference can have Controller set to true. Found "true" in references for Pod/p and Pod/q',
    );
  });

  it("of which nothing is said are refused, too", () => {
    const configMaps = endpoint("v1/configmaps");
    const nothing = { apiVersion: "", kind: "", name: "", uid: "" };
    const made = create({ metadata: { name: "a", ownerReferences: [nothing] } }, configMaps);
    expect(validateCreate(made, configMaps.strategy).map(({ message }) => message)).toEqual([
      'Invalid value: "": version must not be empty',
      ...["kind", "name", "uid"].map(() => 'Invalid value: "": must not be empty'),
    ]);
  });

  it("are never events", () => {
    expect(judge({ ...good, ownerReferences: [{ ...owner, kind: "Event" }] })[0]).toContain(
      "/v1, Kind=Event is disallowed from being an owner",
    );
  });
});

describe("finalizers", () => {
  it("have a domain or are standard, except on custom resources", () => {
    expect(judge({ ...good, finalizers: ["short"] })).toEqual([
      'metadata.finalizers[0]: Invalid value: "short": name is neither a standard finalizer name nor is it fully qualified',
    ]);
    expect(judge({ ...good, finalizers: ["short"] }, { knownFinalizersOnly: false })).toEqual([]);
    expect(judge({ ...good, finalizers: ["bad name/x"] })[0]).toContain("metadata.finalizers: Invalid value");
  });

  it("do not ask for both ways of deletion", () => {
    expect(judge({ ...good, finalizers: ["orphan", "foregroundDeletion"] })).toEqual([
      'metadata.finalizers: Invalid value: []string{"orphan", "foregroundDeletion"}: finalizer orphan and foregroundDeletion cannot be both set',
    ]);
  });
});

describe("an update", () => {
  const before: Metadata = { ...good, uid: "u", resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" };
  const step = (after: Metadata, live: Metadata = before): readonly string[] =>
    texts(metadataUpdateCauses(after, live));

  it("may change labels", () => {
    expect(step({ ...before, labels: { a: "b" } })).toEqual([]);
  });

  it("may not change what names the object", () => {
    expect(step({ ...before, name: "b", namespace: "other", uid: "w" })).toEqual([
      'metadata.name: Invalid value: "b": field is immutable',
      'metadata.namespace: Invalid value: "other": field is immutable',
      'metadata.uid: Invalid value: "w": field is immutable',
    ]);
    expect(step({ ...before, deletionTimestamp: "2001-01-01T00:00:00Z", deletionGracePeriodSeconds: 3 })).toEqual([
      "metadata.deletionTimestamp: Invalid value: 2001-01-01 00:00:00 +0000 UTC: field is immutable",
      "metadata.deletionGracePeriodSeconds: Invalid value: 3: field is immutable",
    ]);
    expect(step({ ...before, generation: 1 }, { ...before, generation: 2 })).toEqual([
      "metadata.generation: Invalid value: 1: must not be decremented",
    ]);
    expect(step({ ...before, resourceVersion: "" })).toEqual([
      'metadata.resourceVersion: Invalid value: "": must be specified for an update',
    ]);
  });

  it("may not add finalizers to what is being deleted, though it may reorder and remove them", () => {
    const deleting: Metadata = {
      ...before,
      deletionTimestamp: "2026-01-02T00:00:00Z",
      finalizers: ["x.io/a", "x.io/b"],
    };
    expect(step({ ...deleting, finalizers: ["x.io/b", "x.io/a"] }, deleting)).toEqual([]);
    expect(step({ ...deleting, finalizers: [] }, deleting)).toEqual([]);
    expect(step({ ...deleting, finalizers: ["x.io/a", "x.io/c"] }, deleting)).toEqual([
      'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"x.io/c"}',
    ]);
    expect(step({ ...before, finalizers: ["x.io/c"] })).toEqual([]);
  });
});

it("a large map of labels that nothing is wrong with is judged once", () => {
  let read = 0;
  const get = (target: object, key: string): unknown => {
    read++;
    return Reflect.get(target, key);
  };
  const counted = (value: string) => {
    const members = Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`k${at}`, value]));
    return new Proxy(Object.freeze(members), { get } as ProxyHandler<Record<string, string>>);
  };
  const judged = (labels: Record<string, string>): number => {
    const causes: Cause[] = [];
    labelCauses(labels, "metadata.labels", causes);
    return causes.length;
  };
  const fit = counted("v");
  expect([judged(fit), judged(fit), read]).toEqual([0, 0, 2_000]);
  expect([areLabels(fit), read]).toEqual([true, 2_000]);
  const chosen = counted("v");
  expect([areLabels(chosen), areLabels(chosen), judged(chosen), read]).toEqual([true, true, 0, 4_000]);
  read = 2_000;
  const unfit = counted("/");
  expect([judged(unfit), judged(unfit), read]).toEqual([2_000, 2_000, 6_000]);
});
