/**
 * What a node has, and what pods can be given of it. Pure.
 * Source: document 3, Options, --system-reserved, --svc-reserved, --max-pods, --pods-per-core and
 * --experimental-allocatable-ignore-eviction; the fact sheet of the 1.33 agent, allocatable.
 */
import { amountOf, type EvictionThreshold } from "../../../wire/eviction-thresholds.ts";
import {
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  negateQuantity,
  parseQuantity,
  type Quantity,
} from "../../../wire/quantity.ts";
import type { NodeOptions } from "../ports.ts";

export interface MachineCapacity {
  readonly milliCpu: number;
  readonly memoryBytes: number;
  /** Undefined: it could not be read yet. */
  readonly ephemeralBytes: number | undefined;
}

/** Quantities by resource, as a node's status has them. */
export type Resources = Readonly<Record<string, string>>;

export function capacityOf(
  machine: MachineCapacity,
  options: Pick<NodeOptions, "podsMax" | "podsPerCore" | "extendedResources">,
): Resources {
  const { milliCpu, memoryBytes, ephemeralBytes } = machine;
  const disk = ephemeralBytes === undefined ? {} : { "ephemeral-storage": inBytes(ephemeralBytes) };
  return {
    cpu: canonicalQuantity({ digits: BigInt(milliCpu), scale: -3, form: "decimalSI", text: undefined }),
    ...disk,
    memory: inBytes(memoryBytes),
    pods: String(podsMaxOf(milliCpu, options)),
    ...options.extendedResources,
  };
}

/** Cores are whole: what is left of one holds no pods. */
function podsMaxOf(milliCpu: number, { podsMax, podsPerCore }: Pick<NodeOptions, "podsMax" | "podsPerCore">): number {
  return podsPerCore > 0 ? Math.min(podsPerCore * Math.floor(milliCpu / 1000), podsMax) : podsMax;
}

/** What is reserved for others, and what hard thresholds of memory and of the node's disk keep free. Never below nothing. */
export function allocatableOf(
  capacity: Resources,
  reserved: readonly Resources[],
  hard: readonly EvictionThreshold[],
): Resources {
  const kept = keptFree(capacity, hard);
  return Object.fromEntries(
    Object.entries(capacity).map(([resource, text]) => {
      const taken = [...reserved, kept].flatMap((each) => (each[resource] === undefined ? [] : [each[resource]]));
      const left = taken.reduce((rest, part) => addQuantities(rest, negateQuantity(read(part))), read(text));
      const isSome = compareQuantities(left, nothing) > 0;
      return [resource, taken.length === 0 ? text : isSome ? canonicalQuantity({ ...left, text: undefined }) : "0"];
    }),
  );
}

/** How much of a resource pods cannot be given. */
export function takenOf(
  resource: string,
  capacity: Resources,
  reserved: readonly Resources[],
  hard: readonly EvictionThreshold[],
): Quantity {
  const parts = [...reserved, keptFree(capacity, hard)];
  return parts.reduce((sum, part) => addQuantities(sum, read(part[resource] ?? "0")), nothing);
}

/** The first resource of which more is reserved than there is, in words; undefined: none. */
export function overReserved(
  capacity: Resources,
  reserved: readonly Resources[],
  hard: readonly EvictionThreshold[],
): string | undefined {
  const kept = keptFree(capacity, hard);
  for (const [resource, text] of Object.entries(capacity)) {
    const parts = [...reserved, kept].flatMap((each) => (each[resource] === undefined ? [] : [read(each[resource])]));
    const [first, ...rest] = parts;
    if (first === undefined) continue;
    const sum = rest.reduce(addQuantities, first);
    if (compareQuantities(sum, read(text)) > 0) {
      return `Resource "${resource}" has a reservation of ${canonicalQuantity(sum)} but capacity of ${text}. Expected capacity >= reservation.`;
    }
  }
  return undefined;
}

function keptFree(capacity: Resources, hard: readonly EvictionThreshold[]): Resources {
  const kept: Record<string, string> = {};
  for (const { signal, value, graceMillis } of hard) {
    const resource = { "memory.available": "memory", "nodefs.available": "ephemeral-storage" }[signal as string];
    const whole = resource === undefined ? undefined : capacity[resource];
    if (resource === undefined || whole === undefined || graceMillis > 0) continue;
    const bytes = amountOf(value, Number(read(whole).digits) * scaleOf(read(whole)));
    kept[resource] = "text" in value && value.text !== undefined ? value.text : inBytes(bytes);
  }
  return kept;
}

const scaleOf = ({ scale }: Quantity): number => (scale > 0 ? Number(10n ** BigInt(scale)) : 1);

function inBytes(bytes: number): string {
  return canonicalQuantity({ digits: BigInt(bytes), scale: 0, form: "binarySI", text: undefined });
}

/** Options were checked when they were read: what is no quantity reserves nothing. */
function read(text: string): Quantity {
  const quantity = parseQuantity(text);
  return "error" in quantity ? nothing : quantity;
}

const nothing: Quantity = { digits: 0n, scale: 0, form: "decimalSI", text: undefined };
