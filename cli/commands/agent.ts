/**
 * `touchstone agent`, or `nodeagent`: one real node agent, until SIGINT or SIGTERM. Its containers go on without it.
 * What it is told is read before anything else is loaded: a wrong command line is answered at once.
 */
import process from "node:process";
import { agentRules } from "../../sim/configuration/agent/agent-rules.ts";
import { readAgentCommand } from "../../sim/configuration/agent/command-line.ts";
import { agentHelp } from "../../sim/configuration/agent/help.ts";
import { agentReadingWith } from "../../sim/configuration/agent/planted/flag-bugs.ts";
import { startedAgentBugsOn } from "../../sim/planted/started-agent-bugs.ts";
import { dialects } from "../../wire/dialect.ts";
import { machineAgentFiles, splitAgentArguments } from "../flags/agent-arguments.ts";
import { type ExitCode, exitCodes } from "../flags/usage-error.ts";

const ownHelp = `
Flags of Touchstone's own:
      --profile svc|kubernetes
          Whose law holds: the documents to the letter, or the observed agent. (default svc)
      --context name
          Context of the connection file --svcconfig, if not its current one.
      --fault NAME,...
          Planted bugs, to try what judges an agent: docs/faults.md lists them.

Exit codes: 0 ended by a signal; 2 usage or configuration; 4 Touchstone itself broke.
`;

export async function agent(args: readonly string[]): Promise<ExitCode> {
  const { profile, context, faults, rest } = splitAgentArguments(args);
  const command = readAgentCommand(
    rest,
    dialects[profile],
    machineAgentFiles,
    agentReadingWith(startedAgentBugsOn(faults)),
  );
  if (command.is === "help") {
    process.stdout.write(`${agentHelp(agentRules[profile])}${ownHelp}`);
    return exitCodes.good;
  }
  if (command.is === "version") {
    process.stdout.write(`${command.text}\n`);
    return exitCodes.good;
  }
  for (const warning of command.warnings) process.stderr.write(`${warning}\n`);
  if (command.is === "refused") {
    for (const problem of command.problems) process.stderr.write(`Error: ${problem}\n`);
    if (command.by === "parsing") process.stderr.write("See `touchstone agent --help`.\n");
    return exitCodes.usage;
  }
  const { runAgent } = await import("../targets/run-agent.ts");
  return runAgent({ settings: command.settings, profile, context, faults });
}
