import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { accessSettingsOf, agentOptionsOf } from "../../sim/agent/options-of-settings.ts";
import { readAgentCommand } from "../../sim/configuration/agent/command-line.ts";
import { configzOf } from "../../sim/configuration/agent/configz.ts";
import { sampleOf } from "../../sim/configuration/agent/flag-samples.fixture.ts";
import { flagTable } from "../../sim/configuration/agent/flag-table.ts";
import type { AgentSettings } from "../../sim/configuration/agent/settings.ts";
import { dialects } from "../../wire/dialect.ts";
import { agentLogOptions } from "../output/agent-log.ts";

const file = `apiVersion: nodeagent.config.svc.io/v1beta1
kind: NodeAgentConfiguration
authentication: {webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
`;

function settingsOf(args: readonly string[]): AgentSettings {
  const files = { read: () => ({ text: file }), list: () => ({ paths: [] }), environment: {} };
  const command = readAgentCommand(args, dialects.svc, files);
  if (command.is !== "settings") throw new Error(`${args.join(" ")}: ${JSON.stringify(command)}`);
  return command.settings;
}

/** What parts of an agent are told that flags lead to. */
const told = (settings: AgentSettings): string =>
  JSON.stringify([
    agentOptionsOf(settings, { hostname: "n", addresses: ["10.0.0.1"], processId: 7 }),
    accessSettingsOf(settings),
    agentLogOptions(settings),
  ]);

const cores = ["--cpu-manager-policy=static", "--svc-reserved=cpu=1"];
const alpha = "--feature-gates=LoggingAlphaOptions=true";
const connected = "--svcconfig=a";
const enforced = "--enforce-node-allocatable=pods,system-reserved,svc-reserved";
const numa = "--topology-manager-policy=restricted";

/** Values other than the flags' samples, and what has to be given beside them: a lone sample changes nothing. */
const lines: Readonly<Record<string, readonly [line: readonly string[], beside?: readonly string[]]>> = {
  "authentication-token-webhook": [["--authentication-token-webhook"], [connected]],
  "authorization-mode": [["--authorization-mode=Webhook"], [connected]],
  "cgroup-driver": [["--cgroup-driver=systemd"]],
  "cgroups-per-qos": [["--cgroups-per-qos=false"], ["--enforce-node-allocatable=none"]],
  "cpu-cfs-quota-period": [["--cpu-cfs-quota-period=50ms"], ["--feature-gates=CustomCPUCFSQuotaPeriod=true"]],
  "cpu-manager-policy": [["--cpu-manager-policy=static"], ["--svc-reserved=cpu=1"]],
  "cpu-manager-policy-options": [["--cpu-manager-policy-options=full-pcpus-only=true"], cores],
  "cpu-manager-reconcile-period": [["--cpu-manager-reconcile-period=5s"], cores],
  "eviction-soft": [["--eviction-soft=memory.available<1Gi"], ["--eviction-soft-grace-period=memory.available=1m"]],
  "experimental-allocatable-ignore-eviction": [["--experimental-allocatable-ignore-eviction"]],
  "feature-gates": [["--feature-gates=DisableCPUQuotaWithExclusiveCPUs=false"], cores],
  "log-json-info-buffer-size": [["--log-json-info-buffer-size=1Mi"], [alpha, "--logging-format=json"]],
  "log-json-split-stream": [["--log-json-split-stream"], [alpha, "--logging-format=json"]],
  "log-text-info-buffer-size": [["--log-text-info-buffer-size=1Mi"], [alpha]],
  "log-text-split-stream": [["--log-text-split-stream"], [alpha]],
  "memory-manager-policy": [["--memory-manager-policy=Static"]],
  "node-ip": [["--node-ip=10.0.0.9"]],
  "qos-reserved": [["--qos-reserved=memory=50%"], ["--feature-gates=QOSReserved=true"]],
  "reserved-memory": [["--reserved-memory=0:memory=1Gi"], ["--memory-manager-policy=Static"]],
  "seccomp-default": [["--seccomp-default"]],
  "svc-reserved-cgroup": [
    ["--svc-reserved-cgroup=/b"],
    [enforced, "--system-reserved-cgroup=/c", "--svc-reserved-cgroup=/a"],
  ],
  "system-cgroups": [["--system-cgroups=/a"], ["--cgroup-root=/b"]],
  "system-reserved-cgroup": [
    ["--system-reserved-cgroup=/b"],
    [enforced, "--system-reserved-cgroup=/c", "--svc-reserved-cgroup=/a"],
  ],
  "topology-manager-policy-options": [["--topology-manager-policy-options=prefer-closest-numa-nodes=true"], [numa]],
  "topology-manager-scope": [["--topology-manager-scope=pod"], [numa]],
};

const behaviours = "conformance/agent/behaviours.ts";
const kubectl = ".ci/kubectl-agent";
const alone = "cli/commands/agent-alone.test.ts";
const command = "cli/commands/agent.test.ts";
const atStart = "cli/commands/agent-start.test.ts";

/** Flags that others read: the listeners, the process. Where each is shown. */
const shown: Readonly<Record<string, string>> = {
  address: behaviours,
  "bootstrap-svcconfig": kubectl,
  "cert-dir": alone,
  "client-ca-file": kubectl,
  "cloud-config": alone,
  config: command,
  "config-dir": command,
  "container-runtime-endpoint": alone,
  "contention-profiling": "cli/targets/program-profiles.test.ts",
  "enable-debugging-handlers": behaviours,
  "enable-server": behaviours,
  "exit-on-lock-contention": alone,
  "fail-cgroupv1": alone,
  "fail-swap-on": "sim/agent/node/node-side.test.ts",
  "healthz-bind-address": atStart,
  "healthz-port": alone,
  help: behaviours,
  "image-credential-provider-bin-dir": alone,
  "image-credential-provider-config": alone,
  "image-service-endpoint": alone,
  "lock-file": alone,
  "max-open-files": alone,
  "oom-score-adj": alone,
  "protect-kernel-defaults": alone,
  "read-only-port": behaviours,
  "resolv-conf": atStart,
  "rotate-certificates": kubectl,
  "rotate-server-certificates": kubectl,
  runonce: alone,
  "streaming-connection-idle-timeout": atStart,
  "svc-api-content-type": atStart,
  svcconfig: kubectl,
  "tls-cert-file": atStart,
  "tls-cipher-suites": behaviours,
  "tls-min-version": behaviours,
  "tls-private-key-file": atStart,
  version: behaviours,
  "volume-stats-agg-period": atStart,
};

const acting = flagTable.filter(({ effect }) => "acts" in effect);

describe("a flag that acts", () => {
  it.each(acting.filter(({ name }) => !(name in shown)))("--$name changes what a part of the agent is told", (row) => {
    const [line, beside = []] = lines[row.name] ?? [[`--${row.name}=${sampleOf(row)[0]}`]];
    expect(told(settingsOf([...beside, ...line]))).not.toBe(told(settingsOf(beside)));
  });

  it.each(Object.entries(shown))("--%s is shown by %s", (name, path) => {
    expect(acting.map((row) => row.name)).toContain(name);
    const text = readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), "utf8");
    expect(text).toMatch(new RegExp(`--${name}(?![\\w-])`));
  });
});

describe("the list of flags that only a kernel could act on", () => {
  const closed = flagTable.filter(({ effect }) => "kernelAlone" in effect);

  it("is closed", () => {
    expect(closed.map(({ name }) => name)).toEqual([
      "experimental-mounter-path",
      "hairpin-mode",
      "kernel-memcg-notification",
      "make-iptables-util-chains",
    ]);
  });

  it.each(closed)("--$name is reported at the start with the reason, and shown in the configuration", (row) => {
    const line = `--${row.name}=${sampleOf(row)[0]}`;
    const files = { read: () => ({ text: file }), list: () => ({ paths: [] }), environment: {} };
    const read = readAgentCommand([line], dialects.svc, files);
    const reason = "kernelAlone" in row.effect ? row.effect.kernelAlone : "";
    expect(read.is === "settings" && read.warnings.at(-1)).toContain(reason);
    const [plain, changed] = [configzOf(settingsOf([])), configzOf(settingsOf([line]))];
    if (row.field === undefined) expect(changed).toEqual(plain);
    else if (sampleOf(row)[0] !== row.default) expect(changed).not.toEqual(plain);
  });
});
