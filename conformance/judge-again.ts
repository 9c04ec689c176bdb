/** A recorded failure judged again, from its history alone: no target is asked anything. */
import type { SuiteFailure } from "../reports/schema/suite-report.ts";
import { Client } from "./client/client.ts";
import { endWhereUnserved } from "./client/optional-verbs.ts";
import { Recorder } from "./client/recorder.ts";
import { recordedTarget, unfitHistory } from "./client/recorded-target.ts";
import { allChecks } from "./checks/index.ts";
import { CheckFailure, type Violation } from "./client/findings.ts";
import { profileFor } from "./profiles/index.ts";
import { Attempt, JudgedRequirements } from "./runner/attempt.ts";
import type { Check } from "./runner/define-check.ts";
import type { Lodging } from "./runner/lodging.ts";
import { isOfLaw } from "./runner/plan.ts";
import { programSeed } from "./runner/program-seed.ts";
import { witnessed } from "./runner/run-check.ts";
import { Witness } from "./model/everywhere/witness.ts";
import { readRequirements } from "./requirements/rows.ts";
import { Sandbox } from "./runner/sandbox.ts";

/** What of a failure file is judged again. */
export type RecordedHistory = Pick<
  SuiteFailure,
  "check" | "requirement" | "seed" | "path" | "history" | "historyDropped"
> & {
  readonly profile: "svc" | "kubernetes";
  readonly target?: { readonly version?: string | undefined } | undefined;
};

/** `lawful`: the judges find nothing. `unknown`: the history does not hold all that the check asks for now. */
export type JudgedAgain =
  | { readonly result: "failed"; readonly requirement: string; readonly violation: Violation }
  | { readonly result: "lawful" }
  | { readonly result: "unknown"; readonly why: string };

export async function judgeAgain(recorded: RecordedHistory): Promise<JudgedAgain> {
  const check = allChecks.find(({ id }) => id === recorded.check);
  if (check === undefined) return unknown(`this version has no check ${recorded.check}`);
  const unfit = unfitHistory(recorded.history, recorded.historyDropped);
  if (unfit !== undefined) return unknown(unfit);
  const target = recordedTarget(recorded.history);
  const rows = readRequirements();
  // What only real servers show is law here if the failure was found by it.
  const law = rows.get(recorded.requirement)?.level === "observed" ? "observed" : "must";
  const witness = new Witness((requirement) => isOfLaw(law, rows.get(requirement)));
  const recorder = new Recorder(target.clock, witness);
  const agent = "touchstone/1 (judging again)";
  const client = new Client(target.transport, target.clock, recorder, agent, undefined, endWhereUnserved);
  const namespace = namespaceOf(recorded);
  // It may have lived where the program before it did.
  const made = madeIn(recorded);
  const lodging = made.has(namespace) ? undefined : lodgingIn(recorded, namespace, made);
  const name = lodging === undefined ? namespace : lastNameIn(recorded, namespace);
  const sandbox = new Sandbox(client, { runId: runIdOf(recorded), next: () => name }, { lodging });
  const profile = profileFor(recorded.profile, recorded.target?.version);
  const attempt = new Attempt(client, sandbox, profile, new Map(), new JudgedRequirements());
  const end = witnessed(await endOf(check, recorded, attempt), witness);
  client.closeWatches();
  if (end instanceof CheckFailure) return { result: "failed", requirement: end.requirement, violation: end.violation };
  const [first] = target.unknown;
  if (first !== undefined) return unknown(`the history holds no ${first}, which the check sends now`);
  return end === undefined ? { result: "lawful" } : unknown(end.message);
}

const unknown = (why: string): JudgedAgain => ({ result: "unknown", why });

/** The one program that was recorded, and none of those that come after it. */
async function endOf(check: Check, { seed, path }: RecordedHistory, attempt: Attempt): Promise<Error | undefined> {
  const run = async (body: () => Promise<void>): Promise<Error | undefined> => {
    try {
      await body();
      return undefined;
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    }
  };
  if (check.kind === "aged") {
    return run(async () => (await check.begin(attempt))(attempt, Number.MAX_SAFE_INTEGER));
  }
  let end: Error | undefined;
  let isDone = false;
  const runs = Number(path.split(":")[0] ?? 0) + 1;
  await check.explore(
    { seed: programSeed(seed, check.id), path: path === "" ? undefined : path, runs },
    async (body) => {
      if (isDone) return undefined;
      isDone = true;
      end = await run(() => body(attempt));
      return end;
    },
  );
  return end;
}

/** The name that the attempt gave its namespace; further ones are longer. */
function namespaceOf({ history }: RecordedHistory): string {
  for (const { method, path, requestBody } of history) {
    const named = method === "POST" && path === "/api/v1/namespaces" ? requestBody : path;
    const found = /touchstone-[a-z0-9]+-\d+/.exec(named ?? "")?.[0];
    if (found !== undefined) return found;
  }
  return "touchstone-none-1";
}

/** The namespaces of an earlier program that it has gone to, and has not made. */
function lodgingIn({ history }: RecordedHistory, prefix: string, made: ReadonlySet<string>): Lodging {
  const suffixes = new Set([""]);
  for (const { path } of history) {
    const name = /^\/[^?]*\/namespaces\/([^/?]+)/.exec(path)?.[1] ?? "";
    const suffix = name.slice(prefix.length);
    if (name.startsWith(prefix) && !/^\d/.test(suffix) && !made.has(name)) suffixes.add(suffix);
  }
  return { prefix, suffixes: [...suffixes] };
}

/** Who lives where another did has a name of its own, which comes after it. */
function lastNameIn({ history }: RecordedHistory, namespace: string): string {
  let last = namespace;
  const numberOf = (name: string): number => Number(name.split("-")[2]);
  for (const { path, requestBody = "" } of history) {
    for (const [name] of `${path} ${requestBody}`.matchAll(/touchstone-[a-z0-9]+-\d+/g)) {
      if (numberOf(name) > numberOf(last)) last = name;
    }
  }
  return last;
}

/** Names of the namespaces that the program has made. */
function madeIn({ history }: RecordedHistory): ReadonlySet<string> {
  const creates = history.filter(({ method, path }) => method === "POST" && path === "/api/v1/namespaces");
  return new Set(
    creates.flatMap(({ requestBody = "" }) =>
      [...requestBody.matchAll(/"(touchstone-[^"]+)"/g)].map(([, name = ""]) => name),
    ),
  );
}

const runIdOf = (recorded: RecordedHistory): string => namespaceOf(recorded).split("-")[1] as string;
