/** A node as the scheduler sees it, kept up to date by what comes and goes. */
import type { NodeObject, Taint } from "../shared/stored.ts";
import { addTo, amountsOf } from "./amounts.ts";
import type { Refusal } from "./refusal.ts";
import { collide, type PodNeeds } from "./pod-needs.ts";
import type { NodeView } from "./terms.ts";

/** Of `points`: nobody has asked. */
const unasked = -1;

export class NodeInfo implements NodeView {
  // What each pod asks of each of hundreds of nodes lies here, beside each other: most pods are like the one before, and most
  // nodes have not changed since.
  /** Of the pods that were asked about last; 0: none since the node changed. */
  private shape = 0;
  /** Whether pods of that shape fit: null if they do. Undefined: nobody has asked. */
  private refusal: Refusal | null | undefined = undefined;
  private points = unasked;
  /** No taint keeps any pod away. */
  isOpen = true;
  hasSoftTaints = false;
  /** The image that was asked for last, and its bytes. */
  private image = "";
  private bytesOfImage = 0;
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

  constructor(name: string) {
    this.name = name;
  }

  /** Whether it is known already that pods of the shape fit, and that no taint keeps them away. */
  surelyTakes(shape: number): boolean {
    return this.shape === shape && this.refusal === null && this.isOpen;
  }

  /** Why pods of this shape do not fit; null: they do. Undefined: nobody has asked since something changed here. */
  refusalOf(shape: number): Refusal | null | undefined {
    return this.shape === shape ? this.refusal : undefined;
  }

  keepRefusal(shape: number, refusal: Refusal | undefined): void {
    this.turnTo(shape);
    this.refusal = refusal ?? null;
  }

  /** What the room that pods of this shape would leave is worth, ≥ 0; less: nobody has asked since something changed here. */
  pointsOf(shape: number): number {
    return this.shape === shape ? this.points : unasked;
  }

  keepPoints(shape: number, points: number): void {
    this.turnTo(shape);
    this.points = points;
  }

  /** Of an image that is here; 0 of others. */
  imageBytes(image: string): number {
    if (this.image !== image) {
      this.image = image;
      this.bytesOfImage = this.images.get(image) ?? 0;
    }
    return this.bytesOfImage;
  }

  private turnTo(shape: number): void {
    if (this.shape === shape) return;
    this.forget();
    this.shape = shape;
  }

  private forget(): void {
    this.shape = 0;
    this.refusal = undefined;
    this.points = unasked;
  }

  setNode(node: NodeObject | undefined): void {
    this.forget();
    this.image = "";
    this.bytesOfImage = 0;
    this.node = node;
    this.labels = node?.metadata.labels ?? {};
    const taints = node?.spec?.taints ?? [];
    this.hardTaints = taints.filter(({ effect }) => effect !== "PreferNoSchedule");
    this.softTaints = taints.filter(({ effect }) => effect === "PreferNoSchedule");
    this.hasSoftTaints = this.softTaints.length > 0;
    this.isUnschedulable = node?.spec?.unschedulable === true;
    this.isOpen = !this.isUnschedulable && this.hardTaints.length === 0;
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
    this.forget();
    addTo(this.requested, pod.requests, sign);
    this.scoredCpu += sign * pod.scoredCpu;
    this.scoredMemory += sign * pod.scoredMemory;
    if (pod.controller === undefined) return;
    const count = (this.ofController.get(pod.controller) ?? 0) + sign;
    if (count === 0) this.ofController.delete(pod.controller);
    else this.ofController.set(pod.controller, count);
  }
}
