/** Whether what a machine tells of its usage is what it told before, without measuring it anew. */
import type { MachineUsage } from "./machine.ts";
import type { RuntimeState } from "./runtime-state.ts";
import type { UsageModel } from "./usage-model.ts";
import { totalUse } from "./usage-of.ts";

export class UsageVersion {
  private version = 0;
  /** What the figures were made of when the version was given. */
  private parts: readonly unknown[] = [];

  /** See `CriRuntime.usageVersion`. */
  of(state: RuntimeState): number | undefined {
    const { machine, images } = state;
    if (state.faults.isAny || state.lies.isAny || state.modelled.size > 0 || !isSteady(machine.usage)) return undefined;
    const use = totalUse(state);
    // A total that moves by itself is not remembered.
    if (state.totalUse === undefined) return undefined;
    const { rootDisk, imageDisk, usage, options, memoryFilesBytes } = machine;
    const parts = [
      use,
      usage,
      options,
      memoryFilesBytes,
      rootDisk.bytes,
      rootDisk.inodes,
      imageDisk.bytes,
      imageDisk.inodes,
      images.usedBytes,
      images.stored.size,
      state.sandboxes.size,
    ];
    if (parts.some((part, at) => part !== this.parts[at])) {
      this.parts = parts;
      this.version++;
    }
    return this.version;
  }
}

/** Models that say what the machine uses beside its pods; what processors use has no bound that anybody minds. */
const minded = ["memory", "pids", "swap", "rootBytes", "rootInodes", "imageBytes", "imageInodes"] as const;
const steady = new WeakMap<MachineUsage, boolean>();

/** Nothing of it moves with time. */
function isSteady(usage: MachineUsage): boolean {
  let known = steady.get(usage);
  if (known === undefined) {
    known = minded.every((name) => {
      const model: UsageModel | null | undefined = usage[name];
      return model === undefined || model === null || model.is === "constant";
    });
    steady.set(usage, known);
  }
  return known;
}
