import { describe, expect, it } from "vitest";
import { drained } from "../../wire/steps.ts";
import type { JsonObject } from "../contract/http-message.ts";
import { kubernetesProfile } from "../contract/profile.ts";
import { TestBed } from "../apiserver/test-bed.fixture.ts";
import { collectedRules } from "./role-aggregation.ts";

/** At once. */
const rulesIn = (...of: Parameters<typeof collectedRules>) => drained(collectedRules(...of));

const roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
const rule = (resource: string) => ({ apiGroups: ["example.com"], resources: [resource], verbs: ["get"] });
const role = (name: string, labels: JsonObject, resources: readonly string[]): JsonObject => ({
  metadata: { name, labels },
  rules: resources.map(rule),
});
const collector = (name: string, key: string, labels: JsonObject = {}): JsonObject => ({
  metadata: { name, labels },
  aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [key]: "true" } }] },
});

describe("the rules of a role that collects", () => {
  const all = (...list: readonly JsonObject[]): Map<string, JsonObject> =>
    new Map(list.map((each) => [(each["metadata"] as JsonObject)["name"] as string, each]));

  it("are those of the chosen ones, by name, each once, and not its own", () => {
    const all_ = collector("all", "in", { in: "true" });
    const others = [role("b", { in: "true" }, ["y", "x"]), role("a", { in: "true" }, ["x"]), role("c", {}, ["z"])];
    expect(rulesIn(all_, all(all_, ...others))).toEqual([rule("x"), rule("y")]);
    expect(rulesIn(role("a", {}, ["x"]), all(all_, ...others))).toBeUndefined();
    const none: JsonObject = { metadata: { name: "n" }, aggregationRule: { clusterRoleSelectors: [] } };
    expect(rulesIn(none, all(...others))).toEqual([]);
  });

  it("are found by thousands of selectors, of which each role is chosen by the first", () => {
    const keys = Array.from({ length: 10_000 }, (_, at) => `k${at}`);
    const clusterRoleSelectors = keys.map((key) => ({ matchExpressions: [{ key, operator: "Exists" }] }));
    const collecting: JsonObject = { metadata: { name: "all" }, aggregationRule: { clusterRoleSelectors } };
    const others = Array.from({ length: 300 }, (_, at) =>
      role(`r${at}`, { [`k${at * 7}`]: "", [`k${at * 7 + 1}`]: "" }, [`x${at}`]),
    );
    expect(rulesIn(collecting, all(collecting, ...others))).toEqual(others.map((_, at) => rule(`x${at}`)));
    expect([...collectedRules(collecting, all(collecting, ...others))].length).toBeGreaterThan(5); // turns
  });
});

describe("wide rules", () => {
  const wide = (name: string, count: number, start = name): JsonObject => {
    const resourceNames = Array.from({ length: count }, (_, at) => `${start}-${at}`);
    return { metadata: { name, labels: { in: "true" } }, rules: [{ ...rule("x"), resourceNames }] };
  };
  const collecting = collector("all", "in");
  const gathered = (...others: readonly JsonObject[]): Map<string, JsonObject> =>
    new Map([collecting, ...others].map((each) => [(each["metadata"] as JsonObject)["name"] as string, each]));
  const same = Array.from({ length: 40 }, (_, at) => wide(`r${at}`, 30_000, "same"));

  it("are taken some at a time, and those that are the same count once", () => {
    const steps = collectedRules(collecting, gathered(...same));
    let turnCount = 1;
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) turnCount++;
    expect(step.value).toEqual(same[0]?.["rules"]);
    expect(turnCount).toBeGreaterThanOrEqual(20);
  });

  it("of more names than an object may have are not put together", () => {
    const others = Array.from({ length: 40 }, (_, at) => wide(`r${at}`, 30_000));
    const steps = [...collectedRules(collecting, gathered(...others))];
    expect(steps.length).toBeLessThanOrEqual(3);
    expect(rulesIn(collecting, gathered(...others))).toBe("too many");
  });

  it("are written in steps, and a role that would have too many values stays as it is", () => {
    const bed = new TestBed({ profile: kubernetesProfile });
    const post = (body: JsonObject): number => {
      const answer = bed.ask(`POST ${roles}`, { body });
      bed.advance(0.01);
      return answer.status;
    };
    const nameCount = (): number =>
      (
        bed.ask(`GET ${roles}/all`).at("rules") as readonly { readonly resourceNames: readonly string[] }[] | null
      )?.reduce((sum, { resourceNames }) => sum + resourceNames.length, 0) ?? 0;
    post(collecting);
    expect(bed.ask(`POST ${roles}`, { body: wide("a", 40_000) }).status).toBe(201);
    let eventCount = 0;
    const { kernel } = bed;
    for (const end = kernel.nowMicros() + 50_000; (kernel.nextEventMicros ?? end) < end; eventCount++) kernel.step();
    expect(nameCount()).toBe(40_000);
    expect(eventCount).toBeGreaterThanOrEqual(20);
    post(wide("b", 40_000));
    bed.advance(1);
    expect(nameCount()).toBe(80_000);
    post(wide("c", 40_000));
    bed.advance(1);
    expect(nameCount()).toBe(80_000);
  });
});

describe("aggregation in a server", () => {
  const rulesOf = (bed: TestBed, name: string): unknown => bed.ask(`GET ${roles}/${name}`, { as: "admin" }).at("rules");

  it("follows the roles that come, change and go, through roles that are collected themselves", () => {
    const bed = new TestBed({ profile: kubernetesProfile });
    bed.ask(`POST ${roles}`, { body: collector("outer", "outer") });
    bed.ask(`POST ${roles}`, { body: collector("inner", "inner", { outer: "true" }) });
    bed.ask(`POST ${roles}`, { body: role("part", { inner: "true" }, ["x"]) });
    expect(rulesOf(bed, "outer")).toBeNull();
    bed.advance(1);
    expect([rulesOf(bed, "inner"), rulesOf(bed, "outer")]).toEqual([[rule("x")], [rule("x")]]);
    bed.merge(`${roles}/inner`, { rules: [rule("mine")] });
    bed.merge(`${roles}/part`, { rules: [rule("y")] });
    bed.advance(1);
    expect([rulesOf(bed, "inner"), rulesOf(bed, "outer")]).toEqual([[rule("y")], [rule("y")]]);
    bed.ask(`DELETE ${roles}/part`);
    bed.advance(1);
    expect(rulesOf(bed, "outer")).toBeNull();
    const version = bed.ask(`GET ${roles}`).at("metadata.resourceVersion");
    bed.advance(60);
    expect(bed.ask(`GET ${roles}`).at("metadata.resourceVersion")).toBe(version); // at rest it writes nothing
  });

  it("makes the default roles for people whole, and is off when it is told so", () => {
    const bed = (on: boolean): TestBed =>
      new TestBed({
        profile: kubernetesProfile,
        authorizationModes: ["RBAC"],
        controllers: { clusterRoles: on },
      });
    const [live, still] = [bed(true), bed(false)];
    live.advance(1);
    still.advance(1);
    const view = rulesOf(live, "system:aggregate-to-view") as readonly object[];
    expect(rulesOf(live, "view")).toEqual(view);
    expect((rulesOf(live, "admin") as readonly object[]).length).toBeGreaterThan(view.length);
    expect(rulesOf(still, "view")).toBeNull();
  });
});
