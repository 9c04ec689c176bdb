/**
 * What a policy makes of a write: which of its validations do not hold for it. Each is an expression and what it means,
 * written down one beside the other, so that the suite evaluates no expression.
 * Source: the published API of validating admission policies.
 */
import type { Violation } from "../client/findings.ts";

/** A write of a config map, as validations see it. Undefined: there is none before, or after. */
export interface JudgedWrite {
  readonly before: JudgedState | undefined;
  readonly after: JudgedState | undefined;
}

export interface JudgedState {
  readonly value: string;
  readonly team: string;
}

export type PolicyOperation = "CREATE" | "UPDATE" | "DELETE";

const operationOf = ({ before, after }: JudgedWrite): PolicyOperation =>
  before === undefined ? "CREATE" : after === undefined ? "DELETE" : "UPDATE";

interface Validation {
  readonly expression: string;
  readonly holds: (write: JudgedWrite) => boolean;
}

/** By a word that the message of each begins with. */
export const validations = {
  "no-bad-value": {
    expression: "request.operation == 'DELETE' || object.data.value != 'bad'",
    holds: ({ after }) => after?.value !== "bad",
  },
  "no-blue-team": {
    expression: "request.operation == 'DELETE' || object.metadata.labels['team'] != 'blue'",
    holds: ({ after }) => after?.team !== "blue",
  },
  "value-stays": {
    expression: "request.operation != 'UPDATE' || object.data.value == oldObject.data.value",
    holds: ({ before, after }) => before === undefined || after === undefined || before.value === after.value,
  },
  "good-is-kept": {
    expression: "request.operation != 'DELETE' || oldObject.data.value != 'good'",
    holds: ({ before, after }) => after !== undefined || before?.value !== "good",
  },
} as const satisfies Record<string, Validation>;

export type ValidationName = keyof typeof validations;

export interface ModelPolicy {
  readonly operations: readonly PolicyOperation[];
  /** Its match condition leaves out this operation. */
  readonly unless: PolicyOperation | undefined;
  /** It is for objects of this team alone, before or after. */
  readonly team: string | undefined;
  readonly validations: readonly ValidationName[];
}

/** The validations that a write fails; none where the policy is not for it. */
export function failedBy({ operations, unless, team, validations: names }: ModelPolicy, write: JudgedWrite) {
  const operation = operationOf(write);
  const isOfTeam = team === undefined || write.before?.team === team || write.after?.team === team;
  if (!operations.includes(operation) || operation === unless || !isOfTeam) return [];
  return names.filter((name) => !(validations[name] as Validation).holds(write));
}

export const messageOfValidation = (name: ValidationName): string => `${name}, says the policy`;

/** What a write that a policy denies is answered: a refusal of the request in the words of a validation that failed, and of none that held. */
export function judgeDenial(failed: readonly ValidationName[], status: number, message: string): Violation | undefined {
  const told = toldIn(message);
  const isRight = status >= 400 && status < 500 && told.length > 0 && told.every((name) => failed.includes(name));
  if (isRight) return undefined;
  return { expected: `a refusal for ${failed.join(" or ")}`, actual: `${status} ${message}` };
}

/** What a write that a policy only warns of is answered: one warning for each validation that failed. */
export function judgePolicyWarnings(
  failed: readonly ValidationName[],
  warnings: readonly string[],
): Violation | undefined {
  const told = warnings.flatMap(toldIn).sort().join();
  const wanted = [...failed].sort().join();
  if (told === wanted) return undefined;
  return { expected: `warnings of: ${wanted || "nothing"}`, actual: warnings.join(" | ") || "no warnings" };
}

const toldIn = (text: string): readonly ValidationName[] =>
  (Object.keys(validations) as ValidationName[]).filter((name) => text.includes(messageOfValidation(name)));
