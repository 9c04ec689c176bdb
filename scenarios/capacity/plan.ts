/** Which runs an experiment comes to: every arm at every point of the sweep, so many times. */
import { ScenarioError } from "../load.ts";
import { type Changes, changesAt, type ExperimentFile, type Use } from "./load.ts";
import { fieldInQuestion, valueAt, valueInName } from "./experiment-rules.ts";
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

/** Of a large sweep most have what one has, and each takes a while to be judged. */
const wrongArmsMax = 50;

/** As plans of a day of runs are; each is held whole. */
const runsMax = 100_000;

/** `changes` come after those of the form; `use` is that of the arms. Throws `ScenarioError`. */
export function planOf(
  file: ExperimentFile,
  form: Form,
  changes: Changes,
  repetitions?: number,
  use: Use = "played",
): Plan {
  const ofForm = formChanges(file.experiment, form);
  file.with(ofForm, `--${form}`, "planned");
  const common: Changes = [...ofForm, ...changes];
  const experiment = file.with(common, "--set", "planned");
  const variants = experiment.arms.length === 0 ? [{ name: "base", set: {} }] : experiment.arms;
  const times = repetitions ?? experiment.repetitions;
  const count = experiment.sweep.reduce((all, { to }) => all * to.length, variants.length * times);
  if (count > runsMax)
    throw new ScenarioError(
      `${file.placeOf("sweep", common, "what is varied")}: arms, sweep and repetitions come to ${count} runs, and ${runsMax} is the most: vary fewer parameters at a time.`,
    );
  const mistakes = new Map<string, string>();
  /** Of each variant those that are not even placed, which it has at each point of the sweep. */
  const moreCounts = variants.map(() => 0);
  let wrongArms = 0;
  const wrong = (): ScenarioError =>
    new ScenarioError(
      [...mistakes.values()],
      moreCounts.reduce((sum, count) => sum + count, 0),
    );
  const arms = variants.flatMap((variant, index) =>
    points(experiment.sweep).flatMap((point): readonly PlannedArm[] => {
      const name = [
        ...(variants.length > 1 || point.length === 0 ? [variant.name] : []),
        ...point.map(([path, value]) => `${path}=${valueInName(value)}`),
      ].join(" ");
      const unswept: Changes = [...common, ...changesAt(["arms", index, "set"], variant.set)];
      const all: Changes = [...unswept, ...point];
      try {
        const what = all.length === 0 && variants.length === 1 ? "" : `arm ${name}`;
        const experiment = file.with(all, what, use);
        return [{ name, variant: variant.name, changes: all, unswept, experiment }];
      } catch (error) {
        if (!(error instanceof ScenarioError)) throw error;
        // What several arms have in common is told of the first one.
        for (const line of error.mistakes) {
          const common = line.replace(`arm ${name}: `, "");
          if (!mistakes.has(common)) mistakes.set(common, line);
        }
        moreCounts[index] = Math.max(moreCounts[index] ?? 0, error.moreCount);
        if (++wrongArms === wrongArmsMax) throw wrong();
        return [];
      }
    }),
  );
  if (wrongArms > 0) throw wrong();
  return { form, experiment, arms, repetitions: times };
}

/** The experiment's question, with what is played where it names a field: `drain {workload.0.nodes} nodes`. */
export const questionOf = (experiment: Experiment): string =>
  experiment.question.replace(fieldInQuestion, (_, path: string) => String(valueAt(experiment, path.split("."))));

const formChanges = (experiment: Experiment, form: Form): Changes =>
  form === "full" ? [] : changesAt([form], experiment[form]);

/** Each value of each parameter with each of the others. */
function points(sweep: Experiment["sweep"]): readonly Changes[] {
  return sweep.reduce<readonly Changes[]>(
    (before, { set, to }, index) =>
      before.flatMap((point) => to.map((value, at): Changes => [...point, [set, value, ["sweep", index, "to", at]]])),
    [[]],
  );
}
