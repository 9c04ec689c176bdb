/**
 * Which addresses and ports services have. Kept by listening to the store: going through all services at each creation would make
 * many of them cost the square of their number.
 */
import type { JsonObject } from "../../contract/http-message.ts";
import { invariant } from "../../kernel/invariant.ts";
import { perStore } from "../../store/per-store.ts";
import { prefixEnd } from "../../store/sorted-index.ts";
import type { Store } from "../../store/types.ts";

const ofStore = perStore<TakenAddresses>();

/**
 * `prefix` of the services' keys. A server asks for it before its caches subscribe to the store: who hears of a service by a watch, and
 * makes another at once, must not be given what that one has.
 */
export const takenAddressesOf = (store: Store, prefix: string): TakenAddresses =>
  ofStore(store, () => new TakenAddresses(store, prefix));

/** What services other than one have. */
export interface Taken {
  readonly hasAddress: (address: string) => boolean;
  readonly hasPort: (port: number) => boolean;
}

export class TakenAddresses {
  private readonly held = new Holdings();

  constructor(store: Store, prefix: string) {
    const found = store.range(prefix, prefixEnd(prefix), { count: false });
    invariant(typeof found !== "string", "the present state cannot be compacted or in the future");
    for (const { value } of found.items) this.held.add(specOf(value), 1);
    store.subscribe(({ key, value, previous }) => {
      if (!key.startsWith(prefix)) return;
      this.held.add(specOf(previous), -1);
      this.held.add(specOf(value), 1);
    });
  }

  /** By others than the service that is stored with this spec. */
  besides(spec: JsonObject): Taken {
    const own = new Holdings();
    own.add(spec, 1);
    const { addresses, ports } = this.held;
    return {
      hasAddress: (address) => (addresses.get(address) ?? 0) > (own.addresses.get(address) ?? 0),
      hasPort: (port) => (ports.get(port) ?? 0) > (own.ports.get(port) ?? 0),
    };
  }
}

/** How many times each is held. */
class Holdings {
  readonly addresses = new Map<string, number>();
  readonly ports = new Map<number, number>();

  add(spec: JsonObject, more: 1 | -1): void {
    for (const address of (spec["clusterIPs"] ?? []) as readonly string[]) count(this.addresses, address, more);
    for (const { nodePort } of (spec["ports"] ?? []) as readonly JsonObject[]) {
      if (nodePort !== undefined) count(this.ports, nodePort as number, more);
    }
    const health = spec["healthCheckNodePort"];
    if (health !== undefined) count(this.ports, health as number, more);
  }
}

const specOf = (service: unknown): JsonObject => ((service as JsonObject | undefined)?.["spec"] ?? {}) as JsonObject;

function count<Key>(counts: Map<Key, number>, key: Key, more: number): void {
  const sum = (counts.get(key) ?? 0) + more;
  if (sum === 0) counts.delete(key);
  else counts.set(key, sum);
}
