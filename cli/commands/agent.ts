/** `touchstone agent`, or `nodeagent`: one real node agent, until SIGINT or SIGTERM. Its containers go on without it. */
import { hostname } from "node:os";
import process from "node:process";
import { parseEvictionSettings } from "../../wire/eviction-thresholds.ts";
import { parseQuantity } from "../../wire/quantity.ts";
import { defaultAgentOptions } from "../../sim/agent/agent-options.ts";
import type { AgentOptions } from "../../sim/agent/ports.ts";
import { profiles } from "../../sim/contract/profile.ts";
import type { AgentCommandOptions } from "../command-line.ts";
import { readConnectionFile } from "../flags/connection-file.ts";
import { type ExitCode, exitCodes, UsageError } from "../flags/usage-error.ts";
import { interrupted } from "../output/interrupt.ts";
import { startWallAgent } from "../targets/wall-agent.ts";

const agentVersion = "v1.33.3";

export async function agent(flags: AgentCommandOptions): Promise<ExitCode> {
  const profile = profiles[flags.profile];
  const options = agentOptions(flags);
  const rules = parseEvictionSettings(options.eviction);
  if ("error" in rules) throw new UsageError(`${rules.error}. Thresholds are written as in memory.available<100Mi.`);
  const reached = flags.svcconfig === undefined ? undefined : readConnectionFile(flags.svcconfig, flags.context);
  const jsonType = "application/json";
  const { protobufMediaType } = profile.dialect;
  const contentType = flags.contentType ?? protobufMediaType;
  if (contentType !== jsonType && contentType !== protobufMediaType) {
    throw new UsageError(`--svc-api-content-type ${contentType}: must be ${protobufMediaType} or ${jsonType}.`);
  }
  const headers: Record<string, string> = {
    accept: jsonType,
    "user-agent": `nodeagent/${agentVersion}`,
    ...(reached?.token === undefined ? {} : { authorization: `Bearer ${reached.token}` }),
  };
  let broke: (error: unknown) => void = () => {};
  const broken = new Promise<{ readonly error: unknown }>((resolve) => {
    broke = (error) => resolve({ error });
  });
  const interruption = interrupted(); // before the line that says it has begun
  const running = startWallAgent({
    profile,
    options,
    rules,
    server:
      reached === undefined
        ? undefined
        : {
            url: reached.url,
            authority: reached.authority,
            insecureSkipTlsVerify: reached.insecureSkipTlsVerify,
            tlsServerName: reached.tlsServerName,
            clientCertificate: reached.clientCertificate,
            usesProtobuf: contentType === protobufMediaType,
          },
    headers,
    runtimeEndpoint: flags.runtimeEndpoint,
    agentVersion,
    failSwapOn: flags.failSwapOn,
    seed: `${options.nodeName} ${process.pid} ${Date.now()}`,
    warn: (line) => void process.stderr.write(`${line}\n`),
    fail: (why) => broke(new UsageError(why)),
    onError: broke,
  });
  const server = reached === undefined ? "alone" : `against ${reached.url}`;
  process.stdout.write(`node ${options.nodeName}: agent running ${server}, runtime ${flags.runtimeEndpoint}\n`);
  const end = await Promise.race([interruption, broken]);
  running.close();
  if (end === "interrupted") return exitCodes.good;
  throw end.error;
}

function agentOptions(flags: AgentCommandOptions): AgentOptions {
  const nodeName = (flags.hostnameOverride || hostname()).trim().toLowerCase();
  if (nodeName === "") throw new UsageError("empty hostname is invalid: give --hostname-override.");
  const standard = defaultAgentOptions(nodeName);
  if (flags.imageGcLow >= flags.imageGcHigh || flags.imageGcHigh > 100) {
    throw new UsageError(
      `--image-gc-low-threshold ${flags.imageGcLow} --image-gc-high-threshold ${flags.imageGcHigh}: must be percents, the low one less than the high one.`,
    );
  }
  const zero = zeroRates[flags.profile];
  return {
    ...standard,
    hostname: hostname().trim().toLowerCase(),
    node: {
      ...standard.node,
      register: flags.registerNode,
      registerSchedulable: flags.registerSchedulable,
      labels: Object.fromEntries(items(flags.nodeLabels).map((item) => pair(item, "=", "--node-labels", true))),
      taints: items(flags.registerWithTaints).map(taint),
      nodeIps: flags.nodeIp === "" ? [] : flags.nodeIp.split(",").map((ip) => ip.trim()),
      providerId: flags.providerId,
      statusUpdateMicros: flags.nodeStatusUpdateFrequency,
      statusImagesMax: flags.nodeStatusMaxImages,
      podsMax: flags.maxPods,
      podsPerCore: flags.podsPerCore,
      systemReserved: quantities(flags.systemReserved, "--system-reserved"),
      serviceReserved: quantities(flags.serviceReserved, "--svc-reserved"),
    },
    pods: {
      ...standard.pods,
      syncFrequencyMicros: flags.syncFrequency,
      runtimeRequestTimeoutMicros: flags.runtimeRequestTimeout,
      serializeImagePulls: flags.serializeImagePulls,
      registryQps: flags.registryQps,
      registryBurst: flags.registryBurst,
      deadContainersMax: flags.maxDeadContainers,
      deadContainersPerContainerMax: flags.maxDeadContainersEach,
      clusterDns: items(flags.clusterDns),
      clusterDomain: flags.clusterDomain,
      rootDir: flags.rootDir.replace(/\/+$/, ""),
    },
    sources: {
      manifestPath: flags.manifestPath || undefined,
      fileCheckMicros: flags.fileCheckFrequency,
      manifestUrl: flags.manifestUrl || undefined,
      manifestUrlHeaders: flags.manifestUrlHeaders.map((item) => pair(item, ":", "--manifest-url-header", false)),
      httpCheckMicros: flags.httpCheckFrequency,
    },
    client: {
      apiQps: flags.apiQps || zero.qps,
      apiBurst: flags.apiBurst || zero.burst,
      eventQps: flags.eventQps || zero.qps,
      eventBurst: flags.eventBurst || zero.burst,
    },
    eviction: {
      evictionHard: thresholds(flags.evictionHard, "<", "--eviction-hard"),
      evictionSoft: thresholds(flags.evictionSoft, "<", "--eviction-soft"),
      evictionSoftGracePeriod: thresholds(flags.evictionSoftGracePeriod, "=", "--eviction-soft-grace-period"),
      evictionMinimumReclaim: thresholds(flags.evictionMinimumReclaim, "=", "--eviction-minimum-reclaim"),
      evictionPressureTransitionPeriod: `${flags.evictionPressureTransitionPeriod / 1000}ms`,
      evictionMaxPodGracePeriod: flags.evictionMaxPodGracePeriod,
    },
    images: {
      ...standard.images,
      highThresholdPercent: flags.imageGcHigh,
      lowThresholdPercent: flags.imageGcLow,
      ageMicrosMin: flags.minimumImageTtl,
    },
  };
}

/** What a rate of 0 means. Source: document 3, Options, --event-qps; the facts, Clients and events. */
const zeroRates = { svc: { qps: 50, burst: 100 }, kubernetes: { qps: 5, burst: 10 } } as const;

/** Of a flag that may be repeated and has commas in each. */
const items = (texts: readonly string[]): readonly string[] =>
  texts.flatMap((each) => each.split(",").map((item) => item.trim())).filter((item) => item !== "");

function pair(item: string, mark: string, flag: string, mayLackValue: boolean): [string, string] {
  const at = item.indexOf(mark);
  if (at < 0 && mayLackValue) return [item, ""];
  if (at <= 0) throw new UsageError(`${flag} ${item}: malformed pair, expect string${mark}string.`);
  return [item.slice(0, at).trim(), item.slice(at + mark.length).trim()];
}

/** Undefined where the flag was not given; an empty one has none. */
function thresholds(
  texts: readonly string[],
  mark: string,
  flag: string,
): Readonly<Record<string, string>> | undefined {
  if (texts.length === 0) return undefined;
  return Object.fromEntries(items(texts).map((item) => pair(item, mark, flag, false)));
}

function quantities(texts: readonly string[], flag: string): Readonly<Record<string, string>> {
  const known = ["cpu", "memory", "ephemeral-storage", "pid"];
  return Object.fromEntries(
    items(texts).map((item) => {
      const [resource, quantity] = pair(item, "=", flag, false);
      if (!known.includes(resource))
        throw new UsageError(
          `${flag} ${item}: cannot reserve ${JSON.stringify(resource)} resource; there are ${known.join(", ")}.`,
        );
      const read = parseQuantity(quantity);
      if ("error" in read || read.digits < 0n)
        throw new UsageError(`${flag} ${item}: must be a quantity that is not negative.`);
      return [resource, quantity];
    }),
  );
}

const effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

function taint(item: string): AgentOptions["node"]["taints"][number] {
  const [, key = "", value, effect = ""] = /^([^=:]+)(?:=([^:]*))?:(.+)$/.exec(item) ?? [];
  if (!effects.includes(effect)) {
    throw new UsageError(
      `--register-with-taints ${item}: must be key[=value]:effect; effects are ${effects.join(", ")}.`,
    );
  }
  return { key, effect, ...(value === undefined ? {} : { value }) };
}
