/**
 * An exception is one request's, one watch's or one item's. Every method of the server throws once, at every call in
 * turn of a script of requests; afterwards nothing of it may be left: no seat, no request in flight, no cache that
 * differs from the store, no watch that says nothing.
 */
import { describe, expect, it } from "vitest";
import { Kernel, type ProcessError } from "../kernel/kernel.ts";
import { type Answer, configMaps, TestBed } from "./test-bed.fixture.ts";

const planned = new Error("planned");

/** Calls of the server's own methods, of which one throws. */
class Saboteur {
  calls = 0;
  /** The call that throws, from 1 on; 0 for none. */
  throwsAt = 0;
  where = "";
  /** Numbers of the first and of the last call of each method. */
  readonly ends = new Map<string, readonly [first: number, last: number]>();
  private readonly restores: (() => void)[] = [];

  /** Every method of every class of ours that can be reached from `root`. */
  wrap(root: object): void {
    const seen = new Set<object>([Object.prototype, Function.prototype]);
    const queue: unknown[] = [root];
    while (queue.length > 0) {
      const value = queue.pop();
      if (typeof value !== "object" || value === null || seen.has(value)) continue;
      seen.add(value);
      const prototype = Object.getPrototypeOf(value) as object | null;
      if (prototype === null || Object.isFrozen(value)) continue;
      const isCollection = value instanceof Map || value instanceof Set;
      for (const next of isCollection ? value.values() : Object.values(value)) queue.push(next);
      if (isCollection || Array.isArray(value)) continue;
      if (!seen.has(prototype) && isOurs(prototype)) this.wrapClass(prototype);
      seen.add(prototype);
    }
  }

  private wrapClass(prototype: object): void {
    for (const name of Object.getOwnPropertyNames(prototype)) {
      const descriptor = Object.getOwnPropertyDescriptor(prototype, name) as PropertyDescriptor;
      const method = descriptor.value as unknown;
      if (name === "constructor" || typeof method !== "function" || untouched.has(name)) continue;
      // oxlint-disable-next-line typescript/no-this-alias -- a wrapped method has a `this` of its own
      const saboteur = this;
      const where = `${prototype.constructor.name}.${name}`;
      const wrapped = function (this: unknown, ...given: unknown[]): unknown {
        saboteur.calls++;
        if (saboteur.throwsAt === 0) saboteur.note(where);
        if (saboteur.calls === saboteur.throwsAt) {
          saboteur.where = where;
          throw planned;
        }
        return Reflect.apply(method, this, given);
      };
      Object.defineProperty(prototype, name, { ...descriptor, value: wrapped });
      this.restores.push(() => Object.defineProperty(prototype, name, descriptor));
    }
  }

  private note(where: string): void {
    this.ends.set(where, [this.ends.get(where)?.[0] ?? this.calls, this.calls]);
  }

  restore(): void {
    for (const restore of this.restores.splice(0)) restore();
  }
}

/** The kernel and the store are the ground that all stands on; `broke` and its kin are how an exception is told. */
const ground = new Set([
  "Kernel",
  "ProcessScope",
  "EventQueue",
  "Trace",
  "RevisionStore",
  "RevisionLog",
  "SortedIndex",
]);
const isOurs = (prototype: object): boolean => !ground.has(prototype.constructor.name);
const untouched = new Set([
  "start",
  "begin",
  "stage",
  "broke",
  "breakOff",
  "idOf",
  "finish",
  "ended",
  "lose",
  "reset",
  "close",
  "end",
  "abandon",
]);

const bodyOf = (name: string, extra: object = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...extra },
});

/** A server of which each kind of request has one seat, so that one that is lost shows. */
function bedOf(failures: ProcessError[]): TestBed {
  const kernel = new Kernel({ seed: "contained", caught: (failure) => failures.push(failure) });
  const bed = new TestBed({ limits: { readsMax: 1, mutationsMax: 1 }, controllers: noControllers }, kernel);
  settle(bed);
  return bed;
}

/** Carries out what is left of this instant: the server's own watches begin, large requests end. */
function settle({ kernel }: TestBed): void {
  const now = kernel.nowMicros();
  while (kernel.nextEventMicros === now) kernel.step();
}

const noControllers = { namespaces: false, garbageCollection: false, disruption: false, customResources: false };

type Script = (bed: TestBed) => Answer[];

/** Sends as somebody who may do everything, and keeps the answers. */
function asking(bed: TestBed) {
  const asked: Answer[] = [];
  const ask = (request: string, body?: unknown, type = "application/json"): void => {
    const headers = { "content-type": type };
    asked.push(bed.ask(request, { as: "admin", headers, ...(body === undefined ? {} : { body }) }));
  };
  return { asked, ask };
}

const small: Script = (bed) => {
  const { asked, ask } = asking(bed);
  ask(`GET ${configMaps}?watch=1&resourceVersion=0&allowWatchBookmarks=true`);
  ask(`POST ${configMaps}`, bodyOf("a"));
  ask(`PUT ${configMaps}/a`, { ...bodyOf("a"), data: { k: "v" } });
  asked.push(bed.merge(`${configMaps}/a`, { data: { l: "w" } }, { as: "admin" }));
  ask(`GET ${configMaps}/a`);
  ask(`GET ${configMaps}?limit=1`);
  ask(`GET ${configMaps}?resourceVersion=0`);
  ask(`DELETE ${configMaps}/a`);
  ask(`GET /apis`);
  return asked;
};

/** What is carried out in several events: large bodies, by each way of writing, and what goes item by item. */
const large: Script = (bed) => {
  const { asked, ask } = asking(bed);
  const data = { k: "v".repeat(130_000) };
  const apply = "application/apply-patch+yaml";
  ask(`GET ${configMaps}?watch=1&resourceVersion=0&allowWatchBookmarks=true`);
  ask(`POST ${configMaps}`, { ...bodyOf("a"), data });
  ask(`PATCH ${configMaps}/a?fieldManager=m&force=true`, { ...bodyOf("a"), data: { l: data.k } }, apply);
  ask(`PATCH ${configMaps}/a`, [{ op: "add", path: "/data/m", value: data.k }], "application/json-patch+json");
  ask(`POST ${configMaps}`, bodyOf("b"));
  ask(`DELETE ${configMaps}`);
  bed.advance(5); // longer than a read waits for a version
  return asked;
};

/** What must hold afterwards, whatever was thrown. */
function judge(bed: TestBed, asked: readonly Answer[], ownCount: number, where: string): void {
  const [watch, ...requests] = asked;
  for (const [index, answer] of requests.entries()) {
    expect([where, index, answer.over]).toEqual([where, index, true]);
  }
  // The server's own watches are some more; those that were ended begin again later.
  const openCount = bed.server.runsInFlight - (watch?.over === true ? 0 : 1);
  expect([where, openCount >= 0 && openCount <= ownCount]).toEqual([where, true]);
  const created = bed.ask(`POST ${configMaps}`, { as: "admin", body: bodyOf("after") });
  expect([where, created.status]).toEqual([where, 201]);
  const stored = bed.ask(`GET ${configMaps}`, { as: "admin" });
  const cached = bed.ask(`GET ${configMaps}?resourceVersion=0`, { as: "admin" });
  expect([where, stored.status, cached.status]).toEqual([where, 200, 200]);
  expect([where, cached.body["items"]]).toEqual([where, stored.body["items"]]);
  // A watch is told of everything, or it is over and its client knows.
  if (watch?.over === false) expect([where, watch.text]).toEqual([where, expect.stringContaining('"after"')]);
  const deleted = bed.ask(`DELETE ${configMaps}/after`, { as: "admin" });
  expect([where, deleted.status]).toEqual([where, 200]);
  bed.advance(120);
}

describe("an exception at any call of the server's methods", () => {
  it.each([
    ["small requests", small, ({ calls }: Saboteur) => Array.from({ length: calls }, (_, index) => index + 1)],
    // All of their calls would take a minute.
    ["large requests", large, ({ ends }: Saboteur) => [...new Set([...ends.values()].flat())].sort((a, b) => a - b)],
  ])("ends what it happened in of %s, and nothing else", { timeout: 240_000 }, (_what, script, callsOf) => {
    const failures: ProcessError[] = [];
    const sample = bedOf(failures);
    const saboteur = new Saboteur();
    script(sample); // what is made on first use is there to be found, and an open watch
    saboteur.wrap(sample.server);
    try {
      const whole = bedOf(failures);
      saboteur.calls = 0;
      saboteur.ends.clear();
      script(whole);
      expect(saboteur.calls).toBeGreaterThan(100);
      const places = new Set<string>();
      for (const at of callsOf(saboteur)) {
        saboteur.throwsAt = 0;
        const bed = bedOf(failures);
        failures.length = 0;
        const ownCount = bed.server.runsInFlight;
        Object.assign(saboteur, { calls: 0, throwsAt: at, where: "" });
        const asked = script(bed);
        saboteur.throwsAt = 0;
        if (saboteur.where === "") continue; // what the process remembers by now saves some calls
        places.add(saboteur.where);
        expect([saboteur.where, failures.map(({ cause }) => cause)]).toEqual([saboteur.where, [planned]]);
        judge(bed, asked, ownCount, saboteur.where);
      }
      expect(places.size).toBeGreaterThan(40);
    } finally {
      saboteur.restore();
    }
  });

  it("fails the run where nobody was told to go on", () => {
    const bed = new TestBed({
      admission: [
        {
          name: "broken",
          review: () => {
            throw planned;
          },
        } as never,
      ],
    });
    expect(() => bed.ask(`POST ${configMaps}`, { as: "admin", body: bodyOf("a") })).toThrow();
  });
});
