// `npm start`, `npm test` and their kin: installs what is missing, then runs the task with the pinned Node.
// Plain JavaScript without dependencies: it must run under Node 20 on a fresh clone.
import { join } from "node:path";
import { installWhatIsMissing } from "./install.mjs";
import { compiled, root, usableNode } from "./pinned-node.mjs";
import { runNode } from "./run-child.mjs";

/** What each script of package.json runs, as arguments to Node; the caller's own arguments follow. */
const tasks = {
  start: ["cli/main.ts", "conform"],
  test: ["node_modules/vitest/vitest.mjs", "run"],
  lint: ["node_modules/oxlint/bin/oxlint", "--type-aware", "--deny-warnings"],
  types: ["node_modules/typescript/bin/tsc", "--noEmit"],
  format: ["node_modules/@biomejs/biome/bin/biome", "check"],
  bench: ["bench/run.ts"],
  recorded: ["cli/commands/recorded.ts"],
  requirements: ["cli/commands/requirements.ts"],
  build: ["cli/packaging/build.mjs"],
  demo: ["docs/demo/build.mjs"],
  install: undefined,
  pack: undefined,
};

/** Nothing was run: a wrong command line, or the machine lacks something. */
const exitUnusable = 2;

process.exitCode = await main(process.argv.slice(2));

async function main([task, ...args]) {
  if (task === undefined || !Object.hasOwn(tasks, task)) {
    console.error(`usage: node cli/bootstrap.mjs ${Object.keys(tasks).join("|")} [arguments]`);
    return exitUnusable;
  }
  if (task === "pack") {
    console.error("touchstone: the checkout is not the package. `npm run build` builds the package and packs it.");
    return exitUnusable;
  }
  const problem = installWhatIsMissing();
  if (problem !== undefined) {
    console.error(`touchstone: ${problem}`);
    return exitUnusable;
  }
  const command = tasks[task];
  if (command === undefined) return 0;
  const [script, ...fixed] = command;
  return runNode(usableNode(), [join(root, script), ...fixed, ...args], { compiled, cwd: root });
}
