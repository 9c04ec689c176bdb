import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { staticPodLawWith } from "../../sim/agent/planted/source-bugs.ts";
import { readManifest } from "../../sim/agent/sources/static-pod.ts";
import { metadataOf } from "../../sim/contract/objects.ts";
import { agentBugsOn } from "../../sim/planted/agent-bugs.ts";
import { dialects } from "../../wire/dialect.ts";
import { cleanUp, type Running, scratch, start } from "../spawned-command.fixture.ts";

let runtime: Running;
const socket = join(scratch, "alone.sock");

beforeAll(async () => {
  runtime = start("runtime", "--listen", `unix://${socket}`);
  await runtime.firstLine;
});
afterAll(cleanUp);

const agent = (...flags: string[]): Running =>
  start(
    ...["agent", `--container-runtime-endpoint=unix://${socket}`, "--enable-server=false", "--read-only-port=0"],
    ...[
      "--healthz-port=0",
      `--cert-dir=${join(scratch, "pki")}`,
      "--hostname-override=alone",
      "--resolv-conf=",
      ...flags,
    ],
  );

describe("an agent alone", () => {
  it("with --runonce starts the pods of its files and ends; the containers go on", async () => {
    const folder = join(scratch, "manifests");
    mkdirSync(folder);
    const spec = { containers: [{ name: "c", image: "local/box:1", command: ["sh", "-c", "sleep 1000"] }] };
    writeFileSync(
      join(folder, "a.json"),
      JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata: { name: "once" }, spec }),
    );
    const { code, stdout, stderr } = await agent("--runonce", `--pod-manifest-path=${folder}`).ended;
    expect([code, stdout.includes("have begun: ending")]).toEqual([0, true]);
    expect(stderr).not.toContain("checked and kept");
    expect(readFileSync(`${socket}.state`, "utf8")).toContain("StartContainer");
  });

  it("has planted bugs of pods, too", async () => {
    const folder = join(scratch, "shared");
    mkdirSync(folder);
    const spec = { containers: [{ name: "c", image: "local/box:1", command: ["sh", "-c", "sleep 1000"] }] };
    const text = JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata: { name: "shared" }, spec });
    writeFileSync(join(folder, "a.json"), text);
    const flags = [`--pod-manifest-path=${folder}`, "--fault=static-uid-collision-or-drift"];
    expect(await agent("--runonce", ...flags).ended).toMatchObject({ code: 0 });
    const origin = { source: "file", place: `${folder}/a.json` } as const;
    const law = staticPodLawWith(agentBugsOn(["static-uid-collision-or-drift"]))();
    const read = readManifest(new TextEncoder().encode(text), origin, "elsewhere", dialects.svc, law);
    const uid = "pods" in read ? metadataOf(read.pods[0] ?? {}).uid : read.error;
    expect(readFileSync(`${socket}.state`, "utf8")).toContain(`default_shared-alone_${uid}`);
  });

  it("holds its lock file: another waits, and with --exit-on-lock-contention the first makes way", async () => {
    const lock = `--lock-file=${join(scratch, "agent.lock")}`;
    const first = agent(lock, "--exit-on-lock-contention");
    await first.firstLine;
    const second = agent(lock);
    expect(await first.ended).toMatchObject({ code: 0, stdout: expect.stringContaining("another agent wants") });
    await second.firstLine;
    const third = agent(lock);
    const waits = new Promise<void>((resolve) => {
      let text = "";
      third.child.stderr?.on("data", (chunk: Buffer) => {
        text += chunk.toString();
        if (text.includes("another agent holds it; waiting")) resolve();
      });
    });
    await waits;
    third.child.kill("SIGTERM");
    expect(await third.ended).toMatchObject({ code: 0, stdout: "" });
    second.child.kill("SIGTERM");
    expect((await second.ended).code).toBe(0);
  });

  it("has the score for the kernel without memory that it is given, where it may", async () => {
    const running = agent("--oom-score-adj=600");
    await running.firstLine;
    if (process.platform === "linux")
      expect(readFileSync(`/proc/${running.child.pid}/oom_score_adj`, "utf8").trim()).toBe("600");
    running.child.kill("SIGTERM");
    expect((await running.ended).code).toBe(0);
  });

  it("may have as many files open as it is told", async () => {
    const running = agent("--max-open-files=640");
    await running.firstLine;
    if (process.platform === "linux" && existsSync("/usr/bin/prlimit"))
      expect(readFileSync(`/proc/${running.child.pid}/limits`, "utf8")).toMatch(/^Max open files +640 +640 /m);
    running.child.kill("SIGTERM");
    expect((await running.ended).code).toBe(0);
  });

  it("gives containers processors and memory of a machine with NUMA nodes, and does not start with another's files", async () => {
    const wide = `${socket}.wide`;
    const machine = start("runtime", "--listen", `unix://${wide}`, "--cpu", "8", "--numa-nodes", "2");
    await machine.firstLine;
    const folder = join(scratch, "guaranteed");
    mkdirSync(folder);
    const limits = { cpu: "4", memory: "1Gi" };
    const spec = {
      containers: [{ name: "c", image: "local/box:1", command: ["sleep", "1000"], resources: { limits } }],
    };
    const body = { apiVersion: "v1", kind: "Pod", metadata: { name: "own" }, spec };
    writeFileSync(join(folder, "a.json"), JSON.stringify(body));
    const flags = [
      `--container-runtime-endpoint=unix://${wide}`,
      `--pod-manifest-path=${folder}`,
      "--runonce",
      "--cpu-manager-policy=static",
      "--reserved-cpus=0",
      "--topology-manager-policy=single-numa-node",
    ];
    const { code, stderr } = await agent(...flags).ended;
    expect([code, stderr.includes("checked and kept")]).toEqual([0, false]);
    expect(readFileSync(`${wide}.state`, "utf8")).toContain('"cpusetCpus":"4-7"');
    const other = await agent(`--container-runtime-endpoint=unix://${wide}`).ended;
    expect([other.code, other.stderr.includes("differs from state checkpoint policy")]).toEqual([2, true]);
  });

  it("pulls through --image-service-endpoint, with what a plugin knows of the registry; its own group is where it is told", async () => {
    const images = `${socket}.images`;
    await start("runtime", "--listen", `unix://${images}`).firstLine;
    const [folder, plugins] = [join(scratch, "secret"), join(scratch, "plugins")];
    for (const path of [folder, plugins]) mkdirSync(path);
    const spec = { containers: [{ name: "c", image: "registry.example/team/c:1" }] };
    const body = { apiVersion: "v1", kind: "Pod", metadata: { name: "secret" }, spec };
    writeFileSync(join(folder, "a.json"), JSON.stringify(body));
    const answer = {
      apiVersion: "credentialprovider.nodeagent.svc.io/v1",
      kind: "CredentialProviderResponse",
      cacheKeyType: "Registry",
      auth: { "registry.example": { username: "user", password: "word-of-the-plugin" } },
    };
    writeFileSync(join(plugins, "knows"), `#!/bin/sh\ncat > /dev/null\necho '${JSON.stringify(answer)}'\n`);
    chmodSync(join(plugins, "knows"), 0o755);
    const provider = {
      name: "knows",
      matchImages: ["registry.example"],
      defaultCacheDuration: "1m",
      apiVersion: answer.apiVersion,
    };
    const config = join(scratch, "plugins.json");
    const kind = { apiVersion: "nodeagent.config.svc.io/v1", kind: "CredentialProviderConfig" };
    writeFileSync(config, JSON.stringify({ ...kind, providers: [provider] }));
    const running = agent(
      `--pod-manifest-path=${folder}`,
      `--image-service-endpoint=unix://${images}`,
      `--image-credential-provider-config=${config}`,
      `--image-credential-provider-bin-dir=${plugins}`,
      "--nodeagent-cgroups=/agents.slice",
    );
    await running.firstLine;
    const calls = (path: string): readonly { method: string }[] =>
      readFileSync(path, "utf8")
        .split("\n")
        .slice(0, -1)
        .flatMap((line) => (JSON.parse(line) as { call?: { method: string } }).call ?? []);
    await vi.waitUntil(() => calls(`${images}.state`).some(({ method }) => method === "PullImage"), 30_000);
    const pull = calls(`${images}.state`).find(({ method }) => method === "PullImage");
    expect(pull).toMatchObject({ message: { auth: { username: "user", password: "word-of-the-plugin" } } });
    const pulledThere = calls(`${socket}.state`).filter(({ method }) => method === "PullImage");
    expect(JSON.stringify(pulledThere)).not.toContain("registry.example");
    const group = "/sys/fs/cgroup/agents.slice/cgroup.procs";
    await vi.waitUntil(() => readFileSync(`${socket}.state`, "utf8").includes(group), 30_000);
    running.child.kill("SIGTERM");
    expect((await running.ended).code).toBe(0);
  });

  it("ends at once when the file of its cloud provider cannot be read", async () => {
    const { code, stderr } = await agent(`--cloud-config=${join(scratch, "none")}`).ended;
    expect([code, stderr.includes("--cloud-config")]).toEqual([2, true]);
  });

  it("does not start on a machine that its flags refuse", async () => {
    const old = start(
      "runtime",
      "--listen",
      `unix://${socket}.old`,
      "--cgroup-version",
      "1",
      "--tunable",
      "kernel.panic=0",
    );
    await old.firstLine;
    const endpoint = `--container-runtime-endpoint=unix://${socket}.old`;
    expect(await agent(endpoint).ended).toMatchObject({ code: 2, stderr: expect.stringContaining("--fail-cgroupv1") });
    const strict = await agent(endpoint, "--fail-cgroupv1=false", "--protect-kernel-defaults").ended;
    expect([strict.code, strict.stderr.includes("invalid kernel flag: kernel/panic")]).toEqual([2, true]);
  });

  it("says what cannot be a lock", async () => {
    const { code, stderr } = await agent(`--lock-file=${join(scratch, "none", "agent.lock")}`).ended;
    expect([code, stderr.includes("--lock-file")]).toEqual([2, true]);
  });
});
