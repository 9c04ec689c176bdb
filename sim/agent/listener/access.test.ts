import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dialects } from "../../../wire/dialect.ts";
import type { ApiRequest, JsonObject } from "../../contract/http-message.ts";
import { Kernel } from "../../kernel/kernel.ts";
import type { ApiAnswer, ApiCall } from "../ports.ts";
import { AgentAccess, type AccessOutcome, type AccessSettings } from "./access.ts";

const second = 1_000_000;
const settings: AccessSettings = {
  anonymous: false,
  reviewsTokens: true,
  tokenMicros: 120 * second,
  mode: "Webhook",
  allowedMicros: 300 * second,
  deniedMicros: 30 * second,
};

/** An API server that knows one token and allows what `allows` says; each question is kept. */
class Reviewer {
  readonly kernel = new Kernel({ seed: "access" });
  readonly process = this.kernel.process("agent");
  readonly asked: JsonObject[] = [];
  allows = (_attributes: JsonObject): boolean => true;
  failures = 0;
  readonly access: AgentAccess;

  constructor(changes: Partial<AccessSettings> = {}) {
    const api = { call: (request: ApiCall, done: (answer: ApiAnswer) => void) => this.answer(request, done) };
    const ports = { process: this.process, dialect: dialects.kubernetes, nodeName: "n1", api };
    this.access = new AgentAccess(ports, { ...settings, ...changes });
  }

  private answer({ body = {} }: ApiCall, done: (answer: ApiAnswer) => void): void {
    if (this.failures-- > 0) {
      done({ status: 500, object: undefined });
      return;
    }
    this.asked.push(body);
    const spec = body["spec"] as { token?: string; resourceAttributes?: JsonObject };
    const user = { username: "alice", groups: ["staff"] };
    const status =
      spec.token === undefined
        ? { allowed: this.allows(spec.resourceAttributes ?? {}) }
        : { authenticated: spec.token === "good", ...(spec.token === "good" ? { user } : {}) };
    done({ status: 201, object: { status } });
  }

  ask(request: Partial<ApiRequest>): AccessOutcome | undefined {
    let outcome: AccessOutcome | undefined;
    const whole = { method: "GET", path: "/pods", query: "", headers: {}, ...request };
    this.kernel.enter(this.process, () => this.access.check(whole, (found) => (outcome = found)));
    return outcome;
  }

  pass(seconds: number): void {
    this.kernel.run(this.kernel.nowMicros() + seconds * second);
  }
}

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

describe("who may call an agent", () => {
  it("is whom a certificate names, then whom a token does, then nobody or everybody", () => {
    const world = new Reviewer({ mode: "AlwaysAllow" });
    const clientCertificate = { commonName: "admin", organizations: ["ops"] };
    expect(world.ask({ clientCertificate })).toEqual({
      user: { username: "admin", groups: ["ops", "system:authenticated"] },
    });
    expect(world.ask(bearer("good"))).toMatchObject({ user: { username: "alice" } });
    expect(world.ask(bearer("bad"))).toEqual({ status: 401, text: "Unauthorized" });
    expect(world.ask({ clientCertificate: "invalid" })).toMatchObject({ status: 401 });
    expect(world.ask({})).toMatchObject({ status: 401 });
    const open = new Reviewer({ mode: "AlwaysAllow", anonymous: true });
    expect(open.ask({})).toMatchObject({ user: { username: "system:anonymous" } });
    expect(open.ask(bearer("bad"))).toMatchObject({ status: 401 });
  });

  it("passes over tokens that nobody reviews", () => {
    const world = new Reviewer({ mode: "AlwaysAllow", anonymous: true, reviewsTokens: false });
    expect(world.ask(bearer("bad"))).toMatchObject({ user: { username: "system:anonymous" } });
    expect(world.asked).toEqual([]);
  });

  it("is asked of the cluster by the part of the node that the path is about, and any of two will do", () => {
    const world = new Reviewer();
    world.allows = ({ subresource }) => subresource === "proxy";
    expect(world.ask({ ...bearer("good"), path: "/pods" })).toMatchObject({ user: { username: "alice" } });
    expect(world.asked.slice(1).map((body) => (body["spec"] as JsonObject)["resourceAttributes"])).toEqual(
      ["pods", "proxy"].map((subresource) => ({
        verb: "get",
        version: "v1",
        resource: "nodes",
        name: "n1",
        subresource,
      })),
    );
    expect(world.ask({ ...bearer("good"), path: "/metrics/resource", method: "POST" })).toEqual({
      status: 403,
      text: "Forbidden (user=alice, verb=create, resource=nodes, subresource(s)=[metrics])",
    });
  });

  it("believes an answer for exactly as long as it is told", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 600 }), fc.boolean(), (waitSeconds, allowed) => {
        const world = new Reviewer();
        world.allows = () => allowed;
        const count = (): number => world.asked.length;
        world.ask({ ...bearer("good"), path: "/stats/summary" });
        expect(count()).toBe(2);
        world.pass(waitSeconds);
        world.ask({ ...bearer("good"), path: "/stats/summary" });
        const again = (waitSeconds >= 120 ? 1 : 0) + (waitSeconds >= (allowed ? 300 : 30) ? 1 : 0);
        expect(count()).toBe(2 + again);
      }),
      { numRuns: 100 },
    );
  });

  it("asks again when a review fails, and then says that it could not be asked", () => {
    const world = new Reviewer({ anonymous: true });
    world.failures = 4;
    let outcome: AccessOutcome | undefined;
    const request = { method: "GET", path: "/pods", query: "", headers: {} };
    world.kernel.enter(world.process, () => world.access.check(request, (found) => (outcome = found)));
    world.pass(10);
    expect(outcome).toMatchObject({ user: { username: "system:anonymous" } });
    world.failures = 100;
    world.kernel.enter(world.process, () =>
      world.access.check({ ...request, path: "/stats/x" }, (found) => (outcome = found)),
    );
    world.pass(20);
    expect(outcome).toMatchObject({ status: 500 });
  });
});
