/** Finding by name in lists that are as long as users make them, once for each of their items. */

export interface Named {
  readonly name: string;
}

/** So few are gone through faster than they are found in an index. */
const fewMax = 16;
const indices = new WeakMap<readonly Named[], ReadonlyMap<string, readonly Named[]>>();
const none: readonly never[] = [];

/** The first of a name. `list` does not change. */
export function named<Item extends Named>(list: readonly Item[] | undefined, name: string): Item | undefined {
  if (list === undefined) return undefined;
  return list.length <= fewMax ? list.find((item) => item.name === name) : allNamed(list, name)[0];
}

/** All of a name, in their order. `list` does not change. */
export function allNamed<Item extends Named>(list: readonly Item[], name: string): readonly Item[] {
  if (list.length <= fewMax) return list.filter((item) => item.name === name);
  return (indexOf(list).get(name) as readonly Item[] | undefined) ?? none;
}

function indexOf(list: readonly Named[]): ReadonlyMap<string, readonly Named[]> {
  let index = indices.get(list);
  if (index === undefined) {
    index = Map.groupBy(list, ({ name }) => name);
    indices.set(list, index);
  }
  return index;
}
