/**
 * How soon a hunt finds each planted bug: every scenario of `scenarios/regress` with its bug, over many seeds, and without
 * it; and every bug of node agents in the hunt for them. Prints docs/simulated-bugs.md:
 * `node bench/seeds-to-detection.ts > docs/simulated-bugs.md`. Arguments: seeds a bug, of the first table and of the second.
 */
import { readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseScenario } from "../scenarios/load.ts";
import { bugsOf, noBugs } from "../sim/experiments/bugs.ts";
import { huntSeed } from "../sim/experiments/hunt-seed.ts";
import { agentBugNames, agentBugSymptom } from "../sim/planted/agent-bugs.ts";
import { serverBugRows } from "../sim/planted/server-bugs.ts";
import { simulatedBugRows } from "../sim/planted/simulated-bugs.ts";

// Other benchmarks are imported by the harness; this one is a program.
if (process.argv[1] === fileURLToPath(import.meta.url)) main();

function main(): void {
  const seedCount = Number(process.argv[2] ?? "20");
  const folder = new URL("../scenarios/regress/", import.meta.url);
  const seeds = Array.from({ length: seedCount }, (_, index) => index + 1);

  const rows = readdirSync(folder)
    .filter((name) => name.endsWith(".yaml"))
    .sort()
    .map((file) => {
      const scenario = parseScenario(readFileSync(new URL(file, folder), "utf8"), file);
      const { bug = "", breaks = "" } = scenario.regress ?? {};
      const gates = Object.fromEntries((scenario.regress?.gates ?? []).map((gate) => [gate, true]));
      const bugs = { ...bugsOf([bug]), gates: { ...gates, ...bugsOf([bug]).gates } };
      const failing = (planted: typeof bugs): number =>
        seeds.filter((seed) => {
          const { failure, broke } = huntSeed(scenario, seed, { mode: scenario.mode, bugs: planted });
          return failure !== undefined || broke !== undefined;
        }).length;
      const found = failing(bugs);
      const sound = failing({ ...noBugs, gates: bugs.gates });
      const { symptom, source } = { ...serverBugRows, ...simulatedBugRows }[bug as keyof typeof simulatedBugRows];
      const mean = found === 0 ? "not found" : (seedCount / found).toFixed(1);
      return {
        sound,
        line: `| [\`${bug}\`](../scenarios/regress/${file}) | ${symptom} | ${source} | \`${breaks}\` | ${mean} |`,
      };
    });

  const agents = agentRows(Number(process.argv[3] ?? "12"));
  const wrong = rows.reduce((sum, { sound }) => sum + sound, 0);
  process.stdout.write(`# Published bugs, made again

Each scenario of \`scenarios/regress\` is named after a published bug. With the bug planted it fails; without it, it passes:
\`touchstone run scenarios/regress/NAME.yaml --fault NAME\`. The last column says how many seeds a hunt plays on average until it
finds the bug, counted over ${seedCount} seeds each; the same seeds without a bug found ${wrong === 0 ? "nothing" : `something ${wrong} times`}.
\`node bench/seeds-to-detection.ts\` counts again. What thousands of seeds without a bug found is told in [simulating.md](simulating.md#scenarios-that-are-there).

| bug | what goes wrong | modelled on | breaks | mean seeds to detection |
|---|---|---|---|---|
${rows.map(({ line }) => line).join("\n")}
${agents}`);
}

/** What a hunt for agents finds of their bugs: nobody aims at any of them. */
function agentRows(seedCount: number): string {
  const file = "agents.yaml";
  const scenario = parseScenario(readFileSync(new URL(`../scenarios/explore/${file}`, import.meta.url), "utf8"), file);
  const rows = agentBugNames.map((name) => {
    const broken = new Map<string, number>();
    for (let seed = 1; seed <= seedCount; seed++) {
      const { failure, broke } = huntSeed(scenario, seed, { mode: scenario.mode, bugs: bugsOf([name]) });
      const requirement = failure?.requirement ?? (broke === undefined ? undefined : "the run itself");
      if (requirement !== undefined) broken.set(requirement, (broken.get(requirement) ?? 0) + 1);
    }
    return { name, broken, found: [...broken.values()].reduce((sum, count) => sum + count, 0) };
  });
  const seen = rows.filter(({ found }) => found > 0);
  const lines = seen.map(({ name, broken, found }) => {
    const breaks = [...broken.keys()].map((requirement) => `\`${requirement}\``).join(", ");
    return `| \`${name}\` | ${agentBugSymptom(name)} | ${breaks} | ${(seedCount / found).toFixed(1)} |`;
  });
  return `
## Bugs of node agents

Hunts of \`scenarios/explore/agents.yaml\` find ${seen.length} of the ${rows.length} planted bugs of node agents within ${seedCount} seeds each. The others
need more seeds, or show in what this scenario does not judge: texts, events, images, options.

| bug | what goes wrong | breaks | mean seeds to detection |
|---|---|---|---|
${lines.join("\n")}
`;
}
