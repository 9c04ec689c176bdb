/**
 * What all objects of a namespace use of what its quotas limit: counted once, and then with each object that comes, changes or
 * goes. Kept by listening to the store.
 */
import type { Process } from "../../kernel/types.ts";
import type { Quantity, QuantityForm } from "../../../wire/quantity.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { jsonEqual } from "../../objects/equality.ts";
import { type Amounts, noQuantity } from "../../objects/quota-use.ts";
import type { Store, StoreEvent } from "../../store/types.ts";
import { usageOf } from "../admission/quota-usage.ts";
import { type ServedResource, storageKey, viewed } from "../catalogue/served-resource.ts";

/** The parts of a quota's spec that say what it counts. */
interface Counted {
  readonly quota: JsonObject;
  readonly hard: Amounts;
}

export interface QuotaSumsOptions {
  readonly store: Store;
  /** Nothing is counted once it has ended. */
  readonly process: Process;
  readonly quotas: ServedResource;
  /** Every stored object of a namespace, as clients see it. */
  readonly objects: (resource: ServedResource, namespace: string) => Iterable<JsonObject>;
}

export class QuotaSums {
  private readonly options: QuotaSumsOptions;
  /** By namespace, by where the objects lie that they are of, and by what is counted. */
  private readonly byNamespace = new Map<string, Map<string, Map<string, Sum>>>();
  private isListening = false;

  constructor(options: QuotaSumsOptions) {
    this.options = options;
  }

  /** What the objects of one resource use of what `hard`, a stored quota's, limits. */
  of(resource: ServedResource, namespace: string, quota: JsonObject, hard: Amounts): Amounts {
    this.listen();
    let byRange = this.byNamespace.get(namespace);
    if (byRange === undefined) this.byNamespace.set(namespace, (byRange = new Map()));
    const start = storageKey(resource, namespace, "");
    let sums = byRange.get(start);
    if (sums === undefined) byRange.set(start, (sums = new Map()));
    const id = idOf(quota, hard);
    let sum = sums.get(id);
    // A definition that changes makes another resource of what lies there.
    if (sum === undefined || sum.resource !== resource) {
      sum = new Sum(resource, { quota, hard }, this.options.store.revision);
      for (const object of this.options.objects(resource, namespace)) sum.count(object, 1n);
      sums.set(id, sum);
    }
    return sum.amounts();
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
    const byRange = this.byNamespace.get(namespace);
    if (byRange === undefined) return;
    const isOfQuota = key.startsWith(this.options.quotas.read.prefix) && previous !== undefined;
    // What a quota no longer counts is forgotten, and counted again should another one want it.
    if (isOfQuota && !jsonEqual((value as Stored)?.["spec"], (previous as JsonObject)["spec"]))
      this.byNamespace.delete(namespace);
    else this.count(byRange.get(key.slice(0, end + 1)), revision, value as Stored, previous as Stored);
  }

  private count(sums: ReadonlyMap<string, Sum> | undefined, revision: number, now: Stored, before: Stored): void {
    for (const sum of sums?.values() ?? []) {
      if (revision <= sum.sinceRevision) continue; // counted by somebody who heard of it earlier
      if (before !== undefined) sum.count(viewed(sum.resource, before), -1n);
      if (now !== undefined) sum.count(viewed(sum.resource, now), 1n);
    }
  }
}

type Stored = JsonObject | undefined;

/** By the quota's own parts, which versions of it share. */
const ids = new WeakMap<JsonObject, string>();

function idOf(quota: JsonObject, hard: Amounts): string {
  const spec = (quota["spec"] ?? {}) as JsonObject;
  let id = ids.get(spec);
  if (id === undefined) {
    const { scopes = [], scopeSelector = {} } = spec;
    ids.set(spec, (id = JSON.stringify([scopes, scopeSelector, [...hard.keys()]])));
  }
  return id;
}

/** As fine as quantities are. */
const scale = -9;
const forms: readonly QuantityForm[] = ["decimalSI", "binarySI", "decimalExponent"];

interface Total {
  digits: bigint;
  /** How many amounts above zero are written in each form: the most frequent is that of the sum. */
  readonly inForm: [number, number, number];
}

class Sum {
  readonly resource: ServedResource;
  readonly sinceRevision: number;
  private readonly counted: Counted;
  private readonly totals = new Map<string, Total>();
  private shown: Amounts | undefined;

  /** `sinceRevision`: what was written by then is what it begins with. */
  constructor(resource: ServedResource, counted: Counted, sinceRevision: number) {
    this.resource = resource;
    this.counted = counted;
    this.sinceRevision = sinceRevision;
  }

  count(object: JsonObject, sign: 1n | -1n): void {
    if (this.resource.strategy.quota?.hasEnded?.(object)) return;
    const { quota, hard } = this.counted;
    for (const [key, amount] of usageOf(this.resource, object, quota, hard)) this.add(key, amount, sign);
  }

  amounts(): Amounts {
    this.shown ??= new Map([...this.totals].map(([key, total]) => [key, quantityOf(total)]));
    return this.shown;
  }

  private add(key: string, amount: Quantity, sign: 1n | -1n): void {
    if (amount.digits === 0n) return;
    let total = this.totals.get(key);
    if (total === undefined) this.totals.set(key, (total = { digits: 0n, inForm: [0, 0, 0] }));
    total.digits += sign * amount.digits * 10n ** BigInt(amount.scale - scale);
    const form = forms.indexOf(amount.form) as 0 | 1 | 2;
    total.inForm[form] += Number(sign);
    this.shown = undefined;
  }
}

function quantityOf({ digits, inForm }: Total): Quantity {
  if (digits === 0n) return noQuantity;
  const [decimal, binary, exponents] = inForm;
  const form = forms[inForm.indexOf(Math.max(decimal, binary, exponents))] as QuantityForm;
  return { digits, scale, form, text: undefined };
}
