/** Ctrl-C and SIGTERM while a command works: the first asks it to end with what it has, the second ends it at once. */
import process from "node:process";

/** `signal` is aborted at the first interrupt; `stopListening` gives the signals their usual meaning back. */
export function onInterrupt(note: string): { readonly signal: AbortSignal; stopListening(): void } {
  const controller = new AbortController();
  const interrupt = (name: NodeJS.Signals): void => {
    if (controller.signal.aborted) process.exit(name === "SIGINT" ? 130 : 143);
    process.stderr.write(`\n${note}\n`);
    controller.abort();
  };
  process.on("SIGINT", interrupt);
  process.on("SIGTERM", interrupt);
  return {
    signal: controller.signal,
    stopListening() {
      process.off("SIGINT", interrupt);
      process.off("SIGTERM", interrupt);
    },
  };
}
