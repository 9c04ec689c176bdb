/**
 * What is said of an eviction: the pod's message, and the annotations of its event.
 * Source: the fact sheet of the 1.33 agent, killing and status.
 */
import {
  amountOf,
  evictionSignals,
  type EvictionSignal,
  type EvictionThreshold,
} from "../../../wire/eviction-thresholds.ts";
import { canonicalQuantity, compareQuantities, type Quantity, quantityAt } from "../../../wire/quantity.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import type { ContainerFigures, PodFigures } from "../stats/figures.ts";
import type { Observations } from "./observations.ts";
import { blamableContainersOf, containerRequest } from "./pod-traits.ts";

/** As events and messages call it: `memory`, `ephemeral-storage`, `inodes`, `pids`. */
export type ResourceName = (typeof evictionSignals)[EvictionSignal]["resource"];

export interface EvictionText {
  /** Ends with a space, as the real one does. */
  readonly message: string;
  readonly annotations: Readonly<Record<string, string>>;
}

/** `driving` are the thresholds that drive evictions, the first before all others. */
export function evictionText(
  resource: ResourceName,
  driving: readonly EvictionThreshold[],
  observations: Observations,
  pod: JsonObject,
  figures: PodFigures | undefined,
  isBlamed: (usage: Quantity, request: Quantity) => boolean = usesMore,
): EvictionText {
  const names: string[] = [];
  const usages: string[] = [];
  let message = `The node was low on resource: ${resource}. ${thresholdText(resource, driving, observations)}`;
  for (const used of figures?.containers ?? []) {
    const container = blamableContainersOf(pod).find(({ name }) => name === used.name);
    const bytes = container === undefined ? undefined : usageOf(resource, used);
    if (container === undefined || bytes === undefined) continue;
    const usage = quantity(bytes, "binarySI");
    const request = containerRequest(container, resource);
    if (!isBlamed(usage, request ?? nothing)) continue;
    const [usageText, requestText] = [canonicalQuantity(usage), canonicalQuantity(request ?? nothing)];
    message += `Container ${used.name} was using ${usageText}, request is ${requestText}, has larger consumption of ${resource}. `;
    names.push(used.name);
    usages.push(usageText);
  }
  // A pod without figures has no offenders, and its event no annotation of them.
  const offenders =
    figures === undefined ? {} : { offending_containers: names.join(), offending_containers_usage: usages.join() };
  return { message, annotations: { ...offenders, ...(figures === undefined ? {} : { starved_resource: resource }) } };
}

const usesMore = (usage: Quantity, request: Quantity): boolean => compareQuantities(usage, request) > 0;

function thresholdText(
  resource: ResourceName,
  driving: readonly EvictionThreshold[],
  observations: Observations,
): string {
  const threshold = driving.find(({ signal }) => evictionSignals[signal].resource === resource);
  const seen = threshold === undefined ? undefined : observations[threshold.signal];
  if (threshold === undefined || seen === undefined) return "";
  const { value } = threshold;
  const text = "text" in value ? value.text : undefined;
  const asked = text ?? canonicalQuantity(quantity(amountOf(value, seen.capacity), "binarySI"));
  const form = resource === "inodes" || resource === "pids" ? "decimalSI" : "binarySI";
  const available = canonicalQuantity(quantity(seen.available, form));
  return `Threshold quantity: ${asked}, available: ${available}. `;
}

/** Of processes and inodes no container is blamed. */
function usageOf(resource: ResourceName, { workingSetBytes, rootfs, logs }: ContainerFigures): number | undefined {
  if (resource === "memory") return workingSetBytes;
  if (resource !== "ephemeral-storage" || rootfs?.bytes === undefined || logs?.bytes === undefined) return undefined;
  return rootfs.bytes + logs.bytes;
}

export function bytesOf(limit: Quantity): number {
  return Number(quantityAt(limit, 0));
}

function quantity(units: number, form: Quantity["form"]): Quantity {
  return { digits: BigInt(units), scale: 0, form, text: undefined };
}

const nothing = quantity(0, "decimalSI");
