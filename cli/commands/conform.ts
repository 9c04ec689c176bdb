/** `touchstone conform`: the suite against the embedded server or a URL, its report printed and written. */
import { randomBytes } from "node:crypto";
import process from "node:process";
import { jobsByUrl, judgesExpiry, type SuiteSelection } from "../../conformance/run-suite.ts";
import { renderJson } from "../../reports/render/json.ts";
import { renderFaultText } from "../../reports/render/fault-text.ts";
import { exitCodeFor, withBaseline } from "../../reports/gate/gate.ts";
import { isGood } from "../../reports/schema/fault-report.ts";
import type { SuiteReport } from "../../reports/schema/suite-report.ts";
import { allChecks } from "../../conformance/checks/index.ts";
import { readRequirements } from "../../conformance/requirements/rows.ts";
import type { QuickCheck } from "../../conformance/runner/define-check.ts";
import type { Kind } from "../output/time-left.ts";
import { makePlan, type Plan, type Selection } from "../../conformance/runner/plan.ts";
import { gatesWith, requireBugs } from "./fault-gates.ts";
import { defaultThreads } from "../targets/default-threads.ts";
import { compactHook } from "../targets/compact-hook.ts";
import { readBaseline, writeBaseline } from "../flags/baseline-file.ts";
import type { ConformOptions } from "../command-line.ts";
import { eventLog } from "../output/event-log.ts";
import { explain } from "../explain.ts";
import { onInterrupt } from "../output/interrupt.ts";
import { list } from "./list.ts";
import { progressText } from "../output/progress-text.ts";
import { prepareReport, suiteRenderers, writeReport } from "../output/report-files.ts";
import { suiteProfiles } from "../../conformance/profiles/index.ts";
import { suiteFilesText, writeSuiteFiles } from "../targets/suite-files.ts";
import { addressFlags, addressOf, connectionFlagOf, runSuiteOn, type SuiteTarget } from "../targets/suite-target.ts";
import { painter, progressLine } from "../output/terminal.ts";
import { type ExitCode, exitCodes, UsageError } from "../flags/usage-error.ts";
import { removeFolders, requireWritable } from "../output/written-files.ts";

export async function conform(options: ConformOptions): Promise<ExitCode> {
  if (options.list) return list(options);
  if (options.agent !== undefined) return (await import("./conform-agent.ts")).conformAgent(options);
  if (options.printConfig) return printConfig(options);
  const target = targetOf(options);
  const selection = {
    only: options.only.flat(),
    skip: options.skip.flat(),
    law: options.law,
    level: options.level,
    ...given("shard", options.shard),
  };
  const plan = requireSomething({ ...selection, aged: judgesExpiry(options.level, target.kind) }, options.path);
  requireUseOfHook(options, target, plan);
  if (options.faultHunt !== undefined || options.seeds !== undefined) return tryTheSuite(options, target, selection);
  const format = formatOf(options);
  const baseline = options.baseline === undefined ? undefined : readBaseline(options.baseline);
  const where = addressOf(target);
  if (options.writeBaseline !== undefined) requireWritable(options.writeBaseline, "--write-baseline");
  if (options.events !== undefined) requireWritable(options.events, "--events");
  const made = options.report === undefined ? [] : prepareReport(options.report);
  const progress = progressLine();
  let isRunning = false;
  const events = eventLog({
    file: options.events,
    print: format === "ndjson",
    failed(why) {
      if (!isRunning) {
        removeFolders(made);
        throw new UsageError(`${why}. Name another file.`);
      }
      progress.clear();
      process.stderr.write(`${why}. The run goes on, and its events are not written from here on.\n`);
    },
  });
  const progressOf = progressText({
    kinds: kindsOf(plan, target.kind),
    jobs: options.jobs ?? (target.kind === "url" ? jobsByUrl : defaultThreads()),
    agedCount: target.kind === "url" ? plan.checks.filter(({ kind }) => kind === "aged").length : 0,
    maxWaitMillis: options.maxWait / 1000,
    nowMillis: () => performance.now(),
  });
  const runId = randomBytes(4).toString("hex");
  const { signal: interrupt, stopListening } = onInterrupt(
    "Stopping: the report will hold what is known so far. Again to stop at once.",
    target.kind === "url" ? leftBehind(runId) : undefined,
    () => removeFolders(made),
  );
  const timeUp = options.maxTime === undefined ? undefined : endAfter(options.maxTime);
  const signal = timeUp === undefined ? interrupt : AbortSignal.any([interrupt, timeUp.signal]);
  try {
    events.tell({ type: "started", target: where, profile: options.profile, seed: options.seed });
    isRunning = true;
    const found = await runSuiteOn(target, {
      ...selection,
      profile: options.profile,
      seed: options.seed,
      maxWaitMillis: options.maxWait / 1000,
      signal,
      ...(target.kind === "url" ? { runId } : {}),
      onProgress(what) {
        progress.show(progressOf(what));
        events.progress(what);
      },
      onOtherDialect(line) {
        progress.clear();
        process.stderr.write(`${line}\n`);
      },
      ...given("path", options.path),
      ...given("runs", options.runs),
      ...given("jobs", options.jobs),
      ...given("compact", compactHook(options, where.address, signal)),
    });
    progress.clear();
    const report = baseline === undefined ? found : withBaseline(found, options.baseline as string, baseline);
    const unkept = keep(report, options);
    events.end(report);
    process.stdout.write(printed(report, format, unkept === undefined ? options.report : undefined));
    const code = exitCodeFor(report);
    if (unkept === undefined) return code === exitCodes.good && !events.isWhole ? exitCodes.inconclusive : code;
    const end = explain(unkept);
    return code === exitCodes.good || end === exitCodes.broke ? end : code;
  } finally {
    timeUp?.cancel();
    progress.clear();
    stopListening();
    events.close();
  }
}

/** Writes what is asked for. What cannot be written takes nobody's verdict away: why it could not is returned. */
function keep(report: SuiteReport, { report: folder, writeBaseline: baseline }: ConformOptions): Error | undefined {
  try {
    if (folder !== undefined) writeReport(report, folder);
    if (baseline !== undefined) keepBaseline(report, baseline);
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

/** Checks that take about as long: by what they wait for, and by whether they try many programs. */
function kindsOf({ checks }: Plan, where: SuiteTarget["kind"]): ReadonlyMap<string, Kind> {
  const kindOf = (check: QuickCheck): Kind => {
    const name = check.cost === "quick" && check.programCount(1) === 1 ? "one program" : check.cost;
    return { name, usualMillis: where === "url" ? usualMillis[name] : 300 };
  };
  return new Map(checks.flatMap((check) => (check.kind === "aged" ? [] : [[check.id, kindOf(check)] as const])));
}

/** By URL, on a machine with two cores. */
const usualMillis = { quick: 2000, "one program": 400, waiting: 8000, slow: 4000, heavy: 4000 } as const;

/** What a server has to be started with, so that nothing of document 2 that a run can judge is left out. */
function printConfig(options: ConformOptions): ExitCode {
  const files = writeSuiteFiles(options, suiteProfiles[options.profile].dialect);
  const text = suiteFilesText(files, [`--profile ${options.profile}`, ...addressFlags(options)]);
  const documents = Object.fromEntries(files.map(({ path, document }) => [path, document]));
  process.stdout.write(options.json ? `${JSON.stringify(documents)}\n` : text);
  return exitCodes.good;
}

/** Two interrupts: nothing is cleaned up any more. */
const leftBehind = (runId: string): string =>
  `Left behind is what this run has made: namespaces, and perhaps definitions, webhook configurations, admission policies and their bindings, priority classes and nodes, all with the label touchstone-run=${runId}.\nTo remove the namespaces: kubectl delete namespace -l touchstone-run=${runId}`;

/** A signal with a reason of its own: what is not judged by then is inconclusive. */
function endAfter(maxTimeMicros: number): { readonly signal: AbortSignal; cancel(): void } {
  const controller = new AbortController();
  const seconds = maxTimeMicros / 1_000_000;
  const timer = setTimeout(
    () => controller.abort(new Error(`the ${seconds} s of --max-time were over`)),
    maxTimeMicros / 1000,
  );
  return { signal: controller.signal, cancel: () => clearTimeout(timer) };
}

type Format = NonNullable<ConformOptions["format"]>;

function formatOf({ json, format }: ConformOptions): Format {
  if (json && format !== undefined && format !== "json") {
    throw new UsageError(`--json and --format ${format} both say what to print: leave one of them out.`);
  }
  return json ? "json" : (format ?? "text");
}

/** What is not found in a part of a run may still be there. */
function keepBaseline(report: SuiteReport, file: string): void {
  if (report.complete) writeBaseline(report, file);
  else process.stderr.write(`--write-baseline ${file}: not written, since the run was cut short.\n`);
}

/** The suite is on trial, not the server: see `fault-campaign.ts`. */
async function tryTheSuite(
  options: ConformOptions,
  target: SuiteTarget,
  selection: Omit<SuiteSelection, "profile">,
): Promise<ExitCode> {
  const which = options.faultHunt === undefined ? "--seeds" : "--faults";
  const refused = refusedBeside(options, target);
  if (refused !== undefined) throw new UsageError(`${which} ${refused}`);
  const { runFaultCampaign } = await import("./fault-campaign.ts");
  const progress = progressLine();
  const { signal, stopListening } = onInterrupt("Stopping: the report will hold what is known so far.");
  try {
    const report = await runFaultCampaign({
      faults: options.faultHunt ?? [],
      rarity: options.rarity,
      featureGates: options.featureGates ?? {},
      cleanSeeds: options.seeds ?? 0,
      selection: {
        ...selection,
        profile: options.profile,
        seed: options.seed,
        maxWaitMillis: options.maxWait / 1000,
        signal,
        ...given("runs", options.runs),
        ...given("jobs", options.jobs),
      },
      onStep: (done, steps, what) => progress.show(`${done}/${steps}  ${what}`),
    });
    progress.clear();
    process.stdout.write(options.json || options.format === "json" ? renderJson(report) : renderFaultText(report));
    if (!report.complete) return exitCodes.inconclusive;
    return isGood(report) ? exitCodes.good : exitCodes.targetFailed;
  } finally {
    progress.clear();
    stopListening();
  }
}

/** A hook that nothing would run is a mistake. */
function requireUseOfHook({ compactHook: command }: ConformOptions, target: SuiteTarget, { checks }: Plan): void {
  if (command === undefined) return;
  if (target.kind === "embedded") {
    throw new UsageError("--compact-hook is for a server at a URL: the embedded one forgets at once. Leave it out.");
  }
  if (checks.some(({ kind }) => kind === "aged")) return;
  throw new UsageError(
    "--compact-hook would not be run: none of the checks that --only, --skip and --level leave waits until the server forgets. Leave it out, or take the area expiry in.",
  );
}

/** What goes with a verdict on a server, and not with one on the suite. */
function refusedBeside(options: ConformOptions, target: SuiteTarget): string | undefined {
  if (target.kind === "url")
    return "plants bugs in the embedded server, and another server was named: leave the URL or --svcconfig out.";
  if (options.faults.length > 0) return "says which bugs to plant, and --fault does as well: leave --fault out.";
  if (options.compactHook !== undefined) return "waits for nothing real: leave --compact-hook out.";
  if (options.path !== undefined) return "runs whole checks, and --path names one program: leave --path out.";
  if (options.report !== undefined) return "prints its report, as text or with --json: leave --report out.";
  if (options.events !== undefined) return "tells no events: leave --events out.";
  const baseline = options.baseline === undefined ? options.writeBaseline && "--write-baseline" : "--baseline";
  if (baseline !== undefined) return `judges no server against a baseline: leave ${baseline} out.`;
  const format = formatOf(options);
  if (format !== "text" && format !== "json") return `prints text or JSON: leave --format ${format} out.`;
  return undefined;
}

/** A typing error in a name must not pass for a run that proves nothing. */
function requireSomething(selection: Selection, path: string | undefined): Plan {
  const plan = planOf(selection);
  if (path !== undefined && plan.checks.length !== 1) {
    throw new UsageError("--path names one program of one check: give --only with the name of that check as well.");
  }
  const [first] = plan.checks;
  if (path !== undefined && first !== undefined && (first.kind === "aged" || !first.isRandom)) {
    throw new UsageError(
      `--path names one program, and ${first.id} has no programs, but one course: leave --path out.`,
    );
  }
  if (plan.checks.length === 0) {
    throw new UsageError(
      "--only, --skip, --law and --level together leave no check to run: nothing would be proven. Leave one of them out.",
    );
  }
  return plan;
}

function planOf(selection: Selection): Plan {
  try {
    return makePlan(readRequirements(), allChecks, selection);
  } catch (error) {
    throw new UsageError(`--only or --skip: ${(error as Error).message}`);
  }
}

function targetOf(options: ConformOptions): SuiteTarget {
  requireBugs(options.rarity, options.faultHunt ?? options.faults);
  const {
    url,
    faults,
    featureGates = {},
    seed,
    webhookAddress,
    joinNodes,
    tokenIssuer,
    authorizerAddress,
    accessFiles,
  } = options;
  if (url === undefined && options.svcconfig === undefined) {
    const flag = connectionFlagOf(options);
    if (flag !== undefined) {
      throw new UsageError(
        `${flag} says how to reach a server at a URL, and no URL was given: add one, or --svcconfig, or leave the flag out.`,
      );
    }
    if (webhookAddress !== undefined) {
      throw new UsageError(
        "--webhook-address says how a server at a URL reaches this machine, and the embedded server needs no address: add a URL, or leave the flag out.",
      );
    }
    if (joinNodes) {
      throw new UsageError(
        "--join-nodes lets nodes join a cluster at a URL, and the embedded one has the suite's nodes anyway: add a URL, or leave the flag out.",
      );
    }
    const address = tokenIssuer === undefined ? authorizerAddress && "--authorizer-address" : "--token-issuer";
    if (address !== undefined) {
      throw new UsageError(
        `${address} is for a server at a URL, and the embedded one is started with the suite's files anyway: add a URL, or leave the flag out.`,
      );
    }
    const planted = { faults: [...faults], ...given("rarity", options.rarity) };
    return { kind: "embedded", details: { seed, ...planted, featureGates: gatesWith(faults, featureGates) } };
  }
  if (faults.length > 0 || Object.keys(featureGates).length > 0) {
    const flag = faults.length > 0 ? "--fault" : "--feature-gates";
    throw new UsageError(
      `${flag} changes the embedded server, and ${url === undefined ? "--svcconfig" : "a URL"} was given: start that server with \`npx touchstone serve ${flag} …\` instead.`,
    );
  }
  return {
    kind: "url",
    url,
    connection: options,
    webhookAddress,
    joinNodes,
    addresses: { tokenIssuer, authorizerAddress, accessFiles },
  };
}

/** `{ name: value }`, or nothing when the flag was not given. */
function given<Name extends string, Value>(name: Name, value: Value | undefined): { [key in Name]?: Value } {
  return value === undefined ? {} : ({ [name]: value } as { [key in Name]?: Value });
}

/** With `ndjson` all has been said. */
function printed(report: SuiteReport, format: Format, directory: string | undefined): string {
  if (format === "ndjson") return "";
  return suiteRenderers[format](report, { paint: painter(process.stdout), ...given("directory", directory) });
}
