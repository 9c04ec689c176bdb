import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { kubernetesDialect, svcDialect } from "../../../../wire/dialect.ts";
import type { AuthorizerWebhookSettings } from "../../../configuration/authorization.ts";
import { reviewVariables } from "../../../configuration/expressions.ts";
import { compile } from "../../../expressions/expression.ts";
import { Kernel } from "../../../kernel/kernel.ts";
import { AuthorizerWebhook, type Opinion } from "../../../outside/authorizer-webhook.ts";
import type { User } from "../authenticate.ts";
import type { Attributes, Decision } from "../authorize.ts";
import { WebhookAuthorizer } from "./webhook-authorizer.ts";

const second = 1_000_000;
const jane: User = { name: "jane", uid: "7", groups: ["a", "system:authenticated"], extra: { k: ["v"] } };
const get = (name = "x", verb = "get"): Attributes => ({
  is: "resource",
  verb,
  resource: { group: "apps", resource: "deployments" },
  version: "v1",
  subresource: "",
  namespace: "ns",
  name,
});

const settings = (changes: Partial<AuthorizerWebhookSettings> = {}): AuthorizerWebhookSettings => ({
  authorizedMicros: 10 * second,
  unauthorizedMicros: 2 * second,
  timeoutMicros: 3 * second,
  reviewVersion: "v1",
  failurePolicy: "Deny",
  connectionFile: undefined,
  conditions: [],
  ...changes,
});

function condition(source: string) {
  const compiled = compile(source, reviewVariables);
  if ("error" in compiled) throw new Error(compiled.error);
  return compiled;
}

function world(changes: Partial<AuthorizerWebhookSettings> = {}, opinion: Opinion = () => "allow") {
  const kernel = new Kernel({ seed: "1" });
  const process = kernel.process("apiserver-1");
  const webhook = new AuthorizerWebhook(process, opinion);
  const counted: string[] = [];
  const counts = {
    called: (result: string) => counted.push(result),
    excluded: () => counted.push("excluded"),
    conditionFailed: () => counted.push("condition failed"),
    failedOpen: () => counted.push("failed open"),
  };
  const ports = { clock: process.clock, dialect: kubernetesDialect, call: webhook.call, counts };
  const authorizer = new WebhookAuthorizer(settings(changes), ports);
  const decide = (user = jane, asked = get()): Decision | "waits" => {
    let decision: Decision | "waits" = "waits";
    kernel.enter(process, () => authorizer.decide(user, asked, (found) => (decision = found)));
    const until = kernel.nowMicros() + 40 * second;
    while (decision === "waits" && (kernel.nextEventMicros ?? Infinity) <= until) kernel.step();
    return decision;
  };
  const pass = (micros: number): void => kernel.run(kernel.nowMicros() + micros);
  return { kernel, process, webhook, authorizer, decide, pass, counted };
}

describe("what is asked", () => {
  test("a review of v1 has all that is known, and nothing that is empty", () => {
    const { decide, webhook } = world();
    expect(decide()).toEqual({ allowed: true, reason: "allow" });
    expect(webhook.reviews).toEqual([
      {
        apiVersion: "authorization.k8s.io/v1",
        kind: "SubjectAccessReview",
        metadata: {},
        spec: {
          user: "jane",
          uid: "7",
          groups: ["a", "system:authenticated"],
          extra: { k: ["v"] },
          resourceAttributes: {
            namespace: "ns",
            verb: "get",
            group: "apps",
            version: "v1",
            resource: "deployments",
            name: "x",
          },
        },
        status: { allowed: false },
      },
    ]);
  });

  test("the older version has another word for groups", () => {
    const { decide, webhook } = world({ reviewVersion: "v1beta1" });
    decide(jane, { is: "path", verb: "get", path: "/healthz" });
    expect(webhook.reviews[0]).toMatchObject({
      apiVersion: "authorization.k8s.io/v1beta1",
      spec: { group: ["a", "system:authenticated"], nonResourceAttributes: { path: "/healthz", verb: "get" } },
    });
    expect(webhook.reviews[0]?.["spec"]).not.toHaveProperty("groups");
  });

  test("the group is the dialect's", () => {
    const kernel = new Kernel({ seed: "1" });
    const process = kernel.process("a");
    const webhook = new AuthorizerWebhook(process, () => "allow");
    const counts = { called() {}, excluded() {}, conditionFailed() {}, failedOpen() {} };
    const authorizer = new WebhookAuthorizer(settings(), {
      clock: process.clock,
      dialect: svcDialect,
      call: webhook.call,
      counts,
    });
    kernel.enter(process, () => authorizer.decide(jane, get(), () => {}));
    expect(webhook.reviews[0]).toMatchObject({ apiVersion: "authorization.svc.io/v1" });
  });
});

describe("what comes of an answer", () => {
  test.each([
    ["allow", { allowed: true, reason: "allow" }],
    ["deny", { allowed: false, denied: true, reason: "deny" }],
    ["none", { allowed: false, denied: false, reason: "none" }],
  ] as const)("%s", (opinion, decision) => {
    expect(world({}, () => opinion).decide()).toEqual(decision);
  });

  test.each(["down", "refused", "garbled", "broken"] as const)("when it is %s, the failure policy decides", (mood) => {
    for (const failurePolicy of ["Deny", "NoOpinion"] as const) {
      const { decide, webhook, counted } = world({ failurePolicy });
      webhook.behaviour = { delayMicros: 1_000, mood };
      expect(decide()).toEqual({
        allowed: false,
        denied: failurePolicy === "Deny",
        reason: "",
        error: expect.any(String),
      });
      expect(counted).toContain(mood === "down" ? "timeout" : "error");
      expect(counted.includes("failed open")).toBe(failurePolicy === "NoOpinion");
    }
  });

  test("yes and no at once is no, with an error", () => {
    const { decide, webhook } = world();
    webhook.behaviour = { delayMicros: 1_000, mood: "both" };
    expect(decide()).toMatchObject({ allowed: false, denied: true, error: expect.stringContaining("both") });
  });

  test("an answer of the other version makes no sense", () => {
    const { process, kernel } = world();
    const counts = { called() {}, excluded() {}, conditionFailed() {}, failedOpen() {} };
    const authorizer = new WebhookAuthorizer(settings(), {
      clock: process.clock,
      dialect: kubernetesDialect,
      call: (body, done) =>
        process.clock.after(0, () =>
          done({
            status: 200,
            body: { ...body, apiVersion: "authorization.k8s.io/v1beta1", status: { allowed: true } },
          }),
        ),
      counts,
    });
    let found: Decision | undefined;
    kernel.enter(process, () => authorizer.decide(jane, get(), (decision) => (found = decision)));
    kernel.run(second);
    expect(found).toMatchObject({ allowed: false, error: expect.stringContaining("v1beta1") });
  });

  test("a cancelled question is answered by nobody", () => {
    const { kernel, process, authorizer, counted } = world();
    let isAnswered = false;
    const cancel = kernel.enter(process, () => authorizer.decide(jane, get(), () => (isAnswered = true)));
    kernel.enter(process, cancel);
    kernel.run(5 * second);
    expect([isAnswered, counted]).toEqual([false, ["canceled"]]);
  });
});

describe("conditions", () => {
  const asked = (sources: readonly string[], failurePolicy: "Deny" | "NoOpinion" = "Deny") => {
    const { decide, webhook } = world({ conditions: sources.map(condition), failurePolicy });
    return { decision: decide(), calls: webhook.reviews.length };
  };

  test("all true: it is asked", () => {
    expect(asked(["request.user == 'jane'", "has(request.resourceAttributes)"])).toMatchObject({ calls: 1 });
  });

  test("one false: it is not, even if another cannot be evaluated", () => {
    expect(asked(["request.nonResourceAttributes.path == '/'", "request.user == 'joe'"])).toEqual({
      calls: 0,
      decision: { allowed: false, denied: false, reason: "" },
    });
  });

  test("one that cannot be evaluated: the failure policy decides", () => {
    const broken = ["request.nonResourceAttributes.path == '/'", "request.user == 'jane'"];
    expect(asked(broken)).toMatchObject({ calls: 0, decision: { denied: true } });
    expect(asked(broken, "NoOpinion")).toMatchObject({ calls: 0, decision: { denied: false } });
  });

  test("an older review is judged as one of v1", () => {
    const { decide, webhook } = world({ reviewVersion: "v1beta1", conditions: [condition("'a' in request.groups")] });
    expect(decide()).toMatchObject({ allowed: true });
    expect(webhook.reviews).toHaveLength(1);
  });
});

describe("the cache", () => {
  test("keeps a yes and a no each for its lifetime, and no failure at all", () => {
    for (const [opinion, lifetime] of [
      ["allow", 10 * second],
      ["deny", 2 * second],
      ["none", 2 * second],
    ] as const) {
      const { decide, pass, webhook } = world({}, () => opinion);
      decide();
      pass(lifetime - 2_000);
      decide();
      expect(webhook.reviews).toHaveLength(1);
      pass(2_000);
      decide();
      expect(webhook.reviews).toHaveLength(2);
    }
    const { decide, webhook } = world();
    webhook.behaviour = { delayMicros: 1, mood: "broken" };
    decide();
    decide();
    expect(webhook.reviews).toHaveLength(2);
  });

  test("never answers after its lifetime, nor for another question", () => {
    const anyUser = fc.record({
      name: fc.constantFrom("jane", "joe", "jane,joe"),
      uid: fc.constantFrom("", "1"),
      groups: fc.array(fc.constantFrom("a", "b", 'a","b'), { maxLength: 2 }),
    });
    const step = fc.record({
      user: anyUser,
      name: fc.constantFrom("x", "y", 'x"'),
      verb: fc.constantFrom("get", "list"),
      pass: fc.nat({ max: 12_000_000 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const { decide, pass, webhook, kernel } = world({}, ({ user, groups }) =>
          user === "jane" && groups === undefined ? "allow" : "deny",
        );
        const asked = new Map<string, { at: number; allowed: boolean }>();
        for (const { user, name, verb, pass: micros } of steps) {
          pass(micros);
          const before = webhook.reviews.length;
          const decision = decide(user, get(name, verb)) as Decision;
          const question = JSON.stringify([user, name, verb]);
          const isRight = decision.allowed === (user.name === "jane" && user.groups.length === 0);
          expect(isRight).toBe(true);
          const last = asked.get(question);
          if (webhook.reviews.length > before) {
            asked.set(question, { at: kernel.nowMicros(), allowed: decision.allowed });
          } else {
            expect(last).toBeDefined();
            const age = kernel.nowMicros() - (last?.at ?? 0);
            expect(age).toBeLessThan(last?.allowed === true ? 10 * second : 2 * second);
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  test("does not grow without end", () => {
    const { decide, kernel, process, authorizer, webhook } = world({ authorizedMicros: 3_600 * second });
    for (let at = 0; at < 10_000; at++) kernel.enter(process, () => authorizer.decide(jane, get(`n${at}`), () => {}));
    kernel.run(second);
    decide(jane, get("n0"));
    expect(webhook.reviews).toHaveLength(10_001);
    decide(jane, get("n9999"));
    expect(webhook.reviews).toHaveLength(10_001);
  });
});
