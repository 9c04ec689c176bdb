/**
 * What a running agent says of its settings, held against the ranges and the words that document 3 has for them, and
 * against what its Node says of itself.
 */
import { parseGoDuration } from "../../wire/durations.ts";
import { parseQuantity, quantityAt } from "../../wire/quantity.ts";
import { isJsonObject, type Json, type JsonObject } from "../client/types.ts";
import type { Violation } from "../client/findings.ts";

export interface AgentSight {
  /** Of the agent's configz. */
  readonly config: JsonObject;
  /** Of its Node. */
  readonly status: JsonObject;
}

/** A setting is judged where the agent tells it: what it leaves out has its default. */
interface Rule {
  readonly requirement: string;
  readonly field: string;
  readonly expected: string;
  holds(value: Json, sight: AgentSight): boolean;
}

const oneOf = (requirement: string, field: string, ...words: string[]): Rule => ({
  requirement,
  field,
  expected: `one of ${words.map((word) => JSON.stringify(word)).join(", ")}`,
  holds: (value) => words.includes(String(value)),
});

const range = (requirement: string, field: string, min: number, max = Number.MAX_SAFE_INTEGER): Rule => ({
  requirement,
  field,
  expected: max === Number.MAX_SAFE_INTEGER ? `a number from ${min} on` : `a number from ${min} to ${max}`,
  holds: (value) => typeof value === "number" && value >= min && value <= max,
});

const ranges = "agent-configuration.ranges";

const positive = (field: string): Rule => ({
  requirement: ranges,
  field,
  expected: "a duration above zero",
  holds: (value) => typeof value === "string" && (parseGoDuration(value) ?? 0) > 0,
});

const pairs = (requirement: string, field: string, holds: (value: Json) => boolean, of: string): Rule => ({
  requirement,
  field,
  expected: `names with ${of}`,
  holds: (value) => isJsonObject(value) && Object.values(value).every((each) => holds(each as Json)),
});
const isText = (value: Json): boolean => typeof value === "string";
const isTruth = (value: Json): boolean => typeof value === "boolean";

export const agentRules: readonly Rule[] = [
  range("agent-configuration.ranges", "oomScoreAdj", -1000, 1000),
  pairs("agent-configuration.ranges", "featureGates", isTruth, "true or false"),
  oneOf("agent-configuration.ranges", "cgroupDriver", "cgroupfs", "systemd"),
  oneOf("agent-configuration.ranges", "cpuManagerPolicy", "none", "static"),
  pairs("agent-configuration.ranges", "cpuManagerPolicyOptions", isText, "a text"),
  oneOf("agent-configuration.ranges", "memoryManagerPolicy", "None", "Static"),
  oneOf("agent-configuration.ranges", "topologyManagerPolicy", "none", "best-effort", "restricted", "single-numa-node"),
  pairs("agent-configuration.ranges", "topologyManagerPolicyOptions", isText, "a text"),
  oneOf("agent-configuration.ranges", "topologyManagerScope", "container", "pod"),
  {
    requirement: "agent-configuration.ranges",
    field: "enforceNodeAllocatable",
    expected: "pods, and reserved levels whose control groups are given; or none, which stands alone",
    holds: (value, { config }) => isEnforced(value, config),
  },
  oneOf("agent-configuration.ranges", "hairpinMode", "promiscuous-bridge", "hairpin-veth", "none"),
  oneOf("agent-configuration.ranges", "authorization.mode", "AlwaysAllow", "Webhook"),
  oneOf(
    "agent-configuration.ranges",
    "tlsMinVersion",
    "",
    "VersionTLS10",
    "VersionTLS11",
    "VersionTLS12",
    "VersionTLS13",
  ),
  oneOf("agent-configuration.ranges", "logging.format", "text", "json"),
  range(ranges, "imageGCHighThresholdPercent", 0, 100),
  {
    requirement: ranges,
    field: "imageGCLowThresholdPercent",
    expected: "a percentage that is not above the high one",
    holds: (value, { config }) =>
      typeof value === "number" && value >= 0 && value <= Number(config["imageGCHighThresholdPercent"] ?? 85),
  },
  range(ranges, "containerLogMaxFiles", 2),
  range(ranges, "kubeAPIQPS", 0),
  range(ranges, "kubeAPIBurst", 0),
  range(ranges, "eventRecordQPS", 0),
  range(ranges, "eventBurst", 0),
  range(ranges, "registryPullQPS", 0),
  range(ranges, "registryBurst", 0),
  range(ranges, "maxPods", 0),
  range(ranges, "podsPerCore", 0),
  range(ranges, "maxOpenFiles", 0),
  range(ranges, "nodeStatusMaxImages", -1),
  range(ranges, "port", 1, 65_535),
  range(ranges, "readOnlyPort", 0, 65_535),
  range(ranges, "healthzPort", 0, 65_535),
  positive("nodeStatusUpdateFrequency"),
  positive("syncFrequency"),
  positive("fileCheckFrequency"),
  positive("httpCheckFrequency"),
  positive("runtimeRequestTimeout"),
  positive("cpuCFSQuotaPeriod"),
  {
    requirement: "agent-node.fits-settings",
    field: "nodeStatusMaxImages",
    expected: "no more images in the node's status than that, where it is not -1",
    holds: (value, { status }) => value === -1 || imagesIn(status) <= Number(value),
  },
  {
    requirement: "agent-node.fits-settings",
    field: "maxPods",
    expected: "no more pods in the node's capacity than that, nor than podsPerCore for each core, where it is not 0",
    holds: (value, { config, status }) => podsIn(status) <= podsMax(Number(value), config, status),
  },
  ...(["kubeReserved", "svcReserved"] as const).map((field) => reserved("agent-node.fits-settings", field)),
  reserved("agent-node.fits-settings", "systemReserved"),
];

/** What is reserved, by whomever, pods do not get: what is left for them is so much less than there is. */
function reserved(requirement: string, field: string): Rule {
  return {
    requirement,
    field,
    expected: "so much less in the node's allocatable than in its capacity",
    holds: (value, { status }) =>
      isJsonObject(value) &&
      ["cpu", "memory", "ephemeral-storage"].every((resource) => {
        const kept = amount(value, resource) ?? 0;
        const [all, left] = [amount(status["capacity"], resource), amount(status["allocatable"], resource)];
        // Of more than there is, nothing is left.
        return all === undefined || left === undefined || left <= Math.max(0, all - kept) + roundingOf(all);
      }),
  };
}

/** Figures may be told in larger units than they are. */
const roundingOf = (all: number): number => all * 1e-6;

function amount(resources: Json | undefined, resource: string): number | undefined {
  const value = isJsonObject(resources) ? resources[resource] : undefined;
  const quantity = typeof value === "string" || typeof value === "number" ? parseQuantity(String(value)) : undefined;
  return quantity === undefined || "error" in quantity ? undefined : Number(quantityAt(quantity, -3)) / 1000;
}

const imagesIn = ({ images }: JsonObject): number => (Array.isArray(images) ? images.length : 0);
const podsIn = ({ capacity }: JsonObject): number => amount(capacity, "pods") ?? 0;

function podsMax(maxPods: number, { podsPerCore }: JsonObject, { capacity }: JsonObject): number {
  const cores = amount(capacity, "cpu");
  if (typeof podsPerCore !== "number" || podsPerCore === 0 || cores === undefined) return maxPods;
  return Math.min(maxPods, podsPerCore * Math.ceil(cores));
}

function isEnforced(value: Json, config: JsonObject): boolean {
  if (!Array.isArray(value)) return false;
  if (value.includes("none")) return value.length === 1;
  return value.every(
    (level) =>
      level === "pods" ||
      (/^(kube|svc)-reserved(-compressible)?$/.test(String(level)) &&
        named(config, "kubeReservedCgroup", "svcReservedCgroup")) ||
      (/^system-reserved(-compressible)?$/.test(String(level)) && named(config, "systemReservedCgroup")),
  );
}

const named = (config: JsonObject, ...fields: string[]): boolean =>
  fields.some((field) => typeof config[field] === "string" && config[field] !== "");

interface Judged {
  readonly requirement: string;
  readonly violation: Violation | undefined;
}

/** What each rule says of an agent, in the order of the rules; without those whose setting the agent does not tell. */
export function judgeAgentSettings(sight: AgentSight): readonly Judged[] {
  return agentRules.flatMap((rule): Judged[] => {
    const value = at(sight.config, rule.field);
    if (value === undefined || value === null) return [];
    if (rule.holds(value, sight)) return [{ requirement: rule.requirement, violation: undefined }];
    const { capacity, allocatable } = sight.status;
    const actual = `${rule.field} ${JSON.stringify(value)}; ${JSON.stringify({ capacity, allocatable, images: imagesIn(sight.status) })}`;
    return [{ requirement: rule.requirement, violation: { expected: `${rule.field}: ${rule.expected}`, actual } }];
  });
}

function at(config: JsonObject, field: string): Json | undefined {
  let found: Json | undefined = config;
  for (const name of field.split(".")) found = isJsonObject(found) ? found[name] : undefined;
  return found;
}
