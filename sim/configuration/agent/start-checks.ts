/**
 * What an agent only finds out when it starts with its settings: the parts that they are for refuse them.
 * Source: the fact sheet of the 1.33 agent, flags and configuration; document 3, cipher suites.
 */
import { parseEvictionSettings } from "../../../wire/eviction-thresholds.ts";
import { goQuote } from "../../../wire/go-strings.ts";
import { parseQuantity } from "../../../wire/quantity.ts";
import { evictionSettingsOf } from "./eviction-settings.ts";
import { isOn } from "./feature-gates.ts";
import { cpuOptionProblems, topologyOptionProblems } from "./manager-options.ts";
import { nodeIpsIn } from "./flag-values.ts";
import type { AgentSettings } from "./settings.ts";
import { cipherSuites, tlsVersions } from "./tls-names.ts";

type Check = (settings: AgentSettings) => readonly string[];

export function startProblems(settings: AgentSettings): readonly string[] {
  return checks.flatMap((check) => check(settings));
}

const reservable = ["cpu", "memory", "ephemeral-storage", "pid"];

const reserved =
  (flag: "system-reserved" | "svc-reserved"): Check =>
  (settings) =>
    Object.entries(settings.map(flag)).flatMap(([resource, text]) => {
      const failed = (why: string): readonly string[] => [`--${flag} value failed to parse: ${why}`];
      if (!reservable.includes(resource)) return failed(`cannot reserve ${goQuote(resource)} resource`);
      const quantity = parseQuantity(text);
      if ("error" in quantity)
        return failed(`failed to parse quantity ${goQuote(text)} for ${goQuote(resource)} resource: ${quantity.error}`);
      return quantity.digits < 0n
        ? failed(`resource quantity for ${goQuote(resource)} cannot be negative: ${text}`)
        : [];
    });

const policy =
  (flag: string, allowed: readonly string[]): Check =>
  (settings) => {
    const value = settings.text(flag);
    return value === "" || allowed.includes(value) ? [] : [`--${flag}: unknown policy: ${goQuote(value)}`];
  };

/** Groups of sysctls that the kernel keeps apart for each namespace. */
const namespacedSysctl = /^(kernel\.(shm|msg|sem)|fs\.mqueue\.|net\.)/;

const checks: readonly Check[] = [
  (settings) => {
    const rules = parseEvictionSettings(evictionSettingsOf(settings));
    return "error" in rules ? [`--eviction flags: ${rules.error}`] : [];
  },
  reserved("system-reserved"),
  reserved("svc-reserved"),
  policy("cpu-manager-policy", ["none", "static"]),
  policy("memory-manager-policy", ["None", "Static"]),
  cpuOptionProblems,
  topologyOptionProblems,
  (settings) => {
    const hasCpu =
      settings.text("reserved-cpus") !== "" ||
      ["system-reserved", "svc-reserved"].some((flag) => isSome(settings.map(flag)["cpu"]));
    return settings.text("cpu-manager-policy") !== "static" || hasCpu
      ? []
      : [
          "--cpu-manager-policy: the static policy requires systemreserved.cpu + svcreserved.cpu to be greater than zero",
        ];
  },
  (settings) => {
    const mode = settings.text("authorization-mode");
    return ["AlwaysAllow", "Webhook"].includes(mode)
      ? []
      : [`--authorization-mode: unknown authorization mode ${mode}`];
  },
  (settings) => {
    if (settings.text("svcconfig") !== "") return [];
    const needs = (what: string, flag: string): readonly string[] => [
      `--${flag}: no client provided, cannot use webhook ${what}`,
    ];
    return [
      ...(settings.flag("authentication-token-webhook") ? needs("authentication", "authentication-token-webhook") : []),
      ...(settings.text("authorization-mode") === "Webhook" ? needs("authorization", "authorization-mode") : []),
    ];
  },
  (settings) => {
    const version = settings.text("tls-min-version");
    return version === "" || tlsVersions.includes(version)
      ? []
      : [`--tls-min-version: unknown tls version ${goQuote(version)}`];
  },
  (settings) =>
    settings
      .texts("tls-cipher-suites")
      .filter((suite) => !cipherSuites.has(suite))
      .map((suite) => `--tls-cipher-suites: Cipher suite ${suite} not supported or doesn't exist`),
  (settings) => {
    const [certificate, key] = [settings.text("tls-cert-file"), settings.text("tls-private-key-file")];
    if ((certificate === "") === (key === "") || (key === "" && settings.rules.makesPairWithoutKey)) return [];
    return ["--tls-cert-file and --tls-private-key-file need each other: give both, or neither"];
  },
  (settings) =>
    Object.entries(settings.map("qos-reserved")).flatMap(([resource, text]) => {
      if (!isOn(settings.gates(), "QOSReserved")) return ["--qos-reserved: the feature gate QOSReserved is off"];
      if (resource !== "memory") return [`--qos-reserved: only memory can be reserved, not ${goQuote(resource)}`];
      const percent = /^(\d+)%$/.exec(text)?.[1];
      return percent !== undefined && Number(percent) <= 100
        ? []
        : [`--qos-reserved: ${goQuote(text)} is no percentage from 0% to 100%`];
    }),
  (settings) =>
    settings
      .texts("allowed-unsafe-sysctls")
      .filter((pattern) => !namespacedSysctl.test(pattern) || !/^[a-z0-9][a-z0-9._/*-]*$/.test(pattern))
      .map((pattern) => `--allowed-unsafe-sysctls: the sysctls ${goQuote(pattern)} are not known to be namespaced`),
  (settings) => {
    const text = settings.text("container-log-max-size");
    const quantity = parseQuantity(text);
    return "error" in quantity
      ? [`--container-log-max-size: failed to parse container log configuration ${goQuote(text)}: ${quantity.error}`]
      : [];
  },
  (settings) => (settings.number("sync-frequency") <= 0 ? ["--sync-frequency: invalid sync frequency"] : []),
  (settings) => {
    const name = settings.text("cloud-provider");
    return name === "" || name === "external"
      ? []
      : [`--cloud-provider: unsupported value ${goQuote(name)}: empty, or external`];
  },
  lockFile,
  (settings) =>
    settings.text("container-runtime-endpoint") === ""
      ? [
          "--container-runtime-endpoint: the container runtime endpoint address was not specified or empty, use --container-runtime-endpoint to set",
        ]
      : [],
  ({ reservedMemory }) =>
    reservedMemory().flatMap(({ numaNode, limits }) => {
      if (numaNode < 0) return [`--reserved-memory: there is no NUMA node ${numaNode}`];
      const below = Object.entries(limits).filter(([, text]) => isBelowZero(text));
      return below.map(([type, text]) => `--reserved-memory: ${goQuote(type)} cannot be negative: ${text}`);
    }),
  (settings) => {
    const ips = nodeIpsIn(settings.text("node-ip"));
    const failed = (why: string): readonly string[] => [
      `failed to parse --node-ip ${goQuote(settings.text("node-ip"))}: ${why}`,
    ];
    const isPair = ips.length === 2 && ips.filter((ip) => ip.includes(":")).length === 1;
    if (ips.length > 1 && !isPair) return failed("must contain either a single IP or a dual-stack pair of IPs");
    const isOpen = ips.some((ip) => ["::", "0.0.0.0"].includes(ip));
    return isPair && isOpen ? failed("dual-stack node IP cannot include '0.0.0.0' or '::'") : [];
  },
  (settings) => (settings.text("root-dir") === "" ? ["--root-dir: the root directory must not be empty"] : []),
];

function lockFile(settings: AgentSettings): readonly string[] {
  return settings.flag("exit-on-lock-contention") && settings.text("lock-file") === ""
    ? ["--exit-on-lock-contention: cannot exit on lock file contention: no lock file specified"]
    : [];
}

function isBelowZero(text: string): boolean {
  const quantity = parseQuantity(text);
  return !("error" in quantity) && quantity.digits < 0n;
}

function isSome(text: string | undefined): boolean {
  const quantity = parseQuantity(text ?? "0");
  return !("error" in quantity) && quantity.digits > 0n;
}
