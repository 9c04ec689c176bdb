/** From the text of an experiment's file to the experiment, and to each variant of it that is to be played. */
import { parseYaml } from "../../wire/yaml-text.ts";
import { judgedAs, parsedAs, ScenarioError, type Spot, type SpotOf, spotsIn } from "../load.ts";
import { type Experiment, experimentSchema } from "./schema.ts";

/** Where a change comes from: its path in the file, or what was typed. */
export type Origin = readonly (string | number)[] | string;

/** What differs from the file, by dotted path: `cluster.nodes`, `workload.0.within`. In order: the last one counts. */
export type Changes = readonly (readonly [path: string, value: unknown, origin?: Origin])[];

/** Imported clusters are long. */
const textLengthMax = 200_000_000;

export class ExperimentFile {
  readonly experiment: Experiment;
  private readonly name: string;
  private readonly text: string;
  private readonly raw: unknown;
  private inFile: SpotOf | undefined;

  /** `name` is how errors call the file. Throws `ScenarioError`. */
  constructor(text: string, name: string) {
    this.name = name;
    this.text = text;
    this.experiment = parsedAs(experimentSchema, text, name, textLengthMax);
    this.raw = parseYaml(text);
  }

  /** The experiment with these changes. Throws `ScenarioError` for what is then wrong; `what` says whose changes they are. */
  with(changes: Changes, what: string): Experiment {
    if (changes.length === 0) return this.experiment;
    const changed = structuredClone(this.raw);
    for (const [index, [path, value]] of changes.entries()) {
      const problem = put(changed, path, value);
      if (problem === undefined) continue;
      const { text } = this.spot(path.split("."), true, changes.slice(0, index + 1), what);
      throw new ScenarioError(`${text}: ${path}: ${problem}`);
    }
    return judgedAs(experimentSchema, changed, (path, isKey) => this.spot(path, isKey, changes, what));
  }

  /** Where in the file, or by which flag, the value at a dotted path got there: `file:line:column: what`. */
  placeOf(path: string, changes: Changes, what: string): string {
    return this.spot(path.split("."), false, changes, what).text;
  }

  /** The last change of a value, of what it is part of, or of a part of it, says where it stands: so from change to change. */
  private spot(path: readonly PropertyKey[], isKey: boolean, changes: Changes, what: string): Spot {
    let at = path;
    for (const [changedPath, , origin] of changes.toReversed()) {
      const rest = below(changedPath.split("."), at);
      if (rest === undefined) continue;
      if (!Array.isArray(origin)) return { text: `${this.name}: ${(origin as string) ?? what}`, line: 0, column: 0 };
      at = [...(origin as readonly PropertyKey[]), ...rest];
    }
    this.inFile ??= spotsIn(this.text, this.name);
    const { text, ...spot } = this.inFile(at, isKey);
    return { text: `${text}: ${what}`, ...spot };
  }
}

/** What of `path` lies below `above`; nothing of it where `path` itself is above. Undefined: they are apart. */
function below(above: readonly string[], path: readonly PropertyKey[]): readonly PropertyKey[] | undefined {
  const common = Math.min(above.length, path.length);
  for (let at = 0; at < common; at++) if (above[at] !== String(path[at])) return undefined;
  return path.slice(above.length);
}

/** Fields that are not there are made: what they lead to is then judged by the schema. What is said is why it cannot be put there. */
function put(root: unknown, path: string, value: unknown): string | undefined {
  const keys = path.split(".");
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
