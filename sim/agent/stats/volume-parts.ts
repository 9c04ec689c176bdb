/**
 * What a summary tells of volumes is computed every so often, each pod's by itself, or never.
 * Source: document 3, --volume-stats-agg-period.
 */
import type { Json, JsonObject } from "../../contract/http-message.ts";
import type { Micros } from "../../kernel/types.ts";

export class VolumeParts {
  private readonly periodMicros: Micros;
  /** By the pod's uid. */
  private kept = new Map<string, { readonly atMicros: Micros; readonly volume: Json | undefined }>();

  /** Negative: never. */
  constructor(periodMicros: Micros) {
    this.periodMicros = periodMicros;
  }

  /** The summary with the parts that are due, and with the last ones for the rest. */
  of(summary: JsonObject, nowMicros: Micros): JsonObject {
    const pods = (summary["pods"] ?? []) as readonly JsonObject[];
    const next: typeof this.kept = new Map();
    const told = pods.map((pod) => {
      const { volume, ...rest } = pod;
      if (this.periodMicros < 0) return rest;
      const { uid = "" } = (pod["podRef"] ?? {}) as { readonly uid?: string };
      const before = this.kept.get(uid);
      const isDue = before === undefined || nowMicros - before.atMicros >= this.periodMicros;
      const part = isDue ? { atMicros: nowMicros, volume } : before;
      next.set(uid, part);
      return part.volume === undefined ? rest : { ...rest, volume: part.volume };
    });
    this.kept = next;
    return { ...summary, pods: told };
  }
}
