/** From the text of an experiment's file to the experiment, and to each variant of it that is to be played. */
import { parseYaml } from "../../wire/yaml-text.ts";
import { judgedAs, parsedAs, ScenarioError, type Spot, type SpotOf, spotsIn } from "../load.ts";
import { playedProblems, valueAt } from "./experiment-rules.ts";
import { type Experiment, experimentSchema, playedSchema } from "./schema.ts";

/** Where a change comes from: its path in the file, or what was typed. */
export type Origin = readonly (string | number)[] | string;

/** What differs from the file, by dotted path: `cluster.nodes`, `workload.0.within`. In order: the last one counts. */
export type Changes = readonly (readonly [path: string, value: unknown, origin?: Origin])[];

/** Of text that is judged once more for each flag of each arm that is wrong: a second of it. */
const triedLengthMax = 10_000_000;

/** Whether a run is played by it, or what is played is yet to come of it. */
export type Use = "played" | "planned";

const schemaOf: Readonly<Record<Use, typeof experimentSchema>> = { played: playedSchema, planned: experimentSchema };

/** Imported clusters are long. */
const textLengthMax = 200_000_000;

export class ExperimentFile {
  readonly experiment: Experiment;
  private readonly name: string;
  private readonly text: string;
  private readonly raw: unknown;
  private inFile: SpotOf | undefined;
  /** How much text has been judged to find flags that are to blame. */
  private triedLength = 0;
  /** The flag that was to blame for a mistake, by its path. */
  private readonly blamed = new Map<string, string>();

  /** `name` is how errors call the file. Throws `ScenarioError`. */
  constructor(text: string, name: string) {
    this.name = name;
    this.text = text;
    try {
      this.experiment = parsedAs(experimentSchema, text, name, textLengthMax);
      this.raw = parseYaml(text);
    } catch (error) {
      if (!(error instanceof ScenarioError)) throw error;
      // Those of its arms and forms as well, which would come to light once the others are mended.
      throw new ScenarioError([...error.mistakes, ...ownMistakes(text, name)], error.moreCount);
    }
  }

  /** The experiment with these changes. Throws `ScenarioError` for what is then wrong; `what` says whose changes they are, if anybody's. */
  with(changes: Changes, what: string, use: Use = "played"): Experiment {
    const isAsRead = changes.length === 0 && (use === "planned" || playedProblems(this.experiment).length === 0);
    if (isAsRead) return this.experiment;
    const changed = structuredClone(this.raw);
    for (const [index, [path, value]] of changes.entries()) {
      const problem = put(changed, path, value);
      if (problem === undefined) continue;
      const { text } = this.spot(keysOf(path), true, changes.slice(0, index + 1), what);
      throw new ScenarioError(`${text}: ${path}: ${problem}`);
    }
    const flagBehind = this.flagFinder(changes, use);
    return judgedAs(schemaOf[use], changed, (path, isKey) => {
      const flag = flagBehind(isKey ? path.slice(0, -1) : path);
      return flag === undefined ? this.spot(path, isKey, changes, what) : { text: flag, line: 0, column: 0 };
    });
  }

  /** Where in the file, or by which flag, the value at a dotted path got there: `file:line:column: what`. */
  placeOf(path: string, changes: Changes, what: string): string {
    return this.spot(keysOf(path), false, changes, what).text;
  }

  private spot(path: readonly PropertyKey[], isKey: boolean, changes: Changes, what: string): Spot {
    const at = originOf(path, changes);
    if (!Array.isArray(at)) return { text: `${this.name}: ${(at as string) ?? what}`, line: 0, column: 0 };
    this.inFile ??= spotsIn(this.text, this.name);
    const { text, ...spot } = this.inFile(at as readonly PropertyKey[], isKey);
    return { text: what === "" ? text : `${text}: ${what}`, ...spot };
  }

  /**
   * For a mistake at a path that stands in the file, the last flag without which it is none, if there is such a one: who has typed
   * it is to mend that, and not the file.
   */
  private flagFinder(changes: Changes, use: Use): (path: readonly PropertyKey[]) => string | undefined {
    const flags = once(() =>
      changes
        .flatMap(([, , origin], index) => (typeof origin === "string" ? [{ flag: origin, index }] : []))
        .toReversed()
        .map(({ flag, index }) => ({ flag, paths: once(() => this.triedWithout(index, changes, use)) })),
    );
    return (path) => {
      if (!Array.isArray(originOf(path, changes))) return undefined;
      const key = pathKey(path);
      const found = flags().find(({ paths }) => paths()?.has(key) === false)?.flag;
      if (found !== undefined) this.blamed.set(key, found);
      // Beyond what is tried, what several arms have in common is blamed as it was in the first one.
      const before = this.canTry() ? undefined : this.blamed.get(key);
      const flag = found ?? flags().find((each) => each.flag === before)?.flag;
      return flag === undefined ? undefined : `${this.name}: ${flag}`;
    };
  }

  private canTry(): boolean {
    return this.triedLength + this.text.length <= triedLengthMax;
  }

  private triedWithout(index: number, changes: Changes, use: Use): ReadonlySet<string> | undefined {
    if (!this.canTry()) return undefined;
    this.triedLength += this.text.length;
    return this.wrongPaths(changes.toSpliced(index, 1), use);
  }

  /** Where the experiment is wrong with these changes, of which those that stand in the file are as they are there then; undefined when they cannot be made. */
  private wrongPaths(changes: Changes, use: Use): ReadonlySet<string> | undefined {
    const changed = structuredClone(this.raw);
    for (const change of changes) {
      const now = asItStands(change, changed);
      if (now !== undefined && put(changed, change[0], now.value) !== undefined) return undefined;
    }
    return new Set(schemaOf[use].safeParse(changed).error?.issues.map((issue) => pathKey(issue.path)));
  }
}

/** The value of a change, which a flag may have changed where it stands; undefined where it stands no longer. */
function asItStands([path, value, origin]: Changes[number], root: unknown): { readonly value: unknown } | undefined {
  if (!Array.isArray(origin)) return { value };
  const place = origin as readonly (string | number)[];
  if (place[0] === "sweep" && valueAt(root, [...place.slice(0, 2), "set"]) !== path) return undefined;
  const now = valueAt(root, place);
  // What is in two places would be changed in both.
  return now === undefined ? undefined : { value: structuredClone(now) };
}

/** What the arms and forms of a file make wrong by themselves, whatever else is wrong in it. */
function ownMistakes(text: string, name: string): readonly string[] {
  const raw = text.length > ownTextLengthMax ? undefined : readYaml(text);
  if (raw === undefined) return [];
  const inFile = spotsIn(text, name);
  return ownChanges(raw).flatMap(([what, changes]) => {
    const changed = structuredClone(raw);
    for (const [path, value, origin] of changes) {
      const problem = put(changed, path, value);
      if (problem !== undefined)
        return [`${inFile(origin as readonly PropertyKey[], true).text}: ${what}: ${path}: ${problem}`];
    }
    try {
      judgedAs(experimentSchema, changed, (path, isKey) => {
        const at = originOf(path, changes) as readonly PropertyKey[];
        if (at === path) return { text: ofTheFile, line: 0, column: 0 };
        const { text: where, ...spot } = inFile(at, isKey);
        return { text: `${where}: ${what}`, ...spot };
      });
      return [];
    } catch (error) {
      if (!(error instanceof ScenarioError)) throw error;
      return error.mistakes.filter((line) => !line.startsWith(ofTheFile));
    }
  });
}

/** Nobody wrote longer files, which take long to be judged once for each arm. */
const ownTextLengthMax = 100_000;

/** More are a mistake themselves. */
const armsMax = 50;

/** In the place of a mistake that the file has without these changes, where it has been told. */
const ofTheFile = "\0";

function readYaml(text: string): unknown {
  try {
    return parseYaml(text);
  } catch {
    return undefined;
  }
}

/** Of each arm and form, as far as they are what they should be: who changes what. */
function ownChanges(raw: unknown): readonly (readonly [what: string, changes: Changes])[] {
  if (!isRecord(raw)) return [];
  const arms: readonly unknown[] = Array.isArray(raw["arms"]) ? raw["arms"] : [];
  return [
    ...(["quick", "tiny"] as const).map((form) => [`--${form}`, changesAt([form], raw[form])] as const),
    ...arms.slice(0, armsMax).map((arm, at) => {
      const { name, set } = isRecord(arm) ? arm : {};
      return [`arm ${typeof name === "string" ? name : at}`, changesAt(["arms", at, "set"], set)] as const;
    }),
  ].filter(([, changes]) => changes.length > 0);
}

/** From settings by dotted path that stand at a place of the file. None of what is no such thing. */
export const changesAt = (place: readonly (string | number)[], settings: unknown): Changes =>
  isRecord(settings) ? Object.entries(settings).map(([path, value]) => [path, value, [...place, path]]) : [];

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const pathKey = (path: readonly PropertyKey[]): string => path.map(String).join(".");

function once<Result>(work: () => Result): () => Result {
  let done: { readonly result: Result } | undefined;
  return () => (done ??= { result: work() }).result;
}

/** The last change of a value, of what it is part of, or of a part of it, says where it stands: so from change to change. Its path in the file, or what was typed; undefined where nobody says. */
function originOf(path: readonly PropertyKey[], changes: Changes): readonly PropertyKey[] | string | undefined {
  let at = path;
  for (const [changedPath, , origin] of changes.toReversed()) {
    const rest = below(keysOf(changedPath), at);
    if (rest === undefined) continue;
    if (!Array.isArray(origin)) return origin as string | undefined;
    at = [...(origin as readonly PropertyKey[]), ...rest];
  }
  return at;
}

/** What leads to a value. What an arm sets has dotted paths, each of which is one key: `arms.0.set.cluster.nodes` has four. */
function keysOf(path: string): readonly string[] {
  const keys = path.split(".");
  const isOfArm = keys[0] === "arms" && keys[2] === "set" && keys.length > 3;
  return isOfArm ? [...keys.slice(0, 3), keys.slice(3).join(".")] : keys;
}

/** What of `path` lies below `above`; nothing of it where `path` itself is above. Undefined: they are apart. */
function below(above: readonly string[], path: readonly PropertyKey[]): readonly PropertyKey[] | undefined {
  const common = Math.min(above.length, path.length);
  for (let at = 0; at < common; at++) if (above[at] !== String(path[at])) return undefined;
  return path.slice(above.length);
}

/** Fields that are not there are made: what they lead to is then judged by the schema. What is said is why it cannot be put there. */
function put(root: unknown, path: string, value: unknown): string | undefined {
  const keys = keysOf(path);
  let at = root as Record<string, unknown>;
  for (const [index, key] of keys.entries()) {
    const isLast = index === keys.length - 1;
    const problem = Array.isArray(at) ? rowProblem(keys.slice(0, index), key, at.length, isLast) : undefined;
    if (problem !== undefined) return problem;
    if (isLast) break;
    const next = Object.hasOwn(at, key) ? at[key] : undefined;
    at = (typeof next === "object" && next !== null ? next : own(at, key, {})) as Record<string, unknown>;
  }
  own(at, keys.at(-1) as string, value);
  return undefined;
}

/** A row is changed, or a whole one added behind the last one. */
function rowProblem(list: readonly string[], key: string, length: number, isWhole: boolean): string | undefined {
  const name = list.join(".");
  if (/^(0|[1-9]\d{0,8})$/.test(key) && Number(key) < length + (isWhole ? 1 : 0)) return undefined;
  const rows =
    length === 0 ? "is empty" : length === 1 ? `has one, ${name}.0` : `has ${name}.0 to ${name}.${length - 1}`;
  return `there is no such row: ${name} ${rows}`;
}

/** As an own field, whatever it is called. */
function own(object: object, key: string, value: unknown): unknown {
  Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  return value;
}
