import { describe, expect, it } from "vitest";
import { noControllers } from "../control/controllers.ts";
import { Kernel } from "../kernel/kernel.ts";
import type { AdmissionStep } from "./admission/admission.ts";
import { decidedAtOnce } from "./access/authorize.ts";
import { kubernetesProfile, svcProfile } from "../contract/profile.ts";
import { configMaps, TestBed } from "./test-bed.fixture.ts";

const named = (name: string, more: object = {}) => ({ metadata: { name }, ...more });

describe("who may ask", () => {
  it("refuses wrong credentials always, and missing ones by profile", () => {
    const svc = new TestBed({ profile: svcProfile });
    expect(svc.ask("GET /api/v1/namespaces", { as: "nobody" }).body).toEqual({
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: "Unauthorized",
      reason: "Unauthorized",
      code: 401,
    });
    expect(svc.ask("GET /api/v1/namespaces", { as: "" }).status).toBe(401);
    const kubernetes = new TestBed({ profile: kubernetesProfile });
    expect(kubernetes.ask("GET /api/v1/namespaces", { as: "" }).status).toBe(200);
    expect(new TestBed({ anonymousAuth: true }).ask("GET /api/v1/namespaces", { as: "" }).status).toBe(200);
  });

  it("asks the authorizer before it looks whether there is such a path, method or representation", () => {
    const nothing = decidedAtOnce(() => ({ allowed: false, denied: false, reason: "" }));
    const bed = new TestBed({ authorizer: nothing });
    for (const request of ["GET /no/such/path", `PUT ${configMaps}`, "GET /api/v1/widgets"]) {
      expect(bed.ask(request).status).toBe(403);
    }
    const refused = bed.ask(`GET ${configMaps}/a`, { headers: { accept: "text/html" } });
    expect([refused.status, refused.headers["x-content-type-options"]]).toEqual([403, "nosniff"]);
    const listed = bed.ask(`GET ${configMaps}`);
    expect(listed.at("message")).toBe(
      'configmaps is forbidden: User "alice" cannot list resource "configmaps" in API group "" in the namespace "default"',
    );
  });
});

describe("requests in flight", () => {
  const costs = { seatMicros: () => 1_000_000, answerMicros: () => 0 };

  it("refuses the 401st read while 400 hold a seat, and serves it when they are done", () => {
    const bed = new TestBed({ costs });
    const answers = Array.from({ length: 401 }, () => bed.ask(`GET ${configMaps}`));
    expect(answers.filter(({ over }) => over)).toHaveLength(1);
    const refused = answers[400];
    expect(refused?.status).toBe(429);
    expect(refused?.headers["retry-after"]).toBe("1");
    expect(refused?.contentType).toBe("text/plain; charset=utf-8");
    bed.advance(1);
    expect(answers.slice(0, 400).every(({ status }) => status === 200)).toBe(true);
    const later = bed.ask(`GET ${configMaps}`);
    bed.advance(1);
    expect(later.status).toBe(200);
  });

  it("counts writes apart from reads, and masters, watches and probes not at all", () => {
    const bed = new TestBed({ costs });
    for (let index = 0; index < 400; index++) bed.ask(`GET ${configMaps}`);
    const write = bed.ask(`POST ${configMaps}`, { body: named("a") });
    const master = bed.ask(`GET ${configMaps}`, { as: "admin" });
    const watch = bed.ask(`GET ${configMaps}?watch=1`);
    // Whoever asks whether a busy server lives must not hear that it does not.
    const probes = ["/livez", "/livez/etcd", "/metrics"].map((path) => bed.ask(`GET ${path}`));
    expect([write.over, master.over, watch.status]).toEqual([false, false, 200]);
    bed.advance(1);
    expect([write.status, master.status]).toEqual([201, 200]);
    expect(probes.map(({ status }) => status)).toEqual([200, 429, 429]);
  });

  it("lets requests wait in line when there is one, and gives up on them after their time", () => {
    const limits = { readsMax: 1, queueMax: 2, queueWaitMicrosMax: 1_500_000 };
    const bed = new TestBed({ costs, limits });
    const [first, second, third, fourth] = Array.from({ length: 4 }, () => bed.ask(`GET ${configMaps}`));
    expect(fourth?.status).toBe(429);
    bed.advance(1);
    expect([first?.over, second?.over]).toEqual([true, false]);
    bed.advance(1);
    expect([second?.status, third?.status]).toEqual([200, 429]);
  });

  it("gives a seat back when the client goes away", () => {
    const bed = new TestBed({ costs, limits: { readsMax: 1 }, controllers: noControllers });
    const gone = bed.ask(`GET ${configMaps}`);
    gone.cancel();
    expect(bed.ask(`GET ${configMaps}`).over).toBe(false);
    bed.advance(1);
    expect([gone.over, bed.server.runsInFlight]).toEqual([false, 0]);
  });

  it("answers 504 at the deadline that the client or the server sets", () => {
    const slow = { seatMicros: () => 100_000_000, answerMicros: () => 0 };
    const bed = new TestBed({ costs: slow, controllers: noControllers });
    const asked = bed.ask(`GET ${configMaps}?timeout=2s`);
    const read = bed.ask(`GET ${configMaps}`);
    const write = bed.ask(`POST ${configMaps}`, { body: named("a") });
    bed.advance(2);
    expect([asked.status, asked.reason, read.over]).toEqual([504, "Timeout", false]);
    bed.advance(32);
    expect([write.status, read.over]).toEqual([504, false]);
    bed.advance(26);
    expect(read.status).toBe(504);
    expect(bed.ask(`GET ${configMaps}?timeout=soon`).status).toBe(400);
    bed.advance(100);
    expect(bed.ask(`GET ${configMaps}/a`, { as: "admin" }).over).toBe(false);
  });

  it("does not undo a write whose answer is still on its way", () => {
    const bed = new TestBed({ costs: { seatMicros: () => 0, answerMicros: () => 1_000_000 } });
    const write = bed.ask(`POST ${configMaps}`, { body: named("a") });
    write.cancel();
    const read = bed.ask(`GET ${configMaps}/a`);
    bed.advance(1);
    expect([write.over, read.status]).toEqual([false, 200]);
  });
});

describe("admission that takes its time", () => {
  /** Holds alice's updates for three seconds. */
  const slowStep = (bed: () => TestBed): AdmissionStep => ({
    name: "slow",
    sideEffects: false,
    handles: ({ operation, user }) => operation === "UPDATE" && user.name === "alice",
    admit: (_review, done) => bed().process.clock.after(3_000_000, () => done({})),
  });

  function bedWithStep(): TestBed {
    const bed: TestBed = new TestBed({ admission: [slowStep(() => bed)] });
    bed.ask(`POST ${configMaps}`, { body: named("a", { data: { k: "0" } }) });
    return bed;
  }

  it("patches what another client has written meanwhile", () => {
    const bed = bedWithStep();
    const patched = bed.merge(`${configMaps}/a`, { data: { alice: "1" } });
    bed.advance(1);
    const other = bed.merge(`${configMaps}/a`, { data: { bob: "2" } }, { as: "bob" });
    expect([other.status, patched.over]).toEqual([200, false]);
    bed.advance(2);
    expect(patched.over).toBe(false); // admitted again, with the new object
    bed.advance(3);
    expect(patched.at("data")).toEqual({ alice: "1", bob: "2", k: "0" });
  });

  it("refuses a PUT and a patch that name a version which is gone by then", () => {
    const bed = bedWithStep();
    const before = bed.ask(`GET ${configMaps}/a`).body;
    const version = (before["metadata"] as { resourceVersion: string }).resourceVersion;
    const put = bed.ask(`PUT ${configMaps}/a`, { body: { ...before, data: { k: "1" } } });
    const patch = bed.merge(`${configMaps}/a`, { metadata: { resourceVersion: version }, data: { k: "2" } });
    bed.merge(`${configMaps}/a`, { data: { k: "bob" } }, { as: "bob" });
    bed.advance(7);
    expect([put.status, put.reason, patch.status, patch.reason]).toEqual([409, "Conflict", 409, "Conflict"]);
    expect(bed.ask(`GET ${configMaps}/a`).at("data")).toEqual({ k: "bob" });
  });

  it("stops with the client, and with nothing written", () => {
    const bed = bedWithStep();
    bed.merge(`${configMaps}/a`, { data: { k: "1" } }).cancel();
    bed.advance(10);
    expect(bed.ask(`GET ${configMaps}/a`).at("data.k")).toBe("0");
  });

  it("changes objects, refuses them, warns, and keeps dry runs from side effects", () => {
    const step = (name: string, sideEffects: boolean, admit: AdmissionStep["admit"]): AdmissionStep => ({
      name,
      sideEffects,
      handles: ({ operation }) => operation === "CREATE",
      admit,
    });
    const mark = step("mark", false, ({ object }, done) => {
      done({ object: { ...object, data: { marked: "yes" } }, warnings: ["marked"] });
      return () => {};
    });
    const marked = new TestBed({ admission: [mark] }).ask(`POST ${configMaps}`, { body: named("a") });
    expect([marked.at("data"), marked.headers["warning"]]).toEqual([{ marked: "yes" }, ['299 - "marked"']]);
    const effect = step("w", true, (_review, done) => {
      done({});
      return () => {};
    });
    const bed = new TestBed({ admission: [effect] });
    expect(bed.ask(`POST ${configMaps}?dryRun=All`, { body: named("a") }).status).toBe(400);
    expect(bed.ask(`POST ${configMaps}`, { body: named("a") }).status).toBe(201);
  });
});

describe("a crash", () => {
  it("ends every watch and request, and a new server goes on from the store", () => {
    const bed = new TestBed({ costs: { seatMicros: () => 1_000_000, answerMicros: () => 0 } });
    bed.ask(`POST ${configMaps}`, { body: named("before") });
    bed.advance(1);
    const watch = bed.ask(`GET ${configMaps}?watch=1&resourceVersion=0`);
    const waiting = bed.ask(`POST ${configMaps}`, { body: named("lost") });
    const seen = watch.text;
    bed.process.crash();
    const next = new TestBed({ store: bed.store }, bed.kernel, "apiserver-2");
    expect(next.ask(`GET ${configMaps}/before`).status).toBe(200);
    expect(next.ask(`POST ${configMaps}`, { body: named("after") }).status).toBe(201);
    next.advance(60);
    expect([watch.text, watch.over, waiting.over]).toEqual([seen, false, false]);
    expect(next.ask(`GET ${configMaps}/lost`).status).toBe(404);
    expect(bed.server.runsInFlight).toBe(0);
  });
});

describe("one seed", () => {
  const history = (seed: string) => {
    const bed = new TestBed({}, new Kernel({ seed }));
    return [
      bed.ask(`POST ${configMaps}`, { body: { metadata: { generateName: "x-" } } }).text,
      bed.ask(`GET ${configMaps}`).text,
    ];
  };

  it("gives the same names, uids and times, and another seed gives others", () => {
    expect(history("1")).toEqual(history("1"));
    expect(history("1")).not.toEqual(history("2"));
  });
});
