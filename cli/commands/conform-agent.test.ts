import { expect, it } from "vitest";
import { judgeAgent } from "../../conformance/agent/judge-agent.ts";
import { startedAgentBugs } from "../../sim/planted/started-agent-bugs.ts";
import { main, run } from "../spawned-command.fixture.ts";

it.each([
  ["a program without such flags", "echo usage: --verbose #"],
  ["one that says nothing", "true"],
  ["none at all", "no-such-program"],
])("conform --agent with %s says so, and judges nothing", async (_, command) => {
  const { code, stdout, stderr } = await run("conform", "--agent", command);
  expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
  expect(stderr).toMatch(/is no node agent: with --help it should list --container-runtime-endpoint, and said/);
});

it("conform --agent finds each planted bug that it is said to find", { timeout: 300_000 }, async () => {
  const seen = Object.entries(startedAgentBugs).filter(([, { foundBy }]) => !foundBy.includes("/"));
  const only = seen.map(([, { foundBy }]) => foundBy);
  expect(new Set(only).size).toBe(only.length);
  const command = `${process.execPath} ${main} agent --fault ${seen.map(([name]) => name).join(",")}`;
  const verdicts = await judgeAgent({ command, profile: "svc", only, jobs: 2, onProgress: () => {} });
  const found = verdicts.filter(({ status }) => status === "failed").map(({ requirement }) => requirement);
  expect(found.sort()).toEqual([...only].sort());
});
