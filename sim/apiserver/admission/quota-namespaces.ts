/**
 * Which namespaces have quotas: asked at every creation, and most have none. Kept by listening to the store, one set
 * for each, shared by all servers on it.
 */
import { invariant } from "../../kernel/invariant.ts";
import { perStore } from "../../store/per-store.ts";
import { prefixEnd } from "../../store/sorted-index.ts";
import type { Store, StoreEvent } from "../../store/types.ts";

const ofStore = perStore<QuotaNamespaces>();

/** `prefix` of the quotas' keys; the namespace follows it. */
export const quotaNamespacesOf = (store: Store, prefix: string): QuotaNamespaces =>
  ofStore(store, () => new QuotaNamespaces(store, prefix));

export class QuotaNamespaces {
  private readonly prefix: string;
  private readonly counts = new Map<string, number>();

  constructor(store: Store, prefix: string) {
    this.prefix = prefix;
    const found = store.range(prefix, prefixEnd(prefix), { count: false });
    invariant(typeof found !== "string", "the present state cannot be compacted or in the future");
    for (const { key } of found.items) this.add(key, 1);
    store.subscribe((event) => this.hear(event));
  }

  /** How many a namespace has. */
  countOf(namespace: string): number {
    return this.counts.get(namespace) ?? 0;
  }

  has(namespace: string): boolean {
    return this.counts.size > 0 && this.counts.has(namespace);
  }

  private hear({ key, value, previous }: StoreEvent): void {
    if (!key.startsWith(this.prefix)) return;
    if (previous === undefined) this.add(key, 1);
    else if (value === undefined) this.add(key, -1);
  }

  private add(key: string, more: number): void {
    const namespace = key.slice(this.prefix.length, key.indexOf("/", this.prefix.length));
    const count = (this.counts.get(namespace) ?? 0) + more;
    if (count === 0) this.counts.delete(namespace);
    else this.counts.set(namespace, count);
  }
}
