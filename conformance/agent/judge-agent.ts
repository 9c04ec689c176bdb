/**
 * Judges a node agent as a program: what its help lists, which command lines it takes and which it refuses, what it then tells
 * of its configuration, and what it serves. Every requirement with a trial gets a verdict; every failure says what was run.
 */
import { isDeepStrictEqual } from "node:util";
import { AgentProcess } from "../client/agent-process.ts";
import type { Json } from "../client/types.ts";
import { behaviours } from "./behaviours.ts";
import { type FlagTrial, flagTrials } from "./flag-trials.ts";
import { type Bench, type Finding, judged } from "./trial.ts";

export interface AgentTarget {
  /** Of a shell: the program and what it always needs. */
  readonly command: string;
  readonly profile: "svc" | "kubernetes";
  /** Names of requirements, `*` for any characters; none: all. */
  readonly only: readonly string[];
  /** Programs at a time. */
  readonly jobs: number;
  readonly onProgress: (done: number, all: number) => void;
}

export interface AgentVerdict {
  readonly requirement: string;
  readonly status: "passed" | "failed" | "inconclusive" | "unsupported";
  readonly findings: readonly Finding[];
}

/** Names of the flags that carry the brand, as the published agent has them. */
const published: Readonly<Record<string, string>> = {
  "svc-api-qps": "kube-api-qps",
  "svc-api-burst": "kube-api-burst",
  "svc-api-content-type": "kube-api-content-type",
  "svc-reserved": "kube-reserved",
  "svc-reserved-cgroup": "kube-reserved-cgroup",
  svcconfig: "kubeconfig",
  "bootstrap-svcconfig": "bootstrap-kubeconfig",
  "nodeagent-cgroups": "kubelet-cgroups",
};

/** The command is no node agent: its help lists none of the flags that every one has. The message tells what came instead. */
export class UnfitAgentError extends Error {
  override readonly name = "UnfitAgentError";
}

/** Flags of every agent, in every dialect. */
const known = ["--container-runtime-endpoint", "--hostname-override", "--root-dir", "--node-labels"];

/** Throws `UnfitAgentError`, before anything else is started. */
export async function judgeAgent(target: AgentTarget): Promise<readonly AgentVerdict[]> {
  const help = await helpOf(target.command);
  if (!known.some((flag) => help.includes(flag))) throw new UnfitAgentError(unfitText(target.command, help));
  const nameOf: Bench["nameOf"] = /--kubeconfig\b/.test(help) ? (flag) => published[flag] ?? flag : (flag) => flag;
  const bench = benchOf(target, nameOf);
  const standards = await configzWith(bench, []);
  const wanted = target.only.map((pattern) => new RegExp(`^${pattern.replaceAll(".", "\\.").replaceAll("*", ".*")}$`));
  const isWanted = (name: string): boolean => wanted.length === 0 || wanted.some((pattern) => pattern.test(name));
  const rows = Object.entries(flagTrials).filter(([name]) => isWanted(name));
  const settings = await settingsOf(
    bench,
    rows.flatMap(([, trials]) => trials),
  );
  const context = { bench, help, standards, settings };
  const tasks: (() => Promise<AgentVerdict>)[] = [];
  for (const requirement of judgedOfAgents().filter(isWanted)) {
    tasks.push(async () => {
      const findings: Finding[] = [];
      for (const trial of flagTrials[requirement] ?? []) {
        for (const finding of await tryFlag(context, trial)) findings.push(finding);
      }
      for (const behaviour of behaviours[requirement] ?? []) findings.push(await behaviour(bench));
      return { requirement, status: statusOf(findings), findings };
    });
  }
  return inTurn(tasks, target.jobs, target.onProgress);
}

function unfitText(command: string, help: string): string {
  const said = help.trim().split("\n", 1)[0]?.slice(0, 200) ?? "";
  const came = said === "" ? "said nothing" : `said: ${said}`;
  return `${JSON.stringify(command)} is no node agent: with --help it should list ${known[0]}, and ${came}`;
}

/** Requirements that a started agent shows something of. */
export function judgedOfAgents(): readonly string[] {
  return [...new Set([...Object.keys(flagTrials), ...Object.keys(behaviours)])].sort();
}

function statusOf(findings: readonly Finding[]): AgentVerdict["status"] {
  if (findings.length === 0) return "unsupported";
  if (findings.some((finding) => finding.is === "bad")) return "failed";
  return findings.some((finding) => finding.is === "unclear") ? "inconclusive" : "passed";
}

interface Context {
  readonly bench: Bench;
  readonly help: string;
  /** `/configz` of an agent without flags of its own; undefined: there was none. */
  readonly standards: Json | undefined;
  /** By flag: whether its good value was taken, and `/configz` then. */
  readonly settings: ReadonlyMap<FlagTrial, Setting>;
}

interface Setting {
  readonly configz: Json | undefined;
  readonly flags: readonly string[];
  readonly output: string;
}

async function tryFlag({ bench, help, standards, settings }: Context, trial: FlagTrial): Promise<readonly Finding[]> {
  const { profile, nameOf } = bench;
  if (trial.onlyIn === "svc" && profile !== "svc") return [];
  const name = `--${nameOf(trial.flag)}`;
  const findings: Finding[] = [];
  const isMade = trial.flag === "no-such-flag";
  const described = helpText(help, nameOf(trial.flag));
  if (!isMade) findings.push(judged(`the help lists ${name}`, described !== undefined, help.slice(0, 200)));
  if (trial.helped !== undefined && trial.helped !== "" && described !== undefined) {
    findings.push(
      judged(`the help says that ${name} is ${trial.helped} by default`, described.includes(trial.helped), described),
    );
  }
  const { field } = trial;
  if (field !== undefined && trial.standard !== undefined) {
    const expected = standardFor(trial.standard, profile);
    const what = `${field} is ${JSON.stringify(expected)} by default`;
    findings.push(compared(what, at(standards, field), expected, standards));
  }
  const setting = settings.get(trial);
  if (setting !== undefined && trial.good !== undefined) {
    const [text, shown] = trial.good;
    const line = setting.flags.join(" ");
    findings.push(judged(`${name}=${text} is taken`, setting.configz !== undefined, `${line}\n${setting.output}`));
    if (field !== undefined && shown !== undefined && setting.configz !== undefined) {
      findings.push(
        compared(`${field} is ${JSON.stringify(shown)} with ${name}=${text}`, at(setting.configz, field), shown, line),
      );
    }
  }
  for (const text of trial.bad ?? []) findings.push(await refused(bench, trial, text));
  return findings;
}

/** Ends by itself with an error that names the flag, its field, or what the trial says. */
function refused({ with: run, nameOf, profile }: Bench, trial: FlagTrial, written: string): Promise<Finding> {
  const text = written.replace("{brand}", profile === "svc" ? "svc.io" : "kubernetes.io");
  const name = nameOf(trial.flag);
  const line = [`--${name}=${text}`];
  const what = `${line[0]} is refused, and told by its name`;
  return run(line, async (_agent, outcome) => {
    if (outcome.is === "silent") return { what, is: "unclear", evidence: `${line[0]}\nneither an end nor an answer` };
    if (outcome.is === "running") return { what, is: "bad", evidence: `${line[0]}\nthe agent runs` };
    const last = trial.field?.split(".").at(-1);
    const errors = outcome.output
      .split("\n")
      .filter((each) => !/^Flag --\S+ has been deprecated/.test(each))
      .join("\n");
    const isNamed =
      errors.includes(name) || (last !== undefined && errors.includes(last)) || trial.names?.test(errors) === true;
    return judged(
      what,
      outcome.code !== 0 && isNamed,
      `${line[0]}\nexit ${outcome.code}: ${outcome.output.slice(-1500)}`,
    );
  });
}

/** Of all good values at once; where that is refused, of each by itself. */
async function settingsOf(bench: Bench, trials: readonly FlagTrial[]): Promise<ReadonlyMap<FlagTrial, Setting>> {
  const good = trials.filter(
    (trial) => trial.good !== undefined && !(trial.onlyIn === "svc" && bench.profile !== "svc"),
  );
  const lineOf = ({ flag, good: [text = ""] = [""], along = [] }: FlagTrial): readonly string[] => [
    `--${bench.nameOf(flag)}=${text}`,
    ...along,
  ];
  const unique = [...new Map(good.map((trial) => [trial.flag, trial])).values()];
  const all = unique.flatMap(lineOf);
  const together = await tried(bench, all);
  const found = new Map<FlagTrial, Setting>();
  for (const trial of good) {
    const single = together.configz === undefined ? await tried(bench, lineOf(trial)) : together;
    found.set(trial, single);
  }
  return found;
}

const tried = (bench: Bench, flags: readonly string[]): Promise<Setting> =>
  bench.with(flags, async (agent, outcome) => ({
    flags,
    configz: outcome.is === "running" ? await configzOf(agent) : undefined,
    output: agent.output.slice(-1500),
  }));

const configzWith = async (bench: Bench, flags: readonly string[]): Promise<Json | undefined> =>
  (await tried(bench, flags)).configz;

/** What it is called depends on the brand; there is one name. */
async function configzOf(agent: AgentProcess): Promise<Json | undefined> {
  const { status, body } = await agent.ask("serving", "/configz");
  if (status !== 200) return undefined;
  try {
    const [only] = Object.values(JSON.parse(body) as Record<string, Json>);
    return only;
  } catch {
    return undefined;
  }
}

function at(document: Json | undefined, path: string): Json | undefined {
  let value = document;
  for (const part of path.split(".")) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    value = (value as Readonly<Record<string, Json | undefined>>)[part];
  }
  return value;
}

function standardFor(standard: Exclude<FlagTrial["standard"], undefined>, profile: Bench["profile"]): Json {
  const isPair = typeof standard === "object" && standard !== null && !Array.isArray(standard) && "svc" in standard;
  return isPair ? ((standard as Record<string, Json>)[profile] as Json) : (standard as Json);
}

/** What the help says of one flag: up to the next. */
function helpText(help: string, name: string): string | undefined {
  const start = new RegExp(`^\\s*(?:-\\w, )?--${name}(?![\\w-])`, "m").exec(help);
  if (start === null) return undefined;
  const rest = help.slice(start.index + start[0].length);
  const next = /^\s*(?:-\w, )?--[a-z]/m.exec(rest);
  return start[0] + (next === null ? rest : rest.slice(0, next.index));
}

function compared(what: string, actual: Json | undefined, expected: Json, source: unknown): Finding {
  if (source === undefined) return { what, is: "unclear", evidence: "there was no /configz" };
  // A duration may be written with its zeros or without.
  const plain = (value: Json | undefined): unknown =>
    typeof value === "string" ? value.replace(/(?<=[hm])0[ms](?:0s)?$/, "") : value;
  return judged(what, isDeepStrictEqual(plain(actual), plain(expected)), `it is ${JSON.stringify(actual)}`);
}

async function helpOf(command: string): Promise<string> {
  const agent = await AgentProcess.start(command, () => ["--help"]);
  try {
    const outcome = await agent.outcome();
    return outcome.is === "ended" ? outcome.output : "";
  } finally {
    await agent.end();
  }
}

function benchOf({ command, profile }: AgentTarget, nameOf: Bench["nameOf"]): Bench {
  return {
    profile,
    nameOf,
    async with(flags, work, environment) {
      const agent = await AgentProcess.start(
        command,
        (ports, folder) => {
          const own = typeof flags === "function" ? flags(folder, ports) : flags;
          const given = new Set(own.map((flag) => flag.split("=", 1)[0]));
          const common = [
            `--port=${ports.serving}`,
            `--read-only-port=${ports.readOnly}`,
            `--healthz-port=${ports.health}`,
            "--address=127.0.0.1",
            `--cert-dir=${folder}/pki`,
            `--root-dir=${folder}/root`,
            "--hostname-override=judged",
          ];
          return [...common.filter((flag) => !given.has(flag.split("=", 1)[0] as string)), ...own];
        },
        environment,
      );
      try {
        return await work(agent, await agent.outcome());
      } finally {
        await agent.end();
      }
    },
  };
}

/** So many at a time; results in the order of the tasks. */
async function inTurn<Result>(
  tasks: readonly (() => Promise<Result>)[],
  jobs: number,
  onProgress: (done: number, all: number) => void,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  let next = 0;
  let done = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < tasks.length; index = next++) {
      results[index] = await (tasks[index] as () => Promise<Result>)();
      onProgress(++done, tasks.length);
    }
  };
  await Promise.all(Array.from({ length: jobs }, worker));
  return results;
}
