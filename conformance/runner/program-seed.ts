/**
 * The seed of one check's programs, 32 bits: of the run's seed and the check's name alone, so that which other checks
 * run, in which order or on which thread changes nothing. FNV-1a over both, then mixed, for names that differ little.
 */
export function programSeed(seed: number, check: string): number {
  let hash = basis; // the seed is in the text: mixed in here as well, it would cancel its own last digit
  for (const character of `${seed}/${check}`) {
    hash = Math.imul(hash ^ (character.codePointAt(0) as number), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

const basis = 0x811c9dc4; // any number will do
