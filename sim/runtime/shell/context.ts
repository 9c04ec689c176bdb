/** What the parts of the shell know of each other. */
import type { Box, Program, Step } from "../processes/box.ts";
import type { SignalName } from "../processes/signals.ts";
import type { Command } from "./syntax.ts";

/** A part of a script that runs: it yields what it waits for. */
export type Run<T = number> = Generator<Step, T, undefined>;

/** What a shell hands to its subshells. */
export interface ShellState {
  readonly variables: Map<string, string>;
  readonly exported: Set<string>;
  readonly functions: Map<string, Command>;
  positional: readonly string[];
  readonly name: string;
  readonly options: Set<string>;
  readonly traps: Map<SignalName | "EXIT", string>;
}

/** A `break`, `continue`, `return` or `exit` on its way out; `count`: loops still to leave. */
export interface Unwind {
  readonly is: "break" | "continue" | "return" | "exit";
  count: number;
}

export type StartCommand = (
  argv: readonly string[],
  box: Box,
) => Program | { readonly error: string; readonly status: number };

/** A shell as its builtins and expansions see it. */
export interface ShellContext {
  readonly state: ShellState;
  status: number;
  readonly lastBackground: number;
  unwind: Unwind | undefined;
  readonly loopDepth: number;
  readonly callDepth: number;
  get(name: string): string | undefined;
  set(name: string, value: string): void;
  unset(name: string): void;
  complain(text: string): void;
  /** A script in this shell: `eval`, a trap. */
  evaluate(text: string): Run;
  substitute(body: Command): Run<string>;
  /** Replaces the shell by a command: `exec`. */
  become(argv: readonly string[]): Run;
  /** Status of a signal with a trap that came meanwhile. */
  interruption(): number | undefined;
}

/** Ends the shell that meets it, with a message. */
export class ShellError extends Error {}
