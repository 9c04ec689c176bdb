/**
 * Limits that an agent writes into control groups of its machine, as files: of classes of service, of pods, and of the
 * groups that others have to themselves. Only what flags ask for; which files is a pure function of what is known.
 *
 * Source: document 3, --qos-reserved, --pod-max-pids, --system-reserved-cgroup, --svc-reserved-cgroup,
 * --enforce-node-allocatable; the published layout of control groups.
 */
import type { Micros } from "../../kernel/types.ts";
import type { HeldPod } from "../pods/held-pod.ts";
import type { AgentOptions, ControlGroupOptions } from "../ports.ts";
import { amount, cgroupParent } from "../runtime/container-config.ts";
import type { CriCaller } from "../runtime/cri-caller.ts";
import { later, piece, turns } from "../piece.ts";
import { run } from "../task.ts";
import { writeFile } from "./machine-files.ts";

type Amounts = Readonly<Record<string, string>>;

export interface GroupPod {
  readonly uid: string;
  readonly qos: "Guaranteed" | "Burstable" | "BestEffort";
  readonly memoryBytes: number;
}

export interface GroupFacts {
  readonly groups: ControlGroupOptions;
  readonly kernel: AgentOptions["pods"]["kernel"];
  readonly node: Pick<AgentOptions["node"], "enforceNodeAllocatable" | "systemReserved" | "serviceReserved">;
  /** What pods can be given: bytes of memory. */
  readonly allocatableBytes: number;
  readonly pods: readonly GroupPod[];
}

/** Texts by path, below the root of control groups of version 2. */
export function controlGroupFiles(facts: GroupFacts): ReadonlyMap<string, string> {
  return new Map([...classLimits(facts), ...podLimits(facts), ...reservedLimits(facts)]);
}

const root = "/sys/fs/cgroup";

/** The lower classes cannot have what this share of the requests of those above them needs. */
function classLimits({ groups, kernel, allocatableBytes, pods }: GroupFacts): readonly (readonly [string, string])[] {
  if (groups.memoryPercent === undefined || !kernel.cgroupsPerQos) return [];
  const percent = groups.memoryPercent;
  const kept = (qos: GroupPod["qos"]): number =>
    Math.floor((pods.reduce((sum, pod) => sum + (pod.qos === qos ? pod.memoryBytes : 0), 0) * percent) / 100);
  const burstable = Math.max(0, allocatableBytes - kept("Guaranteed"));
  const bestEffort = Math.max(0, burstable - kept("Burstable"));
  const file = (tier: string): string =>
    `${groupPath([...pathParts(kernel.cgroupRoot), "kubepods", tier], kernel)}/memory.max`;
  return [
    [file("burstable"), String(burstable)],
    [file("besteffort"), String(bestEffort)],
  ];
}

function podLimits({ groups, kernel, pods }: GroupFacts): readonly (readonly [string, string])[] {
  if (groups.podPidsMax < 0 || !kernel.cgroupsPerQos) return [];
  return pods.map(({ uid, qos }) => {
    const parent = cgroupParent(kernel, qos, uid);
    const parts = kernel.cgroupDriver === "systemd" ? parent.replace(/\.slice$/, "").split("-") : pathParts(parent);
    return [`${groupPath(parts, kernel)}/pids.max`, String(groups.podPidsMax)] as const;
  });
}

function reservedLimits({ groups, node }: GroupFacts): readonly (readonly [string, string])[] {
  const levels: readonly (readonly [level: string, group: string, amounts: Amounts])[] = [
    ["system-reserved", groups.systemReservedGroup, node.systemReserved],
    ["svc-reserved", groups.serviceReservedGroup, node.serviceReserved],
  ];
  return levels.flatMap(([level, group, amounts]) => {
    const isWhole = node.enforceNodeAllocatable.includes(level);
    if (group === "" || !(isWhole || node.enforceNodeAllocatable.includes(`${level}-compressible`))) return [];
    const path = `${root}/${pathParts(group).join("/")}`;
    const [milliCpu, memory, pids] = [
      amount(amounts["cpu"], -3),
      amount(amounts["memory"], 0),
      amount(amounts["pid"], 0),
    ];
    const files: (readonly [string, string])[] = [];
    if (milliCpu !== undefined) files.push([`${path}/cpu.weight`, String(weightOf(milliCpu))]);
    if (isWhole && memory !== undefined) files.push([`${path}/memory.max`, String(memory)]);
    if (isWhole && pids !== undefined) files.push([`${path}/pids.max`, String(pids)]);
    return files;
  });
}

/** Shares of version 1, which go from 2 to 262144, as the weights of version 2 from 1 to 10000. */
function weightOf(milliCpu: number): number {
  const shares = Math.min(262_144, Math.max(2, Math.floor((milliCpu * 1024) / 1000)));
  return 1 + Math.floor(((shares - 2) * 9999) / 262_142);
}

const pathParts = (path: string): readonly string[] => path.split("/").filter((part) => part !== "");

/** Of systemd each level is a unit that says the whole way: `a.slice/a-b.slice`. */
function groupPath(parts: readonly string[], { cgroupDriver }: GroupFacts["kernel"]): string {
  if (cgroupDriver === "cgroupfs") return [root, ...parts].join("/");
  return [root, ...parts.map((_, at) => `${parts.slice(0, at + 1).join("-")}.slice`)].join("/");
}

export interface ControlGroupsPorts {
  readonly cri: CriCaller;
  readonly options: AgentOptions;
  readonly groups: ControlGroupOptions;
  /** Undefined: the node is not known yet. */
  readonly allocatable: () => Amounts | undefined;
  readonly held: () => Iterable<HeldPod>;
}

/** Requests are looked at so often; what has not changed is not written again. */
const everyMicros: Micros = 10_000_000;
const firstMicros: Micros = 1_000_000;

export class ControlGroups {
  private readonly ports: ControlGroupsPorts;
  private written = new Map<string, string>();

  constructor(ports: ControlGroupsPorts) {
    this.ports = ports;
  }

  start(): void {
    const { process } = this.ports.cri;
    later(process, firstMicros, () =>
      turns(process, "control-groups", "limits of control groups", everyMicros, (next) => {
        this.write();
        next(everyMicros);
      }),
    );
  }

  private write(): void {
    const { cri, options, groups, allocatable, held } = this.ports;
    const known = allocatable();
    if (known === undefined) return;
    const pods = [...held()]
      .filter(({ state, isRejected }) => state !== "terminated" && !isRejected)
      .map(({ uid, qos, requests }) => ({ uid, qos, memoryBytes: requests.memoryBytes }));
    const { node } = options;
    const allocatableBytes = amount(known["memory"], 0) ?? 0;
    const files = controlGroupFiles({ groups, kernel: options.pods.kernel, node, allocatableBytes, pods });
    const kept = new Map<string, string>();
    for (const [path, text] of files) {
      if (this.written.get(path) !== text) {
        const end = (isThere: boolean): void => {
          if (!isThere && this.written.get(path) === text) this.written.delete(path);
        };
        piece(
          cri.process,
          "control-groups",
          () => `limit ${path}`,
          () => run(writeFile(cri, path, text), end),
          () => later(cri.process, 0, () => end(false)),
        );
      }
      kept.set(path, text);
    }
    this.written = kept;
  }
}
