/**
 * What the managers of processors and memory write down, so that another life of the agent goes on with it: JSON with a
 * checksum over what it says, as the published agent writes it. Pure.
 *
 * Source: a file of a live agent without a policy, of which the checksum is 1353318690, and published cases of both files.
 */
import { cpuListText, parseCpuList } from "../../../wire/cpu-list.ts";
import { compareBytes, goQuote } from "../../../wire/go-strings.ts";
import type { CpuState } from "./cpu-manager.ts";
import { objectIn } from "./machine-files.ts";
import type { MemoryBlock, MemoryState, MemoryTable, NodeMemory } from "./memory-manager.ts";
import type { CpuSet } from "./topology.ts";

type Read<State> = { readonly policy: string; readonly state: State } | { readonly error: string };

export function cpuStateText(policy: string, { shared, entries }: CpuState): string {
  const told = {
    policyName: policy,
    defaultCpuSet: cpuListText(shared),
    ...(entries.size === 0
      ? {}
      : { entries: plain(entries, (containers) => plain(containers, (cpus) => cpuListText(cpus))) }),
  };
  return JSON.stringify({ ...told, checksum: cpuChecksum(told) });
}

interface CpuFile {
  readonly policyName?: unknown;
  readonly defaultCpuSet?: unknown;
  readonly entries?: unknown;
  readonly checksum?: unknown;
}

function cpuChecksum({ policyName, defaultCpuSet, entries }: CpuFile): number {
  const pods = mapText((entries ?? {}) as Texts<Texts<string>>, (containers) => mapText(containers, String));
  const fields = `PolicyName:(string)${String(policyName)} DefaultCPUSet:(string)${String(defaultCpuSet)}`;
  return fnv(
    `(*state.CPUManagerCheckpoint){${fields} Entries:(map[string]map[string]string)${pods} Checksum:(checksum.Checksum)0}`,
  );
}

export function readCpuState(text: string): Read<CpuState> {
  const file = objectIn(text) as CpuFile | undefined;
  if (file === undefined) return { error: "unexpected end of JSON input" };
  const { policyName, defaultCpuSet, entries = {}, checksum = 0 } = file;
  if (typeof policyName !== "string" || typeof defaultCpuSet !== "string" || !isTexts(entries))
    return { error: "checkpoint is corrupted" };
  if (checksum !== 0 && checksum !== cpuChecksum(file)) return { error: "checkpoint is corrupted" };
  const shared = parseCpuList(defaultCpuSet);
  if ("error" in shared) return { error: `could not parse default cpu set ${goQuote(defaultCpuSet)}: ${shared.error}` };
  const pods = new Map<string, Map<string, CpuSet>>();
  for (const [pod, containers] of Object.entries(entries)) {
    const held = new Map<string, CpuSet>();
    for (const [container, list] of Object.entries(containers)) {
      const cpus = parseCpuList(list);
      if ("error" in cpus) {
        const where = `for container ${goQuote(container)} in pod ${goQuote(pod)}`;
        return { error: `could not parse cpuset ${goQuote(list)} ${where}: ${cpus.error}` };
      }
      held.set(container, cpus.cpus);
    }
    pods.set(pod, held);
  }
  return { policy: policyName, state: { shared: shared.cpus, entries: pods } };
}

export function memoryStateText(policy: string, { nodes, entries }: MemoryState): string {
  const told = {
    policyName: policy,
    machineState: Object.fromEntries(nodes),
    ...(entries.size === 0 ? {} : { entries: plain(entries, (containers) => plain(containers, (blocks) => blocks)) }),
  };
  return JSON.stringify({ ...told, checksum: memoryChecksum(told) });
}

interface MemoryFile {
  readonly policyName?: unknown;
  readonly machineState?: unknown;
  readonly entries?: unknown;
  readonly checksum?: unknown;
}

function memoryChecksum({ policyName, machineState, entries }: MemoryFile): number {
  const table = ({ total, systemReserved, allocatable, reserved, free }: MemoryTable): string =>
    `<*>{TotalMemSize:(uint64)${total} SystemReserved:(uint64)${systemReserved} Allocatable:(uint64)${allocatable} Reserved:(uint64)${reserved} Free:(uint64)${free}}`;
  const node = ({ numberOfAssignments, memoryMap, cells }: NodeMemory): string =>
    `<*>{NumberOfAssignments:(int)${numberOfAssignments} MemoryMap:(map[v1.ResourceName]*state.MemoryTable)${mapText(memoryMap, table)} Cells:([]int)[${cells.join(" ")}]}`;
  const block = ({ numaAffinity, type, size }: MemoryBlock): string =>
    `{NUMAAffinity:([]int)[${numaAffinity.join(" ")}] Type:(v1.ResourceName)${type} Size:(uint64)${size}}`;
  const pods = mapText((entries ?? {}) as Texts<Texts<readonly MemoryBlock[]>>, (containers) =>
    mapText(containers, (blocks) => `[${blocks.map(block).join(" ")}]`),
  );
  const machine = mapText((machineState ?? {}) as Texts<NodeMemory>, node, byNumber);
  return fnv(
    `(*state.MemoryManagerCheckpoint){PolicyName:(string)${String(policyName)} MachineState:(state.NUMANodeMap)${machine} Entries:(state.ContainerMemoryAssignments)${pods} Checksum:(checksum.Checksum)0}`,
  );
}

export function readMemoryState(text: string): Read<MemoryState> {
  const file = objectIn(text) as MemoryFile | undefined;
  if (file === undefined) return { error: "unexpected end of JSON input" };
  const { policyName, machineState = {}, entries = {}, checksum = 0 } = file;
  if (typeof policyName !== "string" || !isNodes(machineState) || !isBlocks(entries))
    return { error: "checkpoint is corrupted" };
  if (checksum !== 0 && checksum !== memoryChecksum(file)) return { error: "checkpoint is corrupted" };
  const nodes = new Map(Object.entries(machineState).map(([id, node]) => [Number(id), node]));
  const pods = Object.entries(entries).map(([pod, containers]) => [pod, new Map(Object.entries(containers))] as const);
  return { policy: policyName, state: { nodes, entries: new Map(pods) } };
}

type Texts<Value> = Readonly<Record<string, Value>>;

const isRecord = (value: unknown): value is Texts<unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const every = (value: unknown, holds: (item: unknown) => boolean): boolean =>
  isRecord(value) && Object.values(value).every(holds);

const isTexts = (value: unknown): value is Texts<Texts<string>> =>
  every(value, (containers) => every(containers, (list) => typeof list === "string"));

const isNumber = (value: unknown): value is number => typeof value === "number" && Number.isSafeInteger(value);
const isNumbers = (value: unknown): boolean => Array.isArray(value) && value.every(isNumber);

const tableFields = ["total", "systemReserved", "allocatable", "reserved", "free"];

function isNodes(value: unknown): value is Texts<NodeMemory> {
  return every(
    value,
    (node) =>
      isRecord(node) &&
      isNumber(node["numberOfAssignments"]) &&
      isNumbers(node["cells"]) &&
      every(node["memoryMap"], (table) => isRecord(table) && tableFields.every((field) => isNumber(table[field]))),
  );
}

function isBlocks(value: unknown): value is Texts<Texts<readonly MemoryBlock[]>> {
  const isBlock = (block: unknown): boolean =>
    isRecord(block) && isNumbers(block["numaAffinity"]) && typeof block["type"] === "string" && isNumber(block["size"]);
  return every(value, (containers) => every(containers, (blocks) => Array.isArray(blocks) && blocks.every(isBlock)));
}

function plain<Value, Plain>(map: ReadonlyMap<string, Value>, of: (value: Value) => Plain): Texts<Plain> {
  return Object.fromEntries([...map].map(([key, value]) => [key, of(value)]));
}

const byNumber = (one: string, other: string): number => Number(one) - Number(other);

function mapText<Value>(map: Texts<Value>, of: (value: Value) => string, order = compareBytes): string {
  const keys = Object.keys(map).sort(order);
  return `map[${keys.map((key) => `${key}:${of(map[key] as Value)}`).join(" ")}]`;
}

const encoder = new TextEncoder();

/** FNV-1a of 32 bits. */
function fnv(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of encoder.encode(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}
