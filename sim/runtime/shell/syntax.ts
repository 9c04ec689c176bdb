/** A shell script as a tree: what the parser makes and the shell runs. Text is one character a byte. */

export type WordPart =
  | { readonly is: "text"; readonly text: string; readonly quoted: boolean }
  /** `$name`, `${name}`, and with an operation `${name:-word}`. */
  | {
      readonly is: "parameter";
      readonly name: string;
      readonly quoted: boolean;
      readonly operation: ParameterOperation | undefined;
    }
  | { readonly is: "arithmetic"; readonly word: Word; readonly quoted: boolean }
  | { readonly is: "substitution"; readonly body: Command; readonly quoted: boolean };

export type ParameterOperation =
  | { readonly is: "length" }
  /** `:` counts an empty value as unset. */
  | { readonly is: "-" | "=" | "?" | "+"; readonly colon: boolean; readonly word: Word }
  | { readonly is: "%" | "%%" | "#" | "##"; readonly word: Word };

export type Word = readonly WordPart[];

export type Redirection =
  | { readonly is: "<" | ">" | ">>" | "<>"; readonly number: number; readonly target: Word }
  /** `n>&m`; `-` closes. */
  | { readonly is: "duplicate"; readonly number: number; readonly target: Word }
  | { readonly is: "here"; readonly number: number; readonly body: Word };

export type Command =
  | { readonly is: "list"; readonly items: readonly { readonly command: Command; readonly background: boolean }[] }
  | { readonly is: "and" | "or"; readonly left: Command; readonly right: Command }
  | { readonly is: "not"; readonly body: Command }
  | { readonly is: "pipe"; readonly parts: readonly Command[] }
  | {
      readonly is: "simple";
      readonly assignments: readonly { readonly name: string; readonly value: Word }[];
      readonly words: readonly Word[];
      readonly redirections: readonly Redirection[];
    }
  | { readonly is: "group" | "subshell"; readonly body: Command; readonly redirections: readonly Redirection[] }
  | {
      readonly is: "if";
      readonly arms: readonly { readonly condition: Command; readonly body: Command }[];
      readonly otherwise: Command | undefined;
      readonly redirections: readonly Redirection[];
    }
  | {
      readonly is: "while";
      readonly until: boolean;
      readonly condition: Command;
      readonly body: Command;
      readonly redirections: readonly Redirection[];
    }
  | {
      readonly is: "for";
      readonly name: string;
      /** Undefined: the positional parameters. */
      readonly words: readonly Word[] | undefined;
      readonly body: Command;
      readonly redirections: readonly Redirection[];
    }
  | {
      readonly is: "case";
      readonly word: Word;
      readonly arms: readonly { readonly patterns: readonly Word[]; readonly body: Command }[];
      readonly redirections: readonly Redirection[];
    }
  | { readonly is: "function"; readonly name: string; readonly body: Command };

export class ShellSyntaxError extends Error {}
