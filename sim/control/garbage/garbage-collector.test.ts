import { describe, expect, it } from "vitest";
import { kubernetesProfile } from "../../contract/profile.ts";
import { TestBed } from "../../apiserver/test-bed.fixture.ts";

const place = "/api/v1/namespaces/default/configmaps";
const admin = { as: "admin" };

interface Reference {
  readonly name: string;
  readonly uid: string;
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly blockOwnerDeletion?: boolean;
}

/** ConfigMaps that own each other. */
class Family {
  readonly bed: TestBed;

  constructor(options: ConstructorParameters<typeof TestBed>[0] = {}) {
    this.bed = new TestBed({ profile: kubernetesProfile, ...options });
    this.bed.advance(1);
  }

  /** Creates one, and says what it may be referred to by. */
  make(name: string, owners: readonly Reference[] = [], more: object = {}, path = place): Reference {
    const ownerReferences = owners.map((owner) => ({ apiVersion: "v1", kind: "ConfigMap", ...owner }));
    const created = this.bed.ask(`POST ${path}`, { ...admin, body: { metadata: { name, ownerReferences, ...more } } });
    if (created.status !== 201) throw new Error(created.text);
    return { name, uid: created.at("metadata.uid") as string };
  }

  delete(name: string, propagationPolicy: string, path = place): number {
    return this.bed.ask(`DELETE ${path}/${name}?propagationPolicy=${propagationPolicy}`, admin).status;
  }

  has(name: string, path = place): boolean {
    return this.bed.ask(`GET ${path}/${name}`, admin).status === 200;
  }

  metadata(name: string, path = place): Record<string, unknown> {
    return this.bed.ask(`GET ${path}/${name}`, admin).at("metadata") as Record<string, unknown>;
  }

  owners(name: string): readonly string[] {
    return ((this.metadata(name)["ownerReferences"] ?? []) as { name: string }[]).map((owner) => owner.name);
  }

  pass(seconds = 1): void {
    this.bed.advance(seconds);
  }
}

describe("what has lost its owners", () => {
  it("goes, to the last generation", () => {
    const family = new Family();
    const parent = family.make("parent");
    family.make("grandchild", [family.make("child", [parent])]);
    family.make("stranger");
    family.delete("parent", "Background");
    expect(family.has("child")).toBe(true); // a controller's work takes a moment
    family.pass();
    expect(["parent", "child", "grandchild", "stranger"].filter((name) => family.has(name))).toEqual(["stranger"]);
  });

  it("stays as long as one owner is left, and forgets the others", () => {
    const family = new Family();
    const [one, other] = [family.make("one"), family.make("other")];
    family.make("child", [one, other]);
    family.delete("one", "Background");
    family.pass();
    expect(family.owners("child")).toEqual(["other"]);
    family.delete("other", "Background");
    family.pass();
    expect(family.has("child")).toBe(false);
  });

  it("goes when its owner never was, or is another of the same name", () => {
    const family = new Family();
    family.make("orphan", [{ name: "none", uid: "no-such-uid" }]);
    family.make("parent");
    family.make("foundling", [{ name: "parent", uid: "another-uid" }]);
    family.pass();
    expect([family.has("orphan"), family.has("foundling"), family.has("parent")]).toEqual([false, false, true]);
  });

  it("stays when its owner's kind is served by nobody, until it is", () => {
    const family = new Family();
    family.make("child", [{ name: "desk", uid: "no-such-uid", kind: "Lamp", apiVersion: "example.com/v1" }]);
    family.pass(3600);
    expect(family.has("child")).toBe(true);
    defineLamps(family);
    family.pass(2);
    expect(family.has("child")).toBe(false);
  });

  it("is not looked at by a server alone", () => {
    const family = new Family({ controllers: { garbageCollection: false } });
    family.make("orphan", [{ name: "none", uid: "no-such-uid" }]);
    family.pass(3600);
    expect(family.has("orphan")).toBe(true);
  });
});

describe("foreground deletion", () => {
  it("waits for dependents that block it, and for no others", () => {
    const family = new Family();
    const parent = family.make("parent");
    family.make("blocking", [{ ...parent, blockOwnerDeletion: true }], { finalizers: ["example.com/hold"] });
    family.make("other", [parent], { finalizers: ["example.com/hold"] });
    family.delete("parent", "Foreground");
    expect(family.metadata("parent")["finalizers"]).toEqual(["foregroundDeletion"]);
    family.pass(60);
    expect(family.metadata("blocking")["deletionTimestamp"]).toBeDefined();
    expect(family.has("parent")).toBe(true);
    family.bed.merge(`${place}/blocking`, { metadata: { finalizers: null } }, admin);
    family.pass();
    expect([family.has("parent"), family.has("blocking"), family.has("other")]).toEqual([false, false, true]);
    expect(family.metadata("other")["deletionTimestamp"]).toBeDefined();
  });

  it("frees a dependent that somebody else owns, too", () => {
    const family = new Family();
    const [parent, solid] = [family.make("parent"), family.make("solid")];
    family.make("child", [{ ...parent, blockOwnerDeletion: true }, solid]);
    family.delete("parent", "Foreground");
    family.pass();
    expect([family.has("parent"), family.owners("child")]).toEqual([false, ["solid"]]);
  });

  it("ends in a circle, too", () => {
    const family = new Family();
    const one = family.make("one");
    const other = family.make("other", [{ ...one, blockOwnerDeletion: true }]);
    const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", ...other, blockOwnerDeletion: true }];
    family.bed.merge(`${place}/one`, { metadata: { ownerReferences } }, admin);
    family.pass();
    family.delete("one", "Foreground");
    family.pass(5);
    expect([family.has("one"), family.has("other")]).toEqual([false, false]);
  });
});

describe("orphans", () => {
  it("forget their owner before it goes", () => {
    const family = new Family();
    const [parent, solid] = [family.make("parent"), family.make("solid")];
    family.make("child", [parent]);
    family.make("shared", [parent, solid]);
    family.delete("parent", "Orphan");
    expect(family.metadata("parent")["finalizers"]).toEqual(["orphan"]);
    family.pass();
    expect([family.has("parent"), family.owners("child"), family.owners("shared")]).toEqual([false, [], ["solid"]]);
  });

  it("are left by a foreground deletion of their grandparent when their parent orphans them", () => {
    const family = new Family();
    const grandparent = family.make("grandparent");
    const parent = family.make("parent", [grandparent], { finalizers: ["orphan"] });
    family.make("child", [parent]);
    family.delete("grandparent", "Background");
    family.pass();
    expect([family.has("parent"), family.has("child"), family.owners("child")]).toEqual([false, true, []]);
  });
});

describe("owners in the wrong place", () => {
  it("in another namespace are none, and an event says so, whichever is heard of first", () => {
    for (const ownerFirst of [true, false]) {
      const family = new Family();
      family.bed.ask("POST /api/v1/namespaces", { ...admin, body: { metadata: { name: "n" } } });
      const there = place.replace("default", "n");
      const parent = family.make("parent", [], {}, there);
      if (ownerFirst) family.make("sibling", [parent], {}, there);
      if (ownerFirst) family.pass();
      family.make("child", [parent]);
      if (!ownerFirst) family.make("sibling", [parent], {}, there);
      family.pass(5);
      expect([family.has("child"), family.has("parent", there), family.has("sibling", there)]).toEqual([
        false,
        true,
        true,
      ]);
      const events = family.bed.ask("GET /api/v1/namespaces/default/events", admin);
      const told = (
        events.at("items") as { reason: string; message: string; involvedObject: { name: string } }[]
      ).filter(({ reason }) => reason === "OwnerRefInvalidNamespace");
      expect(told.map(({ involvedObject }) => involvedObject.name)).toEqual(["child"]);
      expect(told[0]?.message).toBe(
        `ownerRef [v1/ConfigMap, namespace: default, name: parent, uid: ${parent.uid}] does not exist in namespace "default"`,
      );
    }
  });

  it("in a namespace cannot own what lies in none: it stays", () => {
    const family = new Family();
    family.make("node", [{ name: "none", uid: "no-such-uid" }], {}, "/api/v1/nodes");
    family.pass(60);
    expect(family.has("node", "/api/v1/nodes")).toBe(true);
  });

  it("without a namespace own what lies in any", () => {
    const family = new Family();
    const node = { ...family.make("node", [], {}, "/api/v1/nodes"), kind: "Node" };
    family.bed.ask("POST /api/v1/namespaces", { ...admin, body: { metadata: { name: "n" } } });
    const there = place.replace("default", "n");
    family.make("here", [node]);
    family.make("there", [node], {}, there);
    family.pass();
    family.delete("node", "Background", "/api/v1/nodes");
    family.pass();
    expect([family.has("here"), family.has("there", there)]).toEqual([false, false]);
  });
});

describe("custom resources", () => {
  const lamps = "/apis/example.com/v1/namespaces/default/lamps";

  it("own, are owned and are orphaned like others", () => {
    const family = new Family();
    defineLamps(family);
    family.pass(2);
    const lamp = (name: string, owners: readonly Reference[] = []): Reference => {
      const ownerReferences = owners.map((owner) => ({ apiVersion: "v1", kind: "ConfigMap", ...owner }));
      const body = { apiVersion: "example.com/v1", kind: "Lamp", metadata: { name, ownerReferences } };
      const created = family.bed.ask(`POST ${lamps}`, { ...admin, body });
      return { name, uid: created.at("metadata.uid") as string, kind: "Lamp", apiVersion: "example.com/v1" };
    };
    const parent = family.make("parent");
    lamp("owned", [parent]);
    family.make("child", [lamp("owner")]);
    const other = family.make("other");
    lamp("orphan", [other]);
    family.pass();
    family.delete("parent", "Foreground");
    family.delete("owner", "Background", lamps);
    family.delete("other", "Orphan");
    family.pass();
    expect([family.has("parent"), family.has("owned", lamps), family.has("child")]).toEqual([false, false, false]);
    expect([family.has("other"), family.has("orphan", lamps)]).toEqual([false, true]);
    expect(family.metadata("orphan", lamps)["ownerReferences"]).toBeUndefined();
  });
});

describe("a gap in what is heard", () => {
  it("hides no deletion: what a new list lacks has gone", () => {
    const family = new Family();
    const { bed } = family;
    defineLamps(family);
    family.pass(2);
    const lamps = "/apis/example.com/v1/namespaces/default/lamps";
    const desk = { apiVersion: "example.com/v1", kind: "Lamp", name: "desk" };
    const made = bed.ask(`POST ${lamps}`, { ...admin, body: { ...desk, metadata: { name: "desk" } } });
    family.make("child", [{ ...desk, uid: made.at("metadata.uid") as string }]);
    family.pass();
    // 1. The definition changes, and its watches end. 2. The owner goes. 3. Nobody remembers that it did.
    const watching = bed.server.runsInFlight;
    const spec = { names: { plural: "lamps", kind: "Lamp", shortNames: ["lp"] } };
    bed.merge("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/lamps.example.com", { spec }, admin);
    while (bed.server.runsInFlight === watching) bed.kernel.step();
    family.delete("desk", "Background", lamps);
    bed.server.forgetHistory();
    family.pass(5);
    expect([bed.server.runsInFlight, family.has("child")]).toEqual([watching, false]);
  });
});

function defineLamps(family: Family): void {
  const definition = {
    metadata: { name: "lamps.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "lamps", kind: "Lamp" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
    },
  };
  const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const created = family.bed.ask(`POST ${path}`, { ...admin, body: definition });
  if (created.status !== 201) throw new Error(created.text);
}
