/**
 * What all objects of a namespace use of what its quotas limit: counted once, and then with each object that comes, changes or
 * goes. Objects that the same scopes are about are counted together, under all names that a quota may limit, so that the work
 * is by object, however many quotas there are. Kept by listening to the store.
 */
import type { Process } from "../../kernel/types.ts";
import type { Quantity, QuantityForm } from "../../../wire/quantity.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { knownBytesOf } from "../../objects/digest.ts";
import { type Amounts, noQuantity, type ObjectUse, type ScopeTraits } from "../../objects/quota-use.ts";
import type { Store, StoreEvent } from "../../store/types.ts";
import { countNames, isInScope, isNarrowed, noUse, sharedKeys, useOf } from "../admission/quota-usage.ts";
import { type ServedResource, storageKey, viewed } from "../catalogue/served-resource.ts";

export interface QuotaSumsOptions {
  readonly store: Store;
  /** Nothing is counted once it has ended. */
  readonly process: Process;
  /** Whether a namespace has quotas: without them its sums are forgotten. */
  readonly hasQuotas: (namespace: string) => boolean;
  /** Every stored object of a namespace, as clients see it. */
  readonly objects: (resource: ServedResource, namespace: string) => readonly JsonObject[];
  /** How many there are. */
  readonly count: (resource: ServedResource, namespace: string) => number;
}

export class QuotaSums {
  private readonly options: QuotaSumsOptions;
  /** By namespace, and by where the objects lie that they are of. */
  private readonly byNamespace = new Map<string, Map<string, Sum>>();
  private isListening = false;

  constructor(options: QuotaSumsOptions) {
    this.options = options;
  }

  /** What the objects of one resource use of what `hard` names, as far as `quota` is about them. */
  of(resource: ServedResource, namespace: string, quota: JsonObject, hard: Amounts): Amounts {
    const sum = this.sumOf(resource, namespace);
    while (!sum.goOn());
    return sum.of(quota, hard);
  }

  /** Counts some of the objects that are not counted yet, a turn's worth. Returns whether all are. */
  goOn(resource: ServedResource, namespace: string): boolean {
    return this.sumOf(resource, namespace).goOn();
  }

  private sumOf(resource: ServedResource, namespace: string): Sum {
    this.listen();
    let sums = this.byNamespace.get(namespace);
    if (sums === undefined) this.byNamespace.set(namespace, (sums = new Map()));
    const start = storageKey(resource, namespace, "");
    let sum = sums.get(start);
    // A definition that changes makes another resource of what lies there.
    if (sum?.isFor(resource) !== true) {
      const { objects, count, store } = this.options;
      sum = new Sum(resource, hasNoAmounts(resource) ? noObjects : objects(resource, namespace), store.revision);
      if (hasNoAmounts(resource)) sum.count(noUse, count(resource, namespace));
      sums.set(start, sum);
    }
    return sum;
  }

  /** From the first question on: most servers have no quotas. */
  private listen(): void {
    if (this.isListening) return;
    this.isListening = true;
    const { store, process } = this.options;
    const unsubscribe = store.subscribe((event) => {
      if (process.alive) this.hear(event);
      else unsubscribe();
    });
  }

  private hear({ key, revision, value, previous }: StoreEvent): void {
    const end = key.lastIndexOf("/");
    const namespace = key.slice(key.lastIndexOf("/", end - 1) + 1, end);
    const sums = this.byNamespace.get(namespace);
    if (sums === undefined) return;
    if (!this.options.hasQuotas(namespace)) this.byNamespace.delete(namespace);
    else sums.get(key.slice(0, end + 1))?.hear(revision, value as Stored, previous as Stored);
  }
}

type Stored = JsonObject | undefined;

/** As fine as quantities are. */
const scale = -9;
const forms: readonly QuantityForm[] = ["decimalSI", "binarySI", "decimalExponent"];

interface Total {
  digits: bigint;
  /** How many amounts above zero are written in each form: the most frequent is that of the sum. */
  readonly inForm: [number, number, number];
}

/** Objects that no scope tells apart. */
interface Group {
  readonly traits: ScopeTraits | undefined;
  objectCount: number;
  readonly totals: Map<string, Total>;
}

/** Objects that are counted in one turn; a large one is as many as it has so many bytes. */
export const countedPerTurn = 5_000;
const bytesPerCounted = 500;

class Sum {
  private readonly resource: ServedResource;
  /** What was written by then is what it begins with. */
  private readonly sinceRevision: number;
  private readonly groups = new Map<string, Group>();
  /** Of all groups together, those that were asked for since something was counted. */
  private readonly amounts = new Map<string, Quantity>();
  private readonly countNames: readonly string[];
  private uncounted: readonly JsonObject[];
  private next = 0;

  constructor(resource: ServedResource, objects: readonly JsonObject[], sinceRevision: number) {
    this.resource = resource;
    this.countNames = countNames(resource);
    this.uncounted = objects;
    this.sinceRevision = sinceRevision;
  }

  private get isCounted(): boolean {
    return this.next === this.uncounted.length;
  }

  /** What has no amounts is counted alike by all that show it. */
  isFor(resource: ServedResource): boolean {
    return resource === this.resource || (hasNoAmounts(resource) && hasNoAmounts(this.resource));
  }

  goOn(): boolean {
    if (this.uncounted.length === 0) return true;
    for (let left = countedPerTurn; left > 0 && this.next < this.uncounted.length; this.next++) {
      const object = this.uncounted[this.next] as JsonObject;
      this.count(this.useOf(object), 1);
      left -= 1 + (knownBytesOf(object) ?? 0) / bytesPerCounted;
    }
    if (!this.isCounted) return false;
    this.uncounted = noObjects;
    this.next = 0;
    return true;
  }

  /** What was written since: whether or not all that was there before is counted yet. */
  hear(revision: number, now: Stored, before: Stored): void {
    if (revision <= this.sinceRevision) return; // counted by somebody who heard of it earlier
    const [less, more] = [this.useOfStored(before), this.useOfStored(now)];
    if (less !== undefined && less.amounts === more?.amounts && less.traits === more.traits) return;
    this.count(less, -1);
    this.count(more, 1);
  }

  /** What is only counted need not be read. */
  private useOfStored(stored: Stored): ObjectUse | undefined {
    if (stored === undefined || hasNoAmounts(this.resource)) return stored && noUse;
    return this.useOf(viewed(this.resource, stored));
  }

  /** Undefined: it uses nothing any more. */
  private useOf(object: JsonObject): ObjectUse | undefined {
    return this.resource.strategy.quota?.hasEnded?.(object) === true ? undefined : useOf(this.resource, object);
  }

  /** So many more of one use. */
  count(use: ObjectUse | undefined, sign: number): void {
    if (use === undefined) return;
    this.amounts.clear();
    const id = groupId(use.traits);
    let group = this.groups.get(id);
    if (group === undefined) {
      this.groups.set(id, (group = { traits: use.traits, objectCount: 0, totals: new Map() }));
    }
    group.objectCount += sign;
    for (const [key, amount] of use.amounts) if (amount.digits !== 0n) add(group.totals, key, amount, sign);
    if (group.objectCount === 0 && this.isCounted) this.groups.delete(id);
  }

  of(quota: JsonObject, hard: Amounts): Amounts {
    return isNarrowed(quota) ? this.narrowed(quota, hard) : this.whole(hard);
  }

  /** Of all objects: the same for every quota without scopes. */
  private whole(hard: Amounts): Amounts {
    const amounts = new Map<string, Quantity>();
    let objectCount = 0;
    for (const { objectCount: count, totals } of this.groups.values()) {
      objectCount += count;
      for (const key of sharedKeys(totals, hard)) if (!amounts.has(key)) amounts.set(key, this.amountOf(key));
    }
    this.addCount(amounts, hard, objectCount);
    return amounts;
  }

  private amountOf(key: string): Quantity {
    let amount = this.amounts.get(key);
    if (amount === undefined) {
      let sum = noTotal;
      for (const { totals } of this.groups.values()) sum = sumOf(sum, totals.get(key) ?? noTotal);
      this.amounts.set(key, (amount = quantityOf(sum)));
    }
    return amount;
  }

  private narrowed(quota: JsonObject, hard: Amounts): Amounts {
    const totals = new Map<string, Total>();
    let objectCount = 0;
    for (const group of this.groups.values()) {
      if (!isInScope(this.resource, group.traits, quota)) continue;
      objectCount += group.objectCount;
      for (const key of sharedKeys(group.totals, hard)) {
        const total = group.totals.get(key) as Total;
        const sum = totals.get(key);
        totals.set(key, sum === undefined ? total : sumOf(sum, total));
      }
    }
    const amounts = new Map([...totals].map(([key, total]) => [key, quantityOf(total)]));
    this.addCount(amounts, hard, objectCount);
    return amounts;
  }

  private addCount(amounts: Map<string, Quantity>, hard: Amounts, objectCount: number): void {
    const counted = { ...noQuantity, digits: BigInt(objectCount), text: undefined };
    for (const name of this.countNames) if (hard.has(name)) amounts.set(name, counted);
  }
}

const noObjects: readonly JsonObject[] = [];

const hasNoAmounts = ({ strategy }: ServedResource): boolean => strategy.quota === undefined;

function groupId(traits: ScopeTraits | undefined): string {
  if (traits === undefined) return "";
  const { ends, bestEffort, foreignAffinity, priorityClass } = traits;
  return `${Number(ends)}${Number(bestEffort)}${Number(foreignAffinity)} ${priorityClass}`;
}

function add(totals: Map<string, Total>, key: string, amount: Quantity, sign: number): void {
  let total = totals.get(key);
  if (total === undefined) totals.set(key, (total = { digits: 0n, inForm: [0, 0, 0] }));
  total.digits += BigInt(sign) * amount.digits * 10n ** BigInt(amount.scale - scale);
  const form = forms.indexOf(amount.form) as 0 | 1 | 2;
  total.inForm[form] += sign;
  if (total.digits === 0n && total.inForm.every((count) => count === 0)) totals.delete(key);
}

const noTotal: Total = { digits: 0n, inForm: [0, 0, 0] };

const sumOf = (left: Total, right: Total): Total => ({
  digits: left.digits + right.digits,
  inForm: [left.inForm[0] + right.inForm[0], left.inForm[1] + right.inForm[1], left.inForm[2] + right.inForm[2]],
});

function quantityOf({ digits, inForm }: Total): Quantity {
  if (digits === 0n) return noQuantity;
  const [decimal, binary, exponents] = inForm;
  const form = forms[inForm.indexOf(Math.max(decimal, binary, exponents))] as QuantityForm;
  return { digits, scale, form, text: undefined };
}
