/** What the runtime keeps of sandboxes and containers. Configurations are the callers' own messages, shared and never changed. */
import type {
  Container,
  ContainerConfig,
  ContainerState,
  ContainerStats,
  LinuxContainerResources,
  PodSandbox,
  PodSandboxConfig,
} from "../../wire/cri-messages.ts";
import type { Micros, Prng } from "../kernel/types.ts";
import type { StoredImage } from "./images.ts";
import type { ContainerFiles } from "./container-files.ts";
import type { FileDump } from "./file-dump.ts";
import type { Piece, TreeUse } from "./file-tree.ts";
import type { Box } from "./processes/box.ts";
import type { Pipe } from "./processes/streams.ts";
import type { UsageModel } from "./usage-model.ts";

export interface SandboxRecord {
  readonly id: string;
  readonly config: PodSandboxConfig;
  readonly handler: string;
  readonly createdMicros: Micros;
  readonly ip: string;
  ready: boolean;
  readonly containers: ContainerRecord[];
  /** Its entry in lists while it does not change. */
  listed: PodSandbox | undefined;
}

export interface ContainerRecord {
  readonly id: string;
  readonly sandbox: SandboxRecord;
  readonly config: ContainerConfig;
  readonly image: StoredImage;
  readonly createdMicros: Micros;
  state: ContainerState;
  startedMicros: Micros;
  finishedMicros: Micros;
  exitCode: number;
  reason: string;
  message: string;
  resources: LinuxContainerResources | undefined;
  /** While it runs. */
  box: Box | undefined;
  /** Its files stay when it has ended, until it is removed. */
  files: ContainerFiles | undefined;
  /** It runs what its image is said to run, and no command of its own. */
  isService: boolean;
  removing: boolean;
  /** The call that starts it. Who walks away from the call, takes it back. */
  starting: object | undefined;
  usage: UsageSetting;
  /** Its own draws, where calls are kept. */
  prng?: Prng;
  /** What was at the places of its mounts when it was started, where calls are kept and it runs a script. */
  began?: readonly FileDump[];
  /** What it uses, while nothing moves that; undefined: it has to be measured. */
  use?: ContainerUse | undefined;
  /** When the runtime looks at it next; Infinity: only when something happens. */
  wakeMicros: Micros;
  /** Told when it ends. */
  waiters: (() => void)[];
  readonly logPath: string;
  readonly reservedName: string;
  /** Output that has no end of line yet, of either stream. */
  readonly logRest: { 1: string; 2: string };
  /** Where its first process reads from, when it was made to have somebody there. */
  stdin: Pipe | undefined;
  /** Who is shown what it writes, while they are attached. */
  watchers: Set<(stream: 1 | 2, piece: Piece) => void> | undefined;
  listed: Container | undefined;
  /** Its statistics as they were taken last, where they are taken at intervals. */
  figures?: { readonly timestamp: number; readonly stats: ContainerStats };
}

export interface ContainerUse {
  readonly workingSetBytes: number;
  readonly rssBytes: number;
  readonly cpuNanos: number;
  readonly nanoCores: number;
  readonly pids: number;
  /** The writable layer. */
  readonly layer: TreeUse;
}

/** What a container, or a pod, is said to use, beside what its processes do. `null`: it has no figures. */
export interface UsageSetting {
  readonly memory?: UsageModel;
  /** Nanocores. */
  readonly cpu?: UsageModel;
  readonly pids?: UsageModel;
  readonly layerBytes?: UsageModel;
  readonly layerInodes?: UsageModel;
  /** Logs and local volumes, of pods alone: they are found below the pod's log directory. */
  readonly volumeBytes?: UsageModel;
  readonly volumeInodes?: UsageModel;
  /** Statistics leave it out. */
  readonly hidden?: boolean;
  /** When the models began. */
  readonly sinceMicros?: Micros;
}

export const podKey = (config: PodSandboxConfig): string =>
  `${config.metadata?.namespace ?? ""}/${config.metadata?.name ?? ""}`;
