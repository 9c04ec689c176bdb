import { describe, expect, it } from "vitest";
import { readAgentCommand } from "../../sim/configuration/agent/command-line.ts";
import { dialects } from "../../wire/dialect.ts";
import { blockText, programProfiles } from "./program-profiles.ts";

function profilesWith(args: readonly string[], file?: string) {
  const files = {
    read: () => (file === undefined ? { error: "none" } : { text: file }),
    list: () => ({ error: "none" }),
    environment: {},
  };
  const command = readAgentCommand(args, dialects.svc, files);
  if (command.is !== "settings") throw new Error(JSON.stringify(command));
  return programProfiles(command.settings);
}

describe("what an agent tells of its own program", () => {
  it("is how late its loop of events was, where --contention-profiling asks for it", () => {
    const [off, on] = [profilesWith([]), profilesWith(["--contention-profiling"])];
    expect(off.texts["block"]?.()).toBe("--- contention:\ncycles/second=1000000000\n");
    expect(on.texts["block"]?.()).toMatch(
      /^--- contention:\ncycles\/second=1000000000\n\d+ \d+ @ event loop, at most \d+\n$/,
    );
    on.close();
  });

  it("counts nanoseconds in all, and times", () => {
    expect(blockText({ count: 4, mean: 2.5, max: 6 })).toContain("\n10 4 @ event loop, at most 6\n");
    expect(blockText({ count: 0, mean: Number.NaN, max: 0 })).toContain("\n0 0 @ event loop, at most 0\n");
  });

  it("is nothing where the file turns it off", () => {
    const head = "apiVersion: nodeagent.config.svc.io/v1beta1\nkind: NodeAgentConfiguration\n";
    const file = `${head}authentication: {webhook: {enabled: false}}\nauthorization: {mode: AlwaysAllow}\n`;
    expect(profilesWith(["--config=f"], `${file}enableProfilingHandler: false\n`).isOn).toBe(false);
    expect(profilesWith(["--config=f"], file).isOn).toBe(true);
  });
});
