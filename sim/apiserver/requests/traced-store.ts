/** A store whose operations are spans of the request that they are for. Only servers that trace have one. */
import type { Span } from "../../contract/tracing.ts";
import type { Store, StoredValue } from "../../store/types.ts";
import type { Tracer } from "./tracer.ts";

export function tracedStore(store: Store, tracer: Tracer): Store {
  const spanned = <Result>(name: string, key: string, work: () => Result): Result => {
    const span: Span | undefined = tracer.current?.child(`storage ${name}`, "client", { "db.key": key });
    const result = work();
    span?.end();
    return result;
  };
  return {
    get revision() {
      return store.revision;
    },
    get compactedRevision() {
      return store.compactedRevision;
    },
    get: (key, revision) => spanned("get", key, () => store.get(key, revision)),
    range: (start, end, options) => spanned("list", start, () => store.range(start, end, options)),
    count: (start, end, revision) => spanned("count", start, () => store.count(start, end, revision)),
    put: (key, expected, make: (revision: number) => StoredValue) =>
      spanned("put", key, () => store.put(key, expected, make)),
    delete: (key, expected) => spanned("delete", key, () => store.delete(key, expected)),
    since: (after, prefix) => store.since(after, prefix),
    subscribe: (listener) => store.subscribe(listener),
    compact: (revision) => store.compact(revision),
  };
}
