/** A node agent from its settings: what they name is read and looked at, and it runs until it is told to end. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { hostname, networkInterfaces } from "node:os";
import process from "node:process";
import { setTimeout } from "node:timers";
import { parseEvictionSettings } from "../../wire/eviction-thresholds.ts";
import { type HostDns, parseResolverFile } from "../../sim/agent/runtime/pod-dns.ts";
import { agentOptionsOf } from "../../sim/agent/options-of-settings.ts";
import type { AgentSettings } from "../../sim/configuration/agent/settings.ts";
import { servingSettingsWith } from "../../sim/configuration/agent/planted/flag-bugs.ts";
import { startedAgentBugsOn } from "../../sim/planted/started-agent-bugs.ts";
import { agentVersion } from "../../sim/configuration/agent/flag-values.ts";
import { type Profile, profiles } from "../../sim/contract/profile.ts";
import { readText } from "../flags/pem-files.ts";
import { type ExitCode, exitCodes, UsageError } from "../flags/usage-error.ts";
import { AgentLog, agentLogOptions } from "../output/agent-log.ts";
import { interrupted } from "../output/interrupt.ts";
import { CannotListen } from "../../sim/http/agent-sockets.ts";
import { agentConnection, clientPairs } from "./agent-bootstrap.ts";
import { holdLock } from "./lock-file.ts";
import { servingPairs, servingTls } from "./agent-certificate.ts";
import { fileText } from "../flags/file-text.ts";
import { startWallAgent, type WallAgent, type WallAgentOptions } from "./wall-agent.ts";

export interface RunAgentOptions {
  readonly settings: AgentSettings;
  readonly profile: Profile["name"];
  /** Of the connection file; undefined: its current one. */
  readonly context: string | undefined;
  /** Planted bugs, by name. */
  readonly faults: readonly string[];
}

export async function runAgent({ settings, profile: name, context, faults }: RunAgentOptions): Promise<ExitCode> {
  const serving = servingSettingsWith(startedAgentBugsOn(faults), settings);
  const profile = profiles[name];
  const options = agentOptionsOf(settings, {
    hostname: hostname(),
    addresses: ownAddresses(),
    hasManagerState: true,
    processId: process.pid,
  });
  if (options.nodeName === "") throw new UsageError("empty hostname is invalid: give --hostname-override.");
  const rules = parseEvictionSettings(options.eviction);
  if ("error" in rules) throw new UsageError(`${rules.error}. Thresholds are written as in memory.available<100Mi.`);
  const cloudConfig = settings.text("cloud-config");
  if (cloudConfig !== "") readText(cloudConfig, "--cloud-config"); // of a provider that is a program of its own
  const log = new AgentLog(agentLogOptions(settings));
  const warn = (line: string): void => log.warning("agent", line);
  setOomScore(settings.number("oom-score-adj"), warn);
  if (settings.given.has("max-open-files")) setOpenFiles(settings.number("max-open-files"), warn);
  const interruption = interrupted(); // before the line that says it has begun
  const lockFile = settings.text("lock-file");
  const lock = lockFile === "" ? undefined : await holdLock(lockFile, interruption, warn);
  if (lockFile !== "" && lock === undefined) return exitCodes.good;
  const { nodeName } = options;
  const connection = await agentConnection({ settings, profile, context, nodeName, warn, interruption });
  if (connection === "interrupted") return exitCodes.good;
  const reached = connection === "alone" ? undefined : connection;
  const headers: Record<string, string> = {
    accept: "application/json",
    "user-agent": `nodeagent/${agentVersion}`,
    ...(reached?.token === undefined ? {} : { authorization: `Bearer ${reached.token}` }),
  };
  let broke: (error: unknown) => void = () => {};
  const broken = new Promise<{ readonly error: unknown }>((resolve) => {
    broke = (error) => resolve({ error });
  });
  const runtimeEndpoint = settings.text("container-runtime-endpoint");
  const hosts = [...new Set([options.nodeName, ...options.node.nodeIps, "127.0.0.1", "localhost"])];
  const running = await started({
    profile,
    settings,
    options,
    faults,
    tls: serving.flag("enable-server")
      ? servingTls(serving, hosts, reached !== undefined && asksForServing(settings), warn)
      : undefined,
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
            usesProtobuf: usesProtobuf(settings, profile),
          },
    headers,
    certificates: {
      hosts: [...new Set([options.hostname, ...options.node.nodeIps])],
      ...(reached !== undefined && settings.flag("rotate-certificates")
        ? { client: { pairs: clientPairs(settings), given: reached.clientCertificate } }
        : {}),
      ...(reached !== undefined && asksForServing(settings) ? { serving: { pairs: servingPairs(settings) } } : {}),
    },
    runtimeEndpoint,
    agentVersion,
    hostDns: () => hostDnsOf(settings.text("resolv-conf"), warn),
    log,
    seed: `${options.nodeName} ${process.pid} ${Date.now()}`,
    warn,
    fail: (why) => broke(new UsageError(why)),
  });
  const server = reached === undefined ? "alone" : `against ${reached.url}`;
  const where = Object.values(running.urls).join(" ");
  process.stdout.write(
    `node ${options.nodeName}: agent running ${server}, runtime ${runtimeEndpoint}${where === "" ? "" : `, serving on ${where}`}\n`,
  );
  const ends: Promise<AgentEnd>[] = [interruption, broken];
  if (lock !== undefined && settings.flag("exit-on-lock-contention")) ends.push(lock.wanted);
  if (settings.flag("runonce")) ends.push(begun(running));
  const end = await Promise.race(ends);
  running.close();
  lock?.release();
  log.close();
  if (typeof end === "object") throw end.error;
  if (end === "wanted") process.stdout.write(`another agent wants ${lockFile}: ending\n`);
  if (end === "begun") process.stdout.write("all pods of files and of the URL have begun: ending\n");
  return exitCodes.good;
}

type AgentEnd = "interrupted" | "wanted" | "begun" | { readonly error: unknown };

const lookMillis = 100;
/** Ten tries, each twice as long after the last as that after the one before. */
const onceMillisMax = 1_023_000;

/** Every pod of the machine's own sources has begun; or one has not for too long. */
function begun(running: WallAgent): Promise<AgentEnd> {
  const began = Date.now();
  return new Promise((resolve) => {
    const look = (): void => {
      const waiting = running.waitingPods();
      if (waiting?.length === 0) resolve("begun");
      else if (Date.now() - began < onceMillisMax) setTimeout(look, lookMillis);
      else {
        const which = waiting === undefined ? "their sources cannot be read" : waiting.join(", ");
        resolve({ error: new UsageError(`--runonce: not all pods have begun: ${which}.`) });
      }
    };
    look();
  });
}

/** Those that flags name are served as they are. */
function asksForServing(settings: AgentSettings): boolean {
  return settings.flag("rotate-server-certificates") && settings.text("tls-cert-file") === "";
}

async function started(given: WallAgentOptions): Promise<WallAgent> {
  try {
    return await startWallAgent(given);
  } catch (error) {
    if (!(error instanceof CannotListen)) throw error;
    const port = given.settings.number(error.flag);
    throw new UsageError(`--${error.flag} ${port}: ${error.message}. Choose another port or address.`);
  }
}

/** Throws `UsageError` for a media type that no server of this dialect speaks. */
function usesProtobuf(settings: AgentSettings, { dialect }: Profile): boolean {
  const contentType = settings.text("svc-api-content-type");
  const { protobufMediaType } = dialect;
  // The table has one default; each dialect has its own name for the same encoding.
  const isProtobuf = contentType === protobufMediaType || !settings.given.has("svc-api-content-type");
  if (!isProtobuf && contentType !== "application/json")
    throw new UsageError(`--svc-api-content-type ${contentType}: must be ${protobufMediaType} or application/json.`);
  return isProtobuf;
}

/** Read for each pod that begins: it may change. Without a name there is none. */
function hostDnsOf(path: string, warn: (line: string) => void): HostDns | undefined {
  if (path === "") return undefined;
  try {
    return parseResolverFile(fileText(path, 1));
  } catch (error) {
    warn(`--resolv-conf ${path}: ${(error as Error).message}. Pods that need the machine's resolver get none.`);
    return undefined;
  }
}

/** How willing the kernel is to kill the agent. Not everybody may lower it, and not every machine has it. */
function setOomScore(score: number, warn: (line: string) => void): void {
  if (process.platform !== "linux") return;
  try {
    writeFileSync("/proc/self/oom_score_adj", String(score));
  } catch (error) {
    warn(`--oom-score-adj ${score}: ${(error as Error).message}. The agent keeps the score that it has.`);
  }
}

/** Only the machine's own tool can set it, and not everybody may raise it. */
function setOpenFiles(count: number, warn: (line: string) => void): void {
  if (process.platform !== "linux") return;
  const { status, stderr, error } = spawnSync("prlimit", ["--pid", String(process.pid), `--nofile=${count}`]);
  if (status === 0) return;
  const why = error?.message ?? stderr.toString().trim();
  warn(`--max-open-files ${count}: ${why}. The agent keeps the limit that it has.`);
}

/** The first address of either family that others can reach, IPv4 before IPv6; else the loopback. */
function ownAddresses(): readonly string[] {
  const all = Object.values(networkInterfaces()).flatMap((rows) => rows ?? []);
  const outside = all.filter(({ internal, address }) => !internal && !address.startsWith("fe80:"));
  const first = outside.find(({ family }) => family === "IPv4") ?? outside[0];
  return [first?.address ?? "127.0.0.1"];
}
