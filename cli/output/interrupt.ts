/** Ctrl-C and SIGTERM while a command works: the first asks it to end with what it has, the second ends it at once. */
import process from "node:process";

/**
 * `signal` is aborted at the first interrupt; `stopListening` gives the signals their usual meaning back. The second
 * ends the program, after `leaving` has been told and `tidyUp` called.
 */
export function onInterrupt(
  note: string,
  leaving?: string,
  tidyUp?: () => void,
): { readonly signal: AbortSignal; stopListening(): void } {
  const controller = new AbortController();
  const ask = (): void => {
    process.stderr.write(`\n${note}\n`);
    controller.abort();
  };
  const stopListening = listen(ask, () => {
    if (leaving !== undefined) process.stderr.write(`\n${leaving}\n`);
    tidyUp?.();
  });
  return { signal: controller.signal, stopListening };
}

/**
 * Does work that takes a moment and is one step: files that belong together. An interrupt that comes in the midst of it finds it done.
 * Who listens for interrupts is told of it afterwards; where nobody does, it is passed over.
 */
export function uninterrupted(work: () => void): void {
  const hold = (): void => {};
  const signals = ["SIGINT", "SIGTERM"] as const;
  for (const signal of signals) process.on(signal, hold);
  try {
    work();
  } finally {
    for (const signal of signals) process.off(signal, hold);
  }
}

/** Resolves at the first interrupt. */
export function interrupted(): Promise<"interrupted"> {
  return new Promise((resolve) => void listen(() => resolve("interrupted")));
}

/** In which an interrupt is heard that came while work went on in one turn. */
export const turnOfTheLoop = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

function listen(first: () => void, last: () => void = () => {}): () => void {
  const meaning = interruptMeaning();
  const interrupt = (name: NodeJS.Signals): void => {
    const means = meaning(performance.now());
    if (means === "end") last();
    if (means === "end") process.exit(name === "SIGINT" ? 130 : 143);
    if (means === "ask") first();
  };
  const signals = ["SIGINT", "SIGTERM"] as const;
  for (const signal of signals) process.on(signal, interrupt);
  return () => {
    for (const signal of signals) process.off(signal, interrupt);
  };
}

/**
 * What each interrupt in turn means, told when it came. One Ctrl-C may come twice: from the terminal, and from the
 * process that has started this one. No hand is so quick.
 */
export function interruptMeaning(): (nowMillis: number) => "ask" | "end" | "same" {
  let firstMillis: number | undefined;
  return (nowMillis) => {
    if (firstMillis !== undefined) return nowMillis - firstMillis < sameMillisMax ? "same" : "end";
    firstMillis = nowMillis;
    return "ask";
  };
}

const sameMillisMax = 100;
