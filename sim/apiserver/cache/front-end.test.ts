import { describe, expect, it } from "vitest";
import { Kernel } from "../../kernel/kernel.ts";
import { RevisionStore } from "../../store/revision-store.ts";
import type { KeyValue } from "../../store/types.ts";
import { kubernetesProfile, svcProfile } from "../../contract/profile.ts";
import { FrontEnd, type FrontEndOptions } from "./front-end.ts";

const PODS = "/registry/pods/";
const NODES = "/registry/nodes/";

class World {
  readonly kernel = new Kernel({ seed: "front-end" });
  readonly store = new RevisionStore();
  private servers = 0;

  server(options: Partial<FrontEndOptions> = {}): FrontEnd {
    const process = this.kernel.process(`server-${this.servers++}`);
    return new FrontEnd({ store: this.store, process, profile: svcProfile, ...options });
  }

  put(key: string): number {
    const held = this.store.get(key) as KeyValue | undefined;
    return this.store.put(key, held?.modRevision ?? 0, (revision) => ({ revision })) as number;
  }

  remove(key: string): void {
    this.store.delete(key, (this.store.get(key) as KeyValue).modRevision);
  }

  pass(micros: number): void {
    this.kernel.run(this.kernel.nowMicros() + micros);
  }
}

/** Keys under a prefix and the revisions of their contents, at a front-end. */
function shown(frontEnd: FrontEnd, prefix = PODS): Record<string, number> {
  const { items } = frontEnd.source(prefix, true).range(prefix, `${prefix.slice(0, -1)}0`);
  return Object.fromEntries(items.map(({ key, modRevision }) => [key.slice(prefix.length), modRevision]));
}

describe("FrontEnd", () => {
  it("shows a write at once without lag, and after the lag with one", () => {
    const world = new World();
    const near = world.server();
    const far = world.server({ lagMicros: 100 });
    world.put(`${PODS}n/a`);
    world.pass(50);
    world.put(`${PODS}n/b`);
    world.put(`${PODS}n/a`);
    expect(shown(near)).toEqual({ "n/a": 4, "n/b": 3 });
    expect(shown(far)).toEqual({});
    world.pass(50);
    expect(shown(far)).toEqual({ "n/a": 2 });
    expect(far.source(NODES, true).applied).toBe(2);
    world.pass(50);
    expect(shown(far)).toEqual(shown(near));
  });

  it("keeps no lists of what is not there, which could be asked for without end", () => {
    const world = new World();
    world.put(`${PODS}n/a`);
    const source = world.server().source(PODS, true);
    const objects = (namespace: string) => source.objects(`${PODS}${namespace}/`, `${PODS}${namespace}0`);
    expect(objects("n")).toHaveLength(1);
    expect(objects("n")).toBe(objects("n"));
    expect(objects("x")).toHaveLength(0);
    expect(objects("x")).toBe(objects("y"));
  });

  it("makes a cache late as if it had been there from the start", () => {
    for (const profile of [svcProfile, kubernetesProfile]) {
      const world = new World();
      world.put(`${PODS}n/old`);
      const server = world.server({ profile, lagMicros: 10 });
      world.put(`${PODS}n/a`);
      world.remove(`${PODS}n/old`);
      world.pass(10);
      world.put(`${PODS}n/b`);
      world.remove(`${PODS}n/a`);
      const cache = server.source(PODS, true);
      expect(shown(server)).toEqual({ "n/a": 3 });
      expect(cache.oldestStart()).toBe(2);
      expect([...cache.eventsAfter(2)].map(({ revision }) => revision)).toEqual([3, 4]);
    }
  });

  it("keeps its state when it lags for longer than the store remembers", () => {
    const world = new World();
    world.put(`${PODS}n/a`);
    const cut = world.server({ lagMicros: Infinity });
    world.put(`${PODS}n/a`);
    world.remove(`${PODS}n/a`);
    world.put(`${PODS}n/b`);
    world.store.compact(world.store.revision);
    expect(shown(cut)).toEqual({ "n/a": 2 });
    cut.setLag(0);
    expect(shown(cut)).toEqual({ "n/b": 5 });
    expect(cut.source(PODS, true).applied).toBe(5);
  });

  it("lets one resource lag on its own", () => {
    const world = new World();
    const server = world.server();
    world.put(`${PODS}n/a`);
    server.setLag(100, PODS);
    world.put(`${PODS}n/b`);
    world.put(`${NODES}x`);
    expect(shown(server)).toEqual({ "n/a": 2 });
    expect(server.source(PODS, true).applied).toBe(2);
    expect(shown(server, NODES)).toEqual({ x: 4 });
    world.pass(60);
    server.setLag(200, PODS);
    world.pass(60);
    expect(shown(server)).toEqual({ "n/a": 2 });
    server.setLag(110, PODS); // under way for longer already
    expect(shown(server)).toEqual({ "n/a": 2, "n/b": 3 });
    world.put(`${PODS}n/c`);
    server.setLag(0, PODS);
    expect(server.source(PODS, true).applied).toBe(5);
    world.put(`${PODS}n/d`);
    expect(shown(server)).toMatchObject({ "n/d": 6 });
  });

  it("keeps the order of changes whatever the lag does", () => {
    const world = new World();
    const server = world.server({ lagMicros: 100 });
    const seen: number[] = [];
    server.source(PODS, true).audience.add({
      namespace: "",
      trigger: undefined,
      lose: () => {},
      hear: ({ event }) => seen.push(event.revision),
    });
    for (const lag of [100, 0, 50, 0, 10]) {
      world.put(`${PODS}n/a`);
      server.setLag(lag);
      world.put(`${PODS}n/a`);
      world.pass(7);
    }
    world.pass(1000);
    expect(seen).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  });

  it("wakes those who wait for a revision, in time or never", () => {
    const world = new World();
    const server = world.server({ lagMicros: 100 });
    const cache = server.source(PODS, true);
    const heard: string[] = [];
    world.put(`${NODES}x`);
    cache.whenApplied(1, 10, (reached) => heard.push(`1 ${reached}`));
    cache.whenApplied(2, 1000, (reached) => heard.push(`2 ${reached}`));
    cache.whenApplied(2, 50, (reached) => heard.push(`2 within 50 ${reached}`));
    cache.whenApplied(2, 1000, () => heard.push("cancelled"))();
    expect(heard).toEqual(["1 true"]);
    world.pass(2000);
    expect(heard).toEqual(["1 true", "2 within 50 false", "2 true"]);
  });

  it("keeps those waiting whose resource was slowed down meanwhile", () => {
    const world = new World();
    const server = world.server({ lagMicros: 10 });
    const cache = server.source(PODS, true);
    const heard: boolean[] = [];
    world.put(`${PODS}n/a`);
    cache.whenApplied(2, 1000, (reached) => heard.push(reached));
    server.setLag(100, PODS);
    world.pass(50);
    expect(heard).toEqual([]);
    world.pass(50);
    expect(heard).toEqual([true]);
  });

  it("reads types without a cache from the store, whatever the lag", () => {
    const world = new World();
    const server = world.server({ lagMicros: 100 });
    const events = server.source("/registry/events/", false);
    const seen: number[] = [];
    events.audience.add({
      namespace: "n",
      trigger: undefined,
      lose: () => {},
      hear: ({ event }) => seen.push(event.revision),
    });
    world.put("/registry/events/n/a");
    world.put("/registry/events/m/a");
    expect(seen).toEqual([2]);
    expect(events.get("/registry/events/n/a")).toMatchObject({ modRevision: 2 });
    world.pass(100);
    expect(seen).toEqual([2]);
    expect([...events.eventsAfter(1)].map(({ key }) => key)).toEqual(["/registry/events/n/a", "/registry/events/m/a"]);
  });

  it("ends watches of types without a cache when one of them breaks, and caches hear of the change all the same", () => {
    const told: string[] = [];
    const kernel = new Kernel({ seed: "front-end", caught: (_failure, what) => told.push(what) });
    const store = new RevisionStore();
    const server = new FrontEnd({ store, process: kernel.process("server"), profile: svcProfile });
    let lost = 0;
    const hear = (): void => {
      throw new Error("planned");
    };
    const { audience } = server.source("/registry/events/", false);
    audience.add({ namespace: "n", trigger: undefined, lose: () => lost++, hear });
    store.put("/registry/events/n/a", 0, () => ({}));
    expect(told).toEqual(["a change on its way to watches without a cache"]);
    expect([lost, server.source(PODS, true).applied]).toEqual([1, store.revision]);
  });

  it("hears nothing once its server is dead", () => {
    const world = new World();
    const process = world.kernel.process("mortal");
    const server = new FrontEnd({ store: world.store, process, profile: svcProfile });
    world.put(`${PODS}n/a`);
    process.crash();
    world.put(`${PODS}n/b`);
    expect(shown(server)).toEqual({ "n/a": 2 });
  });
});
