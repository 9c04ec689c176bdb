/** Planted bugs that show now and then: in one request of so many, each drawn for itself. */
import type { Prng } from "../kernel/types.ts";

/** The bugs that are on for one request. */
export type Drawn = ReadonlySet<string>;

/**
 * Stands in for the switches of bugs. While a request is carried out they are as they were drawn when it came, from its
 * first stage to its answer. Read outside of any request (an event on its way to a watch, an agent at its work), each
 * is drawn anew.
 */
export class RareBugs<Name extends string> {
  readonly switches: Readonly<Record<Name, boolean>>;
  private readonly names: readonly Name[];
  private readonly rarity: number;
  private readonly prng: Prng;
  private current: Drawn | undefined;

  /** `rarity` ≥ 1: a bug shows in one request of that many. */
  constructor(planted: Readonly<Record<Name, boolean>>, rarity: number, prng: Prng) {
    this.names = (Object.keys(planted) as Name[]).filter((name) => planted[name]);
    this.rarity = rarity;
    this.prng = prng;
    const switches = { ...planted };
    for (const name of this.names) {
      Object.defineProperty(switches, name, { enumerable: true, get: () => this.current?.has(name) ?? this.shows() });
    }
    this.switches = switches;
  }

  draw(): Drawn {
    return new Set(this.names.filter(() => this.shows()));
  }

  /** `drawn` holds until `work` returns. */
  during<Result>(drawn: Drawn, work: () => Result): Result {
    const before = this.current;
    this.current = drawn;
    try {
      return work();
    } finally {
      this.current = before;
    }
  }

  private shows(): boolean {
    return this.prng.chance(1, this.rarity);
  }
}
