/**
 * `cli/bin.mjs` may run under another Node, so that a command is its child. Whoever kills `bin.mjs` without a word (SIGKILL)
 * means the command: it ends as it does at SIGTERM, and its port and folders are free. The channel to the parent tells.
 */
import process from "node:process";

export function endWithParent(): void {
  const { channel } = process;
  if (channel === undefined) return;
  process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
  channel.unref(); // it keeps no command waiting
}
