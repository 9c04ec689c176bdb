/**
 * What a pod has been given of its resources, where that is not what its source asks for: pure functions over pods.
 * Source: the published agent's rules for resizing pods in place: CPU and memory alone, of regular containers and sidecars.
 */
import { compareQuantities, parseQuantity } from "../../../wire/quantity.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { type Container, isSidecar, type Pod, podOf, type PodSpec } from "./pod-types.ts";

export type Resources = NonNullable<Container["resources"]>;

/** By container. */
export type Allocation = ReadonlyMap<string, Resources>;

export const resizable = ["memory", "cpu"] as const;
export type Resizable = (typeof resizable)[number];

export const nothing: Resources = Object.freeze({});

export function resizableContainers({ initContainers = [], containers }: PodSpec): readonly Container[] {
  const sidecars = initContainers.filter(isSidecar);
  return sidecars.length === 0 ? containers : [...sidecars, ...containers];
}

/** Of those containers of `after` that have other resources in `before`: what they have there. */
export function resourcesBefore(before: Pod, after: Pod): Allocation {
  const found = new Map<string, Resources>();
  if (before.spec === after.spec) return found;
  const old = new Map(resizableContainers(before.spec).map(({ name, resources = nothing }) => [name, resources]));
  for (const { name, resources = nothing } of resizableContainers(after.spec)) {
    const had = old.get(name);
    if (had !== undefined && !isSame(had, resources)) found.set(name, had);
  }
  return found;
}

export const isSame = (one: Resources, other: Resources): boolean =>
  one === other || resizable.every((resource) => isSameOf(resource, one, other));

export function isSameOf(resource: Resizable, one: Resources, other: Resources): boolean {
  return (
    compared(one.limits?.[resource], other.limits?.[resource]) === 0 &&
    compared(one.requests?.[resource], other.requests?.[resource]) === 0
  );
}

/** Whether the way from one to the other takes something away; the limit decides, where it changes. */
export function isDecrease(resource: Resizable, from: Resources, to: Resources): boolean {
  const limit = compared(from.limits?.[resource], to.limits?.[resource]);
  return (limit === 0 ? compared(from.requests?.[resource], to.requests?.[resource]) : limit) > 0;
}

/** What is not there is nothing. */
function compared(one: string | undefined, other: string | undefined): number {
  if (one === other) return 0;
  const [a, b] = [parseQuantity(String(one ?? "0")), parseQuantity(String(other ?? "0"))];
  return "error" in a || "error" in b ? 1 : compareQuantities(a, b);
}

/** The one with one of its two resources as the other has it. */
export function withOneOf(resource: Resizable, from: Resources, to: Resources): Resources {
  const of = (kind: "limits" | "requests"): Resources => {
    const { [resource]: _left, ...rest } = from[kind] ?? {};
    const amount = to[kind]?.[resource];
    const all = amount === undefined ? rest : { ...rest, [resource]: amount };
    return Object.keys(all).length === 0 ? nothing : { [kind]: all };
  };
  return { ...of("limits"), ...of("requests") };
}

/** The pod with these containers' resources. */
export function withAllocation(object: JsonObject, allocation: Allocation): JsonObject {
  if (allocation.size === 0) return object;
  const { spec } = podOf(object);
  const given = (containers: readonly Container[] | undefined): object =>
    containers?.map((container) => {
      const resources = allocation.get(container.name);
      return resources === undefined ? container : { ...container, resources };
    }) ?? [];
  const inits = spec.initContainers === undefined ? {} : { initContainers: given(spec.initContainers) };
  return { ...object, spec: { ...spec, ...inits, containers: given(spec.containers) } } as unknown as JsonObject;
}

/** What an agent has told before of running containers that now should have other resources. */
export function toldAllocation(pod: Pod): Allocation {
  const { initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {};
  const found = new Map<string, Resources>();
  if (containerStatuses.length === 0) return found;
  const told = new Map([...initContainerStatuses, ...containerStatuses].map((status) => [status.name, status]));
  for (const { name, resources = nothing } of resizableContainers(pod.spec)) {
    const status = told.get(name);
    if (status?.resources === undefined || status.state.running === undefined) continue;
    if (!isSame(status.resources, resources)) found.set(name, status.resources);
  }
  return found;
}
