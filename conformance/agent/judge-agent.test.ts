import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, inject, it } from "vitest";
import { readRequirements } from "../requirements/rows.ts";
import { judgeAgent, judgedOfAgents, UnfitAgentError } from "./judge-agent.ts";

const main = inject("testedCommand");
const folder = mkdtempSync(join(tmpdir(), "touchstone-judged-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** An agent with a bug on its command line: `change` edits the arguments that it is given. */
function agentWith(name: string, change: string): string {
  const script = join(folder, `${name}.mjs`);
  writeFileSync(
    script,
    `const args = process.argv.slice(2); process.argv = [process.argv[0], ${JSON.stringify(main)}, "agent", ...(${change})(args)]; await import(${JSON.stringify(main)});`,
  );
  chmodSync(script, 0o755);
  return `${process.execPath} ${script}`;
}

const judge = async (command: string, ...only: string[]) => {
  const verdicts = await judgeAgent({ command, profile: "svc", only, jobs: 2, onProgress: () => {} });
  return Object.fromEntries(verdicts.map(({ requirement, status }) => [requirement, status]));
};

describe("an agent judged as a program", { timeout: 60_000 }, () => {
  it("passes when it does what it should", async () => {
    const own = agentWith("good", "(args) => args");
    expect(await judge(own, "agent-pods.max-pods", "agent-server.read-only-port")).toEqual({
      "agent-pods.max-pods": "passed",
      "agent-server.read-only-port": "passed",
    });
  });

  it("fails when a flag is parsed and passed over", async () => {
    const deaf = agentWith("deaf", '(args) => args.filter((arg) => !arg.startsWith("--max-pods"))');
    expect(await judge(deaf, "agent-pods.max-pods")).toEqual({ "agent-pods.max-pods": "failed" });
  });

  it("fails when a listener stays that is turned off", async () => {
    const open = agentWith("open", '(args) => args.filter((arg) => arg !== "--enable-server=false")');
    expect(await judge(open, "agent-server.enabled")).toEqual({ "agent-server.enabled": "failed" });
  });

  it("fails what does not start at all", async () => {
    const dead = agentWith("dead", '(args) => (args.includes("--help") ? args : ["--no-such-flag"])');
    expect(await judge(dead, "agent-pods.max-pods")).toEqual({ "agent-pods.max-pods": "failed" });
  });

  /** Bugs of flags and listeners, each in what becomes of one argument, and which requirement it breaks. */
  const bugs: Readonly<Record<string, readonly [requirement: string, from: string, to: string]>> = {
    "a duration without a unit is in seconds": [
      "agent-images.minimum-age",
      "--minimum-image-ttl-duration=41",
      "--minimum-image-ttl-duration=41s",
    ],
    "an unknown gate is passed over": [
      "agent-configuration.feature-gates",
      "--feature-gates=NoSuchGate=true",
      "--feature-gates=",
    ],
    "an unknown signal is passed over": [
      "agent-eviction.hard-defaults",
      "--eviction-hard=no.signal<1Gi",
      "--eviction-hard=",
    ],
    "whoever says nothing is let in": ["agent-server.anonymous", "--anonymous-auth=false", "--anonymous-auth=true"],
    "headers of one name come in another order": [
      "agent-pods.url-header",
      "--manifest-url-header=X-A:one,X-A:two",
      "--manifest-url-header=X-A:two,X-A:one",
    ],
  };
  const broken = Object.values(bugs);

  it("fails for each bug of flags and listeners", { timeout: 300_000 }, async () => {
    const changes = Object.fromEntries(broken.map(([, from, to]) => [from, to]));
    const wrong = agentWith("wrong", `(args) => args.map((arg) => (${JSON.stringify(changes)})[arg] ?? arg)`);
    const only = broken.map(([requirement]) => requirement);
    const failed = Object.fromEntries(only.map((requirement) => [requirement, "failed"]));
    expect(await judge(wrong, ...only)).toEqual(failed);
  });

  it("judges nothing of a program that is no agent", async () => {
    await expect(judge("false", "agent-pods.max-pods")).rejects.toThrow(UnfitAgentError);
  });
});

describe("what a started agent shows", () => {
  it("is of requirements that there are, and that say so", () => {
    const rows = readRequirements();
    for (const id of judgedOfAgents())
      expect([id, rows.get(id)?.why]).toEqual([id, expect.stringContaining("`conform --agent`")]);
    const said = [...rows.values()].filter(({ why }) => why?.includes("`conform --agent`") === true);
    expect(said.map(({ id }) => id).sort()).toEqual(judgedOfAgents());
  });

  it("is something of nearly all that document 3 promises", () => {
    const musts = [...readRequirements().values()].filter(
      ({ id, level }) => id.startsWith("agent-") && level === "must",
    );
    const shown = new Set(judgedOfAgents());
    const judged = musts.filter(({ id, judged: by }) => by === "url" || shown.has(id));
    expect(musts.length).toBe(146);
    expect(judged.length).toBeGreaterThanOrEqual(130);
  });
});
