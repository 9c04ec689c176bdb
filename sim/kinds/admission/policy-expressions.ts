/**
 * A validating policy with its expressions compiled, once for each stored policy. Variables are a policy's own: each may
 * use those before it, and is evaluated when an expression first asks for it.
 * Source: the published ValidatingAdmissionPolicy.
 */
import { callCostMax, type Outcome } from "../../expressions/expression.ts";
import { type Compile, type Compiled, StoredExpressions } from "../../expressions/stored-expressions.ts";
import type { CostPool } from "../../expressions/evaluate.ts";
import { type CelType, dyn, type ObjectField, type ObjectFields } from "../../expressions/types.ts";
import { EvaluationError } from "../../expressions/failures.ts";
import { type MapValue, type Value } from "../../expressions/values.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { requestVariables } from "./request-variables.ts";

export interface CompiledPolicy {
  readonly variables: readonly { readonly name: string; readonly expression: Compiled }[];
  readonly validations: readonly CompiledValidation[];
  readonly auditAnnotations: readonly Compiled[];
  /** What match conditions may name. */
  readonly conditionVariables: ReadonlyMap<string, CelType>;
}

export interface CompiledValidation {
  readonly source: string;
  readonly expression: Compiled;
  readonly message: string;
  readonly messageExpression: Compiled | undefined;
  readonly reason: string;
}

export const textOf = (object: JsonObject, field: string): string => {
  const value = object[field];
  return typeof value === "string" ? value.trim() : "";
};

export const itemsOf = (object: JsonObject, field: string): readonly JsonObject[] =>
  (object[field] ?? []) as readonly JsonObject[];

/** `compile` is asked for the same expressions in the same order each time. */
export function compilePolicy(spec: JsonObject, compile: Compile): CompiledPolicy {
  const conditionVariables = new Map(requestVariables);
  if (spec["paramKind"] !== undefined) conditionVariables.set("params", dyn);
  const fields = new VariableFields();
  const environment = (): ReadonlyMap<string, CelType> =>
    new Map([
      ...conditionVariables,
      ["variables", { is: "object", name: "kubernetes.variables", fields: fields.soFar() }],
    ]);
  const variables = itemsOf(spec, "variables").map((variable) => {
    const name = textOf(variable, "name");
    const expression = compile(textOf(variable, "expression"), environment);
    fields.add({ name, type: "error" in expression ? dyn : expression.type });
    return { name, expression };
  });
  const all = environment();
  const full = (): ReadonlyMap<string, CelType> => all;
  const allButAuthorizer = withoutAuthorizer(all);
  return {
    variables,
    validations: itemsOf(spec, "validations").map((validation) => {
      const source = textOf(validation, "expression");
      const message = textOf(validation, "messageExpression");
      return {
        source,
        expression: compile(source, full),
        message: textOf(validation, "message"),
        // A message is made of what was judged; it may not ask the authorizer again.
        messageExpression: message === "" ? undefined : compile(message, () => allButAuthorizer),
        reason: textOf(validation, "reason"),
      };
    }),
    auditAnnotations: itemsOf(spec, "auditAnnotations").map((each) => compile(textOf(each, "valueExpression"), full)),
    conditionVariables,
  };
}

/** Variables by name, as fields of what expressions call `variables`; of several with one name the first counts. */
class VariableFields {
  private readonly known = new Map<string, { readonly at: number; readonly field: ObjectField }>();

  add(field: ObjectField): void {
    const at = this.known.size;
    if (!this.known.has(field.name)) this.known.set(field.name, { at, field });
  }

  /** Those that are known now, without what is added later. */
  soFar(): ObjectFields {
    const { known } = this;
    const { size } = known;
    return {
      get: (name) => {
        const found = known.get(name);
        return found === undefined || found.at >= size ? undefined : found.field;
      },
      *[Symbol.iterator]() {
        for (const [name, { at, field }] of known) if (at < size) yield [name, field];
      },
    };
  }
}

const withoutAuthorizer = (variables: ReadonlyMap<string, CelType>): ReadonlyMap<string, CelType> =>
  new Map([...variables].filter(([name]) => !name.startsWith("authorizer")));

const compiledPolicies = new StoredExpressions<JsonObject, CompiledPolicy>();

/** The policy with this spec, which is stored and never changed. */
export const compiledPolicy = (spec: JsonObject): CompiledPolicy =>
  compiledPolicies.of(spec, (compile) => compilePolicy(spec, compile));

/** A variable that is needed by many others in a row: it is to be evaluated first, and they again. */
class NeededFirst extends Error {
  readonly variable: string;
  constructor(variable: string) {
    super(`${variable} first`);
    this.variable = variable;
  }
}

/** Variables that are asked for within one another on the engine's stack. */
const depthMax = 50;

/**
 * The values of a policy's variables for one request, each evaluated when it is first asked for. What they cost
 * comes out of `pool`, and a chain of them may be of any length.
 */
export class PolicyVariables implements MapValue {
  readonly isMap = true;
  private depth = 0;
  private readonly pool: CostPool;
  private readonly byName: ReadonlyMap<string, Compiled>;
  private readonly variables: CompiledPolicy["variables"];
  private readonly values: Readonly<Record<string, Value>>;
  private readonly known = new Map<string, Value>();

  constructor(variables: CompiledPolicy["variables"], values: Readonly<Record<string, Value>>, pool: CostPool) {
    this.variables = variables;
    this.pool = pool;
    // Of several with one name the first counts.
    this.byName = new Map(variables.toReversed().map(({ name, expression }) => [name, expression]));
    this.values = values;
  }

  get size(): number {
    return this.variables.length;
  }

  keys(): readonly Value[] {
    return this.variables.map(({ name }) => name);
  }

  get(key: Value): Value | undefined {
    const known = this.known.get(key as string);
    if (known !== undefined) return known;
    const name = key as string;
    if (!this.byName.has(name)) return undefined;
    if (this.depth >= depthMax) throw new NeededFirst(name);
    if (this.depth > 0) return this.evaluate(name);
    const wanted = [name];
    for (let next = wanted.at(-1); next !== undefined; next = wanted.at(-1)) {
      try {
        this.evaluate(next);
        wanted.pop();
      } catch (error) {
        if (!(error instanceof NeededFirst)) throw error;
        wanted.push(error.variable);
      }
    }
    return this.known.get(name);
  }

  private evaluate(name: string): Value {
    const expression = this.byName.get(name) as Compiled;
    this.depth++;
    let outcome: Outcome;
    try {
      outcome =
        "error" in expression
          ? { error: expression.error, cost: 0, isExhausted: false }
          : expression.evaluate({ ...this.values, variables: this }, callCostMax, this.pool);
    } finally {
      this.depth--;
    }
    if ("error" in outcome) {
      throw new EvaluationError(
        `composited variable "${name}" fails to evaluate: ${outcome.error}`,
        outcome.isExhausted,
      );
    }
    this.known.set(name, outcome.value);
    return outcome.value;
  }
}
