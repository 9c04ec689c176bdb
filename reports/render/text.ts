/**
 * A suite report for a person: failures first and in full, then what else needs a look, then a table by area
 * and one closing line. Made from the report alone, so that a saved report renders the same later.
 */
import { baselineWords, gateOf } from "../gate/gate.ts";
import type {
  BaselineResult,
  CheckResult,
  DeviationResult,
  NotJudged,
  RequirementResult,
  SuiteFailure,
  SuiteReport,
  UnjudgedBy,
} from "../schema/suite-report.ts";
import type { Conclusion, GateOutcome, OutcomeStatus } from "../schema/verdict.ts";
import { againText, caveatsOf, checksText, counted, durationText } from "./describe.ts";
import { renderTable } from "./table.ts";

/** What a piece of text means; a terminal shows it by a colour. */
export type Tone = "bad" | "good" | "doubtful" | "quiet" | "strong";
export type Paint = (tone: Tone, text: string) => string;

export interface TextOptions {
  /** Default: no colours. */
  readonly paint?: Paint;
  /** Folder that evidence names are relative to, shown before them. Default: names as they are. */
  readonly directory?: string;
}

const plain: Paint = (_tone, text) => text;

/** The whole report, ending in a newline. */
export function renderSuiteText(report: SuiteReport, options: TextOptions = {}): string {
  const paint = options.paint ?? plain;
  // Nothing was run: why is all that there is to say.
  if (reasonForAll(report) !== undefined && report.totals.runs === 0) {
    return `${heading(report, paint)}\n${closing(report, paint)}\n`;
  }
  const blocks = [
    heading(report, paint),
    ...groupedFailures(report).map((checks) => failureBlock(report, checks, options)),
    serverBlock(report, paint),
    listBlock(
      "ERRORS of Touchstone itself, not of the target",
      rowsWith(report, "error"),
      (row) => causeOf(row),
      "bad",
      paint,
    ),
    listBlock(
      "STALE deviations: declared, but the target behaves as promised; remove the declaration",
      deviationsThat(report, "stale"),
      deviationText,
      "bad",
      paint,
    ),
    inconclusiveBlock(report, paint),
    listBlock(
      `DECLARED DEVIATIONS of profile ${report.profile}, counted apart`,
      deviationsThat(report, "occurred"),
      deviationText,
      "doubtful",
      paint,
    ),
    unmetBlock(report, paint),
    listBlock("UNSUPPORTED: the target does not claim them", rowsWith(report, "unsupported"), causeOf, "quiet", paint),
    listBlock("SKIPPED on request", rowsWith(report, "skipped"), causeOf, "quiet", paint),
    notJudgedBlock(report, paint),
    baselineBlock(report, paint),
    leftoverBlock(report, paint),
    areaTable(report, paint),
    closing(report, paint),
  ];
  return `${blocks.filter((block) => block !== "").join("\n\n")}\n`;
}

/** What a report says of how its embedded server was made. */
interface EmbeddedServer {
  readonly faults: readonly string[];
  readonly rarity: number;
  readonly featureGates: Readonly<Record<string, boolean>>;
}

/** What stands for the embedded server in lines to paste: it is gone, and another one takes its place. */
function serverBlock({ target, profile, checks }: SuiteReport, paint: Paint): string {
  const isNamed = checks.some(({ failure }) => failure !== undefined && /\$SERVER\b/.test(failure.curl));
  if (target.kind !== "embedded" || !isNamed) return "";
  const { faults = [], rarity, featureGates = {} } = (target.details ?? {}) as Partial<EmbeddedServer>;
  const gates = Object.entries(featureGates).map(([name, on]) => `${name}=${on}`);
  // `serve` takes the bare name of the profile for its newest version.
  const version = profile === "svc" ? undefined : /^v(\d+\.\d+)\./.exec(target.version ?? "")?.[1];
  const flags = [
    `--profile ${profile}${version === undefined ? "" : `-${version}`}`,
    ...(profile === "svc" ? ["--anonymous-auth true"] : []),
    ...faults.map((name) => `--fault ${name}`),
    ...(rarity === undefined || faults.length === 0 ? [] : [`--rarity ${rarity}`]),
    ...(gates.length === 0 ? [] : [`--feature-gates ${gates.join(",")}`]),
  ];
  return paint("quiet", `$SERVER is the URL of a server that is started by: npx touchstone serve ${flags.join(" ")}`);
}

/** One failure in the house's form: promised, expected, actual, evidence, replay, curl. No newline at the end. */
export function renderFailure(
  failure: SuiteFailure,
  options: TextOptions & { readonly evidence?: string } = {},
): string {
  const paint = options.paint ?? plain;
  const fields: readonly (readonly [string, string | undefined])[] = [
    ["promised", failure.promised],
    ["expected", failure.expected],
    ["actual", failure.actual],
    ["program", failure.counterexampleText === "" ? undefined : programText(failure)],
    ["evidence", options.evidence],
    ["replay", failure.replay],
    ["curl", failure.curl === "" ? undefined : failure.curl],
    ["again", againText(failure) || undefined],
  ];
  return [
    `${paint("bad", "FAILED")} ${paint("strong", failure.requirement)} (${failure.level})   check ${failure.check}`,
    ...fields.flatMap(([name, value]) => (value === undefined ? [] : [field(name, value, paint)])),
  ].join("\n");
}

function heading(report: SuiteReport, paint: Paint): string {
  const { target } = report;
  const where = target.kind === "embedded" ? "the embedded server" : target.address;
  const version = target.version === undefined ? "" : ` (${target.version})`;
  const { level, runs } = report.options;
  const quick = level === "quick" ? "level quick, " : "";
  return `${paint("strong", where)}${version}, profile ${report.profile}, seed ${report.seed}, ${quick}${runs} programs a property`;
}

/** Checks that failed, by the requirement that each found broken: one broken thing is one block. */
function groupedFailures(report: SuiteReport): CheckResult[][] {
  const groups = new Map<string, CheckResult[]>();
  for (const check of report.checks) {
    if (check.verdict.status !== "failed") continue;
    const broken = check.failure?.requirement ?? check.id;
    const group = groups.get(broken);
    if (group === undefined) groups.set(broken, [check]);
    else group.push(check);
  }
  return [...groups.values()];
}

function failureBlock(report: SuiteReport, checks: readonly CheckResult[], options: TextOptions): string {
  const [check, ...others] = checks as readonly [CheckResult, ...CheckResult[]];
  const block = checkBlock(report, check, options);
  if (others.length === 0) return block;
  const names = nameLines(others.map(({ id }) => id));
  const also = field("also", `found by ${checks.length} checks, besides by\n${names}`, options.paint ?? plain);
  return `${block}\n${also}`;
}

function checkBlock(report: SuiteReport, check: CheckResult, options: TextOptions): string {
  const { failure } = check;
  if (failure === undefined) {
    const verdict = check.verdict.status === "failed" ? check.verdict : { expected: "", actual: "" };
    return [
      `${(options.paint ?? plain)("bad", "FAILED")} ${check.requirements.join(", ")}   check ${check.id}`,
      field("expected", verdict.expected, options.paint ?? plain),
      field("actual", verdict.actual, options.paint ?? plain),
    ].join("\n");
  }
  const files = report.requirements.find((row) => row.id === failure.requirement)?.evidence ?? [];
  const own = files.filter((file) => file.includes(check.id));
  const evidence = (own.length > 0 ? own : files).map((file) => inDirectory(options.directory, file)).join(", ");
  return renderFailure(failure, {
    ...options,
    ...(evidence === "" || options.directory === undefined ? {} : { evidence }),
  });
}

const inDirectory = (directory: string | undefined, file: string): string =>
  directory === undefined ? file : `${directory.replace(/\/$/, "")}/${file}`;

/** Code points of a program that are shown: some fifteen lines of a terminal. One that was not made smaller may have a hundred times that. */
const programShownMax = 1200;

function programText(failure: SuiteFailure): string {
  const { counterexampleText: whole } = failure;
  // A code point has one or two units: no more of them are looked at than may be shown.
  const shown = [...whole.slice(0, 2 * programShownMax)].slice(0, programShownMax).join("");
  const left = whole.length - shown.length;
  const cut = left === 0 ? "" : ` … and ${left.toLocaleString("en")} characters more (the JSON form has all)`;
  return `${shown}${cut}${shrinkNote(failure)}`;
}

function shrinkNote({ shrinks }: SuiteFailure): string {
  return shrinks === 0 ? "" : ` (made smaller ${shrinks === 1 ? "once" : `${shrinks} times`})`;
}

/** Names, as many on a line as stand there well. */
function nameLines(names: readonly string[]): string {
  const lines = [""];
  for (const [at, name] of names.entries()) {
    const last = lines.at(-1) as string;
    const text = at === names.length - 1 ? name : `${name},`;
    if (last === "") lines[lines.length - 1] = text;
    else if (last.length + 1 + text.length <= lineCharacters) lines[lines.length - 1] = `${last} ${text}`;
    else lines.push(text);
  }
  return lines.join("\n");
}

/** With what stands before it, a line is some hundred. */
const lineCharacters = 88;

/** Continuation lines stand under the first, so that a long text stays one field to the eye. */
function field(name: string, value: string, paint: Paint): string {
  return `  ${paint("quiet", name.padEnd(8))}  ${value.trimEnd().replaceAll("\n", `\n${" ".repeat(12)}`)}`;
}

function rowsWith(report: SuiteReport, status: OutcomeStatus): RequirementResult[] {
  return report.requirements.filter((row) => row.outcome.status === status);
}

function causeOf({ id, level, outcome }: RequirementResult): readonly [string, string] {
  const name = `${id} (${level})`;
  if (outcome.status === "inconclusive" || outcome.status === "skipped") return [name, outcome.why];
  if (outcome.status === "unsupported") return [name, `needs ${outcome.feature}`];
  return [name, outcome.status === "error" ? outcome.cause : ""];
}

/** Where one reason speaks for all, as when the target was not reached, their names say nothing more. */
function inconclusiveBlock(report: SuiteReport, paint: Paint): string {
  const rows = rowsWith(report, "inconclusive");
  const reason = reasonForAll(report);
  if (reason === undefined) return listBlock("INCONCLUSIVE", rows, causeOf, "doubtful", paint);
  return `${paint("doubtful", `INCONCLUSIVE (${rows.length})`)}\n  all of them\n      ${indented(reason)}`;
}

/** Why nothing at all was decided, if that has one reason. */
function reasonForAll({ requirements }: SuiteReport): string | undefined {
  const reasons = new Set(requirements.map(({ outcome }) => (outcome.status === "inconclusive" ? outcome.why : "")));
  const [reason = ""] = reasons;
  return requirements.length > 1 && reasons.size === 1 && reason !== "" ? reason : undefined;
}

/** By name alone: most runs of a part meet none of them, and the profile explains each. */
function unmetBlock(report: SuiteReport, paint: Paint): string {
  const names = deviationsThat(report, "unjudged").map(({ name }) => name);
  if (names.length === 0) return "";
  const title = `NOT MET deviations: no check that meets them ran (${names.length})`;
  return `${paint("quiet", title)}\n  ${nameLines(names).replaceAll("\n", "\n  ")}`;
}

/** By reason and area, since they may outnumber all else: `conform --list` and the JSON have every row with its own reason. */
function notJudgedBlock({ notJudged }: SuiteReport, paint: Paint): string {
  if (notJudged.length === 0) return "";
  const lines = unjudgedReasons.flatMap(([judged, reason]) => {
    const rows = notJudged.filter((row) => row.judged === judged);
    return rows.length === 0 ? [] : [`  ${reason} (${rows.length})\n      ${countsByArea(rows)}`];
  });
  return [paint("quiet", `NOT JUDGED by a run against a server (${notJudged.length})`), ...lines].join("\n");
}

const unjudgedReasons: readonly (readonly [UnjudgedBy, string])[] = [
  ["level", "left out at the level quick: it waits until the target forgets"],
  ["pending", "no check yet"],
  ["process", "shown only by a program that is started for it"],
  ["simulation", "shown only in simulations"],
  ["no", "nothing that a run could show"],
];

function countsByArea(rows: readonly NotJudged[]): string {
  const counts = new Map<string, number>();
  for (const { id } of rows) {
    const area = id.slice(0, id.indexOf("."));
    counts.set(area, (counts.get(area) ?? 0) + 1);
  }
  return [...counts].map(([area, count]) => `${area} ${count}`).join(", ");
}

function deviationsThat(report: SuiteReport, status: DeviationResult["status"]): DeviationResult[] {
  return report.deviations.filter((deviation) => deviation.status === status);
}

function deviationText({ name, requirement, reason, instead }: DeviationResult): readonly [string, string] {
  return [name, `${requirement}: instead, ${sentence(instead)} Reason: ${sentence(reason)}`];
}

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

const indented = (text: string): string => text.trimEnd().replaceAll("\n", "\n      ");

/** Rows in a row with the same text have it once, below the last. */
function listBlock<Row>(
  title: string,
  rows: readonly Row[],
  textOf: (row: Row) => readonly [string, string],
  tone: Tone,
  paint: Paint,
): string {
  if (rows.length === 0) return "";
  const texts = rows.map(textOf);
  const lines = texts.map(([name, text], at) => {
    const isTold = text === "" || text === texts[at + 1]?.[1];
    return isTold ? `  ${name}` : `  ${name}\n      ${indented(text)}`;
  });
  return [paint(tone, `${title} (${rows.length})`), ...lines].join("\n");
}

/** What the baseline says of each finding; the gate's answer is in the last lines. */
function baselineBlock({ baseline }: SuiteReport, paint: Paint): string {
  if (baseline === undefined) return "";
  const having = (status: BaselineEntryResult["status"]): BaselineEntryResult[] =>
    baseline.entries.filter((entry) => entry.status === status);
  const blocks = [
    listBlock("NOT EXPECTED by the baseline", baseline.unexpected, (finding) => [finding, ""], "bad", paint),
    listBlock(
      "STALE in the baseline: these no longer occur; remove the entries",
      having("stale"),
      entryText,
      "bad",
      paint,
    ),
    listBlock("EXPECTED by the baseline", having("occurred"), entryText, "doubtful", paint),
    listBlock("NOT MET entries of the baseline: this run does not tell", having("unjudged"), entryText, "quiet", paint),
  ];
  return blocks.filter((block) => block !== "").join("\n\n");
}

type BaselineEntryResult = BaselineResult["entries"][number];

const entryText = ({ finding, reason }: BaselineEntryResult): readonly [string, string] => [finding, reason];

function leftoverBlock({ leftovers }: SuiteReport, paint: Paint): string {
  if (leftovers.length === 0) return "";
  return [
    paint("doubtful", `LEFT BEHIND: cleanup could not remove these in time (${leftovers.length})`),
    ...leftovers.map((path) => `  ${path}`),
  ].join("\n");
}

const columns = [
  "passed",
  "failed",
  "error",
  "inconclusive",
  "deviation",
  "unsupported",
  "skipped",
] as const satisfies readonly OutcomeStatus[];

/** Requirements by area. Columns that are zero everywhere are left out, but for the first two. */
function areaTable({ requirements }: SuiteReport, paint: Paint): string {
  const areas = new Map<string, Record<OutcomeStatus, number>>();
  const zero = (): Record<OutcomeStatus, number> =>
    Object.fromEntries(columns.map((name) => [name, 0])) as Record<OutcomeStatus, number>;
  const total = zero();
  for (const { id, outcome } of requirements) {
    const area = id.slice(0, id.indexOf("."));
    const counts = areas.get(area) ?? zero();
    areas.set(area, counts);
    counts[outcome.status]++;
    total[outcome.status]++;
  }
  const shown = columns.filter((name, index) => index < 2 || total[name] > 0);
  const line = (name: string, counts: Record<OutcomeStatus, number>): string[] => [
    name,
    ...shown.map((status) => (counts[status] === 0 ? "·" : String(counts[status]))),
  ];
  return renderTable(
    ["requirements", ...shown],
    [...[...areas].map(([area, counts]) => line(area, counts)), line("total", total)],
    { paintHeader: (text) => paint("quiet", text) },
  );
}

const conclusionTone: Readonly<Record<Conclusion, Tone>> = {
  conformant: "good",
  nonconformant: "bad",
  inconclusive: "doubtful",
  error: "bad",
};

function closing(report: SuiteReport, paint: Paint): string {
  const { totals, conclusion } = report;
  const stale = totals.deviations.stale;
  const verdict = stale > 0 && conclusion === "conformant" ? "conformant, but with stale deviations" : conclusion;
  const notes = caveatsOf(report);
  const gate = baselineWords(report).join(", ");
  const reason = reasonForAll(report);
  return [
    `${paint(stale > 0 ? "bad" : conclusionTone[conclusion], verdict.toUpperCase())}${notes.length === 0 ? "" : `, ${notes.join(", ")}`}`,
    ...(reason === undefined ? [] : [indented(reason)]),
    ...(gate === "" ? [] : [paint(gateTone[gateOf(report)], gate)]),
    paint(
      "quiet",
      `${checksText(report)}, ${counted(totals.runs, "program")}, ${counted(totals.exchanges, "exchange")} (counted), ${durationText(report)}`,
    ),
  ].join("\n");
}

const gateTone: Readonly<Record<GateOutcome, Tone>> = {
  passed: "good",
  failed: "bad",
  inconclusive: "doubtful",
  error: "bad",
};
