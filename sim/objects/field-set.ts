/**
 * Sets of field paths in the form in which managed fields are written: a tree of `f:name`, `k:{keys}`, `v:value` and
 * `i:index`. A node without children is a path of the set; `.` says the same of a node that has some.
 * Nodes are frozen, their keys are in code unit order, and equal nodes are one object, so that the thousands of
 * objects of one shape share one set.
 * Source: the facts, section 4, server-side apply.
 */
import type { Json, JsonObject } from "../contract/http-message.ts";
import { isObject } from "../contract/objects.ts";
import { askedOnce, paced, pacedParts, turnCostMax } from "../expressions/pace.ts";
import { Recent } from "./recent.ts";
import { sortedInSteps } from "./sorted-steps.ts";

export interface FieldSet {
  readonly [step: string]: FieldSet;
}

/** How a set names an element of a list of type `set`. */
export const valueStep = (item: Json): string => `v:${valueText(item)}`;

export const valueText = (item: Json): string =>
  typeof (item as unknown) === "bigint" ? String(item) : (JSON.stringify(item) ?? "null");

/** The set of one path, seen from that path. */
export const leaf: FieldSet = Object.freeze({});

/** A node from its children; undefined when it holds no path. `steps` and `nodes` go together, in any order. */
export function makeNode(self: boolean, steps: string[], nodes: FieldSet[]): FieldSet | undefined {
  return makeNodeOf(self, steps, nodes, 0, steps.length);
}

/**
 * A node from the children at `from` to `end` of two arrays, which are sorted in place; undefined when it holds no
 * path. Of several children under one step the last stands. Equal nodes are one object.
 */
export function makeNodeOf(
  self: boolean,
  steps: string[],
  nodes: FieldSet[],
  from: number,
  end: number,
): FieldSet | undefined {
  if (end === from) return self ? leaf : undefined;
  sortTogether(steps, nodes, from, end);
  if (end - from > manyMin && areLeaves(nodes, from, end)) return nodeOfMany(self, steps, nodes, from, end);
  let state = self ? withSelf : withoutSelf;
  for (let at = from; at < end; at++) {
    const step = steps[at] as string;
    if (at + 1 === end || step !== steps[at + 1]) state = follow(state, step, nodes[at] as FieldSet);
  }
  state.node ??= buildNode(self, steps, nodes, from, end);
  return state.node;
}

/** From here on an edge for each child costs more than one text of all their steps. */
const manyMin = 1_000;
const manyNodes = new Map<string, FieldSet>();
/** Each is named by a text of megabytes. */
const manyNodesMax = 8;

function areLeaves(nodes: readonly FieldSet[], from: number, end: number): boolean {
  for (let at = from; at < end; at++) if (nodes[at] !== leaf) return false;
  return true;
}

/** The same node for the same leaves, as long as it is among the last of its kind. */
function nodeOfMany(self: boolean, steps: string[], nodes: FieldSet[], from: number, end: number): FieldSet {
  const name = JSON.stringify([self, steps.slice(from, end)]);
  const known = manyNodes.get(name);
  if (known !== undefined) return known;
  let count = self ? 1 : 0;
  for (let at = from; at < end; at++) if (at + 1 === end || steps[at] !== steps[at + 1]) count++;
  return rememberMany(name, buildNode(self, steps, nodes, from, end), count);
}

function rememberMany(name: string, node: FieldSet, count: number): FieldSet {
  if (manyNodes.size >= manyNodesMax) manyNodes.clear();
  manyNodes.set(name, node);
  manyOnes.set(node, count);
  areThereMany = true;
  return node;
}

/** Leaves filed, or steps put in order, before others have their turn. */
const leavesPerTurn = 8_192;

/** The node of many leaves under different steps, made in parts. */
export function* leavesInSteps(self: boolean, steps: readonly string[]): Generator<void, FieldSet> {
  const sorted = yield* sortedInSteps(steps, leavesPerTurn);
  yield;
  const name = JSON.stringify([self, sorted]);
  yield;
  const node: Record<string, FieldSet> = {};
  if (self) node["."] = leaf;
  for (let at = 0; at < sorted.length && !manyNodes.has(name); at++) {
    if (at % leavesPerTurn === leavesPerTurn - 1) yield;
    node[sorted[at] as string] = leaf;
  }
  yield;
  const known = manyNodes.get(name);
  if (known !== undefined) return known;
  canonical.set(node, true);
  return rememberMany(name, Object.freeze(node), sorted.length + (self ? 1 : 0));
}

/** Nodes of many leaves, and how many each has: to ask one for its first child means to list all. */
const manyOnes = new WeakMap<FieldSet, number>();
let areThereMany = false;

/** How many children a node of many leaves has; undefined for any other. */
export const leafCountOf = (node: FieldSet): number | undefined => (areThereMany ? manyOnes.get(node) : undefined);

/** From here on moving one child after another could take for ever. */
const longMin = 64;

/** Insertion sort, stable: lists are short and mostly in order. */
function sortTogether(steps: string[], nodes: FieldSet[], from: number, end: number): void {
  for (let at = from + 1; at < end; at++) {
    const step = steps[at] as string;
    if ((steps[at - 1] as string) <= step) continue;
    if (end - from >= longMin) {
      sortLong(steps, nodes, from, end);
      return;
    }
    const node = nodes[at] as FieldSet;
    let to = at;
    for (; to > from && (steps[to - 1] as string) > step; to--) {
      steps[to] = steps[to - 1] as string;
      nodes[to] = nodes[to - 1] as FieldSet;
    }
    steps[to] = step;
    nodes[to] = node;
  }
}

/** Stable as well. */
function sortLong(steps: string[], nodes: FieldSet[], from: number, end: number): void {
  if (areLeaves(nodes, from, end)) {
    const sorted = steps.slice(from, end).sort();
    for (let at = from; at < end; at++) steps[at] = sorted[at - from] as string;
    return;
  }
  const children = steps.slice(from, end).map((step, at) => ({ step, node: nodes[from + at] as FieldSet }));
  children.sort(({ step: left }, { step: right }) => (left < right ? -1 : left > right ? 1 : 0));
  children.forEach(({ step, node }, at) => {
    steps[from + at] = step;
    nodes[from + at] = node;
  });
}

/**
 * Equal nodes are found by walking a tree of what nodes begin with: one edge for each child, told by its step and by
 * the child itself, which is one object already. No text is put together, and a known node costs no allocation.
 */
interface State {
  /** Most children are leaves, which only their step tells apart. Both are made for the first child: most states have none. */
  leaves: Map<string, State> | undefined;
  others: Map<string, Map<FieldSet, State>> | undefined;
  /** The node whose last child led here. */
  node: FieldSet | undefined;
}

/** States kept for sharing; beyond it the tree starts anew, which costs only memory. */
const statesMax = 200_000;
let stateCount = 0;
let withSelf = newState();
let withoutSelf = newState();
const canonical = new Recent<object, true>(16_384);

function newState(): State {
  stateCount++;
  return { leaves: undefined, others: undefined, node: undefined };
}

function follow(from: State, step: string, child: FieldSet): State {
  if (child === leaf) return followTo((from.leaves ??= new Map()), step);
  from.others ??= new Map();
  let children = from.others.get(step);
  if (children === undefined) from.others.set(step, (children = new Map()));
  return followTo(children, child);
}

function followTo<Key>(states: Map<Key, State>, key: Key): State {
  let state = states.get(key);
  if (state === undefined) states.set(key, (state = newState()));
  return state;
}

function buildNode(
  self: boolean,
  steps: readonly string[],
  nodes: readonly FieldSet[],
  from: number,
  end: number,
): FieldSet {
  const node: Record<string, FieldSet> = {};
  if (self) node["."] = leaf;
  for (let at = from; at < end; at++) node[steps[at] as string] = nodes[at] as FieldSet;
  canonical.set(node, true);
  if (stateCount > statesMax) {
    stateCount = 0;
    withSelf = newState();
    withoutSelf = newState();
  }
  return Object.freeze(node);
}

/** Is the node itself a path of the set? */
export function holdsItself(node: FieldSet): boolean {
  if (areThereMany && manyOnes.has(node)) return node["."] !== undefined;
  for (const step in node) return step === "." || node["."] !== undefined;
  return true;
}

/** Paths of either. */
export function unite(left: FieldSet | undefined, right: FieldSet | undefined): FieldSet | undefined {
  if (left === undefined || left === right) return right;
  if (right === undefined) return left;
  if (areThereMany) {
    const united = (isMany(left) && uniteMany(left, right)) || (isMany(right) && uniteMany(right, left));
    if (united !== undefined && united !== false) return united;
  }
  const steps: string[] = [];
  const nodes: FieldSet[] = [];
  let grown = false;
  for (const step in left) {
    if (step === ".") continue;
    const united = unite(left[step], right[step]) as FieldSet;
    grown ||= united !== left[step];
    steps.push(step);
    nodes.push(united);
  }
  for (const step in right) {
    if (step === "." || left[step] !== undefined) continue;
    steps.push(step);
    nodes.push(right[step] as FieldSet);
    grown = true;
  }
  const self = holdsItself(left) || holdsItself(right);
  return grown || self !== holdsItself(left) ? makeNode(self, steps, nodes) : left;
}

const isMany = (node: FieldSet): boolean => manyOnes.has(node);

/** A node of many leaves with what another has besides; undefined where that has something below one of the leaves. */
function uniteMany(many: FieldSet, other: FieldSet): FieldSet | undefined {
  const steps: string[] = [];
  const nodes: FieldSet[] = [];
  for (const step in other) {
    if (step === ".") continue;
    const node = other[step] as FieldSet;
    if (many[step] === undefined) {
      steps.push(step);
      nodes.push(node);
    } else if (node !== leaf) return undefined;
  }
  const self = holdsItself(many) || holdsItself(other);
  if (steps.length === 0 && self === holdsItself(many)) return many;
  for (const step of Object.keys(many)) {
    if (step === ".") continue;
    steps.push(step);
    nodes.push(leaf);
  }
  return makeNode(self, steps, nodes);
}

/** A node of many leaves without those that another has. */
function subtractMany(many: FieldSet, other: FieldSet): FieldSet | undefined {
  const isGone = (step: string): boolean => {
    const node = other[step];
    return node !== undefined && (node === leaf || holdsItself(node));
  };
  const steps = Object.keys(many);
  const rest = steps.filter((step) => step !== "." && !isGone(step));
  const self = holdsItself(many) && !holdsItself(other);
  if (rest.length + (self ? 1 : 0) === steps.length) return many;
  return makeNode(
    self,
    rest,
    rest.map(() => leaf),
  );
}

/** Paths of any; undefined for no set. Each is looked at once, where one union after another would go through the first ever again. */
export function uniteAll(sets: readonly FieldSet[]): FieldSet | undefined {
  const different = [...new Set(sets)];
  const [first, second] = different;
  if (second === undefined) return first;
  if (different.length === 2) return unite(first, second);
  const below = new Map<string, FieldSet>();
  const several = new Map<string, FieldSet[]>();
  for (const set of different) {
    for (const step of Object.keys(set)) {
      if (step === ".") continue;
      const node = set[step] as FieldSet;
      const known = below.get(step);
      if (known === undefined) below.set(step, node);
      else if (known !== node) file(several, step, known, node);
    }
  }
  for (const [step, nodes] of several) below.set(step, uniteAll(nodes) as FieldSet);
  return makeNode(different.some(holdsItself), [...below.keys()], [...below.values()]);
}

function file(several: Map<string, FieldSet[]>, step: string, known: FieldSet, node: FieldSet): void {
  const nodes = several.get(step);
  if (nodes === undefined) several.set(step, [known, node]);
  else nodes.push(node);
}

/** How many steps it has, at all depths. */
export function stepCountOf(set: FieldSet | undefined): number {
  if (set === undefined || set === leaf) return 0;
  const leafCount = leafCountOf(set);
  if (leafCount !== undefined) return leafCount;
  let count = 0;
  for (const step in set) count += 1 + stepCountOf(set[step]);
  return count;
}

/** Paths of `left` that are not in `right`. Paths below one in `right` stay. */
export function subtract(left: FieldSet | undefined, right: FieldSet | undefined): FieldSet | undefined {
  if (left === undefined || right === undefined) return left;
  if (left === right) return undefined;
  if (areThereMany && isMany(left)) return subtractMany(left, right);
  const steps: string[] = [];
  const nodes: FieldSet[] = [];
  let shrunk = false;
  for (const step in left) {
    if (step === ".") continue;
    const rest = subtract(left[step], right[step]);
    shrunk ||= rest !== left[step];
    if (rest === undefined) continue;
    steps.push(step);
    nodes.push(rest);
  }
  const self = holdsItself(left) && !holdsItself(right);
  return shrunk || self !== holdsItself(left) ? makeNode(self, steps, nodes) : left;
}

/** Paths of both. */
export function intersect(left: FieldSet | undefined, right: FieldSet | undefined): FieldSet | undefined {
  if (left === undefined || right === undefined) return undefined;
  if (left === right) return left;
  return filterNode(left, holdsItself(left) && holdsItself(right), (step, node) => intersect(node, right[step]));
}

/** Paths of `left` that are neither in `right` nor below a path in it. */
export function exclude(left: FieldSet | undefined, right: FieldSet | undefined): FieldSet | undefined {
  if (left === undefined || right === undefined) return left;
  if (holdsItself(right)) return undefined;
  return filterNode(left, holdsItself(left), (step, node) => exclude(node, right[step]));
}

function filterNode(
  node: FieldSet,
  self: boolean,
  filter: (step: string, node: FieldSet) => FieldSet | undefined,
): FieldSet | undefined {
  const steps: string[] = [];
  const nodes: FieldSet[] = [];
  for (const step in node) {
    const kept = step === "." ? undefined : filter(step, node[step] as FieldSet);
    if (kept === undefined) continue;
    steps.push(step);
    nodes.push(kept);
  }
  return makeNode(self, steps, nodes);
}

/**
 * Reads a set that a client sent: canonical and interned; undefined when it is none, an empty set when it is empty. `isLarge`: it is
 * read in parts, between which a judgement (`pace.ts`) may be broken off.
 */
export function readFieldSet(value: Json | undefined, isLarge = false): FieldSet | undefined {
  if (!isObject(value)) return undefined;
  const isKnown = (): boolean => (value as unknown) === leaf || canonical.get(value) === true;
  return (isLarge ? askedOnce(isKnown) : isKnown()) ? (value as unknown as FieldSet) : readNode(value, isLarge);
}

const stepForm = /^(?:f:|k:\{|v:|i:-?\d+$)/;

/** Of a step that is read, by the measure of expressions (`pace.ts`). */
const stepCost = turnCostMax / 30_000;

function readNode(value: JsonObject, isInParts: boolean): FieldSet | undefined {
  if (!isInParts) return nodeOf(readSteps(value, Object.keys(value), false));
  const all = paced(
    () => Object.keys(value),
    ({ length }) => length,
  );
  const read: ReadSteps = { self: false, steps: [], nodes: [] };
  const parts = pacedParts(
    all.length,
    (from, end) => readSteps(value, all.slice(from, end), true),
    (_, length) => stepCost * length,
  );
  for (const part of parts) {
    if (part === undefined) return undefined;
    read.self ||= part.self;
    for (const step of part.steps) read.steps.push(step);
    for (const node of part.nodes) read.nodes.push(node);
  }
  return all.length > manyMin
    ? paced(
        () => nodeOf(read),
        () => stepCost * all.length,
      )
    : nodeOf(read);
}

interface ReadSteps {
  self: boolean;
  readonly steps: string[];
  readonly nodes: FieldSet[];
}

const nodeOf = (read: ReadSteps | undefined): FieldSet | undefined =>
  read && makeNode(read.self || read.steps.length === 0, read.steps, read.nodes);

function readSteps(value: JsonObject, some: readonly string[], isInParts: boolean): ReadSteps | undefined {
  const read: ReadSteps = { self: false, steps: [], nodes: [] };
  for (const step of some) {
    const below = value[step];
    if (!isObject(below)) return undefined;
    if (step === ".") {
      read.self = true;
      continue;
    }
    const node = stepForm.test(step) ? readNode(below, isInParts) : undefined;
    if (node === undefined) return undefined;
    read.steps.push(step);
    read.nodes.push(node);
  }
  return read;
}
