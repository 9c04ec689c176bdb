/** What attacks on admission cost, counted in events and in characters: costly expressions, and webhooks that are many or tell much. */
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../contract/http-message.ts";
import { Pace, TurnBudget } from "../expressions/pace.ts";
import type { AdmissionReview } from "./admission/admission.ts";
import { type Equivalent, shownAs } from "./admission/equivalents.ts";
import type { ApiServerOptions } from "./api-server.ts";
import { type Attack, type AttackRequest, attacks, post, times } from "./attack-requests.fixture.ts";
import { tellable, warningHeaders } from "./requests/warnings.ts";
import { strike, Struck } from "./struck.fixture.ts";

/** How many parts each turn of a judgement goes by, done or known, while something is made. */
function partsByTurn<Made>(make: () => Made): { readonly made: Made; readonly counts: readonly number[] } {
  const counts: number[] = [];
  const { prototype } = Pace;
  const { turn, take } = prototype;
  prototype.turn = function <Result>(this: Pace, judge: () => Result) {
    counts.push(0);
    return turn.call<Pace, [() => Result], { readonly result: Result } | undefined>(this, judge);
  };
  prototype.take = function <Value>(this: Pace, ...part: Parameters<typeof take<Value>>): Value {
    counts.push((counts.pop() ?? 0) + 1);
    return take.call<Pace, Parameters<typeof take<Value>>, Value>(this, ...part);
  };
  try {
    return { made: make(), counts };
  } finally {
    Object.assign(prototype, { turn, take });
  }
}

describe("expressions that each cost much are evaluated some at a time", () => {
  it.each([
    ["costly-policies", 1 / 10, 10], // two policies
    ["costly-rules", 1, 12],
    ["costly-conditions", 1 / 10, 10],
  ])("%s", (name, scale, eventCountMin) => {
    const { struck, told } = strike(name, scale);
    expect([told[0]?.status, struck.failures]).toEqual([201, []]);
    expect(told[0]?.eventCount).toBeGreaterThanOrEqual(eventCountMin);
  });

  // Each variable may use all before it: 8,000 were compiled in four seconds, each beside a copy of the ones before.
  it.each([
    ["validations", times(8_000, (at) => ({ expression: `object.metadata.name != 'n${at}'` })), 25, 7],
    [
      "variables",
      times(8_000, (at) => ({ name: `v${at}`, expression: at === 0 ? "1" : `variables.v${at - 1} + 1` })),
      24,
      5,
    ],
  ])("and compiled some at a time: %s", (field, items, storedMin, usedMin) => {
    const struck = new Struck({}, 1);
    const group = "/apis/admissionregistration.k8s.io/v1";
    const rule = { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] };
    const spec = { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: "true" }], [field]: items };
    const stored = struck.send(post(`${group}/validatingadmissionpolicies`, { metadata: { name: "many" }, spec }));
    expect(stored.status).toBe(201);
    expect(stored.eventCount).toBeGreaterThanOrEqual(storedMin);
    const binding = { metadata: { name: "many" }, spec: { policyName: "many", validationActions: ["Deny"] } };
    expect(struck.send(post(`${group}/validatingadmissionpolicybindings`, binding)).status).toBe(201);
    struck.bed.advance(1);
    const used = struck.send(post("/api/v1/namespaces/default/configmaps", { metadata: { name: "c" } }));
    expect([used.status, struck.failures]).toEqual([201, []]);
    expect(used.eventCount).toBeGreaterThanOrEqual(usedMin);
  });

  // Each turn had gone by all that was known of every expression that came before.
  it.each([
    ["policy-parameters", 1 / 100, 20, 2 * 4 * 20 * 30], // the expressions and their messages
    ["webhook-conditions", 1 / 5, 4, 10 * 40 * 64],
  ])("%s, and what is behind is gone by at once", (name, scale, turnsMin, expressionCount) => {
    const { made, counts } = partsByTurn(() => strike(name, scale));
    expect([made.told[0]?.status, made.struck.failures]).toEqual([201, []]);
    expect(counts.length).toBeGreaterThanOrEqual(turnsMin);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(expressionCount);
    expect(Math.max(...counts)).toBeLessThan(expressionCount / 2);
  });

  it("until the first that refuses", () => {
    const warned = attacks["policy-parameters"] as Attack;
    const denied: Attack = {
      prepare: (scale) =>
        [...(warned.prepare?.(scale) ?? [])].map((request) =>
          typeof request.body === "string"
            ? { ...request, body: request.body.replace('["Warn"]', '["Deny"]') }
            : request,
        ),
    };
    const struck = new Struck(denied, 1 / 100);
    const [request] = [...(warned.strike?.() ?? [])] as [AttackRequest];
    const { made, counts } = partsByTurn(() => struck.send(request));
    expect([made.status, struck.failures]).toEqual([422, []]);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBeLessThan(20); // 2,400 expressions are in force
  });

  it("also where a collection is deleted, and each object costs little", () => {
    const { struck, told } = strike("policies-of-collections", 1 / 10); // 200 objects, 200 policies
    const { kernel } = struck.bed;
    let eventCount = told[0]?.eventCount ?? 0;
    for (; told[0]?.status === 0; eventCount++) kernel.step();
    expect([told[0]?.status, struck.failures]).toEqual([200, []]);
    expect(eventCount).toBeGreaterThanOrEqual(4);
  });

  it("and others are heard in between", () => {
    const attack = attacks["costly-policies"] as Attack;
    const struck = new Struck(attack, 1 / 10);
    const { kernel, process, server } = struck.bed;
    const headers = { authorization: "Bearer admin" };
    const order: string[] = [];
    const heard = (name: string) => ({
      respond: (status: number) => void order.push(`${name} ${status}`),
      open: () => {},
      frame: () => 0,
      close: () => {},
    });
    const [request] = [...(attack.strike?.() ?? [])] as [AttackRequest];
    const body = new TextEncoder().encode(request.body as string);
    const costly = { method: "POST", path: request.path, query: "", headers: { ...headers, ...request.headers }, body };
    kernel.enter(process, () => server.start(costly, heard("costly")));
    kernel.step();
    const small = { method: "GET", path: request.path, query: "", headers, body: undefined };
    kernel.enter(process, () => server.start(small, heard("small")));
    struck.bed.advance(0);
    expect(order).toEqual(["small 200", "costly 201"]);
  });
});

describe("selectors of webhooks", () => {
  it("are read some at a time, once", () => {
    const hook = (at: number) => ({
      name: `a${at}.example.org`,
      clientConfig: { url: "https://a.example.org/" },
      rules: [{ operations: ["*"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] }],
      objectSelector: { matchExpressions: times(20_000, (each) => ({ key: `k${at}.${each}`, operator: "Exists" })) },
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
    });
    const struck = new Struck({}, 1);
    const path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
    for (const at of times(8, (each) => each)) {
      const object = { metadata: { name: `hooks-${at}` }, webhooks: [hook(at)] };
      expect(struck.send(post(path, object)).status).toBe(201);
    }
    struck.bed.advance(1);
    const make = (name: string) => struck.send(post("/api/v1/namespaces/default/configmaps", { metadata: { name } }));
    const [first, second] = [make("a"), make("b")];
    expect([first.status, second.status, struck.failures]).toEqual([201, 201, []]);
    expect(first.eventCount).toBeGreaterThanOrEqual(4); // 160,000 requirements, of which an event reads 40,000
    expect(second.eventCount).toBeLessThan(4);
  });
});

it("a large request is put in another version once for all webhooks and policies that are shown it", () => {
  let madeCount = 0;
  const shown = (object: JsonObject): JsonObject => {
    madeCount++;
    return { ...object };
  };
  const place = { row: { version: "v2" } } as unknown as Equivalent["place"];
  const form: Equivalent = { place, shown, taken: shown };
  const turn = { budget: new TurnBudget(), isLarge: true };
  const review = { object: {}, oldObject: {}, place, turn } as unknown as AdmissionReview;
  const pace = new Pace(turn.budget);
  const judge = (): readonly AdmissionReview[] => times(60, () => shownAs(form, review));
  expect(pace.turn(judge)).toBeUndefined();
  let made = pace.turn(judge);
  for (let turnCount = 0; made === undefined && turnCount < 10; turnCount++) {
    turn.budget.refill();
    made = pace.turn(judge);
  }
  expect(new Set(made?.result).size).toBe(1);
  expect(madeCount).toBe(2);
});

describe("a webhook", () => {
  const rule = { operations: ["*"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] };
  const answered = (response: (uid: string) => object, more: object = {}) => {
    const webhooks: ApiServerOptions["webhooks"] = ({ body }, done) => {
      const { uid } = body["request"] as { readonly uid: string };
      const review = { kind: "AdmissionReview", apiVersion: "admission.k8s.io/v1", response: response(uid) };
      done({ status: 200, body: review, ...more });
      return () => {};
    };
    const struck = new Struck({}, 1, { webhooks });
    const hook = {
      name: "a.example.org",
      clientConfig: { url: "https://a.example.org/" },
      rules: [rule],
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
    };
    const path = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";
    expect(struck.send(post(path, { metadata: { name: "hooks" }, webhooks: [hook] })).status).toBe(201);
    const told = struck.send(post("/api/v1/namespaces/default/configmaps", { metadata: { name: "c" } }));
    expect(struck.failures).toEqual([]);
    return told;
  };
  const patching = (operations: readonly object[]) => (uid: string) => ({
    uid,
    allowed: true,
    patchType: "JSONPatch",
    patch: btoa(JSON.stringify(operations)),
  });
  const many = (count: number): object => Object.fromEntries(times(count, (at) => [`k${at}`, `value ${at} of many`]));

  // Each was carried out in one event, or in two where what is written is stored.
  it.each([
    ["a map of 45,000 texts", [{ op: "add", path: "/data", value: many(45_000) }], 201, 44],
    [
      "9,900 operations",
      [
        { op: "add", path: "/data", value: {} },
        ...times(9_900, (at) => ({ op: "add", path: `/data/k${at}`, value: "v" })),
      ],
      201,
      16,
    ],
    ["a copy that makes it large", [...copies(5_000)], 201, 8],
    ["more values than one object may have", [{ op: "add", path: "/data", value: many(110_000) }], 500, 8],
  ])("that patches an object with %s is followed in steps", (_, operations, status, eventCountMin) => {
    const told = answered(patching(operations));
    expect(told.status).toBe(status);
    expect(told.eventCount).toBeGreaterThanOrEqual(eventCountMin);
  });

  it("that refuses with megabytes is told with as much as has room", () => {
    const causes = times(60_000, (at) => ({ reason: "r", message: `m${at}`.padEnd(40, "."), field: "f" }));
    const status = { code: 403, reason: "r".repeat(1_200_000), message: "m".repeat(1_200_000), details: { causes } };
    const { payload } = answered((uid) => ({ uid, allowed: false, status }));
    const told = payload?.object as { readonly message: string; readonly details: { readonly causes: object[] } };
    expect(told.message).toHaveLength(1_000_000 + 'admission webhook "a.example.org" denied the request: '.length);
    expect(told.details.causes.length).toBeGreaterThan(10_000);
    expect(JSON.stringify(told.details).length).toBeLessThan(2_000_000);
  });

  it("that refuses with a hundred causes is told in its own words", () => {
    const details = { causes: times(100, (at) => ({ message: `m${at}`, other: [at, { a: "b" }] })), what: "else" };
    const { payload, status } = answered((uid) => ({ uid, allowed: false, status: { code: 409, details } }));
    expect([status, payload?.object?.["details"]]).toEqual([409, details]);
  });

  it("whose refusal says in no number when to come again is told without a header", () => {
    const details = { retryAfterSeconds: "1\n2" };
    const { payload, headers } = answered((uid) => ({ uid, allowed: false, status: { code: 429, details } }));
    expect([headers["retry-after"], payload?.object?.["details"]]).toEqual([undefined, details]);
  });

  it("with a hundred thousand warnings is told with the first that have room", () => {
    const warnings = times(100_000, (at) => `w${at % 50_000}`);
    const { headers } = answered((uid) => ({ uid, allowed: true, warnings }));
    const told = headers["warning"] as readonly string[];
    expect(told).toEqual(warningHeaders(warnings));
    expect(tellable(warnings).length).toBeLessThan(500);
  });

  it.each([
    ["of another review", (uid: string) => ({ uid: `${uid}${"\u0007".repeat(2_000_000)}`, allowed: true })],
    ["with a patch of no type", (uid: string) => ({ ...patching([])(uid), patchType: "\u0007".repeat(2_000_000) })],
  ])("whose answer is %s is told with its beginning", (_, response) => {
    const { status, payload } = answered(response);
    expect(status).toBe(500);
    expect(String(payload?.object?.["message"]).length).toBeLessThan(500_000);
  });
});

function copies(count: number): readonly object[] {
  const list = [{ op: "add", path: "/metadata/finalizers", value: ["e.com/a"] }];
  return [
    ...list,
    ...times(count, () => ({ op: "copy", from: "/metadata/finalizers/0", path: "/metadata/finalizers/-" })),
  ];
}
