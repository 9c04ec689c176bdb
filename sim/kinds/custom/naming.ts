/**
 * Which of the names that a definition asks for it gets, and the conditions that say so: as pure functions.
 * Source: recorded answers (crd-established); the published naming controller.
 */
import { type Dialect, groupInDialect } from "../../../wire/dialect.ts";
import { jsonEqual } from "../../objects/equality.ts";
import type { Condition, Definition, Names } from "./definition.ts";

export interface Naming {
  readonly acceptedNames: Names;
  readonly conditions: readonly Condition[];
}

/** `others` are the other definitions; those of the same group have taken their accepted names. */
export function namingOf(definition: Definition, others: readonly Definition[], now: string): Naming {
  const group = others.filter((other) => other.group === definition.group && other.name !== definition.name);
  const resources = new Set(
    group.flatMap(({ acceptedNames: { plural, singular, shortNames } }) => [plural, singular, ...shortNames]),
  );
  const kinds = new Set(group.flatMap(({ acceptedNames: { kind, listKind } }) => [kind, listKind]));
  const { names, acceptedNames } = definition;
  let accepted: Names = { ...acceptedNames, categories: names.categories };
  let problem: { readonly reason: string; readonly message: string } | undefined;
  const claim = (
    field: "plural" | "singular" | "kind" | "listKind",
    taken: ReadonlySet<string>,
    reason: string,
  ): void => {
    const wanted = names[field];
    if (wanted === acceptedNames[field] || !taken.has(wanted)) accepted = { ...accepted, [field]: wanted };
    else problem = { reason, message: `${JSON.stringify(wanted)} is already in use` };
  };
  claim("plural", resources, "PluralConflict");
  claim("singular", resources, "SingularConflict");
  const mine = new Set(acceptedNames.shortNames);
  const clashes = names.shortNames.filter((name) => !mine.has(name) && resources.has(name));
  if (clashes.length === 0) accepted = { ...accepted, shortNames: names.shortNames };
  else {
    const texts = clashes.map((name) => `${JSON.stringify(name)} is already in use`);
    const message = texts.length === 1 ? (texts[0] as string) : `[${texts.join(", ")}]`;
    problem = { reason: "ShortNamesConflict", message };
  }
  claim("kind", kinds, "KindConflict");
  claim("listKind", kinds, "ListKindConflict");
  const named: Condition = problem
    ? { type: "NamesAccepted", status: "False", ...problem }
    : { type: "NamesAccepted", status: "True", reason: "NoConflicts", message: "no conflicts found" };
  const established = establishedAfter(definition, named);
  const conditions = withCondition(withCondition(definition.conditions, named, now), established, now);
  return { acceptedNames: accepted, conditions };
}

/** What was established once stays so: its clients are there already. */
function establishedAfter({ conditions }: Definition, named: Condition): Condition {
  const known = conditions.find(({ type }) => type === "Established");
  if (known?.status === "True") return known;
  if (named.status === "True") {
    return {
      type: "Established",
      status: "False",
      reason: "Installing",
      message: "the initial names have been accepted",
    };
  }
  return (
    known ?? { type: "Established", status: "False", reason: "NotAccepted", message: "not all names are accepted" }
  );
}

export const establishedCondition: Condition = {
  type: "Established",
  status: "True",
  reason: "InitialNamesAccepted",
  message: "the initial names have been accepted",
};

/** Puts `condition` in the place of the one of its type, or last; its time is that of the last change of status. */
export function withCondition(
  conditions: readonly Condition[],
  condition: Condition,
  now: string,
): readonly Condition[] {
  const at = conditions.findIndex(({ type }) => type === condition.type);
  const before = conditions[at];
  const { type, status, reason, message } = condition;
  const lastTransitionTime = before?.status === status ? (before.lastTransitionTime ?? now) : now;
  const next = { type, status, lastTransitionTime, reason, message } as Condition;
  if (before === undefined) return [...conditions, next];
  return conditions.map((each, index) => (index === at ? next : each));
}

/** Nothing would be said that is not said already. */
export function isSettled(definition: Definition, naming: Naming): boolean {
  return (
    jsonEqual(definition.acceptedNames as never, naming.acceptedNames as never) &&
    jsonEqual(definition.conditions as never, naming.conditions as never)
  );
}

/** The finalizer that keeps a definition until its instances are gone. */
export const cleanupFinalizer = (dialect: Dialect): string =>
  `customresourcecleanup.${groupInDialect(dialect, "apiextensions.svc.io")}`;
