/**
 * What hostile and merely large input once did: end the process, or hold everybody up. Bounds are on work that is counted
 * (answers, steps of the engine), never on time. `bench/attacks.ts` measures the same attacks against a process.
 */
import { describe, expect, it } from "vitest";
import { Kernel, type ProcessError } from "../kernel/kernel.ts";
import { kubernetesProfile } from "../contract/profile.ts";
import { type AttackRequest, attacks } from "./attack-requests.fixture.ts";
import { MainStackBed, onMainStack } from "./main-stack.fixture.ts";
import { type Answer, configMaps } from "./test-bed.fixture.ts";

const admin = { as: "admin" };

/** A server that goes on after an exception, and what it caught: none is called for. */
class Attacked {
  readonly failures: ProcessError[] = [];
  readonly bed: MainStackBed;

  constructor(options: ConstructorParameters<typeof MainStackBed>[0] = {}) {
    const kernel = new Kernel({ seed: "attacked", caught: (failure) => this.failures.push(failure) });
    this.bed = new MainStackBed(options, kernel);
    this.bed.advance(1);
  }

  post(path: string, body: unknown, headers = {}): Answer {
    return this.bed.ask(`POST ${path}`, { ...admin, headers, body });
  }
}

/** Nothing threw, and everybody else goes on. */
function judge({ failures, bed }: Attacked): void {
  expect(failures.map(({ cause }) => cause)).toEqual([]);
  expect(bed.ask(`GET ${configMaps}`, admin).status).toBe(200);
}

it("a stack like that of a main thread has room for no list of 130,000 in one call, and for one of 110,000", () => {
  const spread = (count: number) => () => Math.max(...new Array<number>(count).fill(1));
  expect(() => onMainStack(spread(130_000))).toThrow(RangeError);
  expect(onMainStack(spread(110_000))).toBe(1);
});

describe("owners", () => {
  const references = (count: number, more = {}) =>
    Array.from({ length: count }, (_, at) => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      name: `x${at}`,
      uid: `u${at}`,
      ...more,
    }));

  it.each([600, 3_000])("that are absent, %i of them, take their dependent with them", (count) => {
    const attacked = new Attacked();
    const created = attacked.post(configMaps, { metadata: { name: "o", ownerReferences: references(count) } });
    expect(created.status).toBe(201);
    attacked.bed.advance(20);
    expect(attacked.bed.ask(`GET ${configMaps}/o`, admin).status).toBe(404);
    judge(attacked);
  });

  it("that all control are refused, in a text of bounded length", () => {
    const attacked = new Attacked();
    const ownerReferences = references(15_000, { controller: true });
    const refused = attacked.post(configMaps, { metadata: { name: "o", ownerReferences } });
    expect(refused.status).toBe(422);
    expect(refused.text.length).toBeLessThan(20_000_000);
    judge(attacked);
  });
});

describe("definitions", () => {
  it("three hundred of them do not stand in the way of a namespace that goes", () => {
    const attacked = new Attacked({ profile: kubernetesProfile });
    const { bed } = attacked;
    for (let at = 0; at < 300; at++) {
      const defined = attacked.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
        metadata: { name: `t${at}s.example.com` },
        spec: {
          group: "example.com",
          scope: "Namespaced",
          names: { plural: `t${at}s`, kind: `T${at}` },
          versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
        },
      });
      expect(defined.status).toBe(201);
    }
    attacked.post("/api/v1/namespaces", { metadata: { name: "n" } });
    bed.advance(5);
    expect(bed.ask("GET /apis/example.com/v1/namespaces/n/t299s", admin).status).toBe(200);
    expect(bed.ask("DELETE /api/v1/namespaces/n", admin).status).toBe(200);
    bed.advance(10);
    expect(bed.ask("GET /api/v1/namespaces/n", admin).status).toBe(404);
    judge(attacked);
  });
});

describe("JSON patches", () => {
  const patch = (operations: readonly object[], document: object = { data: { k: "v" } }) => {
    const attacked = new Attacked();
    attacked.post(configMaps, { metadata: { name: "jp" }, ...document });
    const headers = { "content-type": "application/json-patch+json" };
    const answer = attacked.bed.ask(`PATCH ${configMaps}/jp`, { ...admin, headers, body: operations });
    judge(attacked);
    return answer;
  };

  it("that nest by copies are refused", () => {
    const operations: object[] = [{ op: "add", path: "/data", value: { z: { a: {} } } }];
    for (let depth = 1; depth < 20_000; depth = 2 * depth + 1) {
      operations.push({ op: "copy", from: "/data/z", path: `/data/z${"/a".repeat(depth)}/a` });
    }
    expect(patch(operations).status).toBe(422);
  });

  it("that nest by additions are refused", () => {
    let deep: object = {};
    for (let depth = 0; depth < 400; depth++) deep = { a: deep };
    const operations = Array.from({ length: 20 }, (_, at) => ({
      op: "add",
      path: `/x${"/a".repeat(400 * at)}`,
      value: deep,
    }));
    expect(patch(operations).status).toBe(422);
  });
});

/** Those that need no socket and are not large for their number alone, with what they are answered. */
const replayed: readonly (readonly [name: string, status: number])[] = [
  ["yaml-duplicates", 422],
  ["yaml-brackets", 400],
  ["yaml-flow-maps", 400],
  ["patch-copies", 200],
  ["patch-inserts", 200],
  ["patch-removes", 200],
  ["embedded-metadata", 201],
  ["policy-variables", 201],
  ["unwanted-webhooks", 201],
  ["long-name-dropped", 201],
  ["long-name-conflicts", 409],
  ["defaults", 400],
  ["rule-trim", 201],
  ["rule-duration", 422],
  ["rule-size", 201],
  ["rule-starts", 201],
  ["enum", 201],
  ["alternatives", 422],
];

describe("an attack of the benchmark", () => {
  const tokens = [
    { token: "admin", user: "admin", uid: "1", groups: ["system:masters"] },
    { token: "nobody", user: "nobody", uid: "2", groups: [] },
  ];

  it.each(replayed)("%s is answered with %i, and harms nobody", { timeout: 30_000 }, (name, status) => {
    const attacked = new Attacked({ profile: kubernetesProfile, tokens, authorizationModes: ["RBAC"] });
    const send = ({ method = "GET", path, headers = {}, body, as = "admin" }: AttackRequest): number => {
      const answer = attacked.bed.ask(`${method} ${path}`, { as, headers, body });
      attacked.bed.advance(0.1);
      return answer.status;
    };
    const attack = attacks[name];
    for (const request of attack?.prepare?.() ?? []) send(request);
    expect([...(attack?.strike?.() ?? [])].map(send)).toEqual([status]);
    judge(attacked);
  });
});
