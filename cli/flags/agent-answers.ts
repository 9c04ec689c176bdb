/** What an agent would do that is started with a file and flags, on a machine: asked of the code that the agent runs. */
import { explainStart, type GivenMachine } from "../../sim/agent/explain-start.ts";
import { agentFileKind } from "../../sim/configuration/agent/agent-file.ts";
import { readAgentCommand } from "../../sim/configuration/agent/command-line.ts";
import { kindOfFile } from "../../sim/configuration/kinds.ts";
import type { Sentence } from "../../sim/configuration/sentences.ts";
import { profiles } from "../../sim/contract/profile.ts";
import { parseQuantity, quantityAt } from "../../wire/quantity.ts";
import type { ConfigOptions } from "../command-line.ts";
import { machineAgentFiles } from "./agent-arguments.ts";
import { fileText } from "./file-text.ts";
import { UsageError } from "./usage-error.ts";

type CheckOptions = Extract<ConfigOptions, { readonly action: "check" }>;

/** Undefined: nobody asks. Throws `UsageError`. */
export function agentAnswers(
  options: CheckOptions,
): { readonly ok: boolean; readonly sentences: readonly Sentence[] } | undefined {
  const { agentFlags, cpu, memory, disk, imageDisk, inodes, pids, profile, files } = options;
  const sizes = [cpu, memory, disk, imageDisk, inodes, pids];
  if (agentFlags === undefined && sizes.every((size) => size === undefined)) return undefined;
  const { dialect } = profiles[profile];
  const { kind } = agentFileKind(dialect);
  const own = files.filter((file) => {
    const found = kindOfFile(fileText(file));
    return "kind" in found && found.kind === kind;
  });
  if (own.length > 1) throw new UsageError(`an agent has one file: these are two, ${own.join(" and ")}.`);
  const args = [...(own[0] === undefined ? [] : [`--config=${own[0]}`]), ...wordsOf(agentFlags ?? "")];
  const command = readAgentCommand(args, dialect, machineAgentFiles);
  const line = `nodeagent ${args.join(" ")}`.trim();
  if (command.is === "help" || command.is === "version")
    throw new UsageError(`--agent-flags: with --${command.is} nothing is started that could be explained.`);
  const warnings = command.warnings.map((text): Sentence => ({ text, isWarning: true }));
  if (command.is === "refused") {
    const problems = command.problems.map((text): Sentence => ({ text }));
    return { ok: false, sentences: [{ text: `${line}: would not start.`, below: [...problems, ...warnings] }] };
  }
  const { ok, sentences } = explainStart(command.settings, machineOf(options));
  const below = [...sentences.map((text): Sentence => ({ text })), ...warnings];
  return { ok, sentences: [{ text: `${line}:`, below }] };
}

function machineOf({
  cpu = "4",
  memory = "16Gi",
  disk = "100Gi",
  imageDisk,
  inodes = "6553600",
  pids = "32768",
}: CheckOptions): GivenMachine {
  return {
    milliCpu: amount("--cpu", cpu, -3),
    memoryBytes: amount("--memory", memory),
    diskBytes: amount("--disk", disk),
    imageDiskBytes: imageDisk === undefined ? undefined : amount("--image-disk", imageDisk),
    inodes: amount("--inodes", inodes),
    pids: amount("--pids", pids),
  };
}

function amount(flag: string, text: string, scale = 0): number {
  const quantity = parseQuantity(text);
  if ("error" in quantity || quantity.digits <= 0n)
    throw new UsageError(`${flag} ${text}: write a quantity above zero, such as 4 or 16Gi.`);
  return Number(quantityAt(quantity, scale));
}

/** As a shell takes them apart: quotes keep words together. Throws `UsageError` where one is not closed. */
function wordsOf(text: string): readonly string[] {
  const open = text.replace(/"[^"]*"|'[^']*'/g, "").match(/["']/)?.[0];
  if (open !== undefined) throw new UsageError(`--agent-flags ${text}: close the quote that begins with ${open}.`);
  const words = text.match(/(?:[^\s"']|"[^"]*"|'[^']*')+/g) ?? [];
  return words.map((word) =>
    word.replace(/"([^"]*)"|'([^']*)'/g, (_whole, double?: string, single?: string) => double ?? single ?? ""),
  );
}
