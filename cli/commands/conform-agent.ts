/** `touchstone conform --agent COMMAND`: a node agent judged as a program that is started with flags. */
import process from "node:process";
import {
  type AgentTarget,
  type AgentVerdict,
  judgeAgent,
  UnfitAgentError,
} from "../../conformance/agent/judge-agent.ts";
import { readRequirements } from "../../conformance/requirements/rows.ts";
import type { ConformOptions } from "../command-line.ts";
import { progressLine } from "../output/terminal.ts";
import { type ExitCode, exitCodes, UsageError } from "../flags/usage-error.ts";

const jobsDefault = 4;

export async function conformAgent({
  agent: command = "",
  url,
  only,
  profile,
  jobs = jobsDefault,
  json,
}: ConformOptions): Promise<ExitCode> {
  if (url !== undefined) throw new UsageError("--agent starts a program, and a URL is a server: give one of them.");
  const progress = progressLine();
  const verdicts = await verdictsOf({
    command,
    profile,
    only: only.flat(),
    jobs,
    onProgress: (done, all) => progress.show(`${done} of ${all} requirements of a node agent`),
  });
  progress.clear();
  if (verdicts === undefined) return exitCodes.inconclusive;
  if (verdicts.length === 0)
    throw new UsageError(`--only ${only.flat().join(",")}: no requirement of a node agent has such a name.`);
  process.stdout.write(
    json ? `${JSON.stringify({ agent: command, profile, verdicts }, undefined, 2)}\n` : asText(verdicts),
  );
  if (verdicts.some(({ status }) => status === "failed")) return exitCodes.targetFailed;
  return verdicts.some(({ status }) => status === "passed") ? exitCodes.good : exitCodes.inconclusive;
}

/** Undefined for a command that is no agent: that is said, and nothing is judged. */
async function verdictsOf(target: AgentTarget): Promise<readonly AgentVerdict[] | undefined> {
  try {
    return await judgeAgent(target);
  } catch (error) {
    if (!(error instanceof UnfitAgentError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return undefined;
  }
}

function asText(verdicts: readonly AgentVerdict[]): string {
  const rows = readRequirements();
  const failed = verdicts.filter(({ status }) => status === "failed" || status === "inconclusive");
  const parts = failed.map(({ requirement, status, findings }) => {
    const row = rows.get(requirement);
    const wrong = findings.filter((finding) => finding.is !== "good");
    return [
      `${status.toUpperCase()} ${requirement} (${row?.level ?? "must"})`,
      `  promised  ${row?.text ?? ""}`,
      ...wrong.map(
        ({ what, evidence = "" }) =>
          `  expected  ${what}\n  actual    ${evidence.trim().replaceAll("\n", "\n            ")}`,
      ),
      "",
    ].join("\n");
  });
  const count = (status: AgentVerdict["status"]): string =>
    `${verdicts.filter((verdict) => verdict.status === status).length} ${status}`;
  const trials = verdicts.reduce((sum, { findings }) => sum + findings.length, 0);
  const summary = (["passed", "failed", "inconclusive", "unsupported"] as const).map(count).join(", ");
  return [...parts, `${verdicts.length} requirements, ${trials} trials: ${summary}\n`].join("\n");
}
