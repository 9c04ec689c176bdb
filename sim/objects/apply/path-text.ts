/**
 * Paths of field sets for people, and the order in which they are told: `.spec.containers[name="c"].image`.
 * Source: the facts, section 4, path syntax.
 */
import { compareBytes, goQuote } from "../../../wire/go-strings.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { type FieldSet, holdsItself, leafCountOf } from "../field-set.ts";
import { isObject } from "../../contract/objects.ts";

/** The text of a path that is given by its steps. */
export function pathText(steps: readonly string[]): string {
  return steps.map(stepText).join("");
}

function stepText(step: string): string {
  const rest = step.slice(2);
  if (step.startsWith("f:")) return `.${rest}`;
  if (step.startsWith("i:")) return `[${rest}]`;
  if (step.startsWith("v:")) return `[=${valueText(readStep(step))}]`;
  const keys = Object.entries((readStep(step) ?? {}) as JsonObject).map(
    ([name, value]) => `${name}=${valueText(value)}`,
  );
  return `[${keys.join(",")}]`;
}

function valueText(value: Json): string {
  if (typeof value === "string") return goQuote(value);
  if (Array.isArray(value)) return `[${(value as readonly Json[]).map(valueText).join(",")}]`;
  if (isObject(value)) {
    return `{${Object.entries(value)
      .map(([key, item]) => `${key}=${valueText(item)}`)
      .join(";")}}`;
  }
  return String(value);
}

/** What follows `k:` or `v:`. A step that a client sent may hold no JSON: it stands for its text then. */
function readStep(step: string): Json {
  try {
    return JSON.parse(step.slice(2)) as Json;
  } catch {
    return step.startsWith("k:") ? {} : step.slice(2);
  }
}

/** Characters that may still be told; one text more may be told. */
export interface TextRoom {
  left: number;
}

/**
 * The texts of the paths of a set: at each level first those that end there, then what is below them. No further than there is room:
 * a long step stands in each path below it.
 */
export function pathTextsOf(set: FieldSet, room: TextRoom = { left: Number.POSITIVE_INFINITY }): readonly string[] {
  const texts: string[] = [];
  addTexts(set, "", texts, room);
  return texts;
}

function addTexts(set: FieldSet, above: string, texts: string[], room: TextRoom): void {
  const below: (readonly [text: string, set: FieldSet])[] = [];
  for (const step of sortedSteps(set)) {
    if (room.left < 0) return;
    const child = set[step] as FieldSet;
    const text = above + stepText(step);
    if (holdsItself(child)) {
      texts.push(text);
      room.left -= text.length;
    }
    if (hasSteps(child)) below.push([text, child]);
  }
  for (const [text, child] of below) addTexts(child, text, texts, room);
}

/** How many paths there are in a set. */
export function pathCountOf(set: FieldSet): number {
  let count = 0;
  const open: FieldSet[] = [set];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const leafCount = leafCountOf(next);
    if (leafCount !== undefined) {
      count += leafCount - (Object.hasOwn(next, ".") ? 1 : 0);
      continue;
    }
    for (const [step, child] of Object.entries(next)) {
      if (step === ".") continue;
      if (holdsItself(child)) count++;
      if (hasSteps(child)) open.push(child);
    }
  }
  return count;
}

function hasSteps(set: FieldSet): boolean {
  for (const step in set) if (step !== ".") return true;
  return false;
}

/** Mostly they are in order as they stand. */
function sortedSteps(set: FieldSet): readonly string[] {
  const names = Object.keys(set).filter((step) => step !== ".");
  if (areFieldsInOrder(names)) return names;
  const steps = names.map(readOnce);
  const isInOrder = steps.every((step, at) => at === 0 || compareSteps(steps[at - 1] as Step, step) <= 0);
  return (isInOrder ? steps : steps.sort(compareSteps)).map(({ step }) => step);
}

const areFieldsInOrder = (steps: readonly string[]): boolean =>
  steps.every((step, at) => step.startsWith("f:") && (at === 0 || compareBytes(steps[at - 1] as string, step) <= 0));

const kinds = "fkvi";

/** Fields before keys before values before indices; numbers by size, all else by bytes. */
function compareSteps(left: Step, right: Step): number {
  if (left.kind !== right.kind) return kinds.indexOf(left.kind) - kinds.indexOf(right.kind);
  if (left.kind === "f") return compareBytes(left.step, right.step);
  if (left.kind === "i") return Number(left.step.slice(2)) - Number(right.step.slice(2));
  return compareValues(left.value, right.value);
}

/** A step, with the keys or the value that it holds. */
interface Step {
  readonly step: string;
  readonly kind: string;
  readonly value: Json;
}

function readOnce(step: string): Step {
  const kind = step[0] ?? "";
  return { step, kind, value: kind === "k" || kind === "v" ? readStep(step) : null };
}

function compareValues(left: Json | undefined, right: Json | undefined): number {
  if (typeof left === "number" && typeof right === "number") return left - right;
  if (isObject(left) && isObject(right)) {
    for (const key of Object.keys(left)) {
      const order = compareValues(left[key], right[key]);
      if (order !== 0) return order;
    }
    return 0;
  }
  return compareBytes(valueText(left ?? null), valueText(right ?? null));
}
