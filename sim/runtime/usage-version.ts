/** Whether what a machine tells of its usage is what it told before, without measuring it anew. */
import type { MachineUsage } from "./machine.ts";
import type { RuntimeState } from "./runtime-state.ts";
import type { UsageModel } from "./usage-model.ts";
import { totalUse } from "./usage-of.ts";

/** What figures are made of; compared one by one, since every node asks every ten seconds. */
interface Parts {
  readonly use: unknown;
  readonly usage: MachineUsage;
  readonly options: unknown;
  readonly memoryFilesBytes: number;
  readonly rootBytes: number;
  readonly rootInodes: number;
  readonly imageBytes: number;
  readonly imageInodes: number;
  readonly usedBytes: number;
  readonly imageCount: number;
  readonly sandboxCount: number;
}

export class UsageVersion {
  private version = 0;
  private parts: Parts | undefined;

  /** See `CriRuntime.usageVersion`. */
  of(state: RuntimeState): number | undefined {
    const { machine, images } = state;
    if (state.faults.isAny || state.lies.isAny || state.modelled.size > 0 || !isSteady(machine.usage)) return undefined;
    const use = totalUse(state);
    // A total that moves by itself is not remembered.
    if (state.totalUse === undefined) return undefined;
    const { rootDisk, imageDisk, usage, options, memoryFilesBytes } = machine;
    const { parts: was } = this;
    const isSame =
      was !== undefined &&
      use === was.use &&
      usage === was.usage &&
      options === was.options &&
      memoryFilesBytes === was.memoryFilesBytes &&
      rootDisk.bytes === was.rootBytes &&
      rootDisk.inodes === was.rootInodes &&
      imageDisk.bytes === was.imageBytes &&
      imageDisk.inodes === was.imageInodes &&
      images.usedBytes === was.usedBytes &&
      images.stored.size === was.imageCount &&
      state.sandboxes.size === was.sandboxCount;
    if (isSame) return this.version;
    this.parts = {
      use,
      usage,
      options,
      memoryFilesBytes,
      rootBytes: rootDisk.bytes,
      rootInodes: rootDisk.inodes,
      imageBytes: imageDisk.bytes,
      imageInodes: imageDisk.inodes,
      usedBytes: images.usedBytes,
      imageCount: images.stored.size,
      sandboxCount: state.sandboxes.size,
    };
    return ++this.version;
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
