/**
 * What a container of a light node does, read from its command: `sleep N` takes N seconds, `exit N` and `false` say how
 * it ends, `echo TEXT` is what it logs. Nothing is run.
 */
import type { Micros } from "../kernel/types.ts";

export interface ContainerScript {
  /** From its start to its end; undefined: it runs until it is stopped. */
  readonly runMicros: Micros | undefined;
  readonly exitCode: number;
  readonly lines: readonly string[];
}

/** `endsBy` is how long one runs that is not to run for ever and whose command says nothing. */
export function containerScript(command: readonly string[], endsBy: Micros | undefined): ContainerScript {
  const text = command.join(" ");
  const sleeps = [...text.matchAll(/\bsleep\s+(\d{1,9}(?:\.\d{1,6})?)/g)];
  const slept = sleeps.reduce((sum, [, seconds]) => sum + Math.round(Number(seconds) * 1_000_000), 0);
  const exit = /\bexit\s+(\d{1,3})\b/.exec(text)?.[1];
  const failure = /(?:^|[\s/;&|])false\b/.test(text) ? 1 : 0;
  const exitCode = exit === undefined ? failure : Number(exit) & 255;
  const isEndless = /\bsleep\s+inf/.test(text);
  const saysEnd = sleeps.length > 0 || exit !== undefined || failure !== 0 || /(?:^|[\s/])true\b/.test(text);
  const lines = [...text.matchAll(/\becho\s+(?:"([^"]*)"|'([^']*)'|([^;&|]+))/g)].map(
    ([, a, b, c = ""]) => a ?? b ?? c.trim(),
  );
  return { runMicros: isEndless ? undefined : saysEnd ? slept : endsBy, exitCode, lines };
}
