/** What a person is told about a flag that the command does not have. */
import { findSimilar } from "@optique/core/suggestion";
import { extractOptionNames } from "@optique/core/usage";
import { commandLine } from "../command-line.ts";

/** The parser's error, with the flag or word that was probably meant and the command that lists them all. */
export function withAdvice(problem: string, args: readonly string[]): string {
  const { path, terms, below } = commandOf(args);
  const [command] = path;
  const unknown = /Unexpected option or subcommand: [`"]?([^`"=\s]+)/.exec(problem)?.[1];
  const isFlag = unknown?.startsWith("--") === true;
  const known = isFlag ? extractOptionNames(ownTerms(terms)) : new Set(below);
  const near = unknown === undefined || command === undefined ? [] : findSimilar(unknown, known, nearby);
  const told = advice[`${command} ${unknown}`];
  const meant =
    told ?? (near.length === 0 ? undefined : `Did you mean ${near.map((name) => `\`${name}\``).join(" or ")}?`);
  const lacking = problem.includes("No matching") && path.length === args.length ? lacks[path.join(" ")] : undefined;
  const isOfFlag = isFlag || /^Error: [`"]--/.test(problem);
  const isChoice = below.length > 0 && command !== "runtime" && (command === undefined || !isOfFlag);
  const choice = isChoice ? `The commands are ${below.join(", ")}.` : undefined;
  const lines = [lacking ?? problem.trimEnd(), meant ?? choice].filter((line) => line !== undefined);
  return `${lines.join("\n")}\nSee \`${["touchstone", ...path].join(" ")} --help\`.`;
}

type Terms = typeof commandLine.usage;

/** The command that was asked for, by its words, what it takes, and the commands below it: what another one takes is no advice. */
function commandOf(args: readonly string[]): {
  readonly path: readonly string[];
  readonly terms: Terms;
  readonly below: readonly string[];
} {
  const path: string[] = [];
  let terms: Terms = commandLine.usage;
  for (const arg of args) {
    const next = alternatives(terms).find(([first]) => first?.type === "command" && first.name === arg);
    if (next === undefined) break;
    path.push(arg);
    terms = next.slice(1);
  }
  const below = alternatives(terms).flatMap(([first]) => (first?.type === "command" ? [first.name] : []));
  return { path, terms, below };
}

/** Also of commands that stand together as one alternative beside flags. */
const alternatives = (terms: Terms): readonly Terms[] =>
  terms.flatMap((term) =>
    term.type === "exclusive"
      ? term.terms.flatMap((each) => (each[0]?.type === "exclusive" ? alternatives(each) : [each]))
      : [],
  );

/** Without the commands below: their flags are not those of the command itself. */
const ownTerms = (terms: Terms): Terms =>
  terms.flatMap((term): Terms => {
    if (term.type !== "exclusive") return [term];
    const own = alternatives([term]).filter(([first]) => first?.type !== "command");
    return own.length === 0 ? [] : [{ ...term, terms: own }];
  });

/** Commands that do nothing by themselves: what is missing, where the parser only says that nothing matches. */
const lacks: Readonly<Record<string, string>> = {
  runtime:
    "Error: runtime needs --listen, the socket of the runtime: touchstone runtime --listen unix:///tmp/runtime.sock",
  config: "Error: config needs to be told what to do.",
  capacity: "Error: capacity needs an experiment's file, or one of its commands.",
};

/** A name that shares no more than its dashes is no advice. */
const nearby = { maxDistance: 3, maxDistanceRatio: 0.34, maxSuggestions: 2 };

/** Flags that are easily taken for each other: by command and flag. */
const advice: Readonly<Record<string, string>> = {
  "serve --faults":
    "`serve --fault NAME` plants a bug in this server, and may be given more than once; `conform --faults all` tries the suite on each bug in turn.",
  "capacity --report": "`--output DIR` says where the report goes, as a page among its forms.",
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
