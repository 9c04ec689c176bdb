/** Signals by name, with the numbers that they have on Linux. */
const numbers = {
  HUP: 1,
  INT: 2,
  QUIT: 3,
  ABRT: 6,
  KILL: 9,
  USR1: 10,
  SEGV: 11,
  USR2: 12,
  PIPE: 13,
  ALRM: 14,
  TERM: 15,
  CHLD: 17,
  CONT: 18,
  STOP: 19,
  TSTP: 20,
  WINCH: 28,
} as const;

export type SignalName = keyof typeof numbers;

/** `TERM`, `SIGTERM`, `15`. */
export function signalNamed(text: string): SignalName | undefined {
  if (/^\d{1,3}$/.test(text)) {
    const number = Number(text);
    return (Object.keys(numbers) as SignalName[]).find((name) => numbers[name] === number);
  }
  const name = text.toUpperCase().replace(/^SIG/, "");
  return Object.hasOwn(numbers, name) ? (name as SignalName) : undefined;
}

/** The exit status of a process that a signal ended. */
export const statusOf = (signal: SignalName): number => 128 + numbers[signal];

/** What a process that does nothing about a signal suffers. */
export const isHarmless = (signal: SignalName): boolean =>
  signal === "CHLD" || signal === "CONT" || signal === "WINCH" || signal === "STOP" || signal === "TSTP";
