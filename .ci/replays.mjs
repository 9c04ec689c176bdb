// Every planted bug that a URL shows: found over a socket, kept as a failure file, and made again from the file alone.
// Each has a server of its own in this process, and several are tried at a time, since they mostly wait.
// `node .ci/replays.mjs [BUG…]`; prints what was not found or came back as something else, and exits 1.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gatesWith } from "../cli/commands/fault-gates.ts";
import { makeAgain, recordedFailure } from "../cli/commands/replay.ts";
import { runSuiteOn } from "../cli/targets/suite-target.ts";
import { readFailureFile } from "../cli/flags/failure-file.ts";
import { profiles } from "../sim/contract/profile.ts";
import { startWallServer } from "../sim/http/wall-server.ts";
import { serverBugNames, serverBugRows } from "../sim/planted/server-bugs.ts";

// A bug takes a quarter of a second of processor time, and waits for some twenty seconds.
const atATime = 16;
const token = "ci-token";
const connection = { token, insecureSkipTlsVerify: false };
const { signal } = new AbortController();
const home = mkdtempSync(join(tmpdir(), "touchstone-replays-"));

// The suite's own nodes have bugs that only the embedded server can be given, and a server's access bugs show only where
// its files name the suite, as in the step that plants every bug.
const elsewhere = new Set(["eviction", "pods", "access"]);
const seenByUrl = serverBugNames.filter(
  (name) => serverBugRows[name].byLuck !== true && !elsewhere.has(serverBugRows[name].area),
);
const asked = process.argv.slice(2);
// A broken stream is waited for as long as its row says, three minutes, and again when it is made again: on request.
const slow = ["watch-crd-change-strands-stream"];
const queue = asked.length === 0 ? seenByUrl.filter((name) => !slow.includes(name)) : asked;
for (const bug of queue) if (!serverBugNames.includes(bug)) throw new Error(`no planted bug is called ${bug}`);
const count = queue.length;
const retriesMax = 3;
const again = [];
const wrong = [];
const lost = [];
const worker = async () => {
  for (let bug = queue.shift(); bug !== undefined; bug = queue.shift()) {
    const problem = await told(bug);
    if (problem !== undefined) lost.push({ bug, problem });
  }
};
await Promise.all(Array.from({ length: atATime }, worker));
// A race is lost by luck, and beside others often: it is run again alone, and may take a few. Those that took more than one are told.
for (const { bug, problem: first } of lost) {
  let problem = first;
  for (let more = 1; problem !== undefined && more <= retriesMax; more += 1) {
    again.push(`${bug}: ${problem}`);
    problem = await told(bug);
  }
  if (problem !== undefined) wrong.push(`${bug}: ${problem}`);
}
rmSync(home, { recursive: true });
for (const line of again) console.log(`tried again ${line}`);
for (const line of wrong) console.log(`FAILED ${line}`);
console.log(`${count - wrong.length} of ${count} planted bugs found over a socket and made again from their files`);
process.exit(wrong.length === 0 ? 0 : 1);

async function told(bug) {
  const problem = await tried(bug);
  if (process.env.VERBOSE) console.log(bug, Math.round(performance.now()), problem ?? "");
  return problem;
}

// Undefined: it was found, and came back as the same failure.
async function tried(bug) {
  const profile = serverBugRows[bug].profile ?? "svc";
  const server = await startWallServer({
    seed: "1",
    port: 0,
    bindAddress: "127.0.0.1",
    profile: profiles[profile],
    bugs: [bug],
    featureGates: gatesWith([bug]),
    tokens: [{ token, user: "ci", uid: "ci", groups: ["system:masters"] }],
    authorizationModes: ["RBAC"],
    historyWindowMicros: 15_000_000,
    onError: (error) => wrong.push(`${bug}: ${error instanceof Error ? error.stack : error}`),
  });
  const target = { kind: "url", url: server.url, connection, webhookAddress: { host: "127.0.0.1" } };
  try {
    const failure = await found(bug, target, profile);
    if (failure === undefined) return `not found by ${serverBugRows[bug].foundBy}`;
    const file = join(home, `${bug}.json`);
    writeFileSync(file, JSON.stringify(failure));
    const { result, explanation } = await makeAgain(readFailureFile(file, recordedFailure), target, signal);
    return result === "same" ? undefined : `${failure.finding}: ${explanation}`;
  } finally {
    await server.close();
  }
}

async function found(bug, target, profile) {
  // As many programs as by default, and all of them, however busy the machine is.
  const selection = { profile, seed: 1, runs: 20, only: [serverBugRows[bug].foundBy], level: "full" };
  const report = await runSuiteOn(target, selection);
  return report.checks.find(({ failure }) => failure !== undefined)?.failure;
}
