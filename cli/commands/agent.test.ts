import { join } from "node:path";
import { mkdirSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { machineAgentFiles, splitAgentArguments } from "../flags/agent-arguments.ts";
import { cleanUp, run, scratch } from "../spawned-command.fixture.ts";

afterAll(cleanUp);

describe("touchstone agent", () => {
  it("refuses a command line with all that is wrong in it, by the flags' names", async () => {
    const { code, stdout, stderr } = await run(
      ...["agent", "--port=0", "--max-pods", "-4", "--tls-min-version=VersionTLS9", "--sync-frequency=0s"],
    );
    expect(code).toBe(2);
    expect(stdout).toBe("");
    for (const flag of ["--port", "--max-pods", "--tls-min-version", "--sync-frequency"]) {
      expect(stderr).toMatch(new RegExp(`Error: .*${flag}`));
    }
  });

  it("reads flags before drop-in files before its file", async () => {
    const [file, folder] = [join(scratch, "agent.yaml"), join(scratch, "more")];
    mkdirSync(folder);
    const head = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n";
    writeFileSync(file, `${head}maxPods: -1\nport: -1\nregistryBurst: -1\n`);
    writeFileSync(join(folder, "a.conf"), `${head}port: -2\nmaxPods: -2\n`);
    const { code, stderr } = await run(
      ...["agent", "--profile=kubernetes", `--config=${file}`, `--config-dir=${folder}`, "--max-pods=-3"],
    );
    expect(code).toBe(2);
    for (const shown of ["(--max-pods) -3", "(--port) -2", "(--registry-burst) -1"]) expect(stderr).toContain(shown);
  });

  it("prints its version and its help", async () => {
    expect(await run("agent", "--version")).toMatchObject({ code: 0, stdout: "NodeAgent v1.33.3\n", stderr: "" });
    const help = await run("agent", "--profile=kubernetes", "-h");
    expect(help.code).toBe(0);
    expect(help.stdout).toContain("--topology-manager-scope");
    expect(help.stdout).toContain("--profile");
  });
});

describe("an agent's arguments", () => {
  it("are the table's, but for three", () => {
    expect(splitAgentArguments(["--profile", "kubernetes", "-v4", "--context=a", "--port", "1"])).toEqual({
      profile: "kubernetes",
      context: "a",
      faults: [],
      rest: ["-v4", "--port", "1"],
    });
    expect(splitAgentArguments(["--fault=agent-configz-always,evict-two-a-look"]).faults).toHaveLength(2);
    expect(() => splitAgentArguments(["--fault=agent-configz-alway"])).toThrow(/did you mean agent-configz-always/);
    expect(() => splitAgentArguments(["--profile=none"])).toThrow(/must be svc or kubernetes/);
    expect(() => splitAgentArguments(["--context"])).toThrow(/needs a value/);
  });

  it("name files, and a missing one is told in the system's words", () => {
    const missing = { error: "no such file or directory" };
    expect(machineAgentFiles.read(join(scratch, "none"))).toEqual(missing);
    expect(machineAgentFiles.list(join(scratch, "none"))).toEqual(missing);
  });
});
