// Runs one child in the foreground as if it were this process: same terminal, its signals, its exit code.
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { root } from "./pinned-node.mjs";

/** Resolves to the child's exit code, 128 + n when signal n ended it. Rejects when it cannot be started. */
export function runNode(node, args, cwd) {
  const env = {
    // Code as it was compiled last, without its types: a start takes half the time, and 20 MB less.
    NODE_COMPILE_CACHE: join(root, "node_modules", ".cache", "compiled"),
    ...process.env,
    // Tools that start `node` by name must get the same one.
    PATH: `${dirname(node)}${delimiter}${process.env.PATH ?? ""}`,
  };
  const child = spawn(node, args, { stdio: "inherit", env, ...(cwd === undefined ? {} : { cwd }) });
  // A terminal sends Ctrl-C to the whole group: the child decides, and this process waits for it. SIGTERM comes to one process only.
  const ignore = () => {};
  const forward = (signal) => child.kill(signal);
  process.on("SIGINT", ignore);
  process.on("SIGTERM", forward);
  process.on("SIGHUP", forward);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      process.off("SIGINT", ignore);
      process.off("SIGTERM", forward);
      process.off("SIGHUP", forward);
      resolve(code ?? 128 + (constants.signals[signal] ?? 0));
    });
  });
}
