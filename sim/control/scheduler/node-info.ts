/** A node as the scheduler sees it, kept up to date by what comes and goes. */
import type { NodeObject, Taint } from "../shared/stored.ts";
import { addTo, amountsOf } from "./amounts.ts";
import type { Refusal } from "./refusal.ts";
import { collide, type PodNeeds } from "./pod-needs.ts";
import type { NodeView } from "./terms.ts";

/** What was found out for pods of one shape, while nothing of the node has changed. `undefined`: nobody has asked. */
interface Remembered {
  readonly shape: number;
  /** Null: they fit. */
  refusal?: Refusal | null;
  points?: number;
  /** The image that was asked for last, and its bytes. */
  image?: string;
  imageBytes?: number;
}

export class NodeInfo implements NodeView {
  readonly name: string;
  labels: Readonly<Record<string, string>> = {};
  /** Undefined: pods are here, and the node itself is not known. */
  node: NodeObject | undefined;
  /** That keep pods away. */
  hardTaints: readonly Taint[] = [];
  softTaints: readonly Taint[] = [];
  isUnschedulable = false;
  allocatable: ReadonlyMap<string, number> = new Map();
  readonly requested = new Map<string, number>();
  scoredCpu = 0;
  scoredMemory = 0;
  /** By uid. */
  readonly pods = new Map<string, PodNeeds>();
  private readonly withPorts = new Map<string, PodNeeds>();
  /** How many pods of a controller. */
  readonly ofController = new Map<string, number>();
  /** Bytes of the images that are here, by every name of theirs. */
  images: ReadonlyMap<string, number> = new Map();
  private remembered: Remembered = { shape: 0 };

  constructor(name: string) {
    this.name = name;
  }

  /** For pods of this shape: most pods are like the one before, and most nodes have not changed since. */
  about(shape: number): Remembered {
    if (this.remembered.shape !== shape) this.remembered = { shape };
    return this.remembered;
  }

  /** Of an image that is here; 0 of others. */
  imageBytes(image: string): number {
    const { remembered } = this;
    if (remembered.image !== image) {
      remembered.image = image;
      remembered.imageBytes = this.images.get(image) ?? 0;
    }
    return remembered.imageBytes ?? 0;
  }

  setNode(node: NodeObject | undefined): void {
    this.remembered = { shape: 0 };
    this.node = node;
    this.labels = node?.metadata.labels ?? {};
    const taints = node?.spec?.taints ?? [];
    this.hardTaints = taints.filter(({ effect }) => effect !== "PreferNoSchedule");
    this.softTaints = taints.filter(({ effect }) => effect === "PreferNoSchedule");
    this.isUnschedulable = node?.spec?.unschedulable === true;
    this.allocatable = amountsOf(node?.status?.allocatable);
    const images = new Map<string, number>();
    for (const { names = [], sizeBytes = 0 } of node?.status?.images ?? []) {
      for (const name of names) images.set(name, sizeBytes);
    }
    this.images = images;
  }

  add(pod: PodNeeds): void {
    this.pods.set(pod.uid, pod);
    this.count(pod, 1);
    if (pod.hostPorts.length > 0) this.withPorts.set(pod.uid, pod);
  }

  remove(pod: PodNeeds): void {
    if (!this.pods.delete(pod.uid)) return;
    this.withPorts.delete(pod.uid);
    this.count(pod, -1);
  }

  hasPortsFor({ hostPorts }: PodNeeds): boolean {
    if (hostPorts.length === 0 || this.withPorts.size === 0) return true;
    for (const { hostPorts: taken } of this.withPorts.values()) {
      if (taken.some((one) => hostPorts.some((other) => collide(one, other)))) return false;
    }
    return true;
  }

  private count(pod: PodNeeds, sign: 1 | -1): void {
    this.remembered = { shape: 0 };
    addTo(this.requested, pod.requests, sign);
    this.scoredCpu += sign * pod.scoredCpu;
    this.scoredMemory += sign * pod.scoredMemory;
    if (pod.controller === undefined) return;
    const count = (this.ofController.get(pod.controller) ?? 0) + sign;
    if (count === 0) this.ofController.delete(pod.controller);
    else this.ofController.set(pod.controller, count);
  }
}
