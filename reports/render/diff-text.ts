/** A comparison for a person: each difference with the program that shows it, the request and both answers. */
import type { DiffAnswer, Difference, DiffReport, DiffStep } from "../schema/diff-report.ts";
import type { Paint, Tone } from "./text.ts";

const tones: Readonly<Record<DiffReport["conclusion"], Tone>> = {
  same: "good",
  different: "bad",
  inconclusive: "doubtful",
};

/** Ends in a newline. */
export function renderDiffText(report: DiffReport, paint: Paint = (_tone, text) => text): string {
  const { a, b, seed, runs, topics, differences, undecided, leftovers, conclusion } = report;
  const left = [...leftovers.a.map((path) => `A ${path}`), ...leftovers.b.map((path) => `B ${path}`)];
  const programs = topics.reduce((sum, topic) => sum + topic.programs, 0);
  const lines = [
    `A ${paint("strong", a)}`,
    `B ${paint("strong", b)}`,
    "",
    ...differences.flatMap((difference, index) => [...differenceLines(difference, index + 1, paint), ""]),
    ...section(undecided, "could not be compared:"),
    ...section(left, "could not be removed:"),
    ...(report.complete ? [] : ["cut short: what is here is not all"]),
    `${programs} programs on ${topics.length} topics, ${runs} each, seed ${seed}; ${counted(differences.length, "difference")}`,
    paint(tones[conclusion], conclusion.toUpperCase()),
  ];
  return `${lines.join("\n")}\n`;
}

function differenceLines(difference: Difference, number: number, paint: Paint): string[] {
  const { cause, topic, programs, steady, follows, program, a, b, answers, replay } = difference;
  const before = program.slice(0, -1);
  return [
    `${paint("bad", `${number}.`)} ${paint("strong", cause)}  ${paint("quiet", `${topic}, met in ${counted(programs, "program")}`)}`,
    ...(steady ? [] : ["  did not come back when it was played once more: this decides nothing"]),
    ...(follows === undefined ? [] : [`  may follow from  ${follows}`]),
    ...before.map((step) => `  first    ${requestText(step)}`),
    `  request  ${requestText(program.at(-1) as DiffStep)}`,
    `  A        ${a ?? "nothing"}`,
    `  B        ${b ?? "nothing"}`,
    `  answer A ${answerText(answers.a)}`,
    `  answer B ${answerText(answers.b)}`,
    `  again    ${replay}`,
  ];
}

function requestText({ method, path, query, headers, body }: DiffStep): string {
  const words = Object.entries(query ?? {}).map(([name, value]) => `${name}=${value}`);
  return [
    method,
    words.length === 0 ? path : `${path}?${words.join("&")}`,
    ...Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}`),
    ...(body === undefined ? [] : [typeof body === "string" ? body : JSON.stringify(body)]),
  ].join("  ");
}

const answerTextMax = 600;

function answerText({ status, headers, body }: DiffAnswer): string {
  const { "content-type": _usual, ...others } = headers;
  const shown = Object.entries(others).map(([name, value]) => `${name}: ${value}`);
  const text = [String(status), ...shown, typeof body === "string" ? body : JSON.stringify(body)].join("  ");
  return text.length <= answerTextMax ? text : `${text.slice(0, answerTextMax)}…`;
}

const section = (rows: readonly string[], heading: string): string[] =>
  rows.length === 0 ? [] : [heading, ...rows.map((row) => `  ${row}`), ""];

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;
