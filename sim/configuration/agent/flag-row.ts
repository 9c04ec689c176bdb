/** What is told of an agent's flag. Source: document 3, Options. */

/** How a flag's text is read; `flag-values.ts` has the grammar of each. */
export type FlagType =
  | "bool"
  | "int32"
  | "int"
  | "duration"
  | "string"
  | "strings"
  | "ip"
  | "gates"
  | "labels"
  | "pairs"
  | "thresholds"
  | "headers"
  | "taints"
  | "reservedMemory"
  | "level"
  | "vmodule"
  | "bytes"
  | "version"
  | "help";

export type FlagDefault = string | { readonly documented: string; readonly observed: string };

export interface FlagRow {
  readonly name: string;
  readonly type: FlagType;
  /** As text, read like a flag's own. Empty for lists and maps: none. */
  readonly default: FlagDefault;
  /** Where the configuration file has it, by dots. Undefined: only flags do. */
  readonly field?: string;
  /** C: belongs into the file. R: will be removed. */
  readonly deprecated?: "C" | "R";
  /** With R: from which version on, or some other reason, as the warning tells it. */
  readonly removal?: string;
  readonly shorthand?: string;
  readonly help: string;
  /** What it does here. */
  readonly effect: FlagEffect;
}

export type FlagEffect =
  /** Where it shows. */
  | { readonly acts: string }
  /** Only a real kernel could act on it: it is checked and shown in `/configz`, and the agent reports at its start why that is all. */
  | { readonly kernelAlone: string };
