import { describe, expect, it } from "vitest";
import { kubernetesDialect } from "../../../wire/dialect.ts";
import { testPrng } from "../../objects/objects.fixture.ts";
import { kubernetesProfile, svcProfile } from "../../contract/profile.ts";
import { configMaps, TestBed } from "../test-bed.fixture.ts";
import { FlowControl } from "./flow-control.ts";

const schema = "x-kubernetes-pf-flowschema-uid";
const level = "x-kubernetes-pf-prioritylevel-uid";
const uid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe("flow schemas", () => {
  it("part users, and levels may be shared", () => {
    const control = new FlowControl(kubernetesDialect, testPrng());
    const of = (groups: readonly string[], path = "/api") =>
      control.flowOf({ name: "u", uid: "", groups }, path).headers;
    const all = [
      of(["system:masters"]),
      of([], "/livez"),
      of(["system:nodes"]),
      of(["system:serviceaccounts", "system:serviceaccounts:kube-system"]),
      of(["system:serviceaccounts", "system:serviceaccounts:default"]),
      of(["system:authenticated"]),
    ];
    expect(new Set(all.map((flow) => flow[schema])).size).toBe(6);
    expect(new Set(all.map((flow) => flow[level])).size).toBe(5);
    expect(all[0]?.[level]).toBe(all[1]?.[level]);
    const again = new FlowControl(kubernetesDialect, testPrng());
    expect(again.flowOf({ name: "u", uid: "", groups: [] }, "/").headers).toEqual(all[5]);
  });

  it("are named by every answer to somebody, refusals and streams among them, and by no 401", () => {
    const bed = new TestBed({ profile: kubernetesProfile, authorizationModes: ["RBAC"] });
    for (const [request, as, status] of [
      [`GET ${configMaps}`, "admin", 200],
      [`GET ${configMaps}?watch=1`, "admin", 200],
      [`GET ${configMaps}`, "alice", 403],
      ["GET /version", "alice", 200],
      [`GET ${configMaps}/none`, "admin", 404],
    ] as const) {
      const answer = bed.ask(request, { as });
      expect([answer.status, answer.headers[schema], answer.headers[level]]).toEqual([
        status,
        expect.stringMatching(uid),
        expect.stringMatching(uid),
      ]);
    }
    const unknown = bed.ask(`GET ${configMaps}`, { as: "nobody" });
    expect([unknown.status, schema in unknown.headers]).toEqual([401, false]);
    const svc = new TestBed({ profile: svcProfile }).ask(`GET ${configMaps}`);
    expect(svc.headers["x-svc-pf-flowschema-uid"]).toMatch(uid);
  });
});
