/** A large request is carried out in several events, and others come in between: nothing of it may be lost or half-done. */
import { describe, expect, it } from "vitest";
import { configMaps, TestBed } from "./test-bed.fixture.ts";

const admin = "admin";
const text = "v".repeat(200_000);
/** Sends a large request, and tells its status and object when it has them. */
class Sent {
  status = 0;
  data: Record<string, string> | undefined;
  readonly cancel: () => void;

  constructor(bed: TestBed, method: string, path: string, body: unknown, type = "application/json") {
    const request = {
      method,
      path,
      query: "",
      headers: { authorization: `Bearer ${admin}`, "content-type": type },
      body: new TextEncoder().encode(JSON.stringify(body)),
    };
    const { kernel, process, server } = bed;
    this.cancel = kernel.enter(process, () =>
      server.start(request, {
        respond: (status, _headers, payload) => {
          this.status = status;
          this.data = payload.object?.["data"] as Record<string, string> | undefined;
        },
        open: () => {},
        frame: () => 0,
        close: () => {},
      }),
    );
  }
}

const named = (name: string, data: object) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data });

/** Steps until it is answered; `between` is called before each. Returns how many there were. */
function stepped(bed: TestBed, sent: Sent, between: (at: number) => void = () => {}): number {
  let count = 0;
  for (; sent.status === 0 && count < 50; count++) {
    between(count);
    bed.kernel.step();
  }
  return count;
}

describe("a large request", () => {
  it("is done in several events, at one instant, and small ones are answered in between", () => {
    const bed = new TestBed();
    bed.advance(1);
    const before = bed.kernel.nowMicros();
    const sent = new Sent(bed, "POST", configMaps, named("large", { text }));
    const seen: number[] = [];
    const count = stepped(bed, sent, () => seen.push(bed.ask(`GET ${configMaps}/large`, { as: admin }).status));
    expect([sent.status, bed.kernel.nowMicros()]).toEqual([201, before]);
    expect(count).toBeGreaterThan(4);
    expect(seen[0]).toBe(404);
    expect(sent.data).toEqual({ text });
  });

  it("that patches what somebody else changes meanwhile is computed again", () => {
    const bed = new TestBed();
    bed.advance(1);
    bed.ask(`POST ${configMaps}`, { as: admin, body: named("a", { count: "0" }) });
    for (const type of ["application/merge-patch+json", "application/strategic-merge-patch+json"]) {
      const sent = new Sent(bed, "PATCH", `${configMaps}/a`, { data: { text } }, type);
      stepped(bed, sent, (at) => {
        if (at < 4) bed.merge(`${configMaps}/a`, { data: { count: `${type}-${at}` } }, { as: admin });
      });
      expect([sent.status, sent.data]).toEqual([200, { count: `${type}-3`, text }]);
    }
  });

  it("that updates a version which is overtaken meanwhile is refused", () => {
    const bed = new TestBed();
    bed.advance(1);
    const made = bed.ask(`POST ${configMaps}`, { as: admin, body: named("a", {}) }).body;
    const metadata = made["metadata"] as object;
    const sent = new Sent(bed, "PUT", `${configMaps}/a`, { ...named("a", { text }), metadata });
    stepped(bed, sent, (at) => {
      if (at === 3) bed.merge(`${configMaps}/a`, { data: { other: "1" } }, { as: admin });
    });
    expect(sent.status).toBe(409);
    expect(bed.ask(`GET ${configMaps}/a`, { as: admin }).at("data")).toEqual({ other: "1" });
  });

  it("that creates what another has created meanwhile is refused", () => {
    const bed = new TestBed();
    bed.advance(1);
    const sent = new Sent(bed, "POST", configMaps, named("a", { text }));
    bed.kernel.step();
    expect(bed.ask(`POST ${configMaps}`, { as: admin, body: named("a", {}) }).status).toBe(201);
    stepped(bed, sent);
    expect(sent.status).toBe(409);
  });

  it("whose client goes away at any step leaves nothing, or all", () => {
    for (let at = 0; at < 8; at++) {
      const bed = new TestBed();
      bed.advance(1);
      const { runsInFlight } = bed.server;
      const sent = new Sent(bed, "POST", configMaps, named("a", { text }));
      for (let step = 0; step < at; step++) bed.kernel.step();
      sent.cancel();
      bed.advance(1);
      const found = bed.ask(`GET ${configMaps}/a`, { as: admin });
      expect([200, 404]).toContain(found.status);
      if (found.status === 200) expect(found.at("data")).toEqual({ text });
      expect(bed.server.runsInFlight).toBe(runsInFlight);
    }
  });

  it("has its selector read in an event of its own", () => {
    const bed = new TestBed();
    bed.advance(1);
    const selector = Array.from({ length: 5_000 }, (_, at) => `!k${at}`).join(",");
    expect(bed.ask(`GET ${configMaps}?labelSelector=${selector}`, { as: admin }).status).toBe(200);
  });
});
