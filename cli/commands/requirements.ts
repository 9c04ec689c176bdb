/**
 * `npm run requirements [-- --keep-verdicts]`: judges the embedded server in both profiles, and writes
 * `docs/requirements.md` anew; with --keep-verdicts it takes the verdicts of the last run.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import type { LastVerdicts } from "../../reports/render/catalogue-markdown.ts";
import type { SuiteReport } from "../../reports/schema/suite-report.ts";
import { documentFile, readVerdicts, requirementsDocument, verdictsFile } from "./requirements-document.ts";
import { runSuiteOn } from "../targets/suite-target.ts";

const keepsVerdicts = asked();
if (keepsVerdicts === undefined) process.exitCode = 2;
else writeFileSync(documentFile, requirementsDocument(keepsVerdicts ? readVerdicts() : await judgeBoth()));

/** Undefined for a wrong command line, which is told. */
function asked(): boolean | undefined {
  try {
    return parseArgs({ options: { "keep-verdicts": { type: "boolean", default: false } } }).values["keep-verdicts"];
  } catch (error) {
    console.error(`requirements: ${(error as Error).message}\nThe only flag is --keep-verdicts.`);
    return undefined;
  }
}

async function judgeBoth(): Promise<LastVerdicts> {
  const found: Record<string, LastVerdicts[string]> = {};
  for (const profile of ["svc", "kubernetes"] as const) {
    const details = {
      seed: 1,
      faults: [],
      featureGates: { WatchList: true, AllowUnsafeMalformedObjectDeletion: true },
    };
    const report = await runSuiteOn({ kind: "embedded", details }, { profile, seed: 1 });
    found[profile] = statusesOf(report);
    console.log(`${profile}: ${report.conclusion}, ${report.totals.requirements.passed} passed`);
  }
  writeFileSync(verdictsFile, `${JSON.stringify(found, null, 2)}\n`);
  return found;
}

/** In alphabetical order, so that a new check moves no line of another. */
function statusesOf({ requirements }: SuiteReport): LastVerdicts[string] {
  const entries = requirements.map(({ id, outcome }) => [id, outcome.status] as const);
  return Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1)));
}
