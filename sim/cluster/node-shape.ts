/** One node of a living cluster, as whoever describes the cluster has it. */
import type { Micros } from "../kernel/types.ts";

/** From the shortest to the longest; drawn each time. */
export interface Range {
  readonly min: Micros;
  readonly max: Micros;
}

export interface NodeShape {
  /** Lower case; unique in the cluster. */
  readonly name: string;
  /** Quantities by resource: `cpu`, `memory`, `ephemeral-storage`, `pods`, and extended ones. */
  readonly capacity: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly { readonly key: string; readonly value: string; readonly effect: string }[];
  /** Of images that no row of a table describes. */
  readonly usage: {
    /** What a runtime takes to make a pod's sandbox. */
    readonly start: Range;
    /** What a container takes to stop once it is asked to. */
    readonly stop: Range;
    /** How long containers run whose pods are not to run for ever and whose commands say nothing. */
    readonly run: Range;
  };
}
