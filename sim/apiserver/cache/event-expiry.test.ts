import { describe, expect, it } from "vitest";
import { Kernel } from "../../kernel/kernel.ts";
import { RevisionStore } from "../../store/revision-store.ts";
import { kubernetesProfile } from "../../contract/profile.ts";
import { TestBed } from "../test-bed.fixture.ts";

const events = "/apis/events.k8s.io/v1/namespaces/default/events";
const named = (name: string) => ({
  metadata: { name, namespace: "default" },
  involvedObject: { kind: "Pod", name: "p", namespace: "default" },
});
const core = "/api/v1/namespaces/default/events";
const names = (bed: TestBed): unknown =>
  (bed.ask(`GET ${events}`).at("items") as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name);

describe("the end of events", () => {
  it("comes an hour after the last write, and watchers see it", () => {
    const bed = new TestBed({ profile: kubernetesProfile });
    bed.ask(`POST ${core}`, { body: named("first") });
    bed.advance(1800);
    bed.ask(`POST ${core}`, { body: named("second") });
    const watch = bed.ask(`GET ${events}?watch=1&resourceVersion=0&timeoutSeconds=20000`);
    bed.advance(1799);
    expect(names(bed)).toEqual(["first", "second"]);
    bed.merge(`${core}/second`, { count: 2 });
    bed.advance(1);
    expect(names(bed)).toEqual(["second"]);
    bed.advance(3598);
    expect(names(bed)).toEqual(["second"]);
    bed.advance(1);
    expect(names(bed)).toEqual([]);
    expect(watch.events.map(({ type }) => type)).toEqual(["ADDED", "ADDED", "MODIFIED", "DELETED", "DELETED"]);
  });

  it("is when the server is told it is, and nothing else ends with it", () => {
    const bed = new TestBed({ profile: kubernetesProfile, eventTtlMicros: 5_000_000 });
    bed.ask(`POST ${core}`, { body: named("a") });
    bed.ask("POST /api/v1/namespaces/default/configmaps", { body: { metadata: { name: "a" } } });
    bed.ask(`POST ${core}`, { body: named("gone-before") });
    bed.ask(`DELETE ${core}/gone-before`);
    bed.advance(6);
    expect(names(bed)).toEqual([]);
    expect(bed.ask("GET /api/v1/namespaces/default/configmaps/a").status).toBe(200);
  });

  it("comes once and in its time to an event that is written thousands of times", () => {
    const bed = new TestBed({ profile: kubernetesProfile, eventTtlMicros: 5_000_000 });
    bed.ask(`POST ${core}`, { body: named("often") });
    bed.ask(`POST ${core}`, { body: named("once") });
    const watch = bed.ask(`GET ${events}?watch=1&resourceVersion=0&timeoutSeconds=20000`);
    bed.advance(3);
    for (let count = 1; count <= 3000; count++) bed.merge(`${core}/often`, { count });
    bed.advance(2);
    expect(names(bed)).toEqual(["often"]);
    bed.advance(2);
    expect(names(bed)).toEqual(["often"]);
    bed.advance(1);
    expect(names(bed)).toEqual([]);
    expect(watch.events.filter(({ type }) => type === "DELETED")).toHaveLength(2);
  });

  it("comes to what a crashed server has left, counted from the next one's start", () => {
    const kernel = new Kernel({ seed: "test" });
    const store = new RevisionStore();
    const options = { profile: kubernetesProfile, store, eventTtlMicros: 10_000_000 };
    const first = new TestBed(options, kernel, "one");
    first.ask(`POST ${core}`, { body: named("a") });
    first.advance(8);
    first.process.crash();
    const second = new TestBed(options, kernel, "two");
    second.advance(9);
    expect(names(second)).toEqual(["a"]);
    second.advance(1);
    expect(names(second)).toEqual([]);
  });
});
