/** What a person is told about a flag that the command does not have. */
import { findSimilar } from "@optique/core/suggestion";
import { extractOptionNames } from "@optique/core/usage";
import { commandLine } from "../command-line.ts";

const commandTerms = commandLine.usage.flatMap((term) => (term.type === "exclusive" ? term.terms : []));

const commands: readonly string[] = commandTerms.flatMap(([first]) => (first?.type === "command" ? [first.name] : []));

/** The parser's error, with the flag that was probably meant and the command that lists them all. */
export function withAdvice(problem: string, args: readonly string[]): string {
  const unknown = /Unexpected option or subcommand: [`"]?(--[^`"=\s]+)/.exec(problem)?.[1];
  const command = commands.find((name) => name === args[0]);
  const near = unknown === undefined ? [] : findSimilar(unknown, optionsOf(command), nearby);
  const told = advice[`${command} ${unknown}`];
  const meant =
    told ?? (near.length === 0 ? undefined : `Did you mean ${near.map((name) => `\`${name}\``).join(" or ")}?`);
  const choice = command === undefined ? `The commands are ${commands.join(", ")}.` : undefined;
  return `${[problem.trimEnd(), meant ?? choice].filter((line) => line !== undefined).join("\n")}\nSee \`touchstone ${command === undefined ? "" : `${command} `}--help\`.`;
}

/** A name that shares no more than its dashes is no advice. */
const nearby = { maxDistance: 3, maxDistanceRatio: 0.34, maxSuggestions: 2 };

/** Of the command that was asked for: what another one takes is no advice. */
function optionsOf(command: string | undefined): ReadonlySet<string> {
  const own = commandTerms.find(([first]) => first?.type === "command" && first.name === command);
  return extractOptionNames(own ?? commandLine.usage);
}

/** Flags that are easily taken for each other: by command and flag. */
const advice: Readonly<Record<string, string>> = {
  "serve --faults":
    "`serve --fault NAME` plants a bug in this server, and may be given more than once; `conform --faults all` tries the suite on each bug in turn.",
  "diff --fault": "Say on which side: `--a-fault NAME` or `--b-fault NAME`.",
  "diff --faults":
    "A side has the bugs that `--a-fault NAME` and `--b-fault NAME` plant, each given once for each bug.",
  "diff --a-faults": "One flag for each bug: `--a-fault NAME --a-fault OTHER`.",
  "diff --b-faults": "One flag for each bug: `--b-fault NAME --b-fault OTHER`.",
  "run --fault":
    "A scenario's file says under `faults` what goes wrong; `serve` and `conform` plant bugs with `--fault`.",
  "run --faults":
    "A scenario's file says under `faults` what goes wrong; `serve` and `conform` plant bugs with `--fault`.",
};
