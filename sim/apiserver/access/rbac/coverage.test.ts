import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { drained } from "../../../../wire/steps.ts";
import { toldCharactersMax } from "../../../contract/errors.ts";
import { rulesMissing } from "./coverage.ts";
import { describeRule, type PolicyRule } from "./rules.ts";

const times = <Item>(count: number, make: (at: number) => Item): Item[] =>
  Array.from({ length: count }, (_, at) => make(at));

/** The plain way: each part of a rule held against each rule, text by text. */
function plainlyMissing(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): readonly PolicyRule[] {
  const missing = new Map<string, { readonly rule: PolicyRule; readonly verbs: string[] }>();
  for (const part of wanted.flatMap(partsOf)) {
    if (held.some((rule) => plainlyCovers(rule, part))) continue;
    const { verbs, ...place } = part;
    const key = JSON.stringify(place) + (part.nonResourceURLs === undefined ? "" : verbs[0]);
    const known = missing.get(key);
    if (known === undefined) missing.set(key, { rule: part, verbs: [...verbs] });
    else if (!known.verbs.includes(verbs[0] as string)) known.verbs.push(verbs[0] as string);
  }
  return [...missing.values()].map(({ rule, verbs }) => ({ ...rule, verbs }));
}

function partsOf(rule: PolicyRule): readonly PolicyRule[] {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const names = resourceNames.length === 0 ? [{}] : resourceNames.map((name) => ({ resourceNames: [name] }));
  const places = apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb) =>
        names.map((name) => ({ apiGroups: [group], resources: [resource], verbs: [verb], ...name })),
      ),
    ),
  );
  return [
    ...places,
    ...nonResourceURLs.flatMap((url) => verbs.map((verb) => ({ nonResourceURLs: [url], verbs: [verb] }))),
  ];
}

function plainlyCovers(rule: PolicyRule, part: PolicyRule): boolean {
  const has = (list: readonly string[] | undefined, text: string): boolean =>
    list !== undefined && (list.includes("*") || list.includes(text));
  const names = part.resourceNames ?? [];
  return (
    part.verbs.every((verb) => has(rule.verbs, verb)) &&
    (part.apiGroups ?? []).every((group) => has(rule.apiGroups, group)) &&
    (part.resources ?? []).every((text) => {
      const [resource = "", subresource = ""] = text.split("/", 2);
      if (subresource === "") return has(rule.resources, resource);
      return has(rule.resources, `${resource}/${subresource}`) || rule.resources?.includes(`*/${subresource}`);
    }) &&
    (part.nonResourceURLs ?? []).every((url) =>
      rule.nonResourceURLs?.some(
        (pattern) => pattern === url || (pattern.endsWith("*") && url.startsWith(pattern.slice(0, -1))),
      ),
    ) &&
    ((rule.resourceNames ?? []).length === 0 ||
      (names.length > 0 && names.every((name) => rule.resourceNames?.includes(name))))
  );
}

/** Lists short and long, of texts that often meet. */
const list = (...texts: fc.Arbitrary<string>[]) =>
  fc.oneof(fc.array(fc.oneof(...texts), { maxLength: 3 }), fc.array(fc.oneof(...texts), { maxLength: 24 }));
const of = (...texts: string[]) => fc.constantFrom(...texts);
const url = fc
  .tuple(fc.array(of("/", "a", "b", "ab"), { maxLength: 5 }), of("", "", "*", "/*"))
  .map(([parts, end]) => `/${parts.join("")}${end}`);
const rule: fc.Arbitrary<PolicyRule> = fc.oneof(
  fc.record({
    verbs: list(of("get", "list", "*", "update")),
    apiGroups: list(of("", "apps", "*")),
    resources: list(of("pods", "pods/log", "*", "*/log", "pods/log/x", "pods/", "nodes")),
    resourceNames: list(of("a", "b", "c", "*", "")),
  }),
  fc.record({ verbs: list(of("get", "*", "post")), nonResourceURLs: list(url) }),
  fc.record({ verbs: list(of("get", "*")), nonResourceURLs: list(url), resourceNames: fc.constantFrom([], ["a"]) }),
);

it("is what the plain way says, for all rules", () => {
  const rules = fc.array(rule, { maxLength: 4 });
  const property = fc.property(rules, rules, (held, wanted) => {
    expect(drained(rulesMissing(held, wanted))).toEqual(plainlyMissing(held, wanted));
  });
  fc.assert(property, { seed: 1, numRuns: 2_000 });
});

/** Counts what is read of a list. */
function counted(texts: readonly string[], count: { reads: number }): readonly string[] {
  return new Proxy(texts, {
    get(target, field, receiver) {
      if (typeof field === "string" && /^\d/.test(field)) count.reads++;
      return Reflect.get(target, field, receiver);
    },
  });
}

function readsOf(make: (texts: readonly string[]) => PolicyRule, texts: readonly string[]): number {
  const count = { reads: 0 };
  const steps = rulesMissing([make(counted(texts, count))], [make(texts)]);
  expect(drained(steps)).toEqual([]);
  return count.reads;
}

describe("long lists are read a few times, however many parts are held against them", () => {
  const verbs = ["get"];
  it.each<[string, (texts: readonly string[]) => PolicyRule, string]>([
    ["resourceNames", (resourceNames) => ({ verbs, apiGroups: [""], resources: ["pods"], resourceNames }), "name-"],
    ["resources", (resources) => ({ verbs, apiGroups: [""], resources }), "pods/"],
    ["apiGroups", (apiGroups) => ({ verbs, apiGroups, resources: ["pods"] }), "group-"],
    ["verbs", (all) => ({ verbs: all, apiGroups: [""], resources: ["pods"] }), "verb-"],
    ["nonResourceURLs", (nonResourceURLs) => ({ verbs, nonResourceURLs }), "/some/path/"],
  ])("%s", (_, make, begin) => {
    const texts = times(4_000, (at) => `${begin}${at}`);
    expect(readsOf(make, texts)).toBeLessThan(30 * texts.length);
  });

  it("beginnings of URLs", () => {
    const texts = times(4_000, (at) => `/path/${at}/*`);
    expect(readsOf((nonResourceURLs) => ({ verbs, nonResourceURLs }), texts)).toBeLessThan(30 * texts.length);
  });
});

it("what takes long is done in turns", () => {
  const rules = [{ verbs: ["get"], apiGroups: [""], resources: ["pods"], resourceNames: times(90_000, String) }];
  const turns = (held: readonly PolicyRule[]): number => [...rulesMissing(held, rules)].length;
  expect(turns(rules)).toBeGreaterThanOrEqual(9);
  expect(turns([])).toBeGreaterThanOrEqual(1); // as much as may be told
});

it("of what is missing no more is told than may be, and all that fits", () => {
  const rule = (count: number): PolicyRule => ({
    verbs: ["get"],
    apiGroups: [""],
    resources: ["pods"],
    resourceNames: times(count, (at) => `${at}`.padStart(40, "0")),
  });
  const told = drained(rulesMissing([], [rule(90_000)])).map(describeRule);
  const characters = told.join("\n").length;
  expect(characters).toBeGreaterThan(toldCharactersMax - 10);
  expect(characters).toBeLessThan(toldCharactersMax + 200);
  expect(drained(rulesMissing([], [rule(told.length - 2)]))).toHaveLength(told.length - 2);
  const verbs = { ...rule(1), verbs: times(50_000, (at) => `verb-${at}`) };
  expect(drained(rulesMissing([], [verbs]))[0]?.verbs).toEqual(verbs.verbs); // each once, put together in one rule
});
