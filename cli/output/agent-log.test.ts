import { describe, expect, it } from "vitest";
import { machineAgentFiles } from "../flags/agent-arguments.ts";
import { readAgentCommand } from "../../sim/configuration/agent/command-line.ts";
import { dialects } from "../../wire/dialect.ts";
import { AgentLog, agentLogOptions } from "./agent-log.ts";

function logWith(...flags: string[]) {
  const command = readAgentCommand(flags, dialects.svc, machineAgentFiles);
  if (command.is !== "settings") throw new Error(JSON.stringify(command));
  const written = { stdout: "", stderr: "" };
  const timers: { readonly millis: number; readonly work: () => void }[] = [];
  const log = new AgentLog(agentLogOptions(command.settings), {
    stdout: (text) => (written.stdout += text),
    stderr: (text) => (written.stderr += text),
    nowUnixMillis: () => 1_900_000_000_123,
    pid: 77,
    every: (millis, work) => {
      timers.push({ millis, work });
      return () => {};
    },
  });
  return { log, written, timers };
}

const alpha = "--feature-gates=LoggingAlphaOptions=true";

describe("an agent's log", () => {
  it("is text on stderr: severity, time, process, file", () => {
    const { log, written } = logWith();
    log.info("remote_runtime", 0, 'so "it" is');
    log.error("agent", "no");
    expect(written).toEqual({
      stdout: "",
      stderr:
        'I0317 17:46:40.123000      77 remote_runtime] "so \\"it\\" is"\nE0317 17:46:40.123000      77 agent] "no"\n',
    });
  });

  it("is JSON, a line each, with levels and errors", () => {
    const { log, written } = logWith("--logging-format=json", "-v=4");
    log.info("a", 4, "said");
    log.error("a", "wrong");
    expect(
      written.stderr
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toEqual([
      { ts: 1_900_000_000_123, caller: "a", msg: "said", v: 4 },
      { ts: 1_900_000_000_123, caller: "a", msg: "wrong", err: "wrong" },
    ]);
  });

  it("has lines up to its level, or up to that of their file", () => {
    const { log, written } = logWith("-v=2", "--vmodule=remote_*=5,agent=0");
    for (const file of ["remote_runtime", "agent", "other"]) {
      for (const level of [0, 2, 3, 5, 6]) log.info(file, level, String(level));
    }
    const shown = written.stderr
      .trim()
      .split("\n")
      .map((line) => line.replace(/^\S+ \S+ +77 /, ""));
    expect(shown).toEqual([
      ...[0, 2, 3, 5].map((level) => `remote_runtime] "${level}"`),
      'agent] "0"',
      'other] "0"',
      'other] "2"',
    ]);
  });

  it.each(["text", "json"])("splits %s: errors to stderr, the rest to stdout", (format) => {
    const { log, written } = logWith(`--logging-format=${format}`, alpha, `--log-${format}-split-stream`);
    log.info("a", 0, "one");
    log.warning("a", "two");
    log.error("a", "three");
    expect([written.stdout.match(/one|two|three/g), written.stderr.match(/one|two|three/g)?.[0]]).toEqual([
      ["one", "two"],
      "three",
    ]);
  });

  it.each(["text", "json"])("keeps %s back until the buffer is full, the time is over, or the end", (format) => {
    const flags = [
      `--logging-format=${format}`,
      alpha,
      `--log-${format}-split-stream`,
      `--log-${format}-info-buffer-size=1Ki`,
    ];
    const { log, written, timers } = logWith(...flags, "--log-flush-frequency=3s");
    log.info("a", 0, "one");
    log.error("a", "wrong");
    expect([written.stdout, written.stderr === ""]).toEqual(["", false]);
    expect(timers.map(({ millis }) => millis)).toEqual([3000]);
    timers[0]?.work();
    expect(written.stdout).toContain("one");
    log.info("a", 0, "x".repeat(1100));
    expect(written.stdout).toContain("xxx");
    log.info("a", 0, "last");
    expect(written.stdout).not.toContain("last");
    log.close();
    expect(written.stdout).toContain("last");
  });
});
