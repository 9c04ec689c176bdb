/**
 * What makes validation rules unfit to be stored: how they are written, what does not compile, what could cost too
 * much. Paths and texts are the real server's.
 * Source: the published rules of validation rules, their limits and texts.
 */
import { utf8Length } from "../../../wire/go-strings.ts";
import type { Cause } from "../../contract/errors.ts";
import { compile, compileCostOf, type Expression } from "../../expressions/expression.ts";
import { paced } from "../../expressions/pace.ts";
import { type CelType, formatType, optionalOf } from "../../expressions/types.ts";
import { forbiddenField, invalidText, invalidValue, requiredValue, unsupportedValue } from "../../objects/causes.ts";
import { showRule, type ValidationRule } from "./rule.ts";
import { resolveFieldPath } from "./field-path.ts";
import { countMax, RuleTypes } from "./rule-types.ts";
import type { Schema } from "./schema.ts";

const messageBytesMax = 2048;
const ruleCostMax = 10_000_000;
const definitionCostMax = 100_000_000;
const reasons = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/** Causes of the way in which the rules of one schema node are written; `at` is the list's path. */
export function ruleFormCauses(rules: readonly ValidationRule[], schema: Schema, at: string, causes: Cause[]): void {
  rules.forEach((each, index) => {
    const path = `${at}[${index}]`;
    const { rule, messageExpression, reason, fieldPath } = each;
    const messageCause = causeOfMessage(each, path);
    if (rule.trim() === "") causes.push(requiredValue(`${path}.rule`, "rule is not specified"));
    else if (messageCause !== undefined) causes.push(messageCause);
    if (messageExpression !== "" && messageExpression.trim() === "") {
      causes.push(requiredValue(`${path}.messageExpression`, "messageExpression must be non-empty if specified"));
    }
    if (reason !== undefined && !reasons.includes(reason)) {
      causes.push(unsupportedValue(`${path}.reason`, reason, reasons));
    }
    if (fieldPath === "") return;
    const wrongPath = (text: string): unknown => causes.push(invalidValue(`${path}.fieldPath`, fieldPath, text));
    if (fieldPath.trim() === "") wrongPath("fieldPath must be non-empty if specified");
    if (/[\r\n]/.test(fieldPath)) wrongPath("fieldPath must not contain line breaks");
    const resolved = resolveFieldPath(fieldPath, schema);
    if ("error" in resolved) wrongPath(`fieldPath must be a valid path: ${resolved.error}`);
  });
}

function causeOfMessage({ rule, message }: ValidationRule, path: string): Cause | undefined {
  const trimmed = message.trim();
  const field = `${path}.message`;
  if (message !== "" && trimmed === "") return invalidValue(field, message, "message must be non-empty if specified");
  if (utf8Length(message) > messageBytesMax) {
    return invalidValue(field, `${message.slice(0, 10)}...`, "message must have a maximum length of 2048 characters");
  }
  if (/[\r\n]/.test(trimmed)) return invalidValue(field, message, "message must not contain line breaks");
  if (/[\r\n]/.test(rule.trim()) && trimmed === "") {
    return requiredValue(field, "message must be specified if rule contains line breaks");
  }
  return undefined;
}

/** A rule as it is evaluated. */
export interface CompiledRule {
  readonly rule: ValidationRule;
  readonly expression: Expression;
  /** Undefined when the rule has none. */
  readonly message: Expression | undefined;
  readonly usesOldSelf: boolean;
}

/** A rule ready to be evaluated, and why parts of it are not. */
export interface RuleCompilation {
  readonly compiled: CompiledRule | undefined;
  readonly ruleError: string | undefined;
  readonly messageError: string | undefined;
}

export function compileRule(rule: ValidationRule, type: CelType): RuleCompilation {
  const variables = new Map([
    ["self", type],
    ["oldSelf", rule.optionalOldSelf === true ? optionalOf(type) : type],
  ]);
  const expression = compiledAs(rule.rule, variables, "bool", "cel expression must evaluate to a bool");
  const message =
    rule.messageExpression.trim() === ""
      ? undefined
      : compiledAs(rule.messageExpression, variables, "string", "messageExpression must evaluate to a string");
  const ruleError = "error" in expression ? expression.error : undefined;
  const messageError = message !== undefined && "error" in message ? message.error : undefined;
  if ("error" in expression || (message !== undefined && "error" in message)) {
    return { compiled: undefined, ruleError, messageError };
  }
  const usesOldSelf = expression.used.has("oldSelf");
  return { compiled: { rule, expression, message, usesOldSelf }, ruleError, messageError };
}

function compiledAs(
  source: string,
  variables: ReadonlyMap<string, CelType>,
  wanted: string,
  otherwise: string,
): Expression | { readonly error: string } {
  const expression = compile(source, variables);
  if ("error" in expression) return { error: `compilation failed: ${expression.error}` };
  const found = formatType(expression.type);
  return found === wanted || (found === "dyn" && wanted === "bool") ? expression : { error: otherwise };
}

/** Compiles all rules of a schema that is fit otherwise, and adds up what they could cost. */
export function ruleCompileCauses(schema: Schema, at: string, prefix: string, causes: Cause[]): void {
  const judging = new RuleJudging(prefix, causes);
  judging.visit(schema, at, { isRoot: true, count: 1, uncorrelated: undefined });
  judging.total(at);
}

interface Place {
  readonly isRoot: boolean;
  /** How many values an object can have here; `Infinity` when nothing but the size of a request bounds it. */
  readonly count: number;
  /** The list or map above whose elements cannot be told from one version of the object to the next. */
  readonly uncorrelated: string | undefined;
}

class RuleJudging {
  private readonly types = new RuleTypes();
  private readonly costs: { readonly field: string; readonly cost: number }[] = [];
  private readonly key: string;
  private readonly causes: Cause[];

  constructor(prefix: string, causes: Cause[]) {
    this.key = `${prefix}validations`;
    this.causes = causes;
  }

  visit(schema: Schema, at: string, place: Place): void {
    schema.rules.forEach((rule, index) => this.rule(rule, schema, `${at}.${this.key}[${index}]`, place));
    const { additional, items, limits } = schema;
    const inner = schema.atomicMap ? (place.uncorrelated ?? at) : place.uncorrelated;
    for (const [name, property] of schema.properties) {
      this.visit(property, `${at}.properties[${name}]`, { ...place, isRoot: property.embedded, uncorrelated: inner });
    }
    if (additional !== undefined && additional !== "any") {
      const count = place.count * (limits.maxProperties ?? Number.POSITIVE_INFINITY);
      this.visit(additional, `${at}.additionalProperties`, { isRoot: additional.embedded, count, uncorrelated: inner });
    }
    if (items !== undefined) {
      const count = place.count * (limits.maxItems ?? Number.POSITIVE_INFINITY);
      const uncorrelated = place.uncorrelated ?? (schema.listType === "map" ? undefined : at);
      this.visit(items, `${at}.items`, { isRoot: items.embedded, count, uncorrelated });
    }
  }

  private rule(rule: ValidationRule, schema: Schema, path: string, place: Place): void {
    const { causes } = this;
    const type = this.types.of(schema, place.isRoot);
    if (type === undefined) {
      // Nothing is known of the value, so that no rule could look at it.
      causes.push(
        invalidText(`${path}.rule`, showRule(rule), "the schema says nothing of what self is; give it a type"),
      );
      return;
    }
    // What is compiled is not kept: there may be megabytes of rules.
    const { ruleError, messageError, ruleCost, messageCost, usesOldSelf } = paced(
      () => {
        const { compiled, ...errors } = compileRule(rule, type);
        const { expression, message, usesOldSelf } = compiled ?? {};
        return { ...errors, ruleCost: expression?.costMax, messageCost: message?.costMax, usesOldSelf };
      },
      () => compileCostOf(rule.rule.length + rule.messageExpression.length),
    );
    if (ruleCost !== undefined) {
      const count = Number.isFinite(place.count) ? place.count : countMax(schema);
      this.cost(`${path}.rule`, "estimated rule cost", ruleCost * count);
    }
    if (ruleError !== undefined) causes.push(invalidText(`${path}.rule`, showRule(rule), ruleError));
    if (messageError !== undefined) {
      causes.push(invalidText(`${path}.messageExpression`, showRule(rule), messageError));
    } else if (messageCost !== undefined) {
      this.cost(`${path}.messageExpression`, "estimated messageExpression cost", messageCost);
    }
    if (rule.optionalOldSelf !== undefined && usesOldSelf === false) {
      causes.push(
        invalidValue(`${path}.optionalOldSelf`, rule.optionalOldSelf, "may not be set if oldSelf is not used in rule"),
      );
    }
    if (usesOldSelf === true && place.uncorrelated !== undefined) {
      const text = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${place.uncorrelated}`;
      causes.push(invalidValue(`${path}.rule`, rule.rule, text));
    }
  }

  private cost(field: string, what: string, cost: number): void {
    if (cost > ruleCostMax) this.causes.push(forbiddenField(field, exceeded(what, cost, ruleCostMax)));
    this.costs.push({ field, cost });
  }

  /** All rules together may not cost too much either; the dearest ones are named. */
  total(at: string): void {
    const sum = this.costs.reduce((total, { cost }) => total + cost, 0);
    if (sum <= definitionCostMax) return;
    const dearest = [...this.costs].sort((left, right) => right.cost - left.cost || 0).slice(0, 4);
    const text = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
    for (const { field, cost } of dearest) if (cost > 1) this.causes.push(forbiddenField(field, text));
    const what = `${this.key} estimated rule cost total for entire OpenAPIv3 schema`;
    this.causes.push(forbiddenField(at, exceeded(what, sum, definitionCostMax)));
  }
}

function exceeded(what: string, cost: number, costMax: number): string {
  const factor = cost / costMax;
  const shown = factor > 100 ? "more than 100x" : `${factor.toFixed(factor < 1.5 ? 6 : 1)}x`;
  const advice =
    "try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared";
  return `${what} exceeds budget by factor of ${shown} (${advice})`;
}
