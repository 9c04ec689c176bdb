/**
 * The status of a node, from what is known of its machine, its runtime and its agent. Pure.
 * Source: the fact sheet of the 1.33 agent, registration and node status.
 */
import type { Image, MachineInfoResponse, StatusResponse } from "../../../wire/cri-messages.ts";
import { compareBytes } from "../../../wire/go-strings.ts";
import { compareQuantities, parseQuantity } from "../../../wire/quantity.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { isObject } from "../../contract/objects.ts";
import { jsonEqual } from "../../objects/equality.ts";
import type { NodeOptions, RuntimeHealth } from "../ports.ts";
import type { Resources } from "./capacity.ts";

export interface NodeFacts {
  readonly hostname: string;
  readonly options: NodeOptions;
  readonly machine: MachineInfoResponse;
  readonly capacity: Resources;
  readonly allocatable: Resources;
  readonly runtime: ReturnType<RuntimeHealth["version"]>;
  /** Of the runtime, once it was asked. */
  readonly runtimeStatus: StatusResponse | undefined;
  /** As a node's status names the agent's version. */
  readonly agentVersion: string;
  readonly images: readonly Image[];
}

/** All but the conditions. */
export function statusFieldsOf(facts: NodeFacts): Readonly<Record<string, Json>> {
  const { capacity, allocatable, options, runtimeStatus } = facts;
  const handlers = runtimeStatus?.runtimeHandlers ?? [];
  const features = runtimeStatus?.features;
  return {
    addresses: addressesOf(facts),
    allocatable: allocatable as JsonObject,
    capacity: capacity as JsonObject,
    daemonEndpoints: { kubeletEndpoint: { Port: options.servingPort } },
    ...(features === undefined ? {} : { features: { supplementalGroupsPolicy: features.supplementalGroupsPolicy } }),
    images: imagesOf(facts.images, options.statusImagesMax),
    nodeInfo: nodeInfoOf(facts),
    ...(handlers.length === 0 ? {} : { runtimeHandlers: handlers.map(handlerOf) }),
  };
}

function addressesOf({ options, hostname }: NodeFacts): Json {
  const internal = options.nodeIps.map((address) => ({ type: "InternalIP", address }));
  return [...internal, { type: "Hostname", address: hostname }];
}

function nodeInfoOf({ machine, runtime, agentVersion }: NodeFacts): JsonObject {
  return {
    architecture: machine.architecture,
    bootID: machine.bootId,
    containerRuntimeVersion: runtime === undefined ? "" : `${runtime.name}://${runtime.version}`,
    kernelVersion: machine.kernelVersion,
    kubeProxyVersion: "",
    kubeletVersion: agentVersion,
    machineID: machine.machineId,
    operatingSystem: machine.operatingSystem,
    osImage: machine.osImage,
    ...(machine.swapBytes > 0 ? { swap: { capacity: machine.swapBytes } } : {}),
    systemUUID: machine.systemUuid,
  };
}

function handlerOf({ name, features }: StatusResponse["runtimeHandlers"][number]): JsonObject {
  if (features === undefined) return { name };
  const { recursiveReadOnlyMounts, userNamespaces } = features;
  return { features: { recursiveReadOnlyMounts, userNamespaces }, name };
}

/** Names that a status shows of one image. */
const namesMax = 5;

/** The largest first, up to a number; digests before tags. Negative: all of them. */
function imagesOf(images: readonly Image[], most: number): readonly JsonObject[] {
  const sorted = [...images].sort((left, right) => right.size - left.size || compareBytes(left.id, right.id));
  return (most < 0 ? sorted : sorted.slice(0, most)).map(({ repoDigests, repoTags, size }) => ({
    names: [...repoDigests, ...repoTags].slice(0, namesMax),
    sizeBytes: size,
  }));
}

/**
 * What has to be sent so that the API's status becomes this one; undefined: nothing but heartbeats would change. Lists of
 * addresses are replaced as a whole, for two of one type would be merged into one.
 */
export function statusPatch(
  before: JsonObject,
  fields: Readonly<Record<string, Json>>,
  conditions: readonly JsonObject[],
): JsonObject | undefined {
  const changed = Object.entries(fields).filter(
    ([name, value]) =>
      name === "capacity" || name === "allocatable"
        ? !sameResources(before[name], value as Resources)
        : !jsonEqual(before[name] ?? emptyList, value), // a server leaves empty lists out
  );
  const old = conditionsIn(before);
  const same = jsonEqual(old.map(withoutHeartbeat), conditions.map(withoutHeartbeat));
  if (changed.length === 0 && same) return undefined;
  return patchOf(changed, newOf(old, conditions));
}

/** Those of others are theirs to write: what is told of them again may be what they no longer say. */
function newOf(old: readonly JsonObject[], conditions: readonly JsonObject[]): readonly JsonObject[] {
  const byType = new Map(old.map((condition) => [condition["type"], condition]));
  return conditions.filter((condition) => !jsonEqual(byType.get(condition["type"]) ?? {}, condition));
}

const conditionsIn = (status: JsonObject): readonly JsonObject[] =>
  Array.isArray(status["conditions"]) ? (status["conditions"] as readonly JsonObject[]) : [];

const emptyList: Json = [];

/** One amount has several texts, and a server may have written another than it was sent. */
function sameResources(before: Json | undefined, after: Resources): boolean {
  if (!isObject(before) || Object.keys(before).length !== Object.keys(after).length) return false;
  return Object.entries(after).every(([resource, text]) => {
    const [left, right] = [parseQuantity(String(before[resource] ?? "")), parseQuantity(text)];
    return !("error" in left) && !("error" in right) && compareQuantities(left, right) === 0;
  });
}

export function heartbeatPatch(before: JsonObject, conditions: readonly JsonObject[]): JsonObject {
  return patchOf([], newOf(conditionsIn(before), conditions));
}

function patchOf(changed: readonly (readonly [string, Json])[], conditions: readonly JsonObject[]): JsonObject {
  const fields = changed.map(([name, value]) =>
    name === "addresses" ? [name, [...(value as readonly Json[]), { $patch: "replace" }]] : [name, value],
  );
  return { status: { conditions, ...Object.fromEntries(fields) } };
}

function withoutHeartbeat(condition: JsonObject): JsonObject {
  const { lastHeartbeatTime: _, ...rest } = condition;
  return rest;
}

export function statusOf(node: JsonObject | undefined): JsonObject {
  const status = node?.["status"];
  return isObject(status) ? status : {};
}

/** Why a node without these is not ready; undefined: it has them all. */
export function missingCapacity(capacity: Resources, isolatesStorage: boolean): string | undefined {
  const needed = ["cpu", "memory", "pods", ...(isolatesStorage ? ["ephemeral-storage"] : [])];
  const missing = needed.filter((resource) => capacity[resource] === undefined);
  return missing.length === 0 ? undefined : `missing node capacity for resources: ${missing.join(", ")}`;
}
