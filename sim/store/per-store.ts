/** What is known of each store by listening to it: made when it is first asked for, and shared by all servers on that store. */
import type { Store } from "./types.ts";

export function perStore<Made>(): (store: Store, make: () => Made) => Made {
  const known = new WeakMap<Store, { readonly made: Made }>();
  return (store, make) => {
    let found = known.get(store);
    if (found === undefined) known.set(store, (found = { made: make() }));
    return found.made;
  };
}
