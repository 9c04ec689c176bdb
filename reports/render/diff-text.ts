/** A comparison for a person: each difference with the program that shows it, the request and both answers. */
import type { DiffAnswer, DiffPlace, Difference, DiffReport, DiffStep } from "../schema/diff-report.ts";
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
    `${counted(programs, "program")} on ${counted(topics.length, "topic")}, ${runs} each, seed ${seed}; ${counted(differences.length, "difference")}`,
    paint(tones[conclusion], conclusion.toUpperCase()),
  ];
  return `${lines.join("\n")}\n`;
}

function differenceLines(difference: Difference, number: number, paint: Paint): string[] {
  const { cause, topic, programs, steady, follows, program, places, placesCount, answers, replay } = difference;
  const before = program.slice(0, -1);
  const untold = placesCount - Math.min(places.length, placesMax);
  return [
    `${paint("bad", `${number}.`)} ${paint("strong", cause)}  ${paint("quiet", `${topic}, met in ${counted(programs, "program")}`)}`,
    ...(steady ? [] : ["  did not come back when it was played once more: this decides nothing"]),
    ...(follows === undefined ? [] : [`  may follow from  ${follows}`]),
    ...before.map((step) => `  first    ${requestText(step)}`),
    `  request  ${requestText(program.at(-1) as DiffStep)}`,
    `  answer A ${answerText(answers.a)}`,
    `  answer B ${answerText(answers.b)}`,
    ...places.slice(0, placesMax).flatMap((place) => placeLines(place, paint)),
    ...(untold === 0 ? [] : [`  and ${counted(untold, "more place")}`]),
    `  again    ${replay}`,
  ];
}

/** Those of an answer that are shown; the report has more. */
const placesMax = 8;

function placeLines({ path, a, b }: DiffPlace, paint: Paint): string[] {
  const heading = path === "" ? "the whole body" : path;
  return [`  at       ${paint("strong", heading)}`, `    A      ${a ?? "nothing"}`, `    B      ${b ?? "nothing"}`];
}

function requestText({ method, path, query, headers, body, as, until, untilWithout }: DiffStep): string {
  const words = Object.entries(query ?? {}).map(([name, value]) => `${name}=${value}`);
  return [
    method,
    words.length === 0 ? path : `${path}?${words.join("&")}`,
    ...Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}`),
    ...(as === undefined ? [] : [as === "nobody" ? "without credentials" : `with the token ${as.token}`]),
    ...(until === undefined ? [] : [`until the answer has ${until}`]),
    ...(untilWithout === undefined ? [] : [`until the answer has no ${untilWithout}`]),
    ...(body === undefined ? [] : [cut(typeof body === "string" ? body : JSON.stringify(body), 400)]),
  ].join("  ");
}

/** What was answered, in a few words: where the two part is told place by place. */
function answerText({ status, headers, body }: DiffAnswer): string {
  const { "content-type": type, ...others } = headers;
  const shown = Object.entries(others).map(([name, value]) => `${name}: ${cut(value, 120)}`);
  return [String(status), bodyText(body, type), ...shown].join("  ");
}

function bodyText(body: unknown, type: string | undefined): string {
  if (Array.isArray(body)) return counted(body.length, "event");
  if (typeof body !== "object" || body === null) {
    return `${typeof body === "string" ? `${type ?? "text"} ` : ""}${cut(JSON.stringify(body), 120)}`;
  }
  const { kind, reason, message, metadata, items, rows } = body as Readonly<Record<string, unknown>>;
  if (typeof kind !== "string") return cut(JSON.stringify(body), 120);
  if (kind === "Status") return cut([kind, reason, message].filter((word) => typeof word === "string").join("  "), 240);
  if (Array.isArray(items)) return `${kind} of ${counted(items.length, "item")}`;
  if (Array.isArray(rows)) return `${kind} of ${counted(rows.length, "row")}`;
  const name = (metadata as { readonly name?: unknown } | undefined)?.name;
  return typeof name === "string" ? `${kind} ${cut(name, 80)}` : kind;
}

const cut = (text: string, max: number): string => (text.length <= max ? text : `${text.slice(0, max)}…`);

const section = (rows: readonly string[], heading: string): string[] =>
  rows.length === 0 ? [] : [heading, ...rows.map((row) => `  ${row}`), ""];

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;
