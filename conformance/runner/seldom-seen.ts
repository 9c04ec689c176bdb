/**
 * Which of the programs that were drawn are run: of each few the one that brings most of what was seldom seen so far.
 * A draw alone comes back to the common again and again, while a bug waits where an operation, a parameter and a type
 * meet that seldom do.
 */

/** So many are drawn for each that is run. */
export const drawnForEach = 4;
/** Of so many programs, which is all that is worth remembering: those after them are run as they are drawn. */
const chosenMax = 250;

/** How many have to be drawn so that one can be chosen each time. */
export const drawnToChoose = (runs: number): number => Math.min(runs, chosenMax) * drawnForEach;

/** How many have to be drawn so that `runs` of them are run. */
export const drawnInAll = (runs: number): number => drawnToChoose(runs) + Math.max(0, runs - chosenMax);

/**
 * The places of the programs to run, in order, one of each `drawnForEach` that follow one another in `drawn`.
 * `before` has been run already. Hangs on nothing but its arguments, and more that are drawn change nothing before them.
 */
export function seldomSeen(drawn: readonly unknown[], before: readonly unknown[]): readonly number[] {
  const seen = new Map<string, number>();
  const note = (features: ReadonlySet<string>): void => {
    for (const feature of features) seen.set(feature, (seen.get(feature) ?? 0) + 1);
  };
  for (const program of before) note(featuresOf(program));
  const chosen: number[] = [];
  for (let start = 0; start < drawn.length; start += drawnForEach) {
    const candidates = drawn.slice(start, start + drawnForEach).map(featuresOf);
    let best = 0;
    const rarities = candidates.map((features) => rarityOf(features, seen));
    for (const [place, rarity] of rarities.entries()) if (rarity > (rarities[best] as number)) best = place;
    note(candidates[best] as ReadonlySet<string>);
    chosen.push(start + best);
  }
  return chosen;
}

/** A feature counts the more the seldomer it was seen; a program that is twice as long is not twice as rare for that. */
function rarityOf(features: ReadonlySet<string>, seen: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (const feature of features) sum += 1 / (1 + (seen.get(feature) ?? 0)) ** 2;
  return sum / Math.sqrt(features.size + 1);
}

const depthMax = 8;
const featuresMax = 3000;
const ownMax = 16;

/**
 * What a program has in it: each of its plain values by its place, each two of one step, each value of a step with what
 * stands above the step, and which step follows which.
 */
export function featuresOf(program: unknown): ReadonlySet<string> {
  const features = new Set<string>();
  walk(program, "", [], features, 0);
  return features;
}

function walk(value: unknown, place: string, above: readonly string[], features: Set<string>, depth: number): void {
  if (depth > depthMax || features.size > featuresMax) return;
  if (Array.isArray(value)) {
    features.add(`${place}#${bucketOf(value.length)}`);
    let last = "";
    for (const element of value.slice(0, 64)) {
      walk(element, `${place}[]`, above, features, depth + 1);
      const kind = kindOf(element);
      features.add(`${place}:${last}>${kind}`);
      last = kind;
    }
    return;
  }
  const own: string[] = [];
  const lists: [string, unknown][] = [];
  gather(value, place, own, lists, depth);
  for (const [index, leaf] of own.entries()) {
    features.add(leaf);
    for (const other of own.slice(0, index)) features.add(`${other}&${leaf}`);
    for (const other of above) features.add(`${other}&${leaf}`);
  }
  for (const [at, list] of lists) walk(list, at, own, features, depth + 1);
}

/** The plain values of a record and of the records in it; lists are for later. */
function gather(value: unknown, place: string, own: string[], lists: [string, unknown][], depth: number): void {
  if (depth > depthMax) return;
  if (Array.isArray(value)) lists.push([place, value]);
  else if (value !== null && typeof value === "object") {
    for (const [key, member] of Object.entries(value)) {
      if (own.length >= ownMax) return;
      gather(member, `${place}.${key}`, own, lists, depth + 1);
    }
  } else own.push(`${place}=${classOf(value)}`);
}

/** What a step is, in a word: its first value that is one. */
function kindOf(step: unknown): string {
  if (typeof step !== "object" || step === null) return classOf(step);
  for (const value of Object.values(step)) if (typeof value === "string") return classOf(value);
  return "";
}

/** Words of a vocabulary are themselves, other texts what they are made of, numbers their size. */
function classOf(value: unknown): string {
  if (typeof value === "string") return classOfText(value.slice(0, 64), value.length);
  if (typeof value === "number") return Number.isInteger(value) ? bucketOf(value) : "fraction";
  return typeof value === "function" ? "function" : String(value);
}

function classOfText(text: string, length: number): string {
  if (/^[A-Za-z][a-zA-Z /-]{0,23}$/.test(text)) return text;
  const made = characterClasses.filter(([, pattern]) => pattern.test(text)).map(([name]) => name);
  return `(${made.join("")}${bucketOf(length)})`;
}

const characterClasses: readonly (readonly [string, RegExp])[] = [
  ["a", /[a-z]/],
  ["A", /[A-Z]/],
  ["0", /\d/],
  ["_", /\s/],
  [".", /[.]/],
  ["/", /[/]/],
  ["-", /[-]/],
  ["q", /["'\\]/],
  ["p", /[!#-&(-,:-@[\]^_`{-~]/],
  ["u", /[^\p{ASCII}]/u],
];

function bucketOf(size: number): string {
  if (size < 0) return `-${bucketOf(-size)}`;
  return size < 4 ? String(size) : `2^${Math.floor(Math.log2(size))}`;
}
