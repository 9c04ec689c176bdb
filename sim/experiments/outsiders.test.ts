import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parseScenario } from "../../scenarios/load.ts";
import { bugsOf } from "./bugs.ts";
import { playScenario } from "./play.ts";
import { StageError } from "./stage.ts";

const fileText = (name: string): string =>
  readFileSync(new URL(`../../scenarios/${name}.yaml`, import.meta.url), "utf8");
const played = (text: string, faults: readonly string[] = []) =>
  playScenario(parseScenario(text, "test.yaml"), faults.length === 0 ? {} : { bugs: bugsOf(faults) });

describe.each(["issuer-fails", "authorizer-fails"])("%s", (name) => {
  test("comes out as it says, the same twice", () => {
    const [one, other] = [played(fileText(name)), played(fileText(name))];
    expect(one.report.failure).toBeUndefined();
    expect(one.report.expectations.every(({ verdict }) => verdict.status === "passed")).toBe(true);
    expect(other.report.traceHash).toBe(one.report.traceHash);
  });

  test("has other tokens and another trace for another seed, and comes out alike", () => {
    const scenario = parseScenario(fileText(name), "test.yaml");
    const reports = [1, 2, 3].map((seed) => playScenario(scenario, { seed }).report);
    expect(reports.map(({ failure }) => failure)).toEqual([undefined, undefined, undefined]);
    expect(new Set(reports.map(({ traceHash }) => traceHash)).size).toBe(3);
  });
});

describe("a planted bug of access breaks what a scenario expects", () => {
  test.each([
    ["authorizer-fails", "authorizer-answers-stay", "answers of secrets"],
    ["authorizer-fails", "authorizer-denial-passed-on", "answers of pods"],
    ["issuer-fails", "jwt-audience-ignored", "answers of stranger"],
  ])("%s: %s", (name, fault, requirement) => {
    expect(played(fileText(name), [fault]).report.failure).toMatchObject({ requirement });
  });
});

const scenario = (access: string, more = ""): string => `
apiVersion: scenarios/v1
name: test
until: 20s
access: ${access}
clients:
  - { name: jane, kind: caller, request: GET /version, every: 500ms ${more} }
`;

describe("what cannot be is told with its place", () => {
  test.each([
    [
      "an issuer that is not there",
      scenario("{}", ", token: { issuer: idp }"),
      /clients\[0\].token.issuer: no issuer is called idp/,
    ],
    [
      "a misbehaviour of another kind",
      `${scenario('{ issuers: [{ name: idp, url: "https://a.test" }] }')}faults: [{ at: 1s, misbehave: idp, how: garbled }]\n`,
      /faults\[0\].how: no issuer does that; there are down, wrong-issuer/,
    ],
    [
      "a fault of nobody",
      `${scenario("{}")}faults: [{ at: 1s, rotate: idp }]\n`,
      /no issuer, webhook or collector is called idp; the section access names nobody/,
    ],
    [
      "keys of a webhook",
      `${scenario("{ webhooks: [{ name: gate }] }")}faults: [{ at: 1s, rotate: gate }]\n`,
      /gate is a webhook, and has no keys/,
    ],
    ["a name twice", scenario("{ webhooks: [{ name: jane }] }"), /clients\[0\].name: the name jane is taken/],
    ["no caller", `${scenario("{}")}expect: [{ by: 1s, client: joe, status: 200 }]\n`, /no caller is called joe/],
    ["an issuer without TLS", scenario('{ issuers: [{ name: a, url: "http://a.test" }] }'), /expected an https URL/],
  ])("%s", (_name, text, told) => {
    expect(() => parseScenario(text, "test.yaml")).toThrow(told);
  });

  test("files that are not valid, each mistake with its field", () => {
    const text = scenario('{ authentication: { jwt: [{ issuer: { url: "http://a" } }], colour: red } }');
    const error = thrownBy(() => played(text));
    expect(error).toBeInstanceOf(StageError);
    for (const field of ["colour", "jwt[0].issuer.url", "jwt[0].claimMappings.username"])
      expect(String(error)).toContain(`access.authentication: ${field}:`);
  });

  test("an authorizer without its webhook, and one that is not simulated", () => {
    const webhook =
      "{ timeout: 1s, authorizedTTL: 1s, unauthorizedTTL: 1s, subjectAccessReviewVersion: v1, matchConditionSubjectAccessReviewVersion: v1, failurePolicy: Deny, matchConditions: [] }";
    const hooked = scenario(`{ authorization: { authorizers: [{ type: Webhook, name: gate, webhook: ${webhook} }] } }`);
    expect(String(thrownBy(() => played(hooked)))).toContain("no webhook is called gate; there is none");
    const node = scenario("{ authorization: { authorizers: [{ type: Node, name: node }] } }");
    expect(String(thrownBy(() => played(node)))).toContain("Node is not simulated");
  });
});

test("a server that starts again asks its issuer anew, and whoever waited for the one before is left alone", () => {
  const text = `
apiVersion: scenarios/v1
name: test
until: 20s
access:
  authentication:
    jwt: [{ issuer: { url: "https://a.test", audiences: [c] }, claimMappings: { username: { claim: sub, prefix: "" } } }]
  issuers: [{ name: idp, url: "https://a.test", delay: 800ms }]
clients:
  - { name: jane, kind: caller, request: GET /version, every: 250ms, token: { issuer: idp, claims: { sub: jane, aud: c } } }
faults:
  - { at: 900ms, crash: apiserver, for: 1s }
expect:
  - { by: 15s, client: jane, status: 200 }
  - { by: 15s, place: idp, heard: { atLeast: 3 } }
`;
  expect(played(text).report.failure).toBeUndefined();
});

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
}
