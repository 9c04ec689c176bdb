/** `touchstone conform --list`: what the suite requires, and how it judges it. Nothing is run. */
import process from "node:process";
import { allChecks } from "../../conformance/checks/index.ts";
import { readRequirements } from "../../conformance/requirements/rows.ts";
import { catalogueOf } from "../../conformance/runner/catalogue.ts";
import { renderCatalogueText } from "../../reports/render/catalogue-text.ts";
import type { Catalogue } from "../../reports/schema/catalogue.ts";
import type { ConformOptions } from "../command-line.ts";
import { connectionFlagOf } from "../targets/suite-target.ts";
import { painter } from "../output/terminal.ts";
import { type ExitCode, exitCodes, UsageError } from "../flags/usage-error.ts";

export function list(options: ConformOptions): ExitCode {
  const refused = connectionFlagOf(options) ?? runFlags.find(([, given]) => given(options))?.[0];
  if (refused !== undefined) {
    throw new UsageError(
      `--list runs nothing, and ${refused} says how to run: leave one of them out. --only, --skip, --law and --json go with --list.`,
    );
  }
  const catalogue = selected(options);
  process.stdout.write(
    options.json ? `${JSON.stringify(catalogue, null, 2)}\n` : renderCatalogueText(catalogue, painter(process.stdout)),
  );
  return exitCodes.good;
}

function selected({ only, skip, law }: ConformOptions): Catalogue {
  let catalogue: Catalogue;
  try {
    catalogue = catalogueOf(readRequirements(), allChecks, { only: only.flat(), skip: skip.flat(), law });
  } catch (error) {
    throw new UsageError(`--only or --skip: ${(error as Error).message}`);
  }
  if (catalogue.requirements.length > 0) return catalogue;
  throw new UsageError("--only, --skip and --law together leave nothing to list. Leave one of them out.");
}

/** Everything that a run takes and a list does not. What has a default is noticed where it is another value. */
const runFlags: readonly (readonly [flag: string, given: (options: ConformOptions) => boolean])[] = [
  ["a URL", ({ url }) => url !== undefined],
  ["--profile", ({ profile }) => profile !== "svc"],
  ["--level", ({ level }) => level !== "full"],
  ["--seed", ({ seed }) => seed !== 1],
  ["--path", ({ path }) => path !== undefined],
  ["--runs", ({ runs }) => runs !== undefined],
  ["--jobs", ({ jobs }) => jobs !== undefined],
  ["--max-wait", ({ maxWait }) => maxWait !== 900_000_000],
  ["--compact-hook", ({ compactHook }) => compactHook !== undefined],
  ["--report", ({ report }) => report !== undefined],
  ["--format", ({ format }) => format !== undefined],
  ["--events", ({ events }) => events !== undefined],
  ["--baseline", ({ baseline }) => baseline !== undefined],
  ["--write-baseline", ({ writeBaseline }) => writeBaseline !== undefined],
  ["--faults", ({ faultHunt }) => faultHunt !== undefined],
  ["--seeds", ({ seeds }) => seeds !== undefined],
  ["--fault", ({ faults }) => faults.length > 0],
  ["--rarity", ({ rarity }) => rarity !== undefined],
  ["--feature-gates", ({ featureGates }) => featureGates !== undefined],
];
