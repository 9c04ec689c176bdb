import { existsSync, globSync } from "node:fs";
import { availableParallelism } from "node:os";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Rooms whose tests mostly wait: for sockets, for processes, for real time. */
const waitingRooms = "{sim/{disk,grpc,http,streams,testing},conformance/{agent,client},cli,bench}/**/*.test.ts";

/** Tests in those rooms that compute: all that they start is simulated in memory or a process of its own, but for temporary files. By folder. */
const computing: Readonly<Record<string, readonly string[]>> = {
  "cli/commands": [
    ...["agents-evict", "capacity", "capacity-import", "config", "conform", "diff", "fault-campaign", "fault-gates"],
    ...["few-programs", "gate", "good-guest", "hostile-but-lawful", "hunt", "joined-nodes", "judge-only"],
    ...["latitude", "list", "optional-verbs", "replay-parting", "requirements-document", "run", "short-history"],
    ...["slow-ways", "small-breaches"],
  ],
  "cli/flags": [
    ...["cluster-files", "deep-files", "dump-items", "flag-values", "in-cluster", "json-file", "token-file"],
    "usage-trace",
  ],
  "cli/output": ["agent-log", "progress-text", "written-files"],
  "cli/targets": [
    ...["capacity-part", "capacity-search", "embedded-pool", "flag-effects", "hunt-part", "program-profiles"],
    ...["run-part", "wrong-files"],
  ],
  "conformance/client": ["client", "collection", "discovery", "json-documents", "optional-verbs", "read-answers"],
};
const computingFiles = new Set(
  Object.entries(computing).flatMap(([folder, names]) => names.map((name) => `${folder}/${name}.test.ts`)),
);
/**
 * What others of its thread would disturb: the globals of a user's test are changed, steps or bytes of a thread are counted, or a table
 * must be nearly empty.
 */
const alone = [
  ...globSync("sim/testing/**/*.test.ts"),
  ...["bench/attack-growth.test.ts", "sim/http/memory-limit.test.ts", "sim/objects/field-set.test.ts"],
];
const waiting = globSync(waitingRooms).filter((file) => !computingFiles.has(file) && !alone.includes(file));

/**
 * All but those that are alone share what a thread has imported and compiled, which takes a third off the processor time of those that
 * compute, and a seventh off that of those that wait. Such a test leaves nothing behind, in a module or in the process. Those that
 * wait come afterwards, since some look at the memory of their process.
 */
const all = "{wire,sim,conformance,scenarios,reports,cli,bench,docs}/**/*.test.ts";

/** What takes longest begins first, whatever it took the last time here: else one worker is left with it at the end. */
const longest = [
  "cli/commands/hostile-but-lawful.test.ts",
  "sim/apiserver/attack-work.test.ts",
  "sim/agent/pod-stories.test.ts",
  "cli/commands/few-programs.test.ts",
  "cli/commands/latitude.test.ts",
  "cli/commands/agents-evict.test.ts",
  "cli/commands/optional-verbs.test.ts",
  "cli/commands/serve-data-dir.test.ts",
  "cli/commands/diff.test.ts",
  "cli/commands/hunt.test.ts",
  "cli/commands/conform-agent.test.ts",
  "cli/commands/conform.test.ts",
  "cli/main.test.ts",
  "cli/commands/serve-access.test.ts",
  "cli/commands/agent-alone.test.ts",
  "cli/commands/versions.test.ts",
];
for (const file of [...longest, ...computingFiles, ...alone])
  if (!existsSync(file)) throw new Error(`vitest.config.ts: ${file} is not there`);

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const group = ({ project }: TestSpecification): number => project.config.sequence.groupOrder;
    const place = ({ moduleId }: TestSpecification): number =>
      longest.findIndex((file) => moduleId.endsWith(`/${file}`)) >>> 0; // one that is not among them is last
    return (await super.sort(files)).sort((one, other) => group(one) - group(other) || place(one) - place(other));
  }
}

const noTests = ["**/node_modules/**"];

/** Tests of one group begin when those of the one before have ended. */
const project = (place: number, name: string, test: NonNullable<TestProjectInlineConfiguration["test"]>) => ({
  extends: true as const,
  test: { name, exclude: noTests, sequence: { groupOrder: place }, ...test },
});

export default defineConfig({
  test: {
    pool: "threads",
    globalSetup: "cli/packaging/tested-command.mjs",
    maxWorkers: availableParallelism(), // the default leaves one processor idle, which on two is half of them
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } }, // what is waited for comes late on a busy machine; the default is a second
    sequence: { sequencer: LongestFirst },
    projects: [
      project(0, "computing", { include: [all], exclude: [...noTests, ...waiting, ...alone], isolate: false }),
      // They wait half of their time: with one for each processor they take a third longer.
      project(1, "waiting", { include: waiting, isolate: false, maxWorkers: availableParallelism() + 2 }),
      project(2, "alone", { include: alone, maxWorkers: availableParallelism() + 2 }),
    ],
  },
});
