/**
 * What an agent would do that is started with these settings, on a machine of this size, in sentences: when pods are
 * evicted, in amounts; what pods can be given; who may call. The same functions that a running agent goes by.
 */
import {
  amountOf,
  type EvictionSignal,
  type EvictionThreshold,
  parseEvictionSettings,
} from "../../wire/eviction-thresholds.ts";
import { durationText } from "../configuration/agent/checks.ts";
import type { AgentSettings } from "../configuration/agent/settings.ts";
import { withAllocatable } from "./eviction/threshold-list.ts";
import { allocatableOf, capacityOf, overReserved } from "./node/capacity.ts";
import { accessSettingsOf, agentOptionsOf } from "./options-of-settings.ts";

export interface GivenMachine {
  readonly milliCpu: number;
  readonly memoryBytes: number;
  readonly diskBytes: number;
  readonly inodes: number;
  readonly pids: number;
  /** Of images, where they lie on a disk of their own. */
  readonly imageDiskBytes: number | undefined;
}

export interface ExplainedStart {
  /** False: an agent would not start there. */
  readonly ok: boolean;
  readonly sentences: readonly string[];
}

export function explainStart(settings: AgentSettings, machine: GivenMachine): ExplainedStart {
  const options = agentOptionsOf(settings, { hostname: "node", addresses: [] });
  const rules = parseEvictionSettings(options.eviction);
  if ("error" in rules) return { ok: false, sentences: [rules.error] };
  const { node } = options;
  const capacity = capacityOf({ ...machine, ephemeralBytes: machine.diskBytes }, node);
  const reserved = [node.systemReserved, node.serviceReserved];
  const hard = node.allocatableIgnoresEviction ? [] : rules.thresholds;
  const over = overReserved(capacity, reserved, hard);
  if (over !== undefined) return { ok: false, sentences: [`An agent would not start there. ${over}`] };
  const allocatable = allocatableOf(capacity, reserved, hard);
  const all = withAllocatable(rules, {
    enforcesPods: node.enforceNodeAllocatable.includes("pods"),
    ignoresEviction: node.allocatableIgnoresEviction,
  });
  return {
    ok: true,
    sentences: [
      ...Object.entries(capacity).map(
        ([resource, text]) => `Of ${text} ${resource} pods can be given ${allocatable[resource]}.`,
      ),
      ...all.thresholds.map((threshold) => thresholdSentence(threshold, machine, allocatable["memory"])),
      ...(all.thresholds.length === 0 ? ["No pods are evicted for what is left on the node."] : []),
      ...listenerSentences(settings),
      ...accessSentences(settings),
    ],
  };
}

/** What the whole is that a signal is a part of, and how it is counted. */
function wholeOf(signal: EvictionSignal, machine: GivenMachine): readonly [amount: number, unit: string] {
  const { memoryBytes, diskBytes, imageDiskBytes = diskBytes, inodes, pids } = machine;
  if (signal === "pid.available") return [pids, "processes"];
  if (signal.endsWith("inodesFree")) return [inodes, "inodes"];
  if (signal.startsWith("nodefs")) return [diskBytes, "bytes"];
  return signal.endsWith("fs.available") ? [imageDiskBytes, "bytes"] : [memoryBytes, "bytes"];
}

function thresholdSentence(
  { signal, value, graceMillis, minimumReclaim }: EvictionThreshold,
  machine: GivenMachine,
  allocatable: string | undefined,
): string {
  const [whole, unit] = wholeOf(signal, machine);
  const below = amountOf(value, whole);
  const reclaim = amountOf(minimumReclaim, whole);
  const when = graceMillis === 0 ? "at once" : `after ${durationText(graceMillis * 1000)}`;
  const until = reclaim === 0 ? "" : `, until there are ${below + reclaim}`;
  const of = signal === "allocatableMemory.available" ? `, of the memory of all pods (${allocatable})` : ` of ${whole}`;
  return `Pods are evicted ${when} where ${signal} is below ${below} ${unit}${of}${until}.`;
}

function listenerSentences({ flag, number, text }: AgentSettings): readonly string[] {
  const [serving, readOnly, health] = [number("port"), number("read-only-port"), number("healthz-port")];
  return [
    flag("enable-server")
      ? `It serves on ${text("address")}, port ${serving}, over TLS${flag("enable-debugging-handlers") ? "" : ", without logs and commands"}.`
      : "It serves nothing over TLS.",
    readOnly > 0
      ? `Whoever reaches ${text("address")}, port ${readOnly}, reads pods and statistics.`
      : "There is no read-only port.",
    health > 0
      ? `It tells its health on ${text("healthz-bind-address")}, port ${health}.`
      : "It tells its health nowhere.",
  ];
}

function accessSentences(settings: AgentSettings): readonly string[] {
  if (!settings.flag("enable-server")) return [];
  const { anonymous, reviewsTokens, tokenMicros, mode, allowedMicros, deniedMicros } = accessSettingsOf(settings);
  const authorities = settings.text("client-ca-file");
  return [
    authorities === ""
      ? "No client certificate says who somebody is."
      : `Client certificates that ${authorities} has signed say who somebody is.`,
    reviewsTokens
      ? `Bearer tokens are reviewed by the API server, whose answer is believed for ${durationText(tokenMicros)}.`
      : "Bearer tokens are passed over.",
    anonymous ? "Whoever says nothing is system:anonymous." : "Whoever says nothing is refused (401).",
    mode === "Webhook"
      ? `The API server is asked whether somebody may; a yes is believed for ${durationText(allowedMicros)}, a no for ${durationText(deniedMicros)}.`
      : "Whoever is let in may do everything, commands in containers too.",
  ];
}
