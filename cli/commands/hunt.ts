/**
 * `touchstone hunt`: one scenario over many seeds, on threads or through a queue; failures grouped by what they have in
 * common, the soonest of each kept as a capsule. A hunt that is stopped goes on where it was.
 */
import { existsSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import process from "node:process";
import type { Capsule } from "../../reports/schema/capsule.ts";
import { huntIdentity, type HuntReport, mergeHunts } from "../../reports/schema/hunt-report.ts";
import type { Scenario } from "../../scenarios/schema.ts";
import type { HuntedSeed } from "../../sim/experiments/hunt-seed.ts";
import type { HuntOptions } from "../command-line.ts";
import { plantedBugs, readText, scenarioOf } from "../flags/scenario-file.ts";
import { type ExitCode, exitCodes, UsageError } from "../flags/usage-error.ts";
import { interrupted, onInterrupt } from "../output/interrupt.ts";
import { huntText, readHuntReport, withCapsules } from "../output/hunt-reports.ts";
import { prepareFolder, writeWhole } from "../output/written-files.ts";
import { buildName } from "../targets/build-name.ts";
import type { HuntPart, HuntTask } from "../targets/hunt-part.ts";
import { huntKey, huntName, HuntStore } from "../targets/hunt-store.ts";
import { huntThreads } from "../targets/hunt-threads.ts";
import { defaultThreads } from "../targets/default-threads.ts";
import { seedsOf, type WantedSeeds } from "../flags/hunt-seeds.ts";

/** Seeds a task: some tenths of a second, so that progress is seen and little is lost. */
const batchSize = 10;

/** `threadsOf`: where seeds are played. */
export async function hunt(options: HuntOptions, threadsOf = huntThreads): Promise<ExitCode> {
  if (options.merge.length > 0) return merge(options);
  if (options.worker) return work(options);
  const { scenario: file } = options;
  if (file === undefined)
    throw new UsageError("no scenario was named: give a scenario file, --merge REPORT, or --worker with --queue URL.");
  const text = readText(file);
  const scenario = scenarioOf(text, file, options.profile);
  const bugs = plantedBugs(options.faults, scenario);
  const task: HuntTask = {
    scenario: text,
    scenarioName: file,
    profile: scenario.profile,
    mode: options.mode ?? scenario.mode,
    bugs: bugs.names,
  };
  const found = await new Hunt(task, scenario, options, threadsOf).run();
  print(found.report, found.folder, options.json);
  return exitCodeOf(found.report, found.isWhole);
}

class Hunt {
  private readonly task: HuntTask;
  private readonly scenario: Scenario;
  private readonly options: HuntOptions;
  private readonly threadsOf: typeof huntThreads;
  private readonly build = buildName();
  private readonly folder: string;
  private readonly wanted: WantedSeeds;
  private readonly store: HuntStore;
  /** What happened in at least one seed. */
  private readonly seen: Set<string>;
  private readonly beganMillis = performance.now();
  private newSeeds = 0;
  private shownMillis = 0;

  constructor(task: HuntTask, scenario: Scenario, options: HuntOptions, threadsOf: typeof huntThreads) {
    this.task = task;
    this.scenario = scenario;
    this.options = options;
    this.threadsOf = threadsOf;
    this.folder = options.output ?? join("out", "hunts", scenario.name);
    this.wanted = seedsOf(options);
    this.store = this.openStore();
    this.seen = new Set(Object.keys(this.store.coverage()));
  }

  async run(): Promise<{ readonly report: HuntReport; readonly isWhole: boolean; readonly folder: string }> {
    const { signal, stopListening } = onInterrupt("Stopping; the same command goes on from here.");
    const { seeds, count } = this.wanted;
    try {
      if (this.options.queue === undefined) await this.onThreads(seeds, signal);
      else await this.throughQueue(this.options.queue, [...seeds], signal);
    } finally {
      stopListening();
      if (process.stderr.isTTY) process.stderr.write("\r\u001b[K");
    }
    const report = this.report(count);
    tellReplaced(this.folder, report);
    writeWhole(join(this.folder, "report.json"), jsonOf(report));
    this.store.close();
    return { report, isWhole: !signal.aborted, folder: this.folder };
  }

  private openStore(): HuntStore {
    prepareFolder(this.folder, "--output");
    prepareFolder(join(this.folder, "capsules"), "--output");
    try {
      return new HuntStore(join(this.folder, "hunt.sqlite"), huntKey(this.task, this.build), this.wanted.walk);
    } catch (error) {
      throw new UsageError(`--output ${this.folder}: ${(error as Error).message}. Name another folder.`);
    }
  }

  private async onThreads(seeds: Iterable<number>, signal: AbortSignal): Promise<void> {
    const jobs = this.options.jobs ?? defaultThreads();
    const threads = this.threadsOf(jobs);
    const parts = this.parts(seeds);
    const isOver = (): boolean =>
      signal.aborted || (this.options.time !== undefined && this.wallSeconds() * 1e6 >= this.options.time);
    const lane = async (): Promise<void> => {
      for (let next = parts.next(); next.done !== true && !isOver(); next = parts.next())
        this.take(await threads.run(next.value));
    };
    try {
      await Promise.all(Array.from({ length: jobs }, lane));
    } finally {
      await threads.close();
    }
  }

  private async throughQueue(url: string, seeds: readonly number[], signal: AbortSignal): Promise<void> {
    const { jobQueue } = await import("../targets/job-queue.ts");
    const queued = await jobQueue<HuntPart, readonly HuntedSeed[]>("hunt", url, this.build);
    const parts = [...this.parts(seeds)];
    try {
      await queued.run(
        parts,
        (outcome, index) =>
          this.take(
            "result" in outcome
              ? outcome.result
              : (parts[index]?.seeds ?? []).map((seed) => brokeAt(seed, outcome.broke)),
          ),
        signal,
      );
    } finally {
      await queued.close();
    }
  }

  /** Batches of those that were not played before. */
  private *parts(seeds: Iterable<number>): Generator<HuntPart> {
    const known = this.store.known();
    let batch: number[] = [];
    for (const seed of seeds) {
      if (known.has(seed)) continue;
      batch.push(seed);
      if (batch.length < batchSize) continue;
      yield { ...this.task, seeds: batch };
      batch = [];
    }
    if (batch.length > 0) yield { ...this.task, seeds: batch };
  }

  private take(results: readonly HuntedSeed[]): void {
    this.newSeeds += this.store.add(results);
    for (const { coverage } of results) for (const name of coverage) this.seen.add(name);
    if (!process.stderr.isTTY || this.options.json) return;
    const now = performance.now();
    if (now - this.shownMillis < 200) return;
    this.shownMillis = now;
    const groups = this.store.groups();
    const failures =
      groups.length === 0
        ? "no failure"
        : groups.map(({ requirement, count }) => `${requirement} × ${count}`).join(", ");
    process.stderr.write(
      `\r\u001b[K${this.store.seedCount} seeds, ${(this.newSeeds / this.wallSeconds()).toFixed(0)} a second; ${failures}; ${this.seen.size} things seen`,
    );
  }

  private wallSeconds(): number {
    return (performance.now() - this.beganMillis) / 1000;
  }

  private report(seedsWanted: number | undefined): HuntReport {
    const { scenario, task, build, store } = this;
    const wallSeconds = this.wallSeconds();
    const coverage = store.coverage();
    const failures = store.groups().map((group) => ({ ...group, capsule: this.writeCapsule(group.signature) }));
    const failed = failures.reduce((sum, { count }) => sum + count, 0);
    return {
      apiVersion: "reports/v1",
      kind: "HuntReport",
      scenario: scenario.name,
      hunt: huntName(task),
      build,
      profile: task.profile,
      mode: task.mode,
      bugs: [...task.bugs],
      seedCount: store.seedCount,
      ...(seedsWanted === undefined ? {} : { seedsWanted }),
      ...(this.newSeeds === store.seedCount ? {} : { seedsNow: this.newSeeds }),
      wallSeconds,
      seedsPerSecond: this.newSeeds / wallSeconds,
      failures,
      broke: store.broke(),
      coverage,
      neverSeen: scenario.sometimes.filter((name) => (coverage[name] ?? 0) === 0),
      ...(this.options.shard === undefined ? {} : { shard: this.options.shard.text }),
      ...(failed === 0 ? {} : { meanSeedsToFailure: store.seedCount / failed }),
    };
  }

  /** With one build a name is always the same failure: who has kept a line that replays it never meets another. */
  private writeCapsule(signature: string): string {
    const { seed, failure, faults } = this.store.fastest(signature);
    const capsule: Capsule = {
      apiVersion: "capsules/v1",
      kind: "Capsule",
      build: this.build,
      scenarioName: this.task.scenarioName,
      scenario: this.task.scenario,
      profile: this.task.profile,
      seed,
      mode: this.task.mode,
      bugs: [...this.task.bugs],
      edits: { without: [] },
      faults: faults.map((fault) => ({ ...fault, places: [...fault.places] })),
      failure: { ...failure, evidence: [...failure.evidence] },
    };
    const promise = failure.requirement.replaceAll(/[^a-z0-9.-]/gi, "-");
    const name = join("capsules", `${promise}-seed-${seed}-${huntName(this.task)}.json`);
    writeWhole(join(this.folder, name), `${JSON.stringify(capsule, undefined, 2)}\n`);
    return name;
  }
}

/** Another hunt's report may be there: its command makes it again of what was played. */
function tellReplaced(folder: string, report: HuntReport): void {
  const file = join(folder, "report.json");
  const old = existsSync(file) ? reportIn(file) : undefined;
  if (old === undefined || old.hunt === report.hunt) return;
  process.stderr.write(
    `${file} was of another hunt (${huntIdentity(old)}) and is of this one now. What that one had played is kept, and so are its capsules.\n`,
  );
}

function reportIn(file: string): HuntReport | undefined {
  try {
    return readHuntReport(file, file);
  } catch {
    return undefined; // none of a hunt
  }
}

/** A seed of a batch that no worker could play. */
const brokeAt = (seed: number, why: string): HuntedSeed => ({
  seed,
  traceHash: "",
  records: 0,
  coverage: [],
  broke: why,
});

/** A worker of a queue, until it is interrupted. */
async function work({ queue, jobs = defaultThreads(), scenario }: HuntOptions): Promise<ExitCode> {
  if (queue === undefined) throw new UsageError("--worker takes its seeds from a queue: give --queue URL.");
  if (scenario !== undefined)
    throw new UsageError("--worker takes its scenario from the queue, too: leave the scenario out.");
  const { queueWorker } = await import("../targets/job-queue.ts");
  const threads = huntThreads(jobs);
  let seeds = 0;
  try {
    const worker = await queueWorker<HuntPart, readonly HuntedSeed[]>(
      "hunt",
      queue,
      buildName(),
      jobs,
      async (part) => {
        const results = await threads.run(part);
        seeds += results.length;
        return results;
      },
    );
    process.stdout.write("working\n");
    await interrupted();
    await worker.close(false);
  } finally {
    await threads.close();
  }
  process.stdout.write(`${seeds} seeds\n`);
  return exitCodes.good;
}

/** Reports of parts, as one. The capsules stay where they are: the whole names them from its own place. */
function merge({ merge: files, output, json, scenario }: HuntOptions): ExitCode {
  const place = output ?? ".";
  const reports = files.map((file) =>
    withCapsules(readHuntReport(file, `--merge ${file}`), (capsule) => relative(place, join(dirname(file), capsule))),
  );
  const sometimes =
    scenario === undefined
      ? intersection(reports.map(({ neverSeen }) => neverSeen))
      : scenarioOf(readText(scenario), scenario).sometimes;
  let whole: HuntReport;
  try {
    whole = mergeHunts(reports, sometimes);
  } catch (error) {
    throw new UsageError(`--merge: ${(error as Error).message}.`);
  }
  if (output !== undefined) {
    prepareFolder(output, "--output");
    writeWhole(join(output, "report.json"), jsonOf(whole));
  }
  print(whole, place, json);
  return exitCodeOf(whole, true);
}

const intersection = (lists: readonly (readonly string[])[]): readonly string[] =>
  (lists[0] ?? []).filter((name) => lists.every((list) => list.includes(name)));

function print(report: HuntReport, folder: string, json: boolean): void {
  process.stdout.write(json ? jsonOf(report) : huntText(report, folder, true));
}

const jsonOf = (report: HuntReport): string => `${JSON.stringify(report, undefined, 2)}\n`;

/** What broke is ours; what was never seen or never played proves nothing. */
function exitCodeOf({ failures, broke, neverSeen, seedCount }: HuntReport, isWhole: boolean): ExitCode {
  if (failures.length > 0) return exitCodes.targetFailed;
  if (broke.length > 0) return exitCodes.broke;
  return isWhole && seedCount > 0 && neverSeen.length === 0 ? exitCodes.good : exitCodes.inconclusive;
}
