/**
 * The cluster as the scheduler places pods in it: nodes with what is on them, pods that it has placed and that the
 * server has not confirmed yet, and pods to whom a place is promised.
 */
import { compareBytes } from "../../../wire/go-strings.ts";
import type { NodeObject } from "../shared/stored.ts";
import { NodeInfo } from "./node-info.ts";
import { PodCounts } from "./pod-counts.ts";
import type { PodNeeds } from "./pod-needs.ts";

interface Placed {
  pod: PodNeeds;
  node: string;
}

export interface ClusterViewOptions {
  /** Labels that say where a node is, from the large to the small. */
  readonly zoneLabels: readonly string[];
  readonly unschedulableTaint: string;
  readonly namespaceLabels: (namespace: string) => Readonly<Record<string, string>>;
}

/** Shapes of pods that are remembered. A number is never given twice. */
const shapesMax = 4096;

export class ClusterView {
  readonly counts: PodCounts;
  /** That a node which is closed to new pods counts as having. */
  readonly unschedulableTaint: string;
  private readonly infos = new Map<string, NodeInfo>();
  private readonly placed = new Map<string, Placed>();
  /** By node: pods that are to come there once others have gone. */
  private readonly promised = new Map<string, Map<string, PodNeeds>>();
  private readonly zoneLabels: readonly string[];
  private ordered: readonly NodeInfo[] | undefined;
  private readonly imageNodes = new Map<string, number>();
  private readonly shapes = new Map<string, number>();
  private shapeCount = 0;

  constructor({ zoneLabels, unschedulableTaint, namespaceLabels }: ClusterViewOptions) {
    this.zoneLabels = zoneLabels;
    this.unschedulableTaint = unschedulableTaint;
    this.counts = new PodCounts(this.infos, namespaceLabels);
  }

  /** Known nodes, zones by turns, so that the first few are of all zones. */
  nodes(): readonly NodeInfo[] {
    this.ordered ??= interleaved(
      [...this.infos.values()].filter(({ node }) => node !== undefined),
      this.zoneLabels,
    );
    return this.ordered;
  }

  node(name: string): NodeInfo | undefined {
    return this.infos.get(name);
  }

  setNode(node: NodeObject): void {
    const info = this.infoOf(node.metadata.name);
    const zone = zoneOf(info, this.zoneLabels);
    const wasKnown = info.node !== undefined;
    this.countImages(info, -1);
    info.setNode(node);
    this.countImages(info, 1);
    if (!wasKnown || zoneOf(info, this.zoneLabels) !== zone) this.ordered = undefined;
  }

  removeNode(name: string): void {
    const info = this.infos.get(name);
    if (info === undefined) return;
    this.countImages(info, -1);
    info.setNode(undefined);
    if (info.pods.size === 0) this.infos.delete(name);
    this.ordered = undefined;
  }

  /** How many nodes have the image. */
  nodesWith(image: string): number {
    return this.imageNodes.get(image) ?? 0;
  }

  place(pod: PodNeeds, node: string): void {
    this.displace(pod.uid);
    this.placed.set(pod.uid, { pod, node });
    this.infoOf(node).add(pod);
    this.counts.change(pod, node, 1);
  }

  displace(uid: string): void {
    const held = this.placed.get(uid);
    if (held === undefined) return;
    this.placed.delete(uid);
    const info = this.infoOf(held.node);
    info.remove(held.pod);
    this.counts.change(held.pod, held.node, -1);
    if (info.pods.size === 0 && info.node === undefined) this.infos.delete(held.node);
  }

  placeOf(uid: string): string | undefined {
    return this.placed.get(uid)?.node;
  }

  promise(pod: PodNeeds, node: string): void {
    this.unpromise(pod.uid);
    let pods = this.promised.get(node);
    if (pods === undefined) this.promised.set(node, (pods = new Map()));
    pods.set(pod.uid, pod);
  }

  unpromise(uid: string): void {
    for (const [node, pods] of this.promised) {
      if (pods.delete(uid) && pods.size === 0) this.promised.delete(node);
    }
  }

  get hasPromises(): boolean {
    return this.promised.size > 0;
  }

  /** Undefined: no place there is promised. */
  promisedOn(node: string): Iterable<PodNeeds> | undefined {
    return this.promised.size === 0 ? undefined : this.promised.get(node)?.values();
  }

  /** The same number for pods that ask for the same amounts. */
  shapeOf({ requests, scoredCpu, scoredMemory }: PodNeeds): number {
    let text = `${scoredCpu} ${scoredMemory}`;
    for (const [resource, amount] of requests) text += ` ${resource}=${amount}`;
    let shape = this.shapes.get(text);
    if (shape !== undefined) return shape;
    if (this.shapes.size >= shapesMax) this.shapes.clear();
    shape = ++this.shapeCount;
    this.shapes.set(text, shape);
    return shape;
  }

  private infoOf(name: string): NodeInfo {
    let info = this.infos.get(name);
    if (info === undefined) this.infos.set(name, (info = new NodeInfo(name)));
    return info;
  }

  private countImages({ images }: NodeInfo, by: number): void {
    for (const image of images.keys()) this.imageNodes.set(image, (this.imageNodes.get(image) ?? 0) + by);
  }
}

const zoneOf = ({ labels }: NodeInfo, zoneLabels: readonly string[]): string =>
  zoneLabels.map((label) => labels[label] ?? "").join("/");

function interleaved(infos: readonly NodeInfo[], zoneLabels: readonly string[]): readonly NodeInfo[] {
  const zones = new Map<string, NodeInfo[]>();
  for (const info of [...infos].sort((left, right) => compareBytes(left.name, right.name))) {
    const zone = zoneOf(info, zoneLabels);
    const members = zones.get(zone);
    if (members === undefined) zones.set(zone, [info]);
    else members.push(info);
  }
  const lists = [...zones].sort(([left], [right]) => compareBytes(left, right)).map(([, members]) => members);
  const result: NodeInfo[] = [];
  for (let turn = 0; result.length < infos.length; turn++) {
    for (const members of lists) {
      const info = members[turn];
      if (info !== undefined) result.push(info);
    }
  }
  return result;
}
