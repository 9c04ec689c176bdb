import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../contract/http-message.ts";
import type { AccessOutcome } from "./access.ts";
import { bearer, Reviewer } from "./reviewer.fixture.ts";

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
