/** From the text of an experiment's file to the experiment, and to each variant of it that is to be played. */
import { parseYaml } from "../../wire/yaml-text.ts";
import { judgedAs, parsedAs } from "../load.ts";
import { type Experiment, experimentSchema } from "./schema.ts";

/** What differs from the file, by dotted path: `cluster.nodes`, `workload.0.within`. In order: the last one counts. */
export type Changes = readonly (readonly [path: string, value: unknown])[];

/** Imported clusters are long. */
const textLengthMax = 200_000_000;

export class ExperimentFile {
  readonly experiment: Experiment;
  private readonly name: string;
  private readonly raw: unknown;

  /** `name` is how errors call the file. Throws `ScenarioError`. */
  constructor(text: string, name: string) {
    this.name = name;
    this.experiment = parsedAs(experimentSchema, text, name, textLengthMax);
    this.raw = parseYaml(text);
  }

  /** The experiment with these changes. Throws `ScenarioError` for what is then wrong; `what` says whose changes they are. */
  with(changes: Changes, what: string): Experiment {
    if (changes.length === 0) return this.experiment;
    const changed = structuredClone(this.raw);
    for (const [path, value] of changes) put(changed, path, value);
    return judgedAs(experimentSchema, changed, `${this.name}: ${what}`);
  }
}

/** Ways that are not there are made: what they lead to is then judged by the schema. */
function put(root: unknown, path: string, value: unknown): void {
  const keys = path.split(".");
  let at = root as Record<string, unknown>;
  for (const key of keys.slice(0, -1)) {
    const next = Object.hasOwn(at, key) ? at[key] : undefined;
    at = (typeof next === "object" && next !== null ? next : own(at, key, {})) as Record<string, unknown>;
  }
  own(at, keys.at(-1) as string, value);
}

/** As an own field, whatever it is called. */
function own(object: object, key: string, value: unknown): unknown {
  Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  return value;
}
