/** Which runs an experiment comes to: every arm at every point of the sweep, so many times. */
import type { Changes, ExperimentFile } from "./load.ts";
import { fieldInQuestion, valueAt } from "./experiment-rules.ts";
import type { Experiment } from "./schema.ts";

export interface PlannedArm {
  readonly name: string;
  /** Its name in the file, or `base`; arms at several points of a sweep have it in common. */
  readonly variant: string;
  /** From the file to this arm, in order. */
  readonly changes: Changes;
  /** Of `changes` those that its points of the sweep have in common. */
  readonly unswept: Changes;
  readonly experiment: Experiment;
}

export type Form = "full" | "quick" | "tiny";

export interface Plan {
  readonly form: Form;
  readonly experiment: Experiment;
  readonly arms: readonly PlannedArm[];
  readonly repetitions: number;
}

/** `changes` come after those of the form. Throws `ScenarioError`. */
export function planOf(file: ExperimentFile, form: Form, changes: Changes, repetitions?: number): Plan {
  const ofForm = formChanges(file.experiment, form);
  file.with(ofForm, `--${form}`);
  const common: Changes = [...ofForm, ...changes];
  const experiment = file.with(common, "--set");
  const variants = experiment.arms.length === 0 ? [{ name: "base", set: {} }] : experiment.arms;
  const arms = variants.flatMap((variant) =>
    points(experiment.sweep).map((point): PlannedArm => {
      const name = [
        ...(variants.length > 1 || point.length === 0 ? [variant.name] : []),
        ...point.map(([path, value]) => `${path}=${shown(value)}`),
      ].join(" ");
      const unswept: Changes = [...common, ...Object.entries(variant.set)];
      const all: Changes = [...unswept, ...point];
      return { name, variant: variant.name, changes: all, unswept, experiment: file.with(all, `arm ${name}`) };
    }),
  );
  return { form, experiment, arms, repetitions: repetitions ?? experiment.repetitions };
}

/** The experiment's question, with what is played where it names a field: `drain {workload.0.nodes} nodes`. */
export const questionOf = (experiment: Experiment): string =>
  experiment.question.replace(fieldInQuestion, (_, path: string) => String(valueAt(experiment, path)));

const formChanges = (experiment: Experiment, form: Form): Changes =>
  form === "full" ? [] : Object.entries(experiment[form]);

/** Each value of each parameter with each of the others. */
function points(sweep: Experiment["sweep"]): readonly Changes[] {
  return sweep.reduce<readonly Changes[]>(
    (before, { set, to }) => before.flatMap((point) => to.map((value): Changes => [...point, [set, value]])),
    [[]],
  );
}

const shown = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
