import fc from "fast-check";
import { expect, it } from "vitest";
import type { JsonObject } from "../../../contract/http-message.ts";
import type { Attributes } from "../authorize.ts";
import { RoleRules } from "./role-rules.ts";
import { type PolicyRule, ruleAllows } from "./rules.ts";

const times = <Item>(count: number, make: (at: number) => Item): Item[] =>
  Array.from({ length: count }, (_, at) => make(at));

const roleOf = (rules: readonly PolicyRule[]): JsonObject => ({ rules }) as unknown as JsonObject;

const texts = (...all: string[]) => fc.array(fc.constantFrom(...all), { minLength: 1, maxLength: 12 });
const rule: fc.Arbitrary<PolicyRule> = fc.record(
  {
    verbs: texts("get", "list", "*", "update", "watch"),
    apiGroups: texts("", "apps", "*", "batch"),
    resources: texts("pods", "pods/log", "*", "*/log", "*/", "nodes"),
    resourceNames: fc.array(fc.constantFrom("a", "b", "c", "*", ""), { maxLength: 3 }),
    nonResourceURLs: texts("/", "/a", "/a/*", "*"),
  },
  { requiredKeys: ["verbs"] },
);
const asked: fc.Arbitrary<Attributes> = fc.oneof(
  fc.record({
    is: fc.constant("resource" as const),
    verb: fc.constantFrom("get", "list", "*", "delete"),
    resource: fc.record({
      group: fc.constantFrom("", "apps", "*", "other"),
      resource: fc.constantFrom("pods", "nodes", "*", "pods/log", "other"),
    }),
    version: fc.constant("v1"),
    subresource: fc.constantFrom("", "", "log", "status"),
    namespace: fc.constant(""),
    name: fc.constantFrom("", "a", "c", "*", "other"),
  }),
  fc.record({
    is: fc.constant("path" as const),
    verb: fc.constantFrom("get", "*"),
    path: fc.constantFrom("/", "/a", "/a/b", "/b"),
  }),
);

it("say of each question what the plain way says, however often they were asked", () => {
  const many = fc.array(rule, { minLength: 1, maxLength: 20 });
  const property = fc.property(many, fc.array(asked, { minLength: 30, maxLength: 60 }), (rules, questions) => {
    const role = new RoleRules(roleOf(rules), { count: 0 });
    const plainly = questions.map((each) => rules.some((one) => ruleAllows(one, each)));
    expect(questions.map((each) => role.allows(each, true))).toEqual(plainly);
  });
  fc.assert(property, { seed: 1, numRuns: 300 });
});

const group = (name: string): Attributes => ({
  is: "resource",
  verb: "impersonate",
  resource: { group: "", resource: "groups" },
  version: "",
  subresource: "",
  namespace: "",
  name,
});

/** What a question takes on average. */
function labourOf(rules: readonly PolicyRule[], count: number): number {
  const labour = { count: 0 };
  const role = new RoleRules(roleOf(rules), labour);
  for (let at = 0; at < count; at++) expect(role.allows(group(`g${at}`), true)).toBe(true);
  return labour.count / count;
}

const verbs = ["impersonate"];
const place = { apiGroups: [""], resources: ["groups"], verbs };

it.each<[string, readonly PolicyRule[]]>([
  ["one rule of many names", [{ ...place, resourceNames: times(9_000, (at) => `g${at}`) }]],
  ["a rule for each name", times(9_000, (at) => ({ ...place, resourceNames: [`g${at}`] }))],
  ["many rules, of which the last allows", [...times(9_000, (at) => ({ ...place, resources: [`r${at}`] })), place]],
  ["many verbs, of which the last allows", [...times(9_000, (at) => ({ ...place, verbs: [`v${at}`] })), place]],
  ["many groups, of which the last allows", [...times(9_000, (at) => ({ ...place, apiGroups: [`g${at}`] })), place]],
  ["long lists", [{ apiGroups: times(9_000, String).concat(""), resources: times(9_000, String).concat("*"), verbs }]],
])("%s are not searched for each of thousands of questions", (_, rules) => {
  expect(labourOf(rules, 9_000)).toBeLessThan(600);
});

it("a role that may not prepare is searched", () => {
  const role = new RoleRules(roleOf([{ ...place, resourceNames: times(9_000, (at) => `g${at}`) }]), { count: 0 });
  for (let at = 0; at < 100; at++) expect(role.allows(group("g8999"), false)).toBe(true);
});
