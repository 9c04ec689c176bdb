/**
 * The machine under the runtime: what it has, what is used beside the pods, and where files are charged. Every figure is
 * computed when it is asked for.
 */
import type { FilesystemReading, MemoryReading } from "../../wire/cri-messages.ts";
import type { Micros } from "../kernel/types.ts";
import { FileTree, type TreeUse } from "./file-tree.ts";
import { amountAt, nothingUsed, type UsageModel } from "./usage-model.ts";

export interface DiskSize {
  readonly bytes: number;
  readonly inodes: number;
}

export interface MachineOptions {
  readonly name: string;
  /** How often it has been started anew: each start has an id of its own. */
  readonly boot: number;
  readonly milliCpu: number;
  readonly memoryBytes: number;
  readonly swapBytes: number;
  readonly pids: number;
  /** Of the kernel's control groups: 1 or 2. */
  readonly cgroupVersion: number;
  /** The kernel's settings by name, such as `vm.overcommit_memory`. */
  readonly tunables: Readonly<Record<string, string>>;
  /** Processors and memory are shared out among so many. */
  readonly numaNodes: number;
  /** Of a physical core: so many processors. */
  readonly threadsPerCore: number;
  /** NUMA nodes lie together on so many. 0: each has its own. */
  readonly sockets: number;
  readonly rootDisk: DiskSize;
  /** Images and writable layers lie here; undefined: on the root disk. */
  readonly imageDisk: DiskSize | undefined;
  /** Bytes a second that the disks write, and that pulls bring. */
  readonly diskBytesPerSecond: number;
}

export const machineDefaults: Omit<MachineOptions, "name"> = {
  boot: 0,
  milliCpu: 4000,
  memoryBytes: 16 * 1024 * 1024 * 1024,
  swapBytes: 0,
  pids: 32_768,
  cgroupVersion: 2,
  // As agents want to have them.
  tunables: {
    "vm.overcommit_memory": "1",
    "vm.panic_on_oom": "0",
    "kernel.panic": "10",
    "kernel.panic_on_oops": "1",
    "kernel.keys.root_maxkeys": "1000000",
    "kernel.keys.root_maxbytes": "25000000",
  },
  numaNodes: 1,
  threadsPerCore: 1,
  sockets: 0,
  rootDisk: { bytes: 100 * 1024 * 1024 * 1024, inodes: 6_553_600 },
  imageDisk: undefined,
  diskBytesPerSecond: 400 * 1024 * 1024,
};

/** What is used beside the pods. `null`: it cannot be read. */
export interface MachineUsage {
  readonly memory?: UsageModel | null;
  readonly cpu?: UsageModel;
  readonly pids?: UsageModel | null;
  readonly swap?: UsageModel;
  readonly rootBytes?: UsageModel | null;
  readonly rootInodes?: UsageModel;
  readonly imageBytes?: UsageModel | null;
  readonly imageInodes?: UsageModel;
  /** When the models began. */
  readonly sinceMicros?: Micros;
}

const usageDefaults: MachineUsage = {
  memory: { is: "constant", amount: 512 * 1024 * 1024 },
  cpu: { is: "constant", amount: 50_000_000 },
  pids: { is: "constant", amount: 150 },
  rootBytes: { is: "constant", amount: 2 * 1024 * 1024 * 1024 },
  rootInodes: { is: "constant", amount: 60_000 },
};

/** What files of one machine take of this process's memory; however large they are said to be. */
const heldBytesMax = 1024 * 1024 * 1024;

/** A disk: what files on it hold, and what a model says beside that. */
class Disk {
  readonly size: DiskSize;
  readonly mountpoint: string;
  bytes = 0;
  inodes = 0;

  constructor(size: DiskSize, mountpoint: string) {
    this.size = size;
    this.mountpoint = mountpoint;
  }
}

export class Machine {
  options: MachineOptions;
  usage: MachineUsage = usageDefaults;
  /** What found its place before finds it again, however full the disks are said to be. */
  takesAll = false;
  readonly rootDisk: Disk;
  readonly imageDisk: Disk;
  /** Files in memory. */
  memoryFilesBytes = 0;
  /** Of the memory of this process, for all files. */
  private heldBytes = 0;
  /** What usage models of pods add on a disk, for now; filled by the runtime. */
  modelled: () => { readonly root: TreeUse; readonly image: TreeUse } = () => ({ root: none, image: none });
  readonly host: FileTree;
  private readonly now: () => Micros;

  constructor(options: MachineOptions, now: () => Micros) {
    this.options = options;
    this.now = now;
    this.rootDisk = new Disk(options.rootDisk, "/");
    this.imageDisk = options.imageDisk === undefined ? this.rootDisk : new Disk(options.imageDisk, imageMountpoint);
    this.host = this.newTree(this.rootDisk);
  }

  /** Files on a disk of this machine. */
  newTree(disk: Disk): FileTree {
    return new FileTree({
      disk: (bytes, inodes) => {
        if ((bytes > 0 || inodes > 0) && !this.hasRoom(disk, bytes, inodes)) return false;
        disk.bytes += bytes;
        disk.inodes += inodes;
        return true;
      },
      memory: (bytes) => {
        this.memoryFilesBytes += bytes;
        return true;
      },
      held: (bytes) => {
        if (bytes > 0 && !this.takesAll && this.heldBytes + bytes > heldBytesMax) return false;
        this.heldBytes += bytes;
        return true;
      },
    });
  }

  hasRoom(disk: Disk, bytes: number, inodes: number): boolean {
    if (this.takesAll) return true;
    const used = this.used(disk);
    return used.bytes + bytes <= disk.size.bytes && used.inodes + inodes <= disk.size.inodes;
  }

  /** All that a disk holds. */
  used(disk: Disk): TreeUse {
    const { root, image } = this.modelled();
    const at = this.now();
    let { bytes, inodes } = disk;
    if (disk === this.rootDisk) {
      bytes += root.bytes + this.amount(this.usage.rootBytes, at);
      inodes += root.inodes + this.amount(this.usage.rootInodes, at);
    }
    if (disk === this.imageDisk) {
      bytes += image.bytes;
      inodes += image.inodes;
      if (disk !== this.rootDisk) {
        bytes += this.amount(this.usage.imageBytes, at);
        inodes += this.amount(this.usage.imageInodes, at);
      }
    }
    return { bytes, inodes };
  }

  reading(disk: Disk): FilesystemReading | undefined {
    const hidden = disk === this.rootDisk ? this.usage.rootBytes : this.usage.imageBytes;
    if (hidden === null) return undefined;
    const used = this.used(disk);
    const usedBytes = Math.min(used.bytes, disk.size.bytes);
    const inodesUsed = Math.min(used.inodes, disk.size.inodes);
    return {
      mountpoint: disk.mountpoint,
      capacityBytes: disk.size.bytes,
      availableBytes: disk.size.bytes - usedBytes,
      usedBytes,
      inodes: disk.size.inodes,
      inodesFree: disk.size.inodes - inodesUsed,
      inodesUsed,
    };
  }

  /** The whole machine's, given what the pods use; undefined when it cannot be read. */
  memory(podBytes: number): MemoryReading | undefined {
    const { memory } = this.usage;
    if (memory === null) return undefined;
    const capacity = this.options.memoryBytes;
    const workingSetBytes = Math.min(capacity, this.amount(memory, this.now()) + podBytes + this.memoryFilesBytes);
    return memoryReading(workingSetBytes, capacity);
  }

  amount(model: UsageModel | null | undefined, at: Micros): number {
    return amountAt(model ?? nothingUsed, Math.max(0, at - (this.usage.sinceMicros ?? 0)));
  }
}

export const imageMountpoint = "/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs";

export const memoryReading = (workingSetBytes: number, capacityBytes: number): MemoryReading => ({
  usageBytes: workingSetBytes,
  workingSetBytes,
  rssBytes: workingSetBytes - Math.floor(workingSetBytes / 8),
  availableBytes: Math.max(0, capacityBytes - workingSetBytes),
  pageFaults: Math.floor(workingSetBytes / 4096),
  majorPageFaults: 0,
});

const none: TreeUse = { bytes: 0, inodes: 0 };
