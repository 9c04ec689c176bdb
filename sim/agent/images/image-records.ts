/**
 * What an agent remembers of the images on its machine, and which of them may go, in which order. Pure.
 * Source: document 3, Options, --minimum-image-ttl-duration and --pod-infra-container-image; the fact sheet of the 1.33
 * agent, garbage collection.
 */
import type { Image } from "../../../wire/cri-messages.ts";
import { compareBytes } from "../../../wire/go-strings.ts";
import type { Micros } from "../../kernel/types.ts";

export interface ImageRecord {
  readonly image: Image;
  /** When the agent first saw it. What was there when the agent began is older than any age. */
  readonly detectedMicros: Micros;
  /** When it was last seen in use; -Infinity: never. */
  readonly usedMicros: Micros;
  readonly inUse: boolean;
}

export type ImageRecords = ReadonlyMap<string, ImageRecord>;

/** Records after a look at what is there; an image that is gone is forgotten. */
export function detect(
  before: ImageRecords,
  images: readonly Image[],
  inUse: ReadonlySet<string>,
  nowMicros: Micros,
  detectedMicros: Micros,
): ImageRecords {
  return new Map(
    images.map((image) => {
      const known = before.get(image.id);
      const used = namesOf(image).some((name) => inUse.has(name));
      const record: ImageRecord = {
        image,
        detectedMicros: known?.detectedMicros ?? detectedMicros,
        usedMicros: used ? nowMicros : (known?.usedMicros ?? -Infinity),
        inUse: used,
      };
      return [image.id, record];
    }),
  );
}

export interface CollectionPolicy {
  readonly ageMicrosMin: Micros;
  /** 0: none. */
  readonly ageMicrosMax: Micros;
  /** A reference that is never collected. */
  readonly podInfraImage: string;
}

/** What a collector decides by. Each is a function, so that a wrong one can be put in its place (`sim/agent/planted/`). */
export interface ImageLaw {
  readonly mayGo: (record: ImageRecord, policy: CollectionPolicy) => boolean;
  /** Below zero: `left` goes first. */
  readonly compareUse: (left: ImageRecord, right: ImageRecord) => number;
  readonly isYoung: (record: ImageRecord, nowMicros: Micros, policy: CollectionPolicy) => boolean;
  /** How many bytes are freed, at least, where so many are wanted. */
  readonly bytesFreed: (wantedBytes: number) => number;
}

export const imageLaw: ImageLaw = {
  mayGo: ({ inUse, image }, { podInfraImage }) => !inUse && !image.pinned && !namesOf(image).includes(podInfraImage),
  compareUse: (left, right) =>
    compare(left.usedMicros, right.usedMicros) || compare(left.detectedMicros, right.detectedMicros),
  isYoung,
  bytesFreed: (wantedBytes) => wantedBytes,
};

/** What may go, the longest unused first; among those never used the first that was seen, then by id. */
export function collectable(records: ImageRecords, policy: CollectionPolicy, law: ImageLaw): readonly ImageRecord[] {
  return [...records.values()]
    .filter((record) => law.mayGo(record, policy))
    .sort((left, right) => law.compareUse(left, right) || compareBytes(left.image.id, right.image.id));
}

/** Too young to go: it may have been pulled for a container that is about to begin. */
function isYoung(record: ImageRecord, nowMicros: Micros, { ageMicrosMin }: CollectionPolicy): boolean {
  return nowMicros - record.detectedMicros < ageMicrosMin;
}

/** Unused for longer than any image may be, by an agent that has watched it that long. */
export function isStale(
  { usedMicros }: ImageRecord,
  nowMicros: Micros,
  watchedMicros: Micros,
  { ageMicrosMax }: CollectionPolicy,
): boolean {
  return ageMicrosMax > 0 && watchedMicros > ageMicrosMax && nowMicros - usedMicros > ageMicrosMax;
}

/** Whole percents of the disk, rounded up as the published agent's arithmetic does. */
export function usagePercent(availableBytes: number, capacityBytes: number): number {
  return 100 - Math.floor((availableBytes * 100) / capacityBytes);
}

export function bytesToFree(availableBytes: number, capacityBytes: number, lowThresholdPercent: number): number {
  return Math.floor((capacityBytes * (100 - lowThresholdPercent)) / 100) - availableBytes;
}

function namesOf({ id, repoTags, repoDigests }: Image): readonly string[] {
  return [id, ...repoTags, ...repoDigests];
}

/** Negative infinity is equal to itself. */
function compare(left: number, right: number): number {
  return left === right ? 0 : left < right ? -1 : 1;
}
