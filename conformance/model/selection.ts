/** What selectors mean, told over the parts that they are made of: nothing is parsed here, so no parser is believed. */

export type LabelTerm =
  | { readonly op: "=" | "==" | "!=" | ">" | "<"; readonly key: string; readonly value: string }
  | { readonly op: "in" | "notin"; readonly key: string; readonly values: readonly string[] }
  | { readonly op: "exists" | "absent"; readonly key: string };

export interface FieldTerm {
  readonly field: "metadata.name" | "metadata.namespace";
  readonly op: "=" | "==" | "!=";
  readonly value: string;
}

export interface Selectable {
  readonly name: string;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** All terms hold. A negation holds for an object without the label; an order holds only between two integers. */
export function isSelected(object: Selectable, labels: readonly LabelTerm[], fields: readonly FieldTerm[]): boolean {
  return labels.every((term) => labelHolds(object.labels, term)) && fields.every((term) => fieldHolds(object, term));
}

function labelHolds(labels: Readonly<Record<string, string>>, term: LabelTerm): boolean {
  const own = Object.hasOwn(labels, term.key) ? labels[term.key] : undefined;
  switch (term.op) {
    case "=":
    case "==":
      return own === term.value;
    case "!=":
      return own !== term.value;
    case "in":
      return own !== undefined && term.values.includes(own);
    case "notin":
      return own === undefined || !term.values.includes(own);
    case "exists":
      return own !== undefined;
    case "absent":
      return own === undefined;
    case ">":
    case "<":
      if (own === undefined || !/^\d+$/.test(own)) return false;
      return term.op === ">" ? Number(own) > Number(term.value) : Number(own) < Number(term.value);
  }
}

function fieldHolds(object: Selectable, { field, op, value }: FieldTerm): boolean {
  const own = field === "metadata.name" ? object.name : object.namespace;
  return (own === value) === (op !== "!=");
}

export function labelSelectorText(terms: readonly LabelTerm[]): string {
  return terms.map(labelTermText).join(",");
}

function labelTermText(term: LabelTerm): string {
  switch (term.op) {
    case "exists":
      return term.key;
    case "absent":
      return `!${term.key}`;
    case "in":
    case "notin":
      return `${term.key} ${term.op} (${term.values.join(",")})`;
    default:
      return `${term.key}${term.op}${term.value}`;
  }
}

export function fieldSelectorText(terms: readonly FieldTerm[]): string {
  return terms.map(({ field, op, value }) => `${field}${op}${value}`).join(",");
}
