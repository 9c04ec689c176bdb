/** `touchstone capacity find`: bisects a parameter to the first breach of an objective, and names what binds there. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { figureText } from "../../reports/capacity/metrics.ts";
import { renderTable } from "../../reports/render/table.ts";
import type { Changes } from "../../scenarios/capacity/load.ts";
import { questionOf } from "../../scenarios/capacity/plan.ts";
import type { CapacityOptions } from "../command-line.ts";
import { asUsage, readExperiment } from "../flags/experiment-file.ts";
import { type ExitCode, exitCodes, UsageError } from "../flags/usage-error.ts";
import { painter, progressLine } from "../output/terminal.ts";
import { prepareFolder } from "../output/written-files.ts";
import { type Found, search } from "../targets/capacity-search.ts";
import type { capacityThreads } from "../targets/capacity-threads.ts";

type FindOptions = Extract<CapacityOptions, { readonly action: "find" }>;

export async function findCapacity(options: FindOptions, threadsOf: typeof capacityThreads): Promise<ExitCode> {
  const { file: path, seed, json, output } = options;
  const { text, file, plan, logs } = readExperiment(path, options);
  const { experiment } = plan;
  const parameter = options.parameter ?? experiment.find?.set;
  const from = options.from ?? experiment.find?.from;
  const to = options.to ?? experiment.find?.to;
  if (parameter === undefined || from === undefined || to === undefined)
    throw new UsageError(
      `${path}: it does not say what to find: give --parameter, --from and --to, or find: { set: cluster.nodes, from: 10, to: 1000 } in the file.`,
    );
  if (from >= to)
    throw new UsageError(`--from ${from} --to ${to}: nothing lies between them: --from is the smaller one.`);
  const common = plan.arms[0]?.changes ?? [];
  const base = common.filter(([name]) => !experiment.sweep.some(({ set }) => set === name));
  const asked = (changes: Changes): Changes => [...base, ...changes];
  for (const value of [from, to]) asUsage(() => file.with(asked([[parameter, value]]), `${parameter}=${value}`));
  if (experiment.objectives.length === 0)
    throw new UsageError(`${path}: objectives: there is none that could be broken: name one, or leave the list out.`);
  if (output !== undefined) prepareFolder(output, "--output");
  const threads = threadsOf(1);
  const line = progressLine();
  try {
    const found = await search({
      parameter,
      from,
      to,
      experiment: (changes) => file.with(asked(changes), "find"),
      onProgress: (what) => line.show(what),
      async play(changes) {
        const { run, mistake } = await threads.run({
          text,
          fileName: path,
          arm: "find",
          changes: asked(changes),
          repetition: 1,
          logs,
          wantsMetrics: false,
          ...(seed === undefined ? {} : { seed }),
        });
        if (run === undefined) throw new UsageError(mistake ?? `${path}: it cannot be played.`);
        return run;
      },
    });
    line.clear();
    if (output !== undefined) writeFileSync(join(output, "find.json"), `${JSON.stringify(found, undefined, 2)}\n`);
    process.stdout.write(
      json ? `${JSON.stringify(found, undefined, 2)}\n` : `${foundText(found, questionOf(experiment))}\n`,
    );
    return exitCodes.good;
  } finally {
    line.clear();
    await threads.close();
  }
}

function foundText(
  { parameter, holdsAt, breaksAt, broken, binding, relieved, evidence, tried }: Found,
  question: string,
): string {
  const paint = painter(process.stdout);
  const head = `${paint("strong", question)}\n${tried.length} values of ${parameter} were tried.\n`;
  if (breaksAt === undefined)
    return `${head}\n${paint("good", `All objectives hold up to ${parameter}=${holdsAt}, the largest value that was asked for: --to looks further.`)}`;
  const unit = broken?.unit === "micros" ? "µs" : "";
  const value = (found: number | undefined): string => figureText(found, unit);
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
  return [
    head,
    holdsAt === undefined
      ? `Not even ${parameter}=${breaksAt} holds.`
      : `All objectives hold at ${parameter}=${holdsAt}.`,
    paint(
      "bad",
      `At ${parameter}=${breaksAt} the first is broken: ${broken?.text}, found ${value(broken?.value)}${broken?.worst === undefined ? "" : ` (${broken.worst})`}.`,
    ),
    binding === undefined
      ? paint("doubtful", "No limit alone binds: relieving any one of them changes little.")
      : paint("strong", `What binds: ${binding}.`),
    "",
    renderTable(["relieved", "how", broken?.text ?? "", ""], rows),
    "",
    ...evidence.map((text) => `  ${text}`),
  ].join("\n");
}
