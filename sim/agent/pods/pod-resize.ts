/**
 * Changes of a running pod's resources: whether the node has room for them, and how running containers get them.
 * Source: the published agent of release 1.33.
 */
import type { JsonObject } from "../../contract/http-message.ts";
import type { ActivePod, ManagerOptions } from "../ports.ts";
import { amount, type ContainerPlaces, linuxResources, type NodeFacts } from "../runtime/container-config.ts";
import { type CriCaller, failureWords } from "../runtime/cri-caller.ts";
import { containerNamed } from "../runtime/runtime-pod.ts";
import type { Task } from "../task.ts";
import { isDecrease, isSame, isSameOf, nothing, resizable, withOneOf } from "./allocation.ts";
import type { HeldPod } from "./held-pod.ts";
import type { ContainerToResize } from "./sync-plan.ts";

/** Why a pod does not get what it wants: `Deferred` may still come true, `Infeasible` cannot on this node. */
export interface ResizeRefusal {
  readonly reason: "Deferred" | "Infeasible";
  readonly message: string;
}

/** What the node could never give, whoever else is there. */
export function infeasibility(
  allocatable: Readonly<Record<string, string>>,
  { qos, requests }: ActivePod,
  managers: ManagerOptions | undefined,
): ResizeRefusal | undefined {
  const refused = (message: string): ResizeRefusal => ({ reason: "Infeasible", message });
  if (qos === "Guaranteed" && managers?.cpuPolicy === "static")
    return refused("Resize is infeasible for Guaranteed Pods alongside CPU Manager static policy");
  if (qos === "Guaranteed" && managers?.memoryPolicy === "Static")
    return refused("Resize is infeasible for Guaranteed Pods alongside Memory Manager static policy");
  const rows = [
    ["memory", requests.memoryBytes, amount(allocatable["memory"], 0) ?? 0],
    ["cpu", requests.milliCpu, amount(allocatable["cpu"], -3) ?? 0],
  ] as const;
  for (const [name, requested, capacity] of rows) {
    if (requested > capacity)
      return refused(`Node didn't have enough capacity: ${name}, requested: ${requested}, capacity: ${capacity}`);
  }
  return undefined;
}

export const allocatableOf = (node: JsonObject): Readonly<Record<string, string>> =>
  (node["status"] as { readonly allocatable?: Readonly<Record<string, string>> } | undefined)?.allocatable ?? {};

/** Gives a pod what it wants. What its running containers had is kept until they have what is new. */
export function giveResources(held: HeldPod): readonly string[] {
  const before = held.take();
  for (const [name, had] of before) {
    if (containerNamed(held.runtimePod, name)?.state !== "CONTAINER_RUNNING") continue;
    held.actuated ??= new Map();
    if (!held.actuated.has(name)) held.actuated.set(name, had);
  }
  return [...before.keys()];
}

/** The container begins anew, with what its pod has been given. */
export function begunAnew(held: HeldPod, container: string): void {
  held.actuated?.delete(container);
  if (held.actuated?.size === 0) held.actuated = undefined;
}

/** Running containers have not got yet what their pod has been given. */
export function isResizing({ actuated, pod, runtimePod }: HeldPod): boolean {
  if (actuated === undefined) return false;
  const { initContainers = [], containers } = pod.spec;
  return [...initContainers, ...containers].some(({ name, resources = nothing }) => {
    const has = actuated.get(name);
    if (has === undefined || isSame(has, resources)) return false;
    return containerNamed(runtimePod, name)?.state === "CONTAINER_RUNNING";
  });
}

export interface ResizeContext {
  readonly cri: CriCaller;
  readonly node: NodeFacts;
  readonly places: (uid: string, container: string) => ContainerPlaces | undefined;
}

/** One resource after the other, and of each what shrinks before what grows. An error ends it. */
export function* resizeContainers(
  { cri, node, places }: ResizeContext,
  held: HeldPod,
  due: readonly ContainerToResize[],
): Task<string | undefined> {
  const { pod, qos, uid } = held;
  for (const resource of resizable) {
    const changing = due.flatMap(({ container, id }) => {
      const { name, resources: to = nothing } = container;
      const from = held.actuated?.get(name);
      return from === undefined || isSameOf(resource, from, to) ? [] : [{ container, id, name, from, to }];
    });
    const shrinks = changing.filter(({ from, to }) => isDecrease(resource, from, to));
    const grows = changing.filter((each) => !shrinks.includes(each));
    for (const { container, id, name, from, to } of [...shrinks, ...grows]) {
      const next = withOneOf(resource, from, to);
      const linux = linuxResources(node, pod, { ...container, resources: next }, qos, places(uid, name));
      const answer = yield* cri.ask("UpdateContainerResources", { containerId: id, linux });
      if (!answer.ok) return failureWords(answer);
      if (isSame(next, to)) begunAnew(held, name);
      else held.actuated?.set(name, next);
    }
  }
  return undefined;
}
