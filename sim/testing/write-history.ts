import type { JsonObject } from "../contract/http-message.ts";
import type { Store } from "../store/types.ts";
import type { WriteFilter, WriteRecord } from "./cluster.ts";

/** Every write of a store from now on. */
export class WriteHistory {
  readonly #records: WriteRecord[] = [];

  constructor(store: Store, nowMicros: () => number) {
    store.subscribe(({ revision, value, previous }) => {
      const type = value === undefined ? "deleted" : previous === undefined ? "created" : "updated";
      const object = (value ?? previous) as JsonObject;
      const metadata = object["metadata"] as JsonObject;
      this.#records.push({
        atMicros: nowMicros(),
        revision,
        type,
        kind: String(object["kind"]),
        namespace: String(metadata["namespace"] ?? ""),
        name: String(metadata["name"]),
        object,
      });
    });
  }

  matching(filter: WriteFilter): readonly WriteRecord[] {
    const wanted = Object.entries(filter) as [keyof WriteFilter, string][];
    return this.#records.filter((record) => wanted.every(([field, value]) => record[field] === value));
  }
}
