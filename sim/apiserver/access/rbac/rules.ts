/**
 * Policy rules: what one allows, and whether some cover others (nobody may grant what they do not hold).
 * Source: document 1, Authorization; the published server's evaluation of rules.
 */
import { tooLarge } from "../../../contract/errors.ts";
import { goQuote } from "../../../../wire/go-strings.ts";
import type { JsonObject } from "../../../contract/http-message.ts";
import type { Attributes } from "../authorize.ts";

/** As it is stored; an absent list is an empty one. */
export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

const none: readonly string[] = [];

/** The rules of a stored role. */
export function rulesOf(role: JsonObject): readonly PolicyRule[] {
  return (role["rules"] as unknown as readonly PolicyRule[] | null | undefined) ?? [];
}

export function ruleAllows(rule: PolicyRule, asked: Attributes): boolean {
  if (!hasOrAll(rule.verbs ?? none, asked.verb)) return false;
  if (asked.is === "path") return (rule.nonResourceURLs ?? none).some((pattern) => urlMatches(pattern, asked.path));
  const { resourceNames = none } = rule;
  return (
    hasOrAll(rule.apiGroups ?? none, asked.resource.group) &&
    resourceMatches(rule.resources ?? none, asked.resource.resource, asked.subresource) &&
    (resourceNames.length === 0 || resourceNames.includes(asked.name))
  );
}

const hasOrAll = (list: readonly string[], wanted: string): boolean => list.includes("*") || list.includes(wanted);

/** `*`, `pods`, `pods/log` or `*`+`/log`: a subresource is never meant by its parent's name. */
function resourceMatches(list: readonly string[], resource: string, subresource: string): boolean {
  if (subresource === "") return hasOrAll(list, resource);
  return hasOrAll(list, `${resource}/${subresource}`) || list.includes(`*/${subresource}`);
}

/** An asterisk stands for any rest, and only at the end. */
function urlMatches(pattern: string, path: string): boolean {
  return pattern === path || (pattern.endsWith("*") && path.startsWith(pattern.slice(0, -1)));
}

/** The parts of `wanted` that `held` do not cover, put together again where only their verbs differ. */
export function rulesMissing(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): readonly PolicyRule[] {
  const missing: PolicyRule[] = [];
  let steps = 0;
  for (const rule of wanted) {
    for (const part of breakDown(rule)) {
      steps += 1 + held.length;
      if (steps > stepsMax)
        throw tooLarge("Request entity too large: the rules stand for too many of one verb and one resource");
      if (!held.some((each) => covers(each, part))) missing.push(part);
    }
  }
  return compact(missing);
}

/** Comparisons of rules for one write. Simplification: the real server makes as many as there are. */
const stepsMax = 1_000_000;

/** Rules of one verb, one resource and one name or of one verb and one URL, that together are `rule`. */
function* breakDown(rule: PolicyRule): Generator<PolicyRule> {
  const { apiGroups = none, resources = none, resourceNames = none, nonResourceURLs = none } = rule;
  const verbs = rule.verbs ?? none; // a stored rule may lack them
  for (const group of apiGroups) {
    for (const resource of resources) {
      for (const verb of verbs) {
        const part = { apiGroups: [group], resources: [resource], verbs: [verb] };
        if (resourceNames.length === 0) yield part;
        for (const name of resourceNames) yield { ...part, resourceNames: [name] };
      }
    }
  }
  for (const url of nonResourceURLs) for (const verb of verbs) yield { nonResourceURLs: [url], verbs: [verb] };
}

/** Whether a rule allows all that a broken-down one does. */
function covers(rule: PolicyRule, part: PolicyRule): boolean {
  const { resourceNames = none } = rule;
  const names = part.resourceNames ?? none;
  return (
    hasAll(rule.verbs ?? none, part.verbs) &&
    hasAll(rule.apiGroups ?? none, part.apiGroups ?? none) &&
    (part.resources ?? none).every((wanted) => coversResource(rule.resources ?? none, wanted)) &&
    (part.nonResourceURLs ?? none).every((wanted) =>
      (rule.nonResourceURLs ?? none).some((pattern) => urlMatches(pattern, wanted)),
    ) &&
    (resourceNames.length === 0 || (names.length > 0 && names.every((name) => resourceNames.includes(name))))
  );
}

const hasAll = (list: readonly string[], wanted: readonly string[]): boolean =>
  list.includes("*") || wanted.every((one) => list.includes(one));

function coversResource(list: readonly string[], wanted: string): boolean {
  const [resource = "", subresource = ""] = wanted.split("/", 2);
  return resourceMatches(list, resource, subresource);
}

function compact(parts: readonly PolicyRule[]): readonly PolicyRule[] {
  const whole = new Map<string, PolicyRule>();
  for (const part of parts) {
    const { verbs, ...place } = part;
    const key = part.nonResourceURLs === undefined ? JSON.stringify(place) : `${JSON.stringify(place)} ${verbs[0]}`;
    const known = whole.get(key);
    if (known === undefined) whole.set(key, part);
    else if (!known.verbs.includes(verbs[0] as string)) whole.set(key, { ...known, verbs: [...known.verbs, ...verbs] });
  }
  return [...whole.values()];
}

/** `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`, as refusals name a rule. */
export function describeRule(rule: PolicyRule): string {
  const parts = [
    ["APIGroups", rule.apiGroups],
    ["Resources", rule.resources],
    ["NonResourceURLs", rule.nonResourceURLs],
    ["ResourceNames", rule.resourceNames],
    ["Verbs", rule.verbs],
  ] as const;
  const shown = parts.flatMap(([name, list = none]) => (list.length === 0 ? [] : [`${name}:${quoteList(list)}`]));
  return `{${shown.join(", ")}}`;
}

/** `["a" "b"]`. */
export function quoteList(list: readonly string[]): string {
  return `[${list.map(goQuote).join(" ")}]`;
}
