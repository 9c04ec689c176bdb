/**
 * `npm run bench -- [NAME…] [--rounds N] [--page FILE] [--from FILE] [--against FOLDER]`: measures every benchmark of
 * bench/, or those whose file or name begins with a NAME, and prints one JSON object a line, the machine first. Each file gets a process of its own, so that
 * one benchmark's garbage and optimised code do not weigh on the next. `--page` writes a page of them as well; `--from` makes
 * it of what an earlier run has printed, and measures nothing. `--against` compares with another checkout (`against.ts`).
 */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { checkAgainst, compareAgainst } from "./against.ts";
import { benchFiles, benchFolder } from "./files.ts";
import { type Bench, machine, measure } from "./harness.ts";
import { readBenchLines, renderBenchPage } from "./page.ts";

/** As `touchstone capacity` has it: `cli/engine-flags.mjs`, `cli/young-objects.ts` and `cli/targets/engine-room.ts` say why. */
const room = ["--min-semi-space-size=32", "--max-semi-space-size=128", "--heap-growing-percent=40"];
const flags = ["--expose-gc", "--no-allocation-site-pretenuring", ...room];

/** Exit code of a file's process in which no benchmark was asked for. */
const nothingHere = 3;

process.exitCode = await main();

/** 0: all measured; 1: one threw; 2: a wrong command line. */
async function main(): Promise<number> {
  let parsed: ReturnType<typeof parse>;
  try {
    parsed = parse();
  } catch (error) {
    const [problem] = (error as Error).message.split(". ", 1); // node adds how such a thing could be an argument
    console.error(`bench: ${problem}. See: npm run bench -- --help`);
    return 2;
  }
  const { names, rounds, file, page, from, against, isHelp } = parsed;
  if (isHelp) {
    console.log(usage());
    return 0;
  }
  if (file !== undefined) return measureFile(file, names, rounds);
  if (from !== undefined) return pageOf(page ?? "", () => readFileSync(from, "utf8"));
  if (against !== undefined) return compared(against, names, rounds);
  const unknown = await unknownNames(names);
  if (unknown.length > 0) {
    console.error(`bench: no benchmark begins with ${unknown.join(" or ")}`);
    return 2;
  }
  let printed = `${JSON.stringify(machine())}\n`;
  process.stdout.write(printed);
  for (const candidate of benchFiles()) {
    const { status, stdout } = spawnSync(
      process.execPath,
      [...flags, fileURLToPath(import.meta.url), "--file", candidate, "--rounds", String(rounds), ...names],
      { stdio: ["inherit", page === undefined ? "inherit" : "pipe", "inherit"], encoding: "utf8" },
    );
    if (page !== undefined) {
      process.stdout.write(stdout);
      printed += stdout;
    }
    if (status !== 0 && status !== nothingHere) return 1;
  }
  return page === undefined ? 0 : pageOf(page, () => printed);
}

/** Of the given names those that neither a file nor a benchmark begins with. */
async function unknownNames(names: readonly string[]): Promise<readonly string[]> {
  const files = benchFiles();
  const open = names.filter((name) => !files.some((file) => file.startsWith(name)));
  if (open.length === 0) return open;
  const known = (await Promise.all(files.map(benchesOf))).flatMap((benches) => benches.map(({ name }) => name));
  return open.filter((name) => !known.some((each) => each.startsWith(name)));
}

async function benchesOf(file: string): Promise<readonly Bench[]> {
  const { benches = [] } = (await import(join(benchFolder, file))) as { benches?: readonly Bench[] };
  return benches;
}

async function compared(folder: string, names: readonly string[], rounds: number): Promise<number> {
  try {
    checkAgainst(folder, names);
  } catch (error) {
    console.error(`bench: ${(error as Error).message}`);
    return 2;
  }
  console.log(JSON.stringify(machine()));
  try {
    for await (const figure of compareAgainst(folder, names, rounds)) console.log(JSON.stringify(figure));
    return 0;
  } catch (error) {
    console.error(`bench: ${(error as Error).message}`);
    return 1;
  }
}

function pageOf(path: string, lines: () => string): number {
  try {
    const { machine: where, measurements } = readBenchLines(lines());
    writeFileSync(path, renderBenchPage(where, measurements));
    return 0;
  } catch (error) {
    console.error(`bench: ${(error as Error).message}`);
    return 2;
  }
}

async function measureFile(file: string, names: readonly string[], rounds: number): Promise<number> {
  const benches = await benchesOf(file);
  const wholeFile = names.length === 0 || names.some((name) => file.startsWith(name));
  const chosen = benches.filter((bench) => wholeFile || names.some((name) => bench.name.startsWith(name)));
  for (const bench of chosen) console.log(JSON.stringify(await measure(bench, rounds)));
  return chosen.length === 0 ? nothingHere : 0;
}

function usage(): string {
  const files = benchFiles().map((file) => file.replace(/\.ts$/, ""));
  return `Usage: npm run bench -- [NAME…] [--rounds N] [--page FILE] [--from FILE] [--against FOLDER]
Measures benchmarks whose file or name begins with a NAME, by default all, and prints one JSON object a line.
--rounds N    measures each so often; default 5
--page FILE   writes a page of them as well
--from FILE   makes that page of what an earlier run has printed, and measures nothing
--against FOLDER  starts the server of this checkout and that of FOLDER, a checkout too, side by side, and compares
                  what requests cost them: µs of processor time, and the ratio (here by there) of each of the rounds
Files: ${files.join(", ")}`;
}

function parse(): {
  isHelp: boolean;
  names: readonly string[];
  rounds: number;
  file: string | undefined;
  page: string | undefined;
  from: string | undefined;
  against: string | undefined;
} {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      rounds: { type: "string", default: "5" },
      file: { type: "string" },
      page: { type: "string" },
      from: { type: "string" },
      against: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1)
    throw new Error(`--rounds ${values.rounds}: must be an integer of 1 or more`);
  const { file, page, from, against } = values;
  if (from !== undefined && (page === undefined || positionals.length > 0))
    throw new Error("--from FILE measures nothing: it goes with --page FILE, and with no names");
  if (against !== undefined && (page !== undefined || from !== undefined))
    throw new Error("--against FOLDER prints a comparison, and goes with neither --page nor --from");
  return { isHelp: values.help, names: positionals, rounds, file, page, from, against };
}
