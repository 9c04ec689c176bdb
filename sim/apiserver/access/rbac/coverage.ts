/**
 * What rules lack of what others allow: nobody may grant what they do not hold. A rule of many texts is looked up and not searched,
 * and long work stops now and then.
 * Source: document 1, Authorization; the published server's evaluation of rules.
 */
import { goQuote } from "../../../../wire/go-strings.ts";
import { tooLarge, toldCharactersMax } from "../../../contract/errors.ts";
import { sortedInSteps } from "../../../objects/sorted-steps.ts";
import { describeRule, type PolicyRule, urlMatches } from "./rules.ts";
import { fewAsked, Texts } from "./texts.ts";

/** Comparisons of rules for one write. Simplification: the real server makes as many as there are. */
const stepsMax = 1_000_000;

/** Parts are taken together, so that what is made of a rule that is held serves many. */
const partsTogether = 10_000;
/** What a turn may do: parts compared, texts put into an index. */
const workPerTurn = 20_000;
/** To put together what is told of one part. */
const addCost = 10;

const none: readonly string[] = [];

/**
 * The parts of `wanted` that `held` do not cover, put together again where only their verbs differ; not all where more than may be
 * told are missing. Throws 413 where they stand for too many parts. Stops now and then.
 */
export function* rulesMissing(
  held: readonly PolicyRule[],
  wanted: readonly PolicyRule[],
): Generator<void, readonly PolicyRule[]> {
  requireFewParts(held, wanted);
  const missing = new Missing();
  const work = new Work();
  const left = partsOf(wanted);
  for (;;) {
    let open = next(left, partsTogether);
    if (open.length === 0 || missing.isFull) return missing.rules();
    if (work.isTooMuchWith(open.length)) yield;
    for (const rule of held) {
      if (open.length === 0) break;
      const cover = new Cover(rule);
      if (open.length > fewAsked) yield* cover.prepared(open, work);
      if (work.isTooMuchWith(open.length)) yield;
      open = open.filter((part) => !cover.covers(part));
      if (work.isTooMuchWith(cover.searched)) yield;
    }
    for (const part of open) {
      missing.add(part);
      if (work.isTooMuchWith(addCost)) yield;
    }
  }
}

function requireFewParts(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): void {
  let count = 0;
  for (const rule of wanted) count += partCount(rule);
  if (count * (1 + held.length) > stepsMax)
    throw tooLarge("Request entity too large: the rules stand for too many of one verb and one resource");
}

function partCount({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): number {
  const length = (list: readonly string[] | undefined): number => list?.length ?? 0;
  const places = length(apiGroups) * length(resources) * Math.max(1, length(resourceNames));
  return length(verbs) * (places + length(nonResourceURLs));
}

class Work {
  private left = workPerTurn;

  /** Whether the turn is over with so much more. */
  isTooMuchWith(amount: number): boolean {
    this.left -= amount;
    if (this.left > 0) return false;
    this.left = workPerTurn;
    return true;
  }
}

/** One verb on one resource, by one name or by any, or on one URL. */
type Part =
  | {
      readonly verb: string;
      readonly group: string;
      readonly resource: string;
      readonly name: string | undefined;
      readonly url?: undefined;
    }
  | { readonly verb: string; readonly url: string };

/** Parts that together are `rules`. */
function* partsOf(rules: readonly PolicyRule[]): Generator<Part, void> {
  for (const rule of rules) {
    const { apiGroups = none, resources = none, resourceNames = none, nonResourceURLs = none } = rule;
    const verbs = rule.verbs ?? none; // a stored rule may lack them
    for (const group of apiGroups) {
      for (const resource of resources) {
        for (const verb of verbs) {
          if (resourceNames.length === 0) yield { verb, group, resource, name: undefined };
          for (const name of resourceNames) yield { verb, group, resource, name };
        }
      }
    }
    for (const url of nonResourceURLs) for (const verb of verbs) yield { verb, url };
  }
}

function next<Item>(items: Iterator<Item, void>, count: number): Item[] {
  const taken: Item[] = [];
  while (taken.length < count) {
    const { done, value } = items.next();
    if (done === true) break;
    taken.push(value as Item);
  }
  return taken;
}

/** What one rule covers. */
class Cover {
  private readonly verbs: Texts;
  private readonly groups: Texts;
  private readonly resources: Texts;
  private readonly names: Texts;
  private readonly urls: Texts;
  private readonly patterns: readonly string[];
  /** Beginnings that cover, none of which begins with another, in the order of their code units; undefined: `patterns` are searched. */
  private beginnings: readonly string[] | undefined;

  constructor({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule) {
    this.verbs = new Texts(verbs);
    this.groups = new Texts(apiGroups);
    this.resources = new Texts(resources);
    this.names = new Texts(resourceNames);
    this.urls = new Texts(nonResourceURLs);
    this.patterns = nonResourceURLs ?? none;
  }

  get searched(): number {
    const { verbs, groups, resources, names, urls } = this;
    return verbs.searched + groups.searched + resources.searched + names.searched + urls.searched;
  }

  /** Makes ready for many parts. */
  *prepared(parts: readonly Part[], work: Work): Generator<void, void> {
    const { patterns } = this;
    if (patterns.length <= fewAsked || !parts.some(({ url }) => url !== undefined)) return;
    if (work.isTooMuchWith(patterns.length)) yield;
    const open = patterns.filter((pattern) => pattern.endsWith("*")).map((pattern) => pattern.slice(0, -1));
    const beginnings: string[] = [];
    for (const text of yield* sortedInSteps(open, workPerTurn / 4)) {
      const last = beginnings.at(-1);
      if (last === undefined || !text.startsWith(last)) beginnings.push(text);
    }
    this.beginnings = beginnings;
  }

  covers(part: Part): boolean {
    if (!this.verbs.hasOrAll(part.verb)) return false;
    if (part.url !== undefined) return this.names.length === 0 && this.coversUrl(part.url);
    return (
      this.groups.hasOrAll(part.group) &&
      this.coversResource(part.resource) &&
      (this.names.length === 0 || (part.name !== undefined && this.names.has(part.name)))
    );
  }

  private coversResource(wanted: string): boolean {
    const [resource = "", subresource = ""] = wanted.split("/", 2);
    if (subresource === "") return this.resources.hasOrAll(resource);
    return this.resources.hasOrAll(`${resource}/${subresource}`) || this.resources.has(`*/${subresource}`);
  }

  private coversUrl(url: string): boolean {
    const { beginnings } = this;
    if (beginnings === undefined) return this.patterns.some((pattern) => urlMatches(pattern, url));
    return this.urls.has(url) || hasBeginning(beginnings, url);
  }
}

/**
 * Whether a text begins with one of `beginnings`: in their order that is the last one before the text, for what stands between
 * the two would begin with it as well.
 */
function hasBeginning(beginnings: readonly string[], text: string): boolean {
  let [from, end] = [0, beginnings.length];
  while (from < end) {
    const middle = (from + end) >> 1;
    if ((beginnings[middle] as string) <= text) from = middle + 1;
    else end = middle;
  }
  return from > 0 && text.startsWith(beginnings[from - 1] as string);
}

/** What is missing, rules that differ in nothing but verbs put together. */
class Missing {
  private readonly whole = new Map<string, { readonly rule: PolicyRule; readonly verbs: Set<string> }>();
  private charactersLeft = toldCharactersMax;

  /** More need not be found. */
  get isFull(): boolean {
    return this.charactersLeft < 0;
  }

  add(part: Part): void {
    if (this.isFull) return;
    const rule = ruleOf(part);
    const { verbs: _, ...place } = rule;
    const key = part.url === undefined ? JSON.stringify(place) : `${JSON.stringify(place)} ${part.verb}`;
    const known = this.whole.get(key);
    if (known === undefined) {
      this.whole.set(key, { rule, verbs: new Set([part.verb]) });
      this.charactersLeft -= describeRule(rule).length + 1;
    } else if (!known.verbs.has(part.verb)) {
      known.verbs.add(part.verb);
      this.charactersLeft -= goQuote(part.verb).length + 1;
    }
  }

  rules(): readonly PolicyRule[] {
    return Array.from(this.whole.values(), ({ rule, verbs }) =>
      verbs.size === 1 ? rule : { ...rule, verbs: Array.from(verbs) },
    );
  }
}

function ruleOf(part: Part): PolicyRule {
  if (part.url !== undefined) return { nonResourceURLs: [part.url], verbs: [part.verb] };
  const rule = { apiGroups: [part.group], resources: [part.resource], verbs: [part.verb] };
  return part.name === undefined ? rule : { ...rule, resourceNames: [part.name] };
}
