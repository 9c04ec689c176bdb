import alea from "seedrandom/lib/alea.js";
import { InvariantError, invariant } from "./invariant.ts";
import type { Prng } from "./types.ts";

const TWO_TO_32 = 0x1_0000_0000;

/**
 * The stream called by `parts` (seed, process, purpose, …). A slash inside a part is escaped, so no two
 * lists of parts share a stream.
 */
export function prngStream(...parts: readonly string[]): Prng {
  return new Stream(parts.map(escapePart).join("/"));
}

/** Alea gives multiples of 2^-32, so a draw is an exact 32-bit integer; everything here is made of those. */
class Stream implements Prng {
  private readonly name: string;
  private readonly draw: () => number;

  constructor(name: string) {
    this.name = name;
    this.draw = alea(name);
  }

  uint32(): number {
    return (this.draw() * TWO_TO_32) >>> 0;
  }

  intInclusive(min: number, max: number): number {
    const span = max - min + 1;
    if (!(Number.isSafeInteger(min) && Number.isSafeInteger(max) && span >= 1 && span <= TWO_TO_32)) {
      throw new InvariantError("a range of draws is [min, max], safe integers, with max - min below 2^32", {
        min,
        max,
      });
    }
    // As many high bits as the range needs, drawn again until they fall inside it: no value is favoured.
    const unusedBits = Math.clz32(span - 1);
    let offset = this.uint32();
    if (unusedBits < 32) {
      offset >>>= unusedBits;
      while (offset >= span) offset = this.uint32() >>> unusedBits;
      return min + offset;
    }
    return min;
  }

  /** Draws even when the answer is certain, so that turning a rate to zero does not shift later draws. */
  chance(numerator: number, denominator: number): boolean {
    invariant(numerator >= 0 && numerator <= denominator, "a chance is a ratio between 0 and 1", {
      numerator,
      denominator,
    });
    invariant(Number.isSafeInteger(numerator), "a chance is a ratio of integers", { numerator, denominator });
    return this.intInclusive(1, denominator) <= numerator;
  }

  stream(name: string): Prng {
    return new Stream(`${this.name}/${escapePart(name)}`);
  }
}

function escapePart(part: string): string {
  return part.replaceAll("%", "%25").replaceAll("/", "%2F");
}
