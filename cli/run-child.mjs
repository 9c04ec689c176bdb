// Runs one child in the foreground as if it were this process: same terminal, its signals, its exit code.
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { delimiter, dirname } from "node:path";

/**
 * Resolves to the child's exit code, 128 + n when signal n ended it. Rejects when it cannot be started. In the folder `compiled` it
 * finds its code as it was compiled last, unless `NODE_COMPILE_CACHE` names another: a start takes half the time, and 20 MB less.
 * A `watched` child has a channel to this process, which breaks when this process is killed (`cli/parent-gone.ts`).
 */
export function runNode(node, args, { compiled, cwd, watched = false }) {
  const env = {
    NODE_COMPILE_CACHE: compiled,
    ...process.env,
    // Tools that start `node` by name must get the same one.
    PATH: `${dirname(node)}${delimiter}${process.env.PATH ?? ""}`,
  };
  const child = spawn(node, args, {
    stdio: ["inherit", "inherit", "inherit", ...(watched ? ["ipc"] : [])],
    env,
    ...(cwd === undefined ? {} : { cwd }),
  });
  // The child decides, and this process waits for it. A terminal sends Ctrl-C to the whole group, so that the child is
  // told twice; whoever stops this process alone, as CI does, tells it once.
  const forward = (signal) => child.kill(signal);
  const forwarded = ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const signal of forwarded) process.on(signal, forward);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      for (const signal of forwarded) process.off(signal, forward);
      resolve(code ?? 128 + (constants.signals[signal] ?? 0));
    });
  });
}
