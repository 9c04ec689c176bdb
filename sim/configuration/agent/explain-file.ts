/**
 * What a file of an agent's configuration means and what is wrong with it, without an agent. Flags come before it, so that
 * what follows only from both is taken as given: a connection file.
 */
import {
  parseEvictionSettings,
  type EvictionAmount,
  type EvictionThreshold,
} from "../../../wire/eviction-thresholds.ts";
import { readDocument } from "../document.ts";
import { agentFileKind, type AgentFile, readAgentDocument, readAgentFields } from "./agent-file.ts";
import { type AgentRules, agentRules } from "./agent-rules.ts";
import { configurationProblems, durationText } from "./checks.ts";
import { withHard } from "./command-line.ts";
import { evictionSettingsOf } from "./eviction-settings.ts";
import { gateProblem } from "./feature-gates.ts";
import { fileFields } from "./file-fields.ts";
import { flagRow } from "./flag-parsing.ts";
import { firstLines } from "../../../wire/first-lines.ts";
import type { FlagValue } from "./flag-values.ts";
import { type AgentSettings, settle } from "./settings.ts";
import { startProblems } from "./start-checks.ts";
import type { Dialect } from "../../../wire/dialect.ts";

export interface FileProblem {
  /** Empty for what concerns several fields, or the file. */
  readonly field: string;
  readonly message: string;
}

export type ExplainedFile =
  | { readonly ok: true; readonly said: readonly string[]; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly problems: readonly FileProblem[]; readonly warnings: readonly string[] };

export function explainAgentFile(text: string, dialect: Dialect): ExplainedFile {
  const rules = agentRules[dialect.name];
  const document = readAgentDocument(text, agentFileKind(dialect));
  if (document.problems.length > 0) {
    return {
      ok: false,
      problems: document.problems.map(({ field = "", message }) => ({ field, message })),
      warnings: [],
    };
  }
  const file = readAgentFields(withHard(document.fields, rules));
  const settings = settle(new Map([["svcconfig", "given"]]), file, rules, true);
  const gate = gateProblem(settings.gates());
  const problems = [
    ...file.problems.map(({ field = "", message }) => ({ field, message })),
    ...(gate === undefined ? [] : [{ field: "featureGates", message: gate }]),
    ...[...configurationProblems(settings), ...startProblems(settings)].map(placed),
  ];
  const doubled = readDocument(text).problems.map(({ message }) => `${message}: the last one counts.`);
  const warnings = [...firstLines(doubled, warningsMax), ...file.warnings];
  return problems.length > 0
    ? { ok: false, problems, warnings }
    : { ok: true, said: sentences(file, settings, rules), warnings };
}

const warningsMax = 10;

const fieldNames = new Set(fileFields.map(({ field }) => field));

/** Checks name their field or its flag first. */
function placed(problem: string): FileProblem {
  const message = problem.replace(/^invalid configuration: /, "");
  const flag = /^--([a-z-]+)[: ]/.exec(message)?.[1] ?? /^[^(]*\(--([a-z-]+)\)/.exec(message)?.[1];
  const field = flag === undefined ? /^([A-Za-z.]+)/.exec(message)?.[1] : flagRow(flag)?.field;
  return { field: field !== undefined && fieldNames.has(field) ? field : "", message };
}

function sentences(file: AgentFile, settings: AgentSettings, rules: AgentRules): readonly string[] {
  const given = fileFields.filter(({ field }) => file.values.has(field) || file.open.has(field));
  return [
    ...given.map(({ field, flag }) => fieldSentence(field, flag, file)),
    ...defaults(file, rules),
    ...evictions(settings),
  ];
}

function fieldSentence(field: string, flag: string | undefined, file: AgentFile): string {
  const value = file.values.get(field);
  const shown = value === undefined ? JSON.stringify(file.open.get(field)) : valueText(field, value);
  const row = flag === undefined ? undefined : flagRow(flag);
  const help = row === undefined ? "" : ` ${row.help}`;
  const kept =
    row !== undefined && "kept" in row.effect ? ` Nothing else follows from it here: ${row.effect.kept}.` : "";
  return `${field} is ${shown}.${help}${kept}`;
}

function valueText(field: string, value: FlagValue): string {
  const type = fileFields.find((row) => row.field === field)?.type;
  return type === "duration" ? durationText(value as number) : JSON.stringify(value);
}

/** A file has defaults of its own, where flags have others. */
function defaults(file: AgentFile, { fileDefaults }: AgentRules): readonly string[] {
  return Object.entries(fileDefaults).flatMap(([field, value]) =>
    file.values.has(field) ? [] : [`${field} is not there, which in a file means ${JSON.stringify(value)}.`],
  );
}

function evictions(settings: AgentSettings): readonly string[] {
  const rules = parseEvictionSettings(evictionSettingsOf(settings));
  if ("error" in rules) return [];
  const { thresholds } = rules;
  if (thresholds.length === 0) return ["No pods are evicted for what is left on the node."];
  return thresholds.map(thresholdText);
}

function thresholdText({ signal, value, graceMillis, minimumReclaim }: EvictionThreshold): string {
  const when = graceMillis === 0 ? "at once" : `after ${durationText(graceMillis * 1_000)}`;
  const more = isNothing(minimumReclaim) ? "" : `, until ${amountText(minimumReclaim)} more than that is free`;
  return `Pods are evicted ${when} where ${signal} is below ${amountText(value)}${more}.`;
}

const isNothing = (amount: EvictionAmount): boolean => ("amount" in amount ? amount.amount : amount.fraction) === 0;

const amountText = (amount: EvictionAmount): string =>
  "amount" in amount ? (amount.text ?? String(amount.amount)) : `${Math.round(amount.fraction * 10_000) / 100}%`;
