/** `touchstone config`: what configuration files mean and what is wrong with them, without starting anything. */
import process from "node:process";
import { type Explained, fileKinds, kindOfFile } from "../../sim/configuration/kinds.ts";
import { problemLines } from "../../sim/configuration/read.ts";
import { configurationRules } from "../../sim/configuration/rules.ts";
import type { Sentence } from "../../sim/configuration/sentences.ts";
import type { Setting } from "../../sim/configuration/setting.ts";
import { profiles } from "../../sim/contract/profile.ts";
import type { ConfigOptions } from "../command-line.ts";
import { agentAnswers } from "../flags/agent-answers.ts";
import { answersTo } from "../flags/configuration-questions.ts";
import { configurationSetting } from "../flags/configuration-setting.ts";
import { fileText, writtenMebibytesMax } from "../flags/file-text.ts";
import { type ExitCode, exitCodes, UsageError } from "../flags/usage-error.ts";

export function config(options: ConfigOptions): ExitCode {
  if (options.action === "schema") {
    const row = fileKinds.find(({ kind }) => kind === options.kind);
    const schema = row?.schema(configurationRules[profiles[options.profile].dialect.name]);
    process.stdout.write(`${JSON.stringify(schema, undefined, 2)}\n`);
    return exitCodes.good;
  }
  return check(options);
}

/** A file with what it comes to. */
interface Checked {
  readonly file: string;
  readonly kind: string | undefined;
  readonly explained: Explained;
}

type CheckOptions = Extract<ConfigOptions, { readonly action: "check" }>;

function check(options: CheckOptions): ExitCode {
  const setting = configurationSetting(profiles[options.profile], false);
  const texts = options.files.map((file) => fileText(file, writtenMebibytesMax));
  const checked = options.files.map((file, at) => explained(file, texts[at] as string, setting));
  if (texts.length === 0 && options.agentFlags === undefined)
    throw new UsageError("config check needs a file, or --agent-flags.");
  const started = agentAnswers(options);
  const answers = [...answersTo(options, texts, setting), ...(started?.sentences ?? [])];
  process.stdout.write(options.json ? asJson(checked, answers) : asText(checked, answers));
  const isGood = checked.every((each) => each.explained.ok) && started?.ok !== false;
  return isGood ? exitCodes.good : exitCodes.usage;
}

function explained(file: string, text: string, setting: Setting): Checked {
  const row = kindOfFile(text);
  if ("message" in row) return { file, kind: undefined, explained: { ok: false, problems: [row] } };
  return { file, kind: row.kind, explained: row.explain(text, setting) };
}

function asJson(files: readonly Checked[], answers: readonly Sentence[]): string {
  const rows = files.map(({ file, kind, explained: { ok, ...rest } }) => ({ file, kind, valid: ok, ...rest }));
  return `${JSON.stringify({ files: rows, ...(answers.length === 0 ? {} : { answers }) }, undefined, 2)}\n`;
}

function asText(files: readonly Checked[], answers: readonly Sentence[]): string {
  const parts = files.map(({ file, kind = "unknown", explained: outcome }) => {
    const head = `${file}: ${kind}, ${outcome.ok ? "valid" : "not valid"}\n`;
    if (outcome.ok) return head + outcome.sentences.map((sentence) => indented(sentence, 1)).join("");
    const told = problemLines(outcome.problems)
      .map((line) => `${line}\n`)
      .join("");
    return head + told + (outcome.warnings ?? []).map((sentence) => indented(sentence, 1)).join("");
  });
  if (answers.length > 0) parts.push(answers.map((sentence) => indented(sentence, 0)).join(""));
  return parts.join("\n");
}

function indented({ text, below = [], isWarning }: Sentence, depth: number): string {
  const line = `${"  ".repeat(depth)}${isWarning === true ? "Warning: " : ""}${text}\n`;
  return line + below.map((each) => indented(each, depth + 1)).join("");
}
