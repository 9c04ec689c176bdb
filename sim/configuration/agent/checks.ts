/**
 * What flags and fields may say: each value by itself, and those that do not go together. All that is wrong comes at once.
 * Source: document 3, Options; the fact sheet of the 1.33 agent, validation shapes, and the answers of a live one.
 */
import { parseCpuList } from "../../../wire/cpu-list.ts";
import { goQuote } from "../../../wire/go-strings.ts";
import { parseQuantity } from "../../../wire/quantity.ts";
import { isOn } from "./feature-gates.ts";
import { flagRow } from "./flag-parsing.ts";
import type { AgentSettings } from "./settings.ts";

type Check = (settings: AgentSettings) => readonly string[];

const second = 1_000_000;

/** Without the words that each begins with. */
export function configurationProblems(settings: AgentSettings): readonly string[] {
  return checks.flatMap((check) => check(settings)).map((problem) => `invalid configuration: ${problem}`);
}

/** `eventRecordQPS (--event-qps)` */
const named = (flag: string): string => `${flagRow(flag)?.field ?? flag} (--${flag})`;

const when = (wrong: boolean, problem: () => string): readonly string[] => (wrong ? [problem()] : []);

const notNegative =
  (flag: string): Check =>
  (settings) => {
    const value = settings.number(flag);
    return when(value < 0, () => `${named(flag)} ${value} must not be a negative number`);
  };

const within =
  (flag: string, min: number, max: number, besides?: number): Check =>
  (settings) => {
    const value = settings.number(flag);
    const wrong = value !== besides && (value < min || value > max);
    return when(wrong, () => `${named(flag)} ${value} must be between ${min} and ${max}, inclusive`);
  };

const oneOf =
  (flag: string, allowed: readonly string[], text: (value: string) => string): Check =>
  (settings) => {
    const value = settings.text(flag);
    return when(!allowed.includes(value), () => text(value));
  };

const topologies = ["none", "best-effort", "restricted", "single-numa-node"];

const checks: readonly Check[] = [
  (settings) => {
    const seconds = settings.number("nodeLeaseDurationSeconds");
    return when(seconds <= 0, () => `nodeLeaseDurationSeconds ${seconds} must be greater than 0`);
  },
  enforcement,
  (settings) =>
    when(settings.text("system-cgroups") !== "" && settings.text("cgroup-root") === "", () => {
      return `${named("system-cgroups")} was specified and cgroupRoot (--cgroup-root) was not specified`;
    }),
  quotaPeriod,
  imageThresholds,
  imageAges,
  notNegative("event-burst"),
  notNegative("event-qps"),
  notNegative("svc-api-burst"),
  notNegative("svc-api-qps"),
  notNegative("registry-burst"),
  notNegative("registry-qps"),
  notNegative("max-open-files"),
  notNegative("max-pods"),
  notNegative("pods-per-core"),
  within("healthz-port", 1, 65_535, 0),
  within("oom-score-adj", -1000, 1000),
  within("port", 1, 65_535),
  within("read-only-port", 0, 65_535),
  (settings) => {
    const most = settings.number("node-status-max-images");
    return when(most < -1, () => `${named("node-status-max-images")} ${most} must be -1 or greater`);
  },
  (settings) => {
    const needs = settings.flag("rotate-server-certificates");
    const gate = "RotateNodeAgentServerCertificate";
    const off = !isOn(settings.gates(), gate) || !isOn(settings.gates(), "RotateKubeletServerCertificate");
    return when(
      needs && off,
      () => `serverTLSBootstrap (--rotate-server-certificates) true requires feature gate ${gate}`,
    );
  },
  oneOf("topology-manager-policy", topologies, (value) => {
    return `${named("topology-manager-policy")} ${goQuote(value)} must be one of: [${topologies.map(goQuote).join(" ")}]`;
  }),
  oneOf("topology-manager-scope", ["container", "pod"], (value) => {
    return `${named("topology-manager-scope")} ${goQuote(value)} must be one of: "container", or "pod"`;
  }),
  parallelPulls,
  oneOf("hairpin-mode", ["none", "hairpin-veth", "promiscuous-bridge"], (value) => {
    return `option ${goQuote(value)} specified for ${named("hairpin-mode")}. Valid options are "none", "hairpin-veth" or "promiscuous-bridge"`;
  }),
  reservedCpus,
  reservedMemory,
  runOnce,
  (settings) => {
    const most = settings.number("container-log-max-files");
    return when(most <= 1, () => `${named("container-log-max-files")} must be greater than 1`);
  },
  fileOnlyNumbers,
  restarts,
  shutdown,
  logging,
];

const reservedLevels = ["system-reserved", "svc-reserved"] as const;
const levels = ["pods", ...reservedLevels.flatMap((level) => [level, `${level}-compressible`]), "none"];

function enforcement(settings: AgentSettings): readonly string[] {
  const given = settings.texts("enforce-node-allocatable").filter((level) => level !== "");
  const where = named("enforce-node-allocatable");
  const problems: string[] = [];
  for (const [at, level] of given.entries()) {
    if (given.indexOf(level) !== at) problems.push(`duplicated enforcements ${goQuote(level)} in ${where}`);
    if (!levels.includes(level)) {
      problems.push(
        `option ${goQuote(level)} specified for ${where}. Valid options are ${levels.map(goQuote).join(", ")}`,
      );
    }
    if (level !== "none" && levels.includes(level) && !settings.flag("cgroups-per-qos")) {
      problems.push(`${named("cgroups-per-qos")} must be set to true when ${goQuote(level)} contained in ${where}`);
    }
  }
  if (given.includes("none") && given.length > 1) {
    problems.push(`${where} may not contain additional enforcements when "none" is specified`);
  }
  for (const level of reservedLevels) {
    const [plain, compressible] = [given.includes(level), given.includes(`${level}-compressible`)];
    if (plain && compressible) {
      problems.push(`both ${goQuote(level)} and ${goQuote(`${level}-compressible`)} cannot be specified in ${where}`);
    }
    if ((plain || compressible) && settings.text(`${level}-cgroup`) === "") {
      problems.push(
        `${named(`${level}-cgroup`)} must be specified when ${goQuote(level)} or ${goQuote(`${level}-compressible`)} included in ${where}`,
      );
    }
  }
  return problems;
}

function quotaPeriod(settings: AgentSettings): readonly string[] {
  const micros = settings.number("cpu-cfs-quota-period");
  const gate = "CustomCPUCFSQuotaPeriod";
  const shown = `${named("cpu-cfs-quota-period")} {${durationText(micros)}}`;
  if (micros !== 100_000 && !isOn(settings.gates(), gate)) return [`${shown} requires feature gate ${gate}`];
  return when(micros < 1000 || micros > second, () => `${shown} must be between 1ms and 1sec, inclusive`);
}

function imageThresholds(settings: AgentSettings): readonly string[] {
  const [high, low] = ["image-gc-high-threshold", "image-gc-low-threshold"] as const;
  const outside = [high, low].flatMap((flag) => within(flag, 0, 100)(settings));
  const [most, least] = [settings.number(high), settings.number(low)];
  const isCrossed = settings.rules.equalImageThresholds ? least > most : least >= most;
  const words = settings.rules.equalImageThresholds ? "must not be greater than" : "must be less than";
  return [...outside, ...when(isCrossed, () => `${named(low)} ${least} ${words} ${named(high)} ${most}`)];
}

function imageAges(settings: AgentSettings): readonly string[] {
  const [most, least] = [settings.number("imageMaximumGCAge"), settings.number("minimum-image-ttl-duration")];
  const shown = `imageMaximumGCAge ${durationText(most)}`;
  if (most < 0) return [`${shown} must not be negative`];
  return when(most > 0 && most <= least, () => {
    return `${shown} must be greater than ${named("minimum-image-ttl-duration")} ${durationText(least)}`;
  });
}

function parallelPulls(settings: AgentSettings): readonly string[] {
  const most = settings.of("maxParallelImagePulls") as number | undefined;
  if (most === undefined) return [];
  if (most < 1) return [`maxParallelImagePulls ${most} must be a positive number`];
  return when(most > 1 && settings.flag("serialize-image-pulls"), () => {
    return `maxParallelImagePulls cannot be larger than 1 unless ${named("serialize-image-pulls")} is false`;
  });
}

function reservedCpus(settings: AgentSettings): readonly string[] {
  const text = settings.text("reserved-cpus");
  if (text === "") return [];
  const where = named("reserved-cpus");
  const problems: string[] = [];
  const read = parseCpuList(text);
  if ("error" in read) return [`unable to parse ${where} ${text}, error: ${read.error}`];
  for (const level of reservedLevels) {
    if (settings.text(`${level}-cgroup`) !== "") {
      problems.push(`can't use ${where} with ${named(`${level}-cgroup`)}`);
    }
  }
  return problems;
}

/** Of one node and type there is one amount, and it is not zero. */
function reservedMemory(settings: AgentSettings): readonly string[] {
  const seen = new Set<string>();
  return settings.reservedMemory().flatMap(({ numaNode, limits }) =>
    Object.entries(limits).flatMap(([type, amount]) => {
      const where = `for NUMA node ${numaNode} and resource ${goQuote(type)} in ${named("reserved-memory")}`;
      const quantity = parseQuantity(amount);
      const key = `${numaNode} ${type}`;
      const isSecond = seen.has(key);
      seen.add(key);
      return [
        ...when("digits" in quantity && quantity.digits === 0n, () => `reserved memory may not be zero ${where}`),
        ...when(isSecond, () => `the reserved memory has a duplicate value ${where}`),
      ];
    }),
  );
}

function runOnce(settings: AgentSettings): readonly string[] {
  if (!settings.flag("runonce")) return [];
  if (!settings.rules.runOnce)
    return ["runOnce (--runonce) true, Runonce mode has been deprecated and should not be set"];
  return when(settings.flag("enable-server"), () => `${named("runonce")} needs ${named("enable-server")} to be false`);
}

function fileOnlyNumbers(settings: AgentSettings): readonly string[] {
  const [workers, interval] = [
    settings.number("containerLogMaxWorkers"),
    settings.number("containerLogMonitorInterval"),
  ];
  const factor = settings.of("memoryThrottlingFactor") as number;
  const [masquerade, drop] = [settings.number("iptablesMasqueradeBit"), settings.number("iptablesDropBit")];
  const isBit = (bit: number): boolean => bit >= 0 && bit <= 31;
  const logs = settings.text("podLogsDir");
  const swap = settings.text("memorySwap.swapBehavior");
  return [
    ...when(workers < 1, () => `containerLogMaxWorkers must be greater than or equal to 1`),
    ...when(interval < 3 * second, () => `containerLogMonitorInterval must be greater than or equal to 3s`),
    ...when(
      !(factor > 0 && factor <= 1),
      () => `memoryThrottlingFactor ${factor} must be greater than 0 and less than or equal to 1.0`,
    ),
    ...when(!isBit(masquerade), () => `iptablesMasqueradeBit ${masquerade} must be between 0 and 31, inclusive`),
    ...when(!isBit(drop), () => `iptablesDropBit ${drop} must be between 0 and 31, inclusive`),
    ...when(!logs.startsWith("/"), () => `podLogsDir ${goQuote(logs)} must be an absolute path`),
    ...when(logs.startsWith("/") && isUnclean(logs), () => `podLogsDir ${goQuote(logs)} must be a normalized path`),
    ...when(/[^\x20-\x7e]/.test(logs), () =>
      `podLogsDir ${goQuote(logs)} mut contains ASCII characters only`.replace("mut contains", "must contain"),
    ),
    ...when(!["", "NoSwap", "LimitedSwap"].includes(swap), () => {
      return `memorySwap.swapBehavior ${goQuote(swap)} must be one of: "", "LimitedSwap" or "NoSwap"`;
    }),
  ];
}

const isUnclean = (path: string): boolean => path !== "/" && /\/\/|\/\.{1,2}(\/|$)|\/$/.test(path);

function restarts(settings: AgentSettings): readonly string[] {
  const most = settings.of("crashLoopBackOff.maxContainerRestartPeriod") as number | undefined;
  if (most === undefined) return [];
  const [gate, field] = ["KubeletCrashLoopBackOffMax", "CrashLoopBackOff.MaxContainerRestartPeriod"];
  if (!isOn(settings.gates(), gate)) return [`FeatureGate ${gate} not enabled, ${field} must not be set`];
  return when(most < second || most > 300 * second, () => {
    return `${field} (got: ${durationText(most)}) must be set between 1s and 5m0s`;
  });
}

function shutdown(settings: AgentSettings): readonly string[] {
  const [all, critical] = [settings.number("shutdownGracePeriod"), settings.number("shutdownGracePeriodCriticalPods")];
  const byPriority = settings.open.get("shutdownGracePeriodByPodPriority");
  const isShort = (micros: number): boolean => micros < 0 || (micros > 0 && micros < second);
  const [whole, part] = ["shutdownGracePeriod", "shutdownGracePeriodCriticalPods"];
  return [
    ...when(critical > all, () => `${part} {${durationText(critical)}} must be <= ${whole} {${durationText(all)}}`),
    ...when(isShort(all), () => `${whole} {${durationText(all)}} must be either zero or otherwise >= 1 sec`),
    ...when(isShort(critical), () => `${part} {${durationText(critical)}} must be either zero or otherwise >= 1 sec`),
    ...when(Array.isArray(byPriority) && byPriority.length > 0 && (all > 0 || critical > 0), () => {
      return `Cannot specify both shutdownGracePeriodByPodPriority and ${whole} at the same time`;
    }),
  ];
}

function logging(settings: AgentSettings): readonly string[] {
  const format = settings.text("logging-format");
  const alpha = isOn(settings.gates(), "LoggingAlphaOptions");
  const split = ["log-text-split-stream", "log-json-split-stream"].filter((flag) => settings.flag(flag));
  const buffers = ["log-text-info-buffer-size", "log-json-info-buffer-size"].filter(
    (flag) => !["", "0"].includes(settings.text(flag)),
  );
  const flush = settings.number("log-flush-frequency");
  return [
    ...when(
      !["text", "json"].includes(format),
      () => `logging.format (--logging-format): Invalid value: ${goQuote(format)}: Unsupported log format`,
    ),
    ...when(
      format === "json" && !isOn(settings.gates(), "LoggingBetaOptions"),
      () => "logging.format (--logging-format): Forbidden: Log format json is disabled, see LoggingBetaOptions feature",
    ),
    ...when(format !== "text" && Object.keys(settings.map("vmodule")).length > 0, () => {
      return "logging.vmodule (--vmodule): Forbidden: Only supported for text log format";
    }),
    ...[...split, ...buffers]
      .filter(() => !alpha)
      .map((flag) => `${named(flag)}: Forbidden: Feature LoggingAlphaOptions is disabled`),
    ...when(flush <= 0, () => `${named("log-flush-frequency")} ${durationText(flush)} must be positive`),
  ];
}

/** As Go writes durations: `1h30m0s`, `100ms`, `0s`. */
export function durationText(micros: number): string {
  const sign = micros < 0 ? "-" : "";
  const whole = Math.abs(micros);
  if (whole === 0) return "0s";
  if (whole < 1000) return `${sign}${whole}µs`;
  if (whole < second) return `${sign}${whole / 1000}ms`;
  const [hours, minutes] = [Math.floor(whole / (3600 * second)), Math.floor(whole / (60 * second)) % 60];
  const seconds = (whole % (60 * second)) / second;
  return `${sign}${hours > 0 ? `${hours}h` : ""}${hours > 0 || minutes > 0 ? `${minutes}m` : ""}${seconds}s`;
}
