/**
 * Which field paths differ between two objects of a kind: the set that was added or changed, and the set that went.
 * One closure a shape, made once from the type tables, which say what is atomic, a set, or a list with keys.
 * Source: the facts, section 4; what recorded managed fields show. A container is a path of its own only when it was
 * not there before; an empty one is a leaf.
 */
import type { FieldRow, Shape, TypeRow } from "../../wire/schema.ts";
import type { Json, JsonObject } from "../contract/http-message.ts";
import { paced, turnCostMax } from "../expressions/pace.ts";
import { jsonEqual } from "./equality.ts";
import { type FieldSet, leaf, makeNode, makeNodeOf, valueStep, valueText } from "./field-set.ts";
import { isObject } from "../contract/objects.ts";
import { forgetLargeChange, largeChange } from "./large-leaves.ts";

export interface FieldDiff {
  /** Added or changed; undefined when nothing was. */
  readonly changed: FieldSet | undefined;
  readonly removed: FieldSet | undefined;
}

type Side = Json | undefined;

/** Leaves its result in `changed` and `removed`: nothing is allocated for what is equal. */
type Diff = (before: Side, after: Side) => void;

let changed: FieldSet | undefined;
let removed: FieldSet | undefined;

/** Never tracked: what names the object, and what the server alone writes. */
const untrackedMetadata: ReadonlySet<string> = new Set([
  "name",
  "namespace",
  "uid",
  "creationTimestamp",
  "generation",
  "resourceVersion",
  "managedFields",
  "selfLink",
]);
const untracked: ReadonlySet<string> = new Set(["apiVersion", "kind"]);

/** How one field is compared, and how a set names it. */
interface FieldPlan {
  readonly step: string;
  readonly diff: Diff;
}
type Fields = ReadonlyMap<string, FieldPlan>;

const roots = new WeakMap<TypeRow, Fields>(); // types of custom resources come and go

/** Compares whole objects, but for the top-level fields that `ignores` names. */
export function diffObjects(
  type: TypeRow,
  before: JsonObject,
  after: JsonObject,
  ignores: (field: string) => boolean,
): FieldDiff {
  const fields = rootFields(type);
  top = 0;
  goneTop = 0;
  used.length = 0;
  const open = type.open ? (key: string) => (untracked.has(key) ? undefined : openField(key)) : noField;
  for (const key in after) if (!ignores(key)) visit(fields.get(key) ?? open(key), own(before, key), after[key]);
  for (const key in before) {
    if (!Object.hasOwn(after, key) && !ignores(key)) visit(fields.get(key) ?? open(key), before[key], undefined);
  }
  finish(0, 0, false, false);
  for (const container of used.splice(0)) forgetLargeChange(container, true);
  return { changed, removed };
}

/** Containers whose change was known: known until the comparison is through, which may be broken off and begun again. */
const used: (JsonObject | readonly Json[])[] = [];

/** A field that an open type does not name. */
const openField = (key: string): FieldPlan => ({ step: stepOfKey(key), diff: diffUntyped });
const noField = (): undefined => undefined;

/** A field may be called like what every object inherits. */
const own = (object: JsonObject, key: string): Json | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined;

function rootFields(type: TypeRow): Fields {
  let fields = roots.get(type);
  if (fields === undefined) {
    fields = planFields(type, untracked, (field) =>
      field.name === "metadata" && field.shape.is === "struct" ? metadataDiff(field.shape.type) : fieldDiff(field),
    );
    roots.set(type, fields);
  }
  return fields;
}

function planFields(type: TypeRow, without: ReadonlySet<string>, diffOf: (field: FieldRow) => Diff): Fields {
  const tracked = type.rows.filter((field) => !without.has(field.name));
  return new Map(tracked.map((field) => [field.name, { step: `f:${field.name}`, diff: diffOf(field) }]));
}

function metadataDiff(type: TypeRow): Diff {
  const fields = planFields(type, untrackedMetadata, fieldDiff);
  const diff = compileFields(() => fields);
  return (before, after) => {
    diff(before, after);
    changed = withoutSelf(changed);
    removed = withoutSelf(removed);
  };
}

/** `metadata` itself is never a path: every object has it. */
function withoutSelf(node: FieldSet | undefined): FieldSet | undefined {
  if (node === undefined || node === leaf) return undefined;
  if (node["."] === undefined) return node;
  const children = Object.keys(node).filter((step) => step !== ".");
  return makeNode(
    false,
    children,
    children.map((step) => node[step] as FieldSet),
  );
}

/**
 * Children of the nodes that are being compared, each node's above its parent's; and the same for what went. The arrays
 * never shrink: what counts is below the two tops.
 */
const steps: string[] = [];
const nodes: FieldSet[] = [];
let top = 0;
const goneSteps: string[] = [];
const goneNodes: FieldSet[] = [];
let goneTop = 0;

function visit(plan: FieldPlan | undefined, before: Side, after: Side): void {
  if (plan === undefined || before === after) return;
  plan.diff(before, after);
  take(plan.step);
}

/** Files what the last comparison left under `step`. */
function take(step: string): void {
  if (changed !== undefined) {
    steps[top] = step;
    nodes[top++] = changed;
  }
  if (removed !== undefined) {
    goneSteps[goneTop] = step;
    goneNodes[goneTop++] = removed;
  }
}

/** Turns the children above the two bases into the node itself. */
function finish(base: number, goneBase: number, added: boolean, gone: boolean): void {
  changed = makeNodeOf(added, steps, nodes, base, top);
  top = base;
  removed = makeNodeOf(gone, goneSteps, goneNodes, goneBase, goneTop);
  goneTop = goneBase;
}

const fieldSteps = new Map<string, string>();
const fieldStepsMax = 8192;

/** `f:key` of a map; common keys are kept, so that the same string is used each time. */
function stepOfKey(name: string): string {
  let step = fieldSteps.get(name);
  if (step === undefined) {
    step = `f:${name}`;
    if (fieldSteps.size >= fieldStepsMax) fieldSteps.clear();
    fieldSteps.set(name, step);
  }
  return step;
}

function fieldDiff(field: FieldRow): Diff {
  const { shape } = field;
  if (shape.is === "list") return listDiff(shape.items, field);
  if (shape.is === "map") return field.mapType === "atomic" ? diffLeaf : mapDiff(shape.values, shape.each);
  if (shape.is === "struct") {
    if (field.mapType === "atomic") return diffLeaf;
    return field.mapType === "granular" ? granularDiff(shape.type) : structDiff(shape.type);
  }
  return shapeDiff(shape);
}

function shapeDiff(shape: Shape): Diff {
  switch (shape.is) {
    case "struct":
      return structDiff(shape.type);
    case "map":
      return mapDiff(shape.values, shape.each);
    case "opaque":
      return diffUntyped;
    default:
      return diffLeaf; // scalars; lists are atomic unless a field says otherwise
  }
}

const diffLeaf: Diff = (before, after) => {
  changed = undefined;
  removed = undefined;
  if (after === undefined) removed = before === undefined ? undefined : leaf;
  else if (before === undefined || !jsonEqual(before, after)) changed = leaf;
};

const none: ReadonlySet<string> = new Set();
const structs = new WeakMap<TypeRow, Diff>();

function structDiff(type: TypeRow): Diff {
  if (type.mapType === "atomic") return diffLeaf;
  let diff = structs.get(type);
  if (diff !== undefined) return diff;
  diff = granularDiff(type);
  structs.set(type, diff);
  return diff;
}

function granularDiff(type: TypeRow): Diff {
  let fields: Fields | undefined; // made at the first use: types are recursive
  return compileFields(() => (fields ??= planFields(type, none, fieldDiff)), type.open ? openField : noField);
}

function compileFields(fieldsOf: () => Fields, open: (key: string) => FieldPlan | undefined = noField): Diff {
  return (before, after) => {
    const left = isObject(before) ? before : undefined;
    const right = isObject(after) ? after : undefined;
    const fields = fieldsOf();
    const base = top;
    const goneBase = goneTop;
    let isVoid = true; // nothing inside: such a container is a leaf
    if (right !== undefined) {
      for (const key in right) {
        isVoid = false;
        visit(fields.get(key) ?? open(key), left === undefined ? undefined : own(left, key), right[key]);
      }
    }
    if (left !== undefined) {
      for (const key in left) {
        isVoid = false;
        if (right === undefined || !Object.hasOwn(right, key))
          visit(fields.get(key) ?? open(key), left[key], undefined);
      }
    }
    if (isVoid) diffLeaf(before, after);
    else finish(base, goneBase, before === undefined, after === undefined);
  };
}

function mapDiff(values: Shape, each: FieldRow | undefined): Diff {
  const inner = each === undefined ? shapeDiff(values) : fieldDiff(each);
  return (before, after) => diffMap(before, after, inner);
}

/** Whether the change was found before, in steps. */
function isKnown(before: Side, after: JsonObject | readonly Json[]): boolean {
  const known = largeChange(before, after, true);
  if (known === undefined) return false;
  used.push(after);
  ({ changed, removed } = known);
  return true;
}

function diffMap(before: Side, after: Side, inner: Diff): void {
  const left = isObject(before) ? before : undefined;
  const right = isObject(after) ? after : undefined;
  if (right !== undefined && inner === diffLeaf && isKnown(before, right)) return;
  const base = top;
  const goneBase = goneTop;
  let isVoid = true;
  if (left === undefined && right !== undefined && inner === diffLeaf) isVoid = !takeLeaves(right);
  else if (right !== undefined) {
    for (const key in right) {
      isVoid = false;
      diffItem(key, left === undefined ? undefined : own(left, key), right[key], inner);
    }
  }
  if (left !== undefined) {
    for (const key in left) {
      isVoid = false;
      if (right === undefined || !Object.hasOwn(right, key)) diffItem(key, left[key], undefined, inner);
    }
  }
  if (isVoid) diffLeaf(before, after);
  else finish(base, goneBase, before === undefined, after === undefined);
}

/** All members of a new map of leaves; false when there are none. A large one is no place for names that are kept. */
function takeLeaves(map: JsonObject): boolean {
  const keys = Object.keys(map);
  const isLarge = keys.length > fieldStepsMax / 8;
  for (const key of keys) {
    if (map[key] === undefined) continue;
    steps[top] = isLarge ? `f:${key}` : stepOfKey(key);
    nodes[top++] = leaf;
  }
  return keys.length > 0;
}

function diffItem(key: string, before: Side, after: Side, inner: Diff): void {
  if (before === after) return;
  inner(before, after);
  take(stepOfKey(key));
}

/** Values of which no table knows anything: objects by field, all else as a whole. */
const diffUntyped: Diff = (before, after) => {
  const wasMap = isObject(before);
  const isMap = isObject(after);
  if ((wasMap || (before ?? null) === null) && (isMap || (after ?? null) === null)) {
    return wasMap || isMap ? diffMap(before, after, diffUntyped) : diffLeaf(before, after);
  }
  if (wasMap) {
    diffMap(before, null, diffUntyped); // its fields go, and something else takes its place
    changed = leaf;
  } else if (isMap) diffMap(undefined, after, diffUntyped);
  else diffLeaf(before, after);
};

function listDiff(items: Shape, field: FieldRow): Diff {
  if (field.listType === "set") return (before, after) => diffList(before, after, valueStep, diffLeaf);
  if (field.listType !== "map" || items.is !== "struct") return diffLeaf;
  const keys = [...(field.listMapKeys ?? [])].sort();
  const defaults = keys.map((key) => (items.type as TypeRow).fields.get(key)?.default as Side);
  const inner = structDiff(items.type);
  const stepOf = keyStep(keys, defaults);
  return (before, after) => diffList(before, after, stepOf, inner);
}

const keySteps = new Map<string, Map<string, string>>();
const keyStepsMax = 4096;

/** How elements with these keys are named; undefined for an element that has none of them. */
function keyStep(keys: readonly string[], defaults: readonly Side[]): (item: Json) => string | undefined {
  const several = (item: Json): string | undefined => keyStepOf(item, keys, defaults);
  const [key] = keys;
  if (keys.length !== 1 || key === undefined) return several;
  let known = keySteps.get(key);
  if (known === undefined) keySteps.set(key, (known = new Map()));
  const cached = known;
  return (item) => {
    const value = isObject(item) ? item[key] : undefined;
    if (typeof value !== "string") return several(item);
    let step = cached.get(value);
    if (step === undefined) {
      step = several(item) as string;
      if (cached.size >= keyStepsMax) cached.clear();
      cached.set(value, step);
    }
    return step;
  };
}

/** How a set names an element of a list with keys; keys in order, an absent one by its default. */
export function keyStepOf(item: Json, keys: readonly string[], defaults: readonly Side[]): string | undefined {
  if (!isObject(item)) return undefined;
  let text = "";
  for (let at = 0; at < keys.length; at++) {
    const key = keys[at] as string;
    const value = item[key] ?? defaults[at];
    if (value !== undefined && value !== null)
      text += `${text === "" ? "" : ","}${JSON.stringify(key)}:${valueText(value)}`;
  }
  return text === "" ? undefined : `k:{${text}}`;
}

function diffList(before: Side, after: Side, stepOf: (item: Json) => string | undefined, inner: Diff): void {
  const left = Array.isArray(before) ? (before as readonly Json[]) : noItems;
  const right = Array.isArray(after) ? (after as readonly Json[]) : noItems;
  if (left.length === 0 && right.length === 0) return diffLeaf(before, after);
  if (left.length === 0 && right.length === 1) return diffNewItem(before, right, stepOf, inner);
  if (stepOf === valueStep && isKnown(before, right)) return;
  if (areSame(left, right)) {
    changed = undefined;
    removed = undefined;
    return;
  }
  const leftItems = inParts(left.length, () => byStep(left, stepOf));
  const rightItems = inParts(right.length, () => byStep(right, stepOf));
  if (leftItems === undefined || rightItems === undefined) return diffLeaf(before, after);
  const base = top;
  const goneBase = goneTop;
  const come = (step: string, item: Items): void => {
    const other = leftItems.get(step);
    if (item === other) return;
    diffItems(other, item, inner);
    take(step);
  };
  const gone = (step: string, item: Items): void => {
    if (rightItems.has(step)) return;
    diffItems(item, undefined, inner);
    take(step);
  };
  eachInParts(rightItems, come);
  eachInParts(leftItems, gone);
  const made = inParts(Math.max(left.length, right.length), () => {
    finish(base, goneBase, before === undefined, after === undefined);
    return { changed, removed };
  });
  // It may have been made in a turn before.
  ({ changed, removed } = made);
  top = base;
  goneTop = goneBase;
}

/** From here on a list is compared in parts, after each of which a judgement may be broken off. */
const partItems = 8_192;
const itemCost = turnCostMax / (2 * partItems);

/** A part of the work for so many items. */
const inParts = <Made>(count: number, make: () => Made): Made =>
  count <= partItems ? make() : paced(make, () => itemCost * count);

/** Calls `diff` for each; of many, what it files is taken part by part. */
function eachInParts(items: ReadonlyMap<string, Items>, diff: (step: string, item: Items) => void): void {
  if (items.size <= partItems) {
    for (const [step, item] of items) diff(step, item);
    return;
  }
  const entries = [...items];
  for (let from = 0; from < entries.length; from += partItems) {
    const base = top;
    const goneBase = goneTop;
    const filed = paced(
      () => {
        for (const [step, item] of entries.slice(from, from + partItems)) diff(step, item);
        return {
          come: { steps: steps.slice(base, top), nodes: nodes.slice(base, top) },
          gone: { steps: goneSteps.slice(goneBase, goneTop), nodes: goneNodes.slice(goneBase, goneTop) },
        };
      },
      () => itemCost * partItems,
    );
    top = base;
    for (const [at, step] of filed.come.steps.entries()) {
      steps[top] = step;
      nodes[top++] = filed.come.nodes[at] as FieldSet;
    }
    goneTop = goneBase;
    for (const [at, step] of filed.gone.steps.entries()) {
      goneSteps[goneTop] = step;
      goneNodes[goneTop++] = filed.gone.nodes[at] as FieldSet;
    }
  }
}

/** The same items, in the same order. */
function areSame(left: readonly Json[], right: readonly Json[]): boolean {
  if (left.length !== right.length) return false;
  for (let at = 0; at < left.length; at++) if (left[at] !== right[at]) return false;
  return true;
}

/** What a list has under one step: an element, several of the same keys, or none. */
type Items = Json | Several | undefined;

class Several {
  readonly items: Json[];

  constructor(...items: Json[]) {
    this.items = items;
  }
}

/** Several elements of the same keys have no fields of their own: they come, change and go as one. */
function diffItems(before: Items, after: Items, inner: Diff): void {
  const wereSeveral = before instanceof Several;
  const areSeveral = after instanceof Several;
  if (wereSeveral && areSeveral) {
    diffLeaf(before.items, after.items);
  } else if (wereSeveral) {
    if (after === undefined) changed = undefined;
    else inner(undefined, after as Side);
    removed = leaf;
  } else if (areSeveral) {
    if (before === undefined) removed = undefined;
    else inner(before as Side, undefined);
    changed = leaf;
  } else inner(before as Side, after as Side);
}

const noItems: readonly Json[] = [];

/** One element, and it is new: most lists, for most objects are compared once, when they are made. */
function diffNewItem(
  before: Side,
  right: readonly Json[],
  stepOf: (item: Json) => string | undefined,
  inner: Diff,
): void {
  const base = top;
  const [item] = right as [Json];
  const step = stepOf(item);
  if (step === undefined) return diffLeaf(before, right);
  inner(undefined, item);
  take(step);
  finish(base, goneTop, before === undefined, false);
}

/** Elements by their step. Undefined when an element has none. */
function byStep(
  list: readonly Json[],
  stepOf: (item: Json) => string | undefined,
): Map<string, Json | Several> | undefined {
  const items = new Map<string, Json | Several>();
  for (const item of list) {
    const step = stepOf(item);
    if (step === undefined) return undefined;
    const other = items.get(step);
    if (other === undefined) items.set(step, item);
    else if (other instanceof Several) other.items.push(item);
    else items.set(step, new Several(other, item));
  }
  return items;
}
