/**
 * Match conditions: expressions that say which requests a webhook or a policy is for, beyond rules and selectors.
 * Source: the published match conditions: one that is false decides, whatever becomes of the others; an error counts
 * only when none is.
 */
import { qualifiedNameErrors } from "../../../wire/names.ts";
import type { Cause } from "../../contract/errors.ts";
import { callCostMax } from "../../expressions/expression.ts";
import { noCost, paced } from "../../expressions/pace.ts";
import { type Compiled, compilePaced, StoredExpressions } from "../../expressions/stored-expressions.ts";
import { type CelType, formatType } from "../../expressions/types.ts";
import type { Value } from "../../expressions/values.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { duplicateValue, invalidValue, pushInvalid, requiredValue } from "../../objects/causes.ts";

const countMax = 64;
/** What all conditions together may cost for one request. */
const costMax = 2_500_000;

/** Causes for refusing a list of conditions; `at` is its path. */
export function matchConditionCauses(
  conditions: readonly JsonObject[],
  at: string,
  variables: ReadonlyMap<string, CelType>,
  causes: Cause[],
): void {
  if (conditions.length > countMax) {
    const message = `Too many: ${conditions.length}: must have at most ${countMax} items`;
    causes.push({ reason: "FieldValueTooMany", message, field: at });
  }
  const names = new Set<string>();
  conditions.forEach((condition, index) => {
    const path = `${at}[${index}]`;
    const expression = String(condition["expression"] ?? "").trim();
    const name = String(condition["name"] ?? "");
    expressionCauses(expression, `${path}.expression`, variables, ["bool"], causes);
    if (name === "") {
      causes.push(requiredValue(`${path}.name`));
      return;
    }
    pushInvalid(`${path}.name`, name, qualifiedNameErrors(name), causes);
    if (names.has(name)) causes.push(duplicateValue(`${path}.name`, name));
    names.add(name);
  });
}

/** Causes for refusing an expression that must give one of these types. Gives its own type, when it has one. */
function expressionCauses(
  source: string,
  path: string,
  variables: ReadonlyMap<string, CelType>,
  wanted: readonly string[],
  causes: Cause[],
): CelType | undefined {
  if (source === "") {
    causes.push(requiredValue(path));
    return undefined;
  }
  const compiled = compilePaced(source, () => variables);
  if ("error" in compiled) {
    causes.push(invalidValue(path, source, `compilation failed: ${compiled.error}`));
    return undefined;
  }
  const type = formatType(compiled.type);
  if (wanted.length > 0 && !wanted.includes(type) && type !== "dyn") {
    const expected = wanted.length === 1 ? String(wanted[0]) : `one of [${wanted.join(" ")}]`;
    causes.push(invalidValue(path, source, `must evaluate to ${expected}`));
  }
  return compiled.type;
}

/** `error`: no condition is false, and one or more could not be evaluated. */
export type Match = "matches" | "differs" | { readonly error: string };

const compiledConditions = new StoredExpressions<readonly JsonObject[], readonly Compiled[]>();

/** Whether a request meets stored conditions, which are compiled when they are first asked. */
export function matchConditions(
  conditions: readonly JsonObject[],
  variables: ReadonlyMap<string, CelType>,
  values: () => Readonly<Record<string, Value>>,
): Match {
  return conditions.length === 0 ? "matches" : paced(() => judged(conditions, variables, values()), noCost);
}

function judged(
  conditions: readonly JsonObject[],
  variables: ReadonlyMap<string, CelType>,
  given: Readonly<Record<string, Value>>,
): Match {
  const compiled = compiledConditions.of(conditions, (compile) =>
    conditions.map(({ expression }) => compile(String(expression).trim(), () => variables)),
  );
  const errors: string[] = [];
  let budget = costMax;
  for (const expression of compiled) {
    const outcome =
      "error" in expression ? { ...expression, cost: 0 } : expression.evaluate(given, Math.min(callCostMax, budget));
    budget -= outcome.cost;
    if (budget < 0) {
      return { error: "validation failed due to running out of cost budget, no further validation rules will be run" };
    }
    if ("value" in outcome && outcome.value === false) return "differs";
    if ("value" in outcome && outcome.value === true) continue;
    const why = "value" in outcome ? "must evaluate to bool" : outcome.error;
    errors.push(`expression '${"source" in expression ? expression.source : ""}' resulted in error: ${why}`);
  }
  if (errors.length === 0) return "matches";
  return { error: errors.length === 1 ? (errors[0] as string) : `[${errors.join(", ")}]` };
}
