/**
 * The package's main entry, `touchstone`: what the commands do, for programs. Each function is what its command
 * calls; the reports are the documents that the commands print and write.
 */
import { gatesWith } from "./commands/fault-gates.ts";
import { type Connection, runSuiteOn, type Selection, type SuiteTarget } from "./targets/suite-target.ts";
import type { SuiteProgress } from "../conformance/run-suite.ts";
import type { SimulationReport } from "../reports/schema/simulation-report.ts";
import type { SuiteReport } from "../reports/schema/suite-report.ts";
import { parseScenario } from "../scenarios/load.ts";
import type { ServerBugName } from "../sim/planted/server-bugs.ts";
import { playScenario } from "../sim/experiments/play.ts";

export { renderComparisonHtml } from "../reports/html/compare-page.ts";
export { renderSuiteHtml } from "../reports/html/suite-page.ts";
export { renderJUnit } from "../reports/render/junit.ts";
export { renderSuiteMarkdown } from "../reports/render/markdown.ts";
export { renderSuiteText } from "../reports/render/text.ts";
export type * from "../reports/schema/simulation-report.ts";
export type * from "../reports/schema/suite-report.ts";
export { exitCodeOf } from "../reports/schema/verdict.ts";
export type { Conclusion, Outcome, Verdict } from "../reports/schema/verdict.ts";
export { profiles } from "../sim/contract/profile.ts";
export { serverBugRows } from "../sim/planted/server-bugs.ts";
export { startWallServer, type WallServerOptions } from "../sim/http/wall-server.ts";
export type { Connection, ServerBugName, SuiteProgress };

/** What to judge, and how thoroughly. Default: the embedded server, under the profile `svc`. */
export interface JudgeOptions extends Partial<Selection> {
  /** Base URL of the server to judge. Default: the embedded server, on virtual time. */
  readonly url?: string;
  /** How to reach and trust the server at the URL. */
  readonly connection?: Partial<Connection>;
  /** Bugs of the embedded server. Default none. */
  readonly faults?: readonly ServerBugName[];
}

/** What `touchstone conform` does. Rejects only for options that make no sense; a failing target is in the report. */
export function judge(options: JudgeOptions = {}): Promise<SuiteReport> {
  const { url, connection, profile = "svc", seed = 1, faults = [], ...selection } = options;
  const target: SuiteTarget =
    url === undefined
      ? { kind: "embedded", details: { seed, faults: [...faults], featureGates: gatesWith(faults) } }
      : { kind: "url", url, connection: { insecureSkipTlsVerify: false, ...connection } };
  return runSuiteOn(target, { ...selection, profile, seed });
}

/** What `touchstone run` does with the text of a scenario file. Throws `ScenarioError` for a bad one. */
export function simulate(scenarioYaml: string, options: { readonly seed?: number } = {}): SimulationReport {
  const scenario = parseScenario(scenarioYaml, "scenario");
  return playScenario(scenario, { seed: options.seed ?? scenario.seed }).report;
}
