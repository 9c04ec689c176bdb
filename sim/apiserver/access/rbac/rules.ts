/**
 * Policy rules: what one allows, and how refusals name it.
 * Source: document 1, Authorization; the published server's evaluation of rules.
 */
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
export function urlMatches(pattern: string, path: string): boolean {
  return pattern === path || (pattern.endsWith("*") && path.startsWith(pattern.slice(0, -1)));
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
