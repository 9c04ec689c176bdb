/**
 * Judges an object by the rules of its schema, node by node. Rules that compare with the value before are left out
 * where there is none to compare with; a value that has not changed is not held against the writer.
 *
 * Simplification: what an unchanged value breaks is passed over in silence; the real server warns of it.
 * Source: the published behaviour of validation rules: order, budget, messages, transitions, ratcheting.
 */
import { sortByBytes, utf8Length } from "../../../wire/go-strings.ts";
import type { Cause } from "../../contract/errors.ts";
import { callCostMax, type Outcome } from "../../expressions/expression.ts";
import { fromJson } from "../../expressions/json-values.ts";
import type { CelType } from "../../expressions/types.ts";
import { none, Optional, type Value } from "../../expressions/values.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { duplicateValue, forbiddenField, invalidValue, requiredValue } from "../../objects/causes.ts";
import { jsonEqual } from "../../objects/equality.ts";
import { isObject } from "../../contract/objects.ts";
import { type ValidationRule } from "./rule.ts";
import { resolveFieldPath } from "./field-path.ts";
import { type CompiledRule, compileRule } from "./rule-causes.ts";
import { RuleTypes } from "./rule-types.ts";
import type { Schema } from "./schema.ts";
import { canonical } from "./validate-value.ts";

/** What all rules may cost for one object. */
const objectCostMax = 10_000_000;
const messageBytesMax = 5120;

/** A node of the schema with rules on it or below it. */
interface RuleNode {
  readonly schema: Schema;
  readonly type: CelType | undefined;
  readonly rules: readonly CompiledRule[];
  readonly properties: ReadonlyMap<string, RuleNode>;
  readonly additional: RuleNode | undefined;
  readonly items: RuleNode | undefined;
}

/** Causes for refusing `object`, of which `live` is what is stored. */
export type RuleValidator = (object: JsonObject, live: JsonObject | undefined) => readonly Cause[];

/** Undefined for a schema without rules: its objects pay nothing. */
export function ruleValidator(schema: Schema): RuleValidator | undefined {
  if (schema.rules.length === 0 && !schema.within.rules) return undefined;
  let root: RuleNode | undefined;
  return (object, live) => {
    root ??= nodeOf(schema, true, new RuleTypes());
    const validation = new Validation();
    if (root !== undefined) {
      validation.visit(root, object, live, "", live === undefined ? fresh : { now: object, before: live });
    }
    return validation.causes;
  };
}

function nodeOf(schema: Schema, isRoot: boolean, types: RuleTypes): RuleNode | undefined {
  const type = types.of(schema, isRoot);
  const inner = (each: Schema | undefined): RuleNode | undefined => each && nodeOf(each, each.embedded, types);
  const properties = new Map<string, RuleNode>();
  for (const [name, property] of schema.properties) {
    const node = inner(property);
    if (node !== undefined) properties.set(name, node);
  }
  const additional = inner(schema.additional === "any" ? undefined : schema.additional);
  const items = inner(schema.items);
  // The definition was judged when it was stored: what does not compile now, from before that, has no say.
  const rules = schema.rules.flatMap((rule) => (type === undefined ? [] : (compileRule(rule, type).compiled ?? [])));
  const isEmpty = rules.length === 0 && properties.size === 0 && additional === undefined && items === undefined;
  return isEmpty ? undefined : { schema, type, rules, properties, additional, items };
}

/** A value and what it was, or of the nearest one above that can be told; neither for what is new. */
interface Correlation {
  readonly now: Json | undefined;
  readonly before: Json | undefined;
}

const fresh: Correlation = { now: undefined, before: undefined };

/** Whether the writer has left a value as it was. */
const isUnchanged = ({ now, before }: Correlation): boolean => before !== undefined && jsonEqual(now, before);

class Validation {
  readonly causes: Cause[] = [];
  private budget = objectCostMax;

  /** `old` is the same value before, undefined when there is none or it cannot be told. */
  visit(node: RuleNode, value: Json, old: Json | undefined, path: string, correlation: Correlation): void {
    if (value === null || this.isOver) return;
    this.judge(node, value, old ?? undefined, path, correlation);
    if (Array.isArray(value)) this.visitItems(node, value as readonly Json[], old, path, correlation);
    else if (isObject(value)) this.visitFields(node, value, old, path, correlation);
  }

  private get isOver(): boolean {
    return this.budget < 0;
  }

  private visitItems(
    node: RuleNode,
    list: readonly Json[],
    old: Json | undefined,
    path: string,
    above: Correlation,
  ): void {
    const { items, schema } = node;
    if (items === undefined) return;
    const before = schema.listType === "map" && Array.isArray(old) ? (old as readonly Json[]) : [];
    const byKeys = new Map<string, Json>();
    // Of several with the same keys the first counts.
    for (const each of before.toReversed()) byKeys.set(keysOf(each, schema), each);
    list.forEach((item, at) => {
      const same = byKeys.size === 0 ? undefined : byKeys.get(keysOf(item, schema));
      const correlation = schema.listType === "map" ? step(above, item, same) : above;
      this.visit(items, item, same, `${path}[${at}]`, correlation);
    });
  }

  private visitFields(
    node: RuleNode,
    object: JsonObject,
    old: Json | undefined,
    path: string,
    above: Correlation,
  ): void {
    const before = !node.schema.atomicMap && isObject(old) ? old : undefined;
    for (const key of sortByBytes(Object.keys(object))) {
      const inner = node.properties.get(key) ?? node.additional;
      if (inner === undefined) continue;
      const value = object[key] as Json;
      const same = before !== undefined && Object.hasOwn(before, key) ? before[key] : undefined;
      const at = node.properties.has(key) ? (path === "" ? key : `${path}.${key}`) : `${path}[${key}]`;
      const correlation = node.schema.atomicMap ? above : step(above, value, same);
      this.visit(inner, value, same, at, correlation);
    }
  }

  private judge(node: RuleNode, value: Json, old: Json | undefined, path: string, correlation: Correlation): void {
    if (node.rules.length === 0 || node.type === undefined) return;
    const { type, schema } = node;
    const self = fromJson(value, type);
    const oldSelf = old === undefined ? undefined : fromJson(old, type);
    const field = path === "" ? "<nil>" : path;
    for (const compiled of node.rules) {
      if (this.isOver) return;
      const { rule, expression, usesOldSelf } = compiled;
      const isOptional = rule.optionalOldSelf === true;
      if (usesOldSelf && oldSelf === undefined && !isOptional) continue;
      const values = { self, oldSelf: isOptional ? (oldSelf === undefined ? none : new Optional(oldSelf)) : oldSelf };
      const outcome = expression.evaluate(values, Math.min(callCostMax, Math.max(this.budget, 0)));
      const failure = this.failureOf(outcome, rule);
      if (failure !== undefined) {
        this.causes.push(invalidValue(field, schema.type, failure));
        continue;
      }
      if ("value" in outcome && outcome.value === true) continue;
      const detail = this.message(compiled, values);
      if (!usesOldSelf && isUnchanged(correlation)) continue;
      const resolved = resolveFieldPath(rule.fieldPath, schema);
      const below = "path" in resolved ? resolved.path : "";
      const place = below === "" ? field : path === "" ? below : `${path}${below.startsWith("[") ? "" : "."}${below}`;
      this.causes.push(causeFor(place, schema.type, detail, rule.reason));
    }
  }

  /** Why a rule gave no answer; takes its cost from the budget. */
  private failureOf(outcome: Outcome, rule: ValidationRule): string | undefined {
    const wasLast = outcome.cost > this.budget;
    this.budget -= outcome.cost;
    if (wasLast) {
      this.budget = -1;
      return "validation failed due to running out of cost budget, no further validation rules will be run";
    }
    if (!("error" in outcome)) return undefined;
    const name = (rule.message === "" ? rule.rule : rule.message).trim();
    if (outcome.isExhausted) {
      this.budget = -1;
      return `'${outcome.error}': no further validation rules will be run due to call cost exceeds limit for rule: ${name}`;
    }
    if (outcome.error.startsWith("no such overload")) {
      return `'${outcome.error}': call arguments did not match a supported operator, function or macro signature for rule: ${name}`;
    }
    return `${outcome.error} evaluating rule: ${name}`;
  }

  /** The message's expression where it gives a fit text, the fixed message, or the rule itself. */
  private message({ rule, message }: CompiledRule, values: Readonly<Record<string, Value | undefined>>): string {
    const otherwise = rule.message === "" ? `failed rule: ${rule.rule.trim()}` : rule.message.trim();
    if (message === undefined) return otherwise;
    const outcome = message.evaluate(values, Math.min(callCostMax, Math.max(this.budget, 0)));
    this.budget -= outcome.cost;
    if ("error" in outcome && outcome.isExhausted) {
      const source = JSON.stringify(rule.messageExpression);
      this.budget = -1;
      return `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${source}`;
    }
    const text = "value" in outcome && typeof outcome.value === "string" ? outcome.value.trim() : "";
    return text === "" || text.includes("\n") || utf8Length(text) > messageBytesMax ? otherwise : text;
  }
}

/** Equal keys, equal texts. */
const keysOf = (item: Json, { listMapKeys }: Schema): string =>
  listMapKeys
    .map((key) => (isObject(item) && Object.hasOwn(item, key) ? canonical(item[key] as Json) : "-"))
    .join("\n");

/** One step down. What is new below something correlated is a change; below what is not, the nearest above counts. */
function step(above: Correlation, now: Json, before: Json | undefined): Correlation {
  return before === undefined ? above : { now, before };
}

const causesByReason: Readonly<Record<string, (field: string, value: string, detail: string) => Cause>> = {
  FieldValueForbidden: (field, _value, detail) => forbiddenField(field, detail),
  FieldValueRequired: (field, _value, detail) => requiredValue(field, detail),
  FieldValueDuplicate: (field, value) => duplicateValue(field, value),
};

const causeFor = (field: string, type: string, detail: string, reason = ""): Cause =>
  (causesByReason[reason] ?? invalidValue)(field, type, detail);
