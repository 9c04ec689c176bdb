/**
 * Pods that use more local storage than they said they would: a volume above its size limit, containers above theirs, or
 * all of the pod above the sum. Source: the fact sheet of the 1.33 agent, storage limits.
 */
import { canonicalQuantity, type Quantity } from "../../../wire/quantity.ts";
import { goQuote } from "../../../wire/go-strings.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import type { DiskLayout, PodFigures } from "../stats/figures.ts";
import { bytesOf } from "./messages.ts";
import { containersOf, ephemeralLimitOf, podEphemeralLimitOf, sizedVolumesOf, type SizedVolume } from "./pod-traits.ts";
import { localBytesOf } from "./ranking.ts";

interface Limits {
  readonly volumes: readonly SizedVolume[];
  readonly pod: Quantity | undefined;
  readonly containers: ReadonlyMap<string, Quantity>;
}

/** Of pods that have some, read once an object: pods are many, and few have limits. */
const known = new WeakMap<JsonObject, Limits>();

export function hasStorageLimits(pod: JsonObject): boolean {
  return limitsOf(pod) !== "none";
}

/** What is said of the pod's eviction; undefined: it keeps within its limits. */
export function storageExcess(pod: JsonObject, figures: PodFigures, layout: DiskLayout): string | undefined {
  const limits = limitsOf(pod);
  if (limits === "none") return undefined;
  return volumeExcess(limits, figures) ?? podExcess(limits, pod, figures) ?? containerExcess(limits, figures, layout);
}

function limitsOf(pod: JsonObject): Limits | "none" {
  const read = known.get(pod);
  if (read !== undefined) return read;
  const volumes = sizedVolumesOf(pod);
  const whole = podEphemeralLimitOf(pod);
  const containers = new Map(
    containersOf(pod).flatMap((container) => {
      const limit = ephemeralLimitOf(container);
      return limit === undefined ? [] : [[String(container["name"]), limit] as const];
    }),
  );
  if (volumes.length === 0 && whole === undefined) return "none";
  const limits = { volumes, pod: whole, containers };
  known.set(pod, limits);
  return limits;
}

function volumeExcess({ volumes }: Limits, figures: PodFigures): string | undefined {
  for (const { name, limit } of volumes) {
    const used = figures.volumes.find((volume) => volume.name === name)?.bytes;
    if (used !== undefined && used > bytesOf(limit)) {
      return `Usage of EmptyDir volume ${goQuote(name)} exceeds the limit ${goQuote(canonicalQuantity(limit))}. `;
    }
  }
  return undefined;
}

function podExcess({ pod: limit }: Limits, pod: JsonObject, figures: PodFigures): string | undefined {
  if (limit === undefined || localBytesOf(pod, figures) <= bytesOf(limit)) return undefined;
  return `Pod ephemeral local storage usage exceeds the total limit of containers ${canonicalQuantity(limit)}. `;
}

/** Layers that lie on a file system of the images are no local storage of the node. */
function containerExcess({ containers }: Limits, figures: PodFigures, layout: DiskLayout): string | undefined {
  for (const { name, logs, rootfs } of figures.containers) {
    const limit = containers.get(name);
    const used = (logs?.bytes ?? 0) + (layout === "dedicated-imagefs" ? 0 : (rootfs?.bytes ?? 0));
    if (limit !== undefined && used > bytesOf(limit)) {
      return `Container ${name} exceeded its local ephemeral storage limit ${goQuote(canonicalQuantity(limit))}. `;
    }
  }
  return undefined;
}
