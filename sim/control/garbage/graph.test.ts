import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../contract/http-message.ts";
import type { OwnerReference } from "../../contract/objects.ts";
import { garbageLawWith } from "../planted/garbage-bugs.ts";
import type { GarbageLaw } from "./garbage-law.ts";
import { Graph, type GraphNode } from "./graph.ts";

/** A graph, and what it wants done. */
function play(law?: () => GarbageLaw) {
  const wanted: string[] = [];
  const note = (what: string) => (node: GraphNode) => void wanted.push(`${what} ${node.identity.name}`);
  const graph = new Graph(
    {
      attemptToDelete: note("delete"),
      attemptToDeleteLater: note("later"),
      attemptToOrphan: note("orphan"),
      ownerElsewhere: (node, owner) => void wanted.push(`${owner.name} elsewhere, for ${node.identity.name}`),
      forgotten: () => {},
    },
    law,
  );
  return {
    graph,
    take: () => wanted.splice(0),
    changed: (object: JsonObject) => graph.changed("v1", "ConfigMap", object),
    gone: (object: JsonObject) => graph.gone("v1", "ConfigMap", object),
  };
}

function map(name: string, owners: readonly string[] = [], more: JsonObject = {}): JsonObject {
  const ownerReferences = owners.map((owner) => ({ ...reference(owner) }));
  return { metadata: { name, namespace: "default", uid: `uid-${name}`, ownerReferences, ...more } };
}

const reference = (name: string): OwnerReference => ({ apiVersion: "v1", kind: "ConfigMap", name, uid: `uid-${name}` });

describe("the graph of owners", () => {
  it("knows nothing of what owns nothing, is owned by nothing and waits for nothing", () => {
    const { graph, changed, gone, take } = play();
    changed(map("a"));
    changed(map("a", [], { deletionTimestamp: "2030-01-01T00:00:00Z", finalizers: ["example.com/hold"] }));
    gone(map("a"));
    expect([graph.size, take()]).toEqual([0, []]);
  });

  it("has an owner that nobody has seen looked up, and its dependents looked at when there is none", () => {
    const { graph, changed, take } = play();
    changed(map("child", ["owner"]));
    changed(map("other", ["owner"]));
    expect(take()).toEqual(["delete owner"]);
    graph.verifiedAbsent({ ...reference("owner"), namespace: "default" });
    expect(take()).toEqual(["delete child", "delete other"]);
    expect(graph.isAbsent(reference("owner"), "default")).toBe(true);
    expect(graph.isAbsent(reference("owner"), "elsewhere")).toBe(false);
  });

  it("begins a deletion anew each time that its finalizer appears, but while foreground-finalizer-readded shows", () => {
    const bugs = { "foreground-finalizer-readded": false };
    const { changed, take } = play(garbageLawWith(bugs));
    const going = (...finalizers: string[]): void =>
      changed(map("owner", [], { deletionTimestamp: "2030-01-01T00:00:00Z", finalizers: ["a", ...finalizers] }));
    const again = (): readonly string[] => {
      going();
      take();
      going("foregroundDeletion");
      return take();
    };
    changed(map("child", ["owner"]));
    expect(again()).toEqual(["delete child", "delete owner"]);
    bugs["foreground-finalizer-readded"] = true;
    expect(again()).toEqual([]);
    bugs["foreground-finalizer-readded"] = false;
    expect(again()).toEqual(["delete child", "delete owner"]);
  });

  it("does not take the word of a read in the wrong place for an owner's absence", () => {
    const { graph, changed, take } = play();
    changed(map("child", ["owner"]));
    changed({ metadata: { ...(map("far", ["owner"])["metadata"] as JsonObject), namespace: "n" } });
    take();
    graph.verifiedAbsent({ ...reference("owner"), namespace: "default" });
    expect(take()).toEqual(["delete child", "later owner"]); // in `n` it may well be
    graph.changed("v1", "ConfigMap", { metadata: { ...(map("owner")["metadata"] as JsonObject), namespace: "n" } });
    expect(take()).toEqual(["owner elsewhere, for child", "delete child"]);
  });

  it("forgets an owner that was left by all, and keeps one that is going", () => {
    const { graph, changed, gone, take } = play();
    changed(map("child", ["owner"]));
    changed(map("owner"));
    expect(graph.size).toBe(2);
    const deletion = { deletionTimestamp: "2030-01-01T00:00:00Z", finalizers: ["foregroundDeletion"] };
    changed(map("owner", [], deletion));
    take();
    changed(map("child"));
    expect([graph.size, graph.seen("v1", "ConfigMap").map(({ identity }) => identity.name)]).toEqual([1, ["owner"]]);
    changed(map("late", ["owner"]));
    expect(take()).toEqual(["delete late"]); // whoever comes late must go, too
    gone(map("owner", [], deletion));
    expect(take()).toEqual(["delete late"]);
  });

  it("has an owner that waits looked at when what blocked it goes, or blocks it no more", () => {
    const { changed, gone, take } = play();
    const blocking = (name: string, blockOwnerDeletion: boolean): JsonObject =>
      map(name, [], { ownerReferences: [{ ...reference("owner"), blockOwnerDeletion }] });
    changed(map("owner", [], { deletionTimestamp: "2030-01-01T00:00:00Z", finalizers: ["foregroundDeletion"] }));
    for (const name of ["a", "b"]) changed(blocking(name, true));
    take();
    changed(blocking("a", false));
    expect(take()).toEqual(["delete owner"]);
    gone(blocking("b", true));
    expect(take()).toEqual(["delete owner"]);
  });

  it("begins to orphan once", () => {
    const { changed, take } = play();
    const going = map("owner", [], { deletionTimestamp: "2030-01-01T00:00:00Z", finalizers: ["orphan"] });
    changed(going);
    changed(going);
    expect(take()).toEqual(["orphan owner"]);
  });
});
