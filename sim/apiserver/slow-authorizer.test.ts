/** Whatever an authorizer that takes its time decides, the answers are those of one that decides at once. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { noControllers } from "../control/controllers.ts";
import { kubernetesProfile } from "../contract/profile.ts";
import { Kernel } from "../kernel/kernel.ts";
import type { Clock } from "../kernel/types.ts";
import { type Attributes, type Authorizer, decidedAtOnce, type Decision } from "./access/authorize.ts";
import { type Answer, TestBed } from "./test-bed.fixture.ts";

type Rule = (attributes: Attributes) => boolean;

const decisionOf = (rule: Rule, attributes: Attributes): Decision =>
  rule(attributes) ? { allowed: true, reason: "" } : { allowed: false, denied: false, reason: "by rule" };

/** Decides 10 ms after it was asked. */
const slowly =
  (clock: Clock, rule: Rule): Authorizer =>
  (_user, attributes, done) =>
    clock.after(10_000, () => done(decisionOf(rule, attributes)));

const bedOf = (rule: Rule, isSlow: boolean): TestBed => {
  const kernel = new Kernel({ seed: "slow" });
  const process = kernel.process("apiserver");
  const authorizer = isSlow ? slowly(process.clock, rule) : decidedAtOnce((_, asked) => decisionOf(rule, asked));
  return new TestBed({ process, authorizer, profile: kubernetesProfile, controllers: noControllers }, kernel);
};

const configMaps = "/api/v1/namespaces/default/configmaps";
const map = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } });
const review = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview" };
const admission = "admissionregistration.k8s.io/v1";
const policy = {
  apiVersion: admission,
  kind: "ValidatingAdmissionPolicy",
  metadata: { name: "asks" },
  spec: {
    matchConstraints: {
      resourceRules: [{ apiGroups: [""], apiVersions: ["*"], operations: ["CREATE"], resources: ["configmaps"] }],
    },
    validations: [
      {
        expression: "authorizer.group('').resource('secrets').namespace('default').check('get').allowed()",
        message: "who may not read secrets makes no config maps",
      },
    ],
  },
};
const binding = {
  apiVersion: admission,
  kind: "ValidatingAdmissionPolicyBinding",
  metadata: { name: "asks" },
  spec: { policyName: "asks", validationActions: ["Deny"] },
};

const steps: readonly ((bed: TestBed) => Answer)[] = [
  (bed) => bed.ask(`POST ${configMaps}`, { body: map("a") }),
  (bed) => bed.ask(`GET ${configMaps}/a`),
  (bed) => bed.ask(`GET ${configMaps}`, { headers: { "impersonate-user": "carol", "impersonate-group": "devs" } }),
  (bed) => bed.merge(`${configMaps}/a`, { data: { k: "v" } }),
  (bed) =>
    bed.ask("PUT /apis/coordination.k8s.io/v1/namespaces/default/leases/l", {
      headers: { "content-type": "application/json" },
      body: { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name: "l" } },
    }),
  (bed) =>
    bed.ask(`PATCH ${configMaps}/applied?fieldManager=m`, {
      headers: { "content-type": "application/apply-patch+yaml" },
      body: map("applied"),
    }),
  (bed) =>
    bed.ask("POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {
      body: { ...review, spec: { resourceAttributes: { verb: "get", resource: "configmaps", namespace: "default" } } },
    }),
  (bed) => bed.ask(`POST /apis/${admission}/validatingadmissionpolicies`, { body: policy }),
  (bed) => bed.ask(`POST /apis/${admission}/validatingadmissionpolicybindings`, { body: binding }),
  (bed) => bed.ask(`POST ${configMaps}`, { body: map("judged") }),
  (bed) => bed.ask("GET /version"),
  (bed) => bed.ask(`DELETE ${configMaps}/a`),
];

/** By verb and resource: enough to part all questions of the steps. */
const ruleOf =
  (refused: readonly string[]): Rule =>
  (asked) =>
    !refused.includes(asked.is === "path" ? "path" : `${asked.verb} ${asked.resource.resource}`);

const questions = [
  ...["create", "get", "list", "patch", "delete"].map((verb) => `${verb} configmaps`),
  ...["impersonate users", "impersonate groups", "create leases", "update leases", "get secrets", "path"],
  ...["create selfsubjectaccessreviews", "create validatingadmissionpolicies"],
];

describe("an authorizer that takes its time", () => {
  it("is waited for, and the answers are the same", () => {
    fc.assert(
      fc.property(fc.subarray(questions), (refused) => {
        const rule = ruleOf(refused);
        const [atOnce, slow] = [bedOf(rule, false), bedOf(rule, true)];
        for (const step of steps) {
          const answers = [atOnce, slow].map((bed) => {
            const answer = step(bed);
            bed.advance(1);
            return answer;
          });
          const [expected, found] = answers.map(({ status, text, over }) => ({
            status,
            over,
            message: (JSON.parse(text) as { message?: string }).message,
          }));
          expect(found).toEqual(expected);
          expect(found?.over).toBe(true);
        }
        expect(slow.server.runsInFlight).toBe(0);
      }),
      { seed: 7, numRuns: 40 },
    );
  });

  it("is asked no longer than the request may take, nor for a client that has gone", () => {
    const kernel = new Kernel({ seed: "never" });
    const process = kernel.process("apiserver");
    let cancelledCount = 0;
    const never: Authorizer = () => () => void cancelledCount++;
    const bed = new TestBed({ process, authorizer: never, controllers: noControllers }, kernel);
    const answer = bed.ask(`GET ${configMaps}?timeout=3s`);
    bed.advance(2);
    expect([answer.over, cancelledCount]).toEqual([false, 0]);
    bed.advance(2);
    expect([answer.status, cancelledCount]).toEqual([504, 1]);
    const left = bed.ask(`GET ${configMaps}`);
    kernel.enter(process, () => left.cancel());
    expect([cancelledCount, bed.server.runsInFlight]).toEqual([2, 0]);
  });
});
