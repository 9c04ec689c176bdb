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
import { parseQuantity, quantityAt } from "../../wire/quantity.ts";
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
      ...Object.entries(capacity).map(([resource, text]) =>
        resource === "pods"
          ? `It takes ${text} pods.`
          : `Of ${amountText(resource, text)} ${resource} pods can be given ${amountText(resource, allocatable[resource] ?? "0")}.`,
      ),
      ...all.thresholds.map((threshold) => thresholdSentence(threshold, machine, allocatable["memory"])),
      ...(all.thresholds.length === 0 ? ["No pods are evicted for what is left on the node."] : []),
      ...listenerSentences(settings),
      ...accessSentences(settings),
    ],
  };
}

/** In one unit for all amounts of a resource, whichever their quantities have. */
function amountText(resource: string, quantity: string): string {
  const read = parseQuantity(quantity);
  if ("error" in read) return quantity;
  if (resource === "cpu") return String(Number(quantityAt(read, -3)) / 1000);
  const amount = Number(quantityAt(read, 0));
  return resource === "pid" ? String(amount) : bytesText(amount);
}

const gibibyte = 2 ** 30;
const mebibyte = 2 ** 20;

/** Rounded to thousandths of a gibibyte, with what it is. */
function bytesText(bytes: number): string {
  if (bytes % gibibyte === 0) return `${bytes / gibibyte}Gi`;
  const whole = bytes % mebibyte === 0 ? `${bytes / mebibyte}Mi` : `${bytes} bytes`;
  return `${Number((bytes / gibibyte).toFixed(3))}Gi (${whole})`;
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
  const amount = (count: number): string => (unit === "bytes" ? bytesText(count) : `${count} ${unit}`);
  const until = reclaim === 0 ? "" : `, until there are ${amount(below + reclaim)}`;
  const ofPods = `, of the memory of all pods, ${amountText("memory", allocatable ?? "0")}`;
  const of = signal === "allocatableMemory.available" ? ofPods : ` of ${amount(whole)}`;
  return `Pods are evicted ${when} where ${signal} is below ${amount(below)}${of}${until}.`;
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
