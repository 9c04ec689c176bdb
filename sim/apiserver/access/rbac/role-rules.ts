/**
 * What the rules of one role allow, for a role that is asked again and again: one of many texts is searched a few times, and then
 * looked up.
 */
import type { JsonObject } from "../../../contract/http-message.ts";
import type { Attributes } from "../authorize.ts";
import { type PolicyRule, ruleAllows, rulesOf } from "./rules.ts";
import { fewAsked, Texts } from "./texts.ts";

/** What decisions have taken, in texts that were compared. Whoever asks much at once looks at it. */
export interface Labour {
  count: number;
}

type ResourceAttributes = Extract<Attributes, { readonly is: "resource" }>;

/** Rules with fewer texts are searched. */
const fewTexts = 64;
/** To look into a map, and to put something in. */
const lookUpCost = 10;

/** The rules of a stored role, once for each time that it was written. */
export class RoleRules {
  readonly rules: readonly PolicyRule[];
  private readonly textCount: number;
  private readonly labour: Labour;
  private askedCount = 0;
  private index: RuleIndex | undefined;

  constructor(role: JsonObject, labour: Labour) {
    this.rules = rulesOf(role);
    this.textCount = this.rules.reduce((sum, rule) => sum + textCount(rule), 0);
    this.labour = labour;
  }

  /** `mayPrepare`: there is time to get ready for more questions. */
  allows(asked: Attributes, mayPrepare: boolean): boolean {
    if (this.index !== undefined && asked.is === "resource") return this.index.allows(asked);
    this.labour.count += this.textCount;
    if (this.textCount > fewTexts && asked.is === "resource" && this.askedCount++ >= fewAsked && mayPrepare) {
      this.labour.count += lookUpCost * this.textCount;
      this.index = new RuleIndex(this.rules, this.labour);
      return this.index.allows(asked);
    }
    return this.rules.some((rule) => ruleAllows(rule, asked));
  }
}

const textCount = ({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): number =>
  [verbs, apiGroups, resources, resourceNames, nonResourceURLs].reduce((sum, list) => sum + (list?.length ?? 0), 1);

/** Which rules have a text in one of their lists, by their places in the order of rules. */
class Places {
  private readonly found = new Map<string, number | number[]>();

  add(texts: readonly string[] | undefined, place: number): void {
    for (const text of texts ?? []) {
      const known = this.found.get(text);
      if (known === undefined) this.found.set(text, place);
      else if (typeof known === "number") {
        if (known !== place) this.found.set(text, [known, place]);
      } else if (known.at(-1) !== place) known.push(place);
    }
  }

  of(text: string): readonly number[] {
    const found = this.found.get(text);
    if (found === undefined) return [];
    return typeof found === "number" ? [found] : found;
  }
}

/** One rule, each of its lists for many questions. */
interface Lists {
  readonly verbs: Texts;
  readonly groups: Texts;
  readonly resources: Texts;
  readonly names: Texts;
}

/** Rules by what they have: of those that fit in the list that leaves the fewest, each is looked at. */
class RuleIndex {
  private readonly rules: readonly Lists[];
  private readonly verbs = new Places();
  private readonly groups = new Places();
  private readonly resources = new Places();
  private readonly names = new Places();
  /** Those that are for all names. */
  private readonly unnamed: number[] = [];
  private readonly labour: Labour;

  constructor(rules: readonly PolicyRule[], labour: Labour) {
    this.labour = labour;
    this.rules = rules.map((rule, place) => {
      const { verbs, apiGroups, resources, resourceNames } = rule;
      this.verbs.add(verbs, place);
      this.groups.add(apiGroups, place);
      this.resources.add(resources, place);
      this.names.add(resourceNames, place);
      if ((resourceNames ?? []).length === 0) this.unnamed.push(place);
      return {
        verbs: new Texts(verbs),
        groups: new Texts(apiGroups),
        resources: new Texts(resources),
        names: new Texts(resourceNames),
      };
    });
  }

  allows({ verb, resource: { group, resource }, subresource, name }: ResourceAttributes): boolean {
    const full = subresource === "" ? resource : `${resource}/${subresource}`;
    const ofAll = subresource === "" ? full : `*/${subresource}`;
    const { verbs, groups, resources, names, unnamed } = this;
    const fewest = [
      [verbs.of(verb), verbs.of("*")],
      [groups.of(group), groups.of("*")],
      [resources.of(full), resources.of("*"), ...(ofAll === full ? [] : [resources.of(ofAll)])],
      [names.of(name), unnamed],
    ].reduce((least, each) => (sizeOf(each) < sizeOf(least) ? each : least));
    this.labour.count += lookUpCost * (lookUpCost + sizeOf(fewest));
    return fewest.some((places) =>
      places.some((place) => {
        const rule = this.rules[place] as Lists;
        return (
          rule.verbs.hasOrAll(verb) &&
          rule.groups.hasOrAll(group) &&
          (rule.resources.hasOrAll(full) || rule.resources.has(ofAll)) &&
          (rule.names.length === 0 || rule.names.has(name))
        );
      }),
    );
  }
}

const sizeOf = (lists: readonly (readonly number[])[]): number => lists.reduce((sum, { length }) => sum + length, 0);
