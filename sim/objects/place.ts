/** Where a judgement of an object is, and what it has found so far. Paths are put together for causes alone. */
import { type Dialect, svcDialect } from "../../wire/dialect.ts";
import { type Cause, toldCharactersMax } from "../contract/errors.ts";
import { append } from "../../wire/lists.ts";
import type { Json, JsonObject } from "../contract/http-message.ts";
import { askedOnce, pacedParts } from "../expressions/pace.ts";
import {
  duplicateText,
  duplicateValue,
  forbiddenField,
  invalidText,
  invalidValue,
  notFoundValue,
  pushInvalid,
  requiredValue,
  tooLongValue,
  tooManyItems,
  unsupportedValue,
} from "./causes.ts";
import { valueCount } from "./members.ts";

/** Judges what is there: a field that is absent is fine. */
export type Check = (value: never, at: Place) => void;

export interface Rule {
  readonly judge: Check;
  /** Whether nothing is wrong with a value, where that can be told without a place. Then it is not judged. */
  readonly holds?: (value: never) => boolean;
  /** What Go has for such a value when nothing was said. */
  readonly zero: Json;
  /** What is judged when the field is absent; without it nothing is. */
  readonly absent?: Json;
  /** What causes call the field; "" passes it over. Default: its name. */
  readonly called?: string;
}

export const ruleOf = (rule: Rule | Check): Rule => (typeof rule === "function" ? { judge: rule, zero: null } : rule);

/** The name of a field, the number of an item, or the key of a map in a list of one. */
export type PathStep = string | number | readonly [key: string];

export class Place {
  causes: Cause[];
  dialect: Dialect;
  /** What the object replaces; undefined when it is new. */
  live: JsonObject | undefined;
  /** What rules further in ask of what they are in. Whoever sets it puts back what was there. */
  scope: unknown;
  /** How many items the list has in which this is. */
  itemCount = 0;
  private seen: Map<unknown, Set<unknown>> | undefined;
  /** The same of a short list: rules and values in turn. */
  private seenOfFew: unknown[] | undefined;
  /** What the part of a list that is being judged has added to `seen`. */
  private added: { readonly values: Set<unknown>; readonly value: unknown }[] | undefined;
  /** Of causes that are told, as far as they were counted. */
  private charactersLeft = toldCharactersMax;
  private readonly base: string;
  /** The way here from `base`; beyond `depth` are leftovers. */
  private readonly steps: PathStep[] = [];
  private depth = 0;

  constructor(causes: Cause[], dialect: Dialect, live: JsonObject | undefined, base = "") {
    this.causes = causes;
    this.dialect = dialect;
    this.live = live;
    this.base = base;
  }

  /** The same place for another object, when one has been judged. */
  begin(causes: Cause[], dialect: Dialect, live: JsonObject | undefined): void {
    this.causes = causes;
    this.dialect = dialect;
    this.live = live;
    this.depth = 0;
    this.charactersLeft = toldCharactersMax;
  }

  get path(): string {
    return pathText(this.base, this.steps, this.depth);
  }

  /** A place below this one, to tell of a field from its parent. It is in no list. */
  of(...steps: readonly PathStep[]): Place {
    return this.at(pathText(this.path, steps, steps.length));
  }

  /** The place that this one is in, some steps up. It is in no list. */
  above(stepCount = 1): Place {
    return this.at(pathText(this.base, this.steps, this.depth - stepCount));
  }

  private at(path: string): Place {
    const place = new Place(this.causes, this.dialect, this.live, path);
    place.scope = this.scope;
    return place;
  }

  enter(step: PathStep): void {
    this.steps[this.depth++] = step;
  }

  leave(): void {
    this.depth--;
  }

  /** Judges a field of what is here. True when nothing is wrong. */
  judge(step: PathStep, value: Json | undefined, rule: Rule | Check): boolean {
    const { judge, holds, absent } = ruleOf(rule);
    const judged = value ?? absent;
    if (judged === undefined || holds?.(judged as never) === true) return true;
    const countBefore = this.causes.length;
    this.enter(step);
    judge(judged as never, this);
    this.leave();
    return this.causes.length === countBefore;
  }

  /** Goes through the items of the list that is here. */
  eachItem(list: readonly unknown[], judge: Check, holds?: Rule["holds"]): void {
    const { seen, seenOfFew, itemCount, added } = this;
    this.seen = undefined;
    this.seenOfFew = undefined;
    this.added = undefined;
    this.itemCount = list.length;
    this.items(list, 0, list.length, judge, holds);
    this.seen = seen;
    this.seenOfFew = seenOfFew;
    this.added = added;
    this.itemCount = itemCount;
  }

  /**
   * As `eachItem`, for rules that carry nothing from one item to the next but by `isAgain`: a long list is judged in parts, after
   * each of which a judgement may be broken off (`pace.ts`). What nobody would be told of any more is not judged.
   */
  eachInParts(list: readonly unknown[], judge: Check, holds?: Rule["holds"]): void {
    if (list.length < longMin) {
      this.eachItem(list, judge, holds);
      return;
    }
    const { seen, seenOfFew, itemCount, added } = this;
    this.seen = askedOnce(() => new Map());
    this.itemCount = list.length;
    const part = (from: number, end: number): Part => this.part(list, from, end, judge, holds);
    const costOf = ({ characters, from }: Part, length: number): number =>
      valueCost * valueCount(list, from, length) + characterCost * characters;
    for (const { causes, characters } of pacedParts(list.length, part, costOf)) {
      append(this.causes, causes);
      this.charactersLeft -= characters;
      if (this.charactersLeft < 0) break;
    }
    this.seen = seen;
    this.seenOfFew = seenOfFew;
    this.added = added;
    this.itemCount = itemCount;
  }

  /** What is wrong with some items. Where it is broken off it is judged again, as if it had not begun. */
  private part(list: readonly unknown[], from: number, end: number, judge: Check, holds: Rule["holds"]): Part {
    const countBefore = this.causes.length;
    const { charactersLeft } = this;
    const added: NonNullable<typeof this.added> = [];
    this.added = added;
    try {
      this.items(list, from, end, judge, holds);
    } catch (error) {
      for (const { values, value } of added) values.delete(value);
      throw error;
    }
    this.charactersLeft = charactersLeft; // those of lists within are counted with the part
    const causes = this.causes.splice(countBefore);
    return { causes, characters: charactersOf(causes), from };
  }

  private items(list: readonly unknown[], from: number, end: number, judge: Check, holds: Rule["holds"]): void {
    for (let at = from; at < end; at++) {
      const item = list[at] as never;
      if (holds?.(item) === true) continue;
      this.enter(at);
      judge(item, this);
      this.leave();
    }
  }

  /** Whether an item of the list has brought this value already, by the same rule. Lists are as long as clients make them. */
  isAgain(rule: unknown, value: unknown): boolean {
    if (this.itemCount < 2) return false;
    if (this.itemCount <= fewMax) {
      const few = (this.seenOfFew ??= []);
      for (let at = 0; at < few.length; at += 2) if (few[at] === rule && few[at + 1] === value) return true;
      few.push(rule, value);
      return false;
    }
    const seen = (this.seen ??= new Map<unknown, Set<unknown>>());
    let values = seen.get(rule);
    if (values === undefined) seen.set(rule, (values = new Set()));
    if (values.has(value)) return true;
    values.add(value);
    this.added?.push({ values, value });
    return false;
  }

  invalid(value: unknown, detail: string): void {
    this.causes.push(invalidValue(this.path, value, detail));
  }

  /** A cause for each of `texts`; mostly there are none. */
  invalidFor(value: unknown, texts: readonly string[]): void {
    if (texts.length > 0) pushInvalid(this.path, value, texts, this.causes);
  }

  /** Of a value that is already written the way Go prints it. */
  invalidText(text: string, detail: string): void {
    this.causes.push(invalidText(this.path, text, detail));
  }

  required(detail?: string): void {
    this.causes.push(requiredValue(this.path, detail));
  }

  forbidden(detail: string): void {
    this.causes.push(forbiddenField(this.path, detail));
  }

  unsupported(value: unknown, supported: readonly string[]): void {
    this.causes.push(unsupportedValue(this.path, value, supported));
  }

  duplicate(value: unknown): void {
    this.causes.push(duplicateValue(this.path, value));
  }

  duplicateText(text: string): void {
    this.causes.push(duplicateText(this.path, text));
  }

  notFound(value: unknown, detail?: string): void {
    this.causes.push(notFoundValue(this.path, value, detail));
  }

  tooMany(count: number, countMax: number): void {
    this.causes.push(tooManyItems(this.path, count, countMax));
  }

  tooLong(bytesMax: number): void {
    this.causes.push(tooLongValue(this.path, bytesMax));
  }
}

/** From here on a list is judged in parts. */
export const longMin = 128;

/**
 * Long work of a judgement, in parts as those of a list: `make` looks at what is there from one number up to another, and tells of
 * it in `causes`. `itemCost`: of one, by the measure of expressions (`pace.ts`).
 */
export function inParts<Made>(
  causes: Cause[],
  count: number,
  itemCost: number,
  make: (from: number, end: number) => Made,
): readonly Made[] {
  if (count < longMin) return [make(0, count)];
  const all: Made[] = [];
  const part = (from: number, end: number): MadePart<Made> => {
    const countBefore = causes.length;
    const made = make(from, end);
    const found = causes.splice(countBefore);
    return { made, found, characters: charactersOf(found) };
  };
  const costOf = ({ characters }: MadePart<Made>, length: number): number =>
    itemCost * length + characterCost * characters;
  let charactersLeft = toldCharactersMax;
  for (const { made, found, characters } of pacedParts(count, part, costOf)) {
    append(causes, found);
    all.push(made);
    charactersLeft -= characters;
    if (charactersLeft < 0) break;
  }
  return all;
}

/** Goes through the keys of a map, a long one in parts: `judge` tells of a key in `causes`, and returns its size. The sizes in all. */
export function sizeInParts(map: object, causes: Cause[], keyCost: number, judge: (key: string) => number): number {
  const keys = askedOnce(() => Object.keys(map));
  const sizes = inParts(causes, keys.length, keyCost, (from, end) => {
    let size = 0;
    for (let at = from; at < end; at++) size += judge(keys[at] as string);
    return size;
  });
  return sizes.reduce((sum, size) => sum + size, 0);
}

interface MadePart<Made> {
  readonly made: Made;
  readonly found: readonly Cause[];
  readonly characters: number;
}

const charactersOf = (causes: readonly Cause[]): number =>
  causes.reduce((sum, { message, field = "" }) => sum + message.length + field.length, 0);

/** What was found in some items of a list. */
interface Part {
  readonly causes: readonly Cause[];
  readonly characters: number;
  readonly from: number;
}

/** By the measure of expressions (`pace.ts`): of a value that is looked at, and of a character that is told of it. */
const valueCost = 4;
const characterCost = 0.25;

/** Among so few a look at each is faster than a set. */
const fewMax = 8;

/** For code that is no table yet: judges the value at `path`. Only for rules that are the same in all dialects. */
export function judgeAt(rule: Rule | Check, value: Json, path: string, causes: Cause[]): void {
  const { judge, holds } = ruleOf(rule);
  if (holds?.(value as never) !== true) judge(value as never, new Place(causes, svcDialect, undefined, path));
}

function pathText(base: string, steps: readonly PathStep[], depth: number): string {
  let text = base;
  for (let at = 0; at < depth; at++) {
    const step = steps[at] as PathStep;
    if (typeof step === "string") text = text === "" ? step : `${text}.${step}`;
    else text = `${text}[${typeof step === "number" ? step : step[0]}]`;
  }
  return text;
}
