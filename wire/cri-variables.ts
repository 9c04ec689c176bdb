/** Variables of containers, most of which many containers have in common. */
import type { KeyValue } from "./cri-messages.ts";

/** As a list: first a container's own, which hide shared ones of the same name. The shared list is held, not copied. */
export class LayeredVariables implements Iterable<KeyValue> {
  readonly own: readonly KeyValue[];
  readonly shared: readonly KeyValue[];

  constructor(own: readonly KeyValue[], shared: readonly KeyValue[]) {
    this.own = own;
    this.shared = shared;
  }

  *[Symbol.iterator](): Generator<KeyValue, undefined> {
    yield* this.own;
    const hidden = new Set(this.own.map(({ key }) => key));
    for (const variable of this.shared) if (!hidden.has(variable.key)) yield variable;
    return undefined;
  }

  /** The list that another implementation would be sent. */
  toJSON(): readonly KeyValue[] {
    return [...this];
  }
}
