/** The command line of an agent: the two flags that are Touchstone's own, and the rest, which the table of document 3 reads. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import type { AgentFiles } from "../../sim/configuration/agent/command-line.ts";
import { agentBugNames } from "../../sim/planted/agent-bugs.ts";
import { startedAgentBugNames } from "../../sim/planted/started-agent-bugs.ts";
import type { Profile } from "../../sim/contract/profile.ts";
import { didYouMean } from "../../wire/near-names.ts";
import { fileText } from "./file-text.ts";
import { UsageError } from "./usage-error.ts";

export interface AgentArguments {
  readonly profile: Profile["name"];
  /** Of the connection file; undefined: its current one. */
  readonly context: string | undefined;
  /** Planted bugs, by name. */
  readonly faults: readonly string[];
  readonly rest: readonly string[];
}

const own = ["--profile", "--context", "--fault"];

/** Throws `UsageError`. The last one counts where a flag is given twice. */
export function splitAgentArguments(args: readonly string[]): AgentArguments {
  const found = new Map<string, string>();
  const faults: string[] = [];
  const rest: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] as string;
    const name = own.find((each) => arg === each || arg.startsWith(`${each}=`));
    if (name === undefined) {
      rest.push(arg);
      continue;
    }
    const value = arg === name ? args[++at] : arg.slice(name.length + 1);
    if (value === undefined || value === "") throw new UsageError(`${name} needs a value.`);
    if (name === "--fault") for (const fault of value.split(",")) faults.push(knownFault(fault));
    found.set(name, value);
  }
  const profile = found.get("--profile") ?? "svc";
  if (profile !== "svc" && profile !== "kubernetes")
    throw new UsageError(`--profile ${profile}: must be svc or kubernetes.`);
  return { profile, context: found.get("--context"), faults, rest };
}

function knownFault(name: string): string {
  const known: readonly string[] = [...startedAgentBugNames, ...agentBugNames];
  if (known.includes(name)) return name;
  throw new UsageError(`--fault ${name}: no planted bug of an agent has that name${didYouMean(name, known)}.`);
}

/** The machine's own files, as the reader of the table asks for them. */
export const machineAgentFiles: AgentFiles = {
  read: (path) => tried(() => ({ text: fileText(path) })),
  list: (path) => tried(() => ({ paths: filesBelow(path) })),
  environment: process.env,
};

function filesBelow(folder: string): readonly string[] {
  const paths: string[] = [];
  const folders = [folder];
  for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
    for (const entry of readdirSync(next, { withFileTypes: true })) {
      const path = join(next, entry.name);
      if (entry.isDirectory()) folders.push(path);
      else paths.push(path);
    }
  }
  return paths.toSorted();
}

const words: Readonly<Record<string, string>> = {
  ENOENT: "no such file or directory",
  EACCES: "permission denied",
  EISDIR: "is a directory",
  ENOTDIR: "not a directory",
};

function tried<Result>(read: () => Result): Result | { readonly error: string } {
  try {
    return read();
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    return { error: words[code] ?? message };
  }
}
