/** What lists have cost, for each resource: from where they came, how much was read and how much was given. */
export class ListCounts {
  private readonly byPrefix = new Map<string, Record<ListOrigin, ListCount>>();

  /** `prefix` of the resource's keys. */
  listed(prefix: string, origin: ListOrigin, read: number, given: number): void {
    let counts = this.byPrefix.get(prefix);
    if (counts === undefined) this.byPrefix.set(prefix, (counts = { cache: nothingYet(), store: nothingYet() }));
    const count = counts[origin];
    count.lists++;
    count.read += read;
    count.given += given;
  }

  all(): ReadonlyMap<string, Readonly<Record<ListOrigin, Readonly<ListCount>>>> {
    return this.byPrefix;
  }
}

type ListOrigin = "cache" | "store";

interface ListCount {
  lists: number;
  /** Objects looked at. */
  read: number;
  /** Objects in the answers. */
  given: number;
}

const nothingYet = (): ListCount => ({ lists: 0, read: 0, given: 0 });
