/** `touchstone capacity find`: bisects a parameter to the first breach of an objective, and names what binds there. */
import { join } from "node:path";
import { figureText } from "../../reports/capacity/metrics.ts";
import type { Paint } from "../../reports/render/text.ts";
import { renderTable } from "../../reports/render/table.ts";
import { isInterrupted } from "../../reports/schema/capacity-report.ts";
import { idleProblem } from "../../scenarios/capacity/experiment-rules.ts";
import type { Changes } from "../../scenarios/capacity/load.ts";
import { type Plan, type PlannedArm, questionOf } from "../../scenarios/capacity/plan.ts";
import type { CapacityOptions } from "../command-line.ts";
import { asUsage, readExperiment } from "../flags/experiment-file.ts";
import { requireKnown } from "../flags/known-names.ts";
import { type ExitCode, exitCodes, UsageError } from "../flags/usage-error.ts";
import { onInterrupt } from "../output/interrupt.ts";
import { painter, progressLine } from "../output/terminal.ts";
import { prepareFolder, removeFolders, writeWhole } from "../output/written-files.ts";
import { defaultThreads } from "../targets/default-threads.ts";
import { type Found, search } from "../targets/capacity-search.ts";
import type { capacityThreads } from "../targets/capacity-threads.ts";

type FindOptions = Extract<CapacityOptions, { readonly action: "find" }>;

export async function findCapacity(options: FindOptions, threadsOf: typeof capacityThreads): Promise<ExitCode> {
  const { file: path, seed, json } = options;
  const { text, file, plan, logs } = readExperiment(path, options, undefined, "planned");
  const arm = armOf(plan, options.arm);
  const base = arm.unswept;
  const experiment = asUsage(() => file.with(base, `arm ${arm.variant}`, "planned"));
  const parameter = options.parameter ?? experiment.find?.set;
  const from = options.from ?? experiment.find?.from;
  const to = options.to ?? experiment.find?.to;
  if (parameter === undefined || from === undefined || to === undefined)
    throw new UsageError(
      `${path}: it does not say what to find: give --parameter, --from and --to, or find: { set: cluster.nodes, from: 10, to: 1000 } in the file.`,
    );
  const idle = idleProblem(parameter);
  if (idle !== undefined) throw new UsageError(`--parameter ${parameter}: ${idle}.`);
  if (from >= to)
    throw new UsageError(`--from ${from} --to ${to}: nothing lies between them: --from is the smaller one.`);
  const asked = (changes: Changes): Changes => [...base, ...changes];
  for (const value of [from, to]) asUsage(() => file.with(asked([[parameter, value]]), `${parameter}=${value}`));
  if (experiment.objectives.length === 0)
    throw new UsageError(`${path}: objectives: there is none that could be broken: name one, or leave the list out.`);
  const folder = options.output ?? join("out", "capacity", plan.experiment.name);
  const made = prepareFolder(folder, "--output");
  const tidyUp = (): void => removeFolders(made);
  const { signal, stopListening } = onInterrupt("Stopping; what was found so far is kept.", undefined, tidyUp);
  const threads = threadsOf(options.jobs ?? defaultThreads());
  const line = progressLine();
  const numbers = new Int32Array(new SharedArrayBuffer(8));
  const stop = (): void => {
    line.clear();
    Atomics.store(numbers, 0, 1);
  };
  signal.addEventListener("abort", stop, { once: true });
  try {
    const found = await search({
      parameter,
      from,
      to,
      experiment: (changes) => file.with(asked(changes), "find"),
      onProgress: (what) => line.show(what),
      async play(changes) {
        if (signal.aborted) return undefined;
        const { run, mistake, unmeasured } = await threads.run({
          text,
          fileName: path,
          arm: "find",
          changes: asked(changes),
          repetition: 1,
          logs,
          wantsMetrics: false,
          shared: { numbers, slot: 1 },
          ...(seed === undefined ? {} : { seed }),
        });
        if (unmeasured !== undefined || (run !== undefined && isInterrupted(run))) return undefined;
        if (run === undefined) throw new UsageError(mistake ?? `${path}: it cannot be played.`);
        return run;
      },
    });
    line.clear();
    const told = plan.experiment.arms.length === 0 ? found : { arm: arm.variant, ...found };
    const document = `${JSON.stringify(told, undefined, 2)}\n`;
    const textIn = (paint: Paint): string =>
      `${foundText(found, [questionOf(experiment), ...armText(plan, arm)], paint)}\n`;
    writeWhole(join(folder, "find.json"), document);
    writeWhole(
      join(folder, "find.txt"),
      textIn((_tone, words) => words),
    );
    process.stdout.write(
      json ? document : `${textIn(painter(process.stdout))}kept in: ${join(folder, "find.txt")}, and as find.json\n`,
    );
    return found.interrupted === true ? exitCodes.inconclusive : exitCodes.good;
  } catch (error) {
    tidyUp();
    throw error;
  } finally {
    line.clear();
    stopListening();
    await threads.close();
  }
}

/** That of this name, or the first one. */
function armOf({ arms }: Plan, name: string | undefined): PlannedArm {
  const known = [...new Set(arms.map(({ variant }) => variant))];
  if (name !== undefined) requireKnown("--arm", "arm", [name], known);
  return arms.find(({ variant }) => name === undefined || variant === name) as PlannedArm;
}

/** Which arm was played, where there are several. */
function armText({ experiment }: Plan, { variant }: PlannedArm): readonly string[] {
  const others = experiment.arms.map(({ name }) => name).filter((name) => name !== variant);
  return others.length === 0 ? [] : [`Of the arm ${variant}; --arm NAME plays another one: ${others.join(", ")}.`];
}

/** `heading`: what was asked, a line each. */
function foundText(found: Found, [question, ...heading]: readonly [string, ...string[]], paint: Paint): string {
  const { parameter, holdsAt, breaksAt, broken, binding, relieved, evidence, tried, interrupted } = found;
  const values = `${tried.length} ${tried.length === 1 ? "value" : "values"} of ${parameter} ${tried.length === 1 ? "was" : "were"} tried`;
  const head = [paint("strong", question), ...heading, `${values}.\n`].join("\n");
  const isCut = interrupted === true;
  if (breaksAt === undefined && !isCut)
    return `${head}\n${paint("good", `All objectives hold up to ${parameter}=${holdsAt}, the largest value that was asked for: --to looks further.`)}`;
  const unit = broken?.unit === "micros" ? "µs" : "";
  const value = (figure: number | undefined): string => figureText(figure, unit);
  const rows = relieved.map((each) => [
    each.constraint,
    each.changes
      .map(
        ([path, to]) =>
          `${path}=${to === undefined ? "none" : typeof to === "object" ? JSON.stringify(to) : String(to)}`,
      )
      .join(" "),
    value(each.value),
    each.constraint === binding ? "BINDS" : each.met ? "holds" : "",
  ]);
  const which = isCut && relieved.length === 0 ? "one" : "the first";
  return [
    head,
    ...(isCut ? [paint("doubtful", "It was interrupted: this is what was known by then.")] : []),
    ...(holdsAt !== undefined
      ? [`All objectives hold at ${parameter}=${holdsAt}.`]
      : breaksAt === undefined
        ? []
        : [`Not even ${parameter}=${breaksAt} holds.`]),
    ...(breaksAt === undefined
      ? []
      : [
          paint(
            "bad",
            `At ${parameter}=${breaksAt} ${which} is broken: ${broken?.text}, found ${value(broken?.value)}${broken?.worst === undefined ? "" : ` (${broken.worst})`}.`,
          ),
        ]),
    ...(isCut ? [] : bindingLines(found).map((line) => paint(binding === undefined ? "doubtful" : "strong", line))),
    ...(rows.length === 0 ? [] : ["", renderTable(["relieved", "how", broken?.text ?? "", ""], rows)]),
    ...(evidence.length === 0 ? [] : ["", ...evidence.map((text) => `  ${text}`)]),
  ].join("\n");
}

function bindingLines({ binding, relieved }: Found): readonly string[] {
  if (binding === undefined) return ["No limit alone binds: relieving any one of them changes little."];
  const others = relieved.filter(({ constraint, met }) => met && constraint !== binding);
  if (others.length === 0) return [`What binds: ${binding}.`];
  return [
    `What binds: ${binding}, whose relief brings most.`,
    `The objective holds as well with one of these relieved: ${others.map(({ constraint }) => constraint).join(", ")}.`,
  ];
}
