/**
 * Eviction thresholds as an agent's configuration writes them: maps from a signal to a quantity, a percentage or a time.
 * Source: document 3, Options, --eviction-hard to --eviction-soft-grace-period; signals, bounds and rounding beyond that
 * are what the 1.33 agent does, and so are the error texts.
 */
import { parseDuration } from "./durations.ts";
import { canonicalQuantity, parseQuantity, quantityAt } from "./quantity.ts";

export type PressureCondition = "MemoryPressure" | "DiskPressure" | "PIDPressure";

/** Per signal: the node condition that it raises, and what the agent calls its resource in texts. */
export const evictionSignals = {
  "memory.available": { condition: "MemoryPressure", resource: "memory" },
  "allocatableMemory.available": { condition: "MemoryPressure", resource: "memory" },
  "nodefs.available": { condition: "DiskPressure", resource: "ephemeral-storage" },
  "nodefs.inodesFree": { condition: "DiskPressure", resource: "inodes" },
  "imagefs.available": { condition: "DiskPressure", resource: "ephemeral-storage" },
  "imagefs.inodesFree": { condition: "DiskPressure", resource: "inodes" },
  "containerfs.available": { condition: "DiskPressure", resource: "ephemeral-storage" },
  "containerfs.inodesFree": { condition: "DiskPressure", resource: "inodes" },
  "pid.available": { condition: "PIDPressure", resource: "pids" },
} as const satisfies Record<string, { condition: PressureCondition; resource: string }>;

export type EvictionSignal = keyof typeof evictionSignals;

/** The fields of an agent's configuration that concern eviction, as its file and its configz have them. */
export interface EvictionSettings {
  readonly evictionHard?: Readonly<Record<string, string>> | undefined;
  readonly evictionSoft?: Readonly<Record<string, string>> | undefined;
  /** Signal → duration. Needed for every soft threshold. */
  readonly evictionSoftGracePeriod?: Readonly<Record<string, string>> | undefined;
  readonly evictionMinimumReclaim?: Readonly<Record<string, string>> | undefined;
  /** Duration. Default 5m0s. */
  readonly evictionPressureTransitionPeriod?: string | undefined;
  /** Seconds. Default 0; negative leaves a pod its own grace period. */
  readonly evictionMaxPodGracePeriod?: number | undefined;
}

/** Bytes, inodes or processes, with their canonical text where one was read; or a part of the capacity, in [0, 1], of single precision. */
export type EvictionAmount = { readonly amount: number; readonly text?: string } | { readonly fraction: number };

export interface EvictionThreshold {
  readonly signal: EvictionSignal;
  readonly value: EvictionAmount;
  /** 0: a hard threshold, however it was written. */
  readonly graceMillis: number;
  /** Once the threshold drives evictions, they go on until so much more than its value is available. */
  readonly minimumReclaim: EvictionAmount;
}

export interface EvictionRules {
  readonly thresholds: readonly EvictionThreshold[];
  readonly transitionMillis: number;
  /** Negative: the pod's own grace period. */
  readonly maxPodGraceSeconds: number;
}

export interface EvictionSettingsError {
  readonly error: string;
}

/** The first thing wrong is the error. A map that is absent is empty: no default is put in its place. */
export function parseEvictionSettings(settings: EvictionSettings): EvictionRules | EvictionSettingsError {
  try {
    return rulesOf(settings);
  } catch (error) {
    if (error instanceof Refusal) return { error: error.message };
    throw error;
  }
}

/** Of single precision, as the agent reckons; a fraction of an amount is dropped. */
export function amountOf(value: EvictionAmount, capacity: number): number {
  return "amount" in value ? value.amount : Math.trunc(capacity * value.fraction);
}

class Refusal extends Error {}

function rulesOf(settings: EvictionSettings): EvictionRules {
  const reclaims = new Map(entries(settings.evictionMinimumReclaim).map(([at, text]) => [at, readReclaim(at, text)]));
  const graces = new Map(entries(settings.evictionSoftGracePeriod).map(([at, text]) => [at, readGrace(at, text)]));
  const made = (signal: EvictionSignal, value: EvictionAmount, graceMillis: number): EvictionThreshold => ({
    signal,
    value,
    graceMillis,
    minimumReclaim: reclaims.get(signal) ?? { amount: 0 },
  });
  const hard = entries(settings.evictionHard).map(([signal, text]) => {
    const value = readValue(signal, text);
    return value === undefined ? [] : [made(signal, value, 0)];
  });
  const soft = entries(settings.evictionSoft).map(([signal, text]) => {
    const value = readValue(signal, text);
    if (value === undefined) return [];
    const grace = graces.get(signal);
    if (grace === undefined) {
      throw new Refusal(`grace period must be specified for the soft eviction threshold ${signal}`);
    }
    return [made(signal, value, grace)];
  });
  const transitionMillis = readMillis(
    "evictionPressureTransitionPeriod",
    settings.evictionPressureTransitionPeriod ?? "5m0s",
  );
  return {
    thresholds: [...hard, ...soft].flat(),
    transitionMillis,
    maxPodGraceSeconds: settings.evictionMaxPodGracePeriod ?? 0,
  };
}

function entries(map: Readonly<Record<string, string>> = {}): [EvictionSignal, string][] {
  return Object.entries(map).map(([signal, text]) => {
    if (!Object.hasOwn(evictionSignals, signal)) throw new Refusal(`unsupported eviction signal ${signal}`);
    return [signal as EvictionSignal, text];
  });
}

/** Undefined: exactly these two texts mean that there is no threshold. */
function readValue(signal: string, text: string): EvictionAmount | undefined {
  if (text === "0%" || text === "100%") return undefined;
  if (text.endsWith("%")) {
    const fraction = readFraction(signal, text);
    if (fraction < 0) throw new Refusal(`eviction percentage threshold ${signal} must be >= 0%: ${text}`);
    if (fraction > 1) throw new Refusal(`eviction percentage threshold ${signal} must be <= 100%: ${text}`);
    return { fraction };
  }
  const quantity = readQuantity(signal, text);
  if (quantity.amount <= 0) throw new Refusal(`eviction threshold ${signal} must be positive: ${text}`);
  return quantity;
}

function readReclaim(signal: string, text: string): EvictionAmount {
  if (text.endsWith("%")) {
    const fraction = readFraction(signal, text);
    if (fraction <= 0) throw new Refusal(`eviction percentage minimum reclaim ${signal} must be positive: ${text}`);
    return { fraction };
  }
  const quantity = readQuantity(signal, text);
  if (quantity.amount < 0) throw new Refusal(`negative eviction minimum reclaim specified for ${signal}`);
  return quantity;
}

/** Any number of `%` at the end. What 32 bits cannot hold is refused, as the agent's parser refuses it. */
function readFraction(signal: string, text: string): number {
  const digits = text.replace(/%+$/, "");
  const number = readFloat(digits);
  if (number === undefined || (!Number.isFinite(Math.fround(number)) && Number.isFinite(number))) {
    throw new Refusal(`the percentage of ${signal} cannot be read: ${text}`);
  }
  return Math.fround(Math.fround(number) / 100);
}

const infinities = /^[+-]?inf(inity)?$/i;
const hexFloat = /^([+-]?)0[xX]([\da-fA-F]+\.?[\da-fA-F]*|\.[\da-fA-F]+)[pP]([+-]?\d{1,4})$/;

/** Floats as Go reads them: decimal, hexadecimal with a binary exponent, infinite, or no number at all. */
function readFloat(text: string): number | undefined {
  if (/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text)) return Number(text);
  if (infinities.test(text)) return text.startsWith("-") ? -Infinity : Infinity;
  if (/^nan$/i.test(text)) return Number.NaN;
  const [, sign, mantissa, exponent] = hexFloat.exec(text) ?? [];
  if (mantissa === undefined) return undefined;
  const [whole = "", fraction = ""] = mantissa.split(".");
  const places = Number(exponent) - 4 * fraction.length;
  let value = Number(`0x${whole}${fraction}`);
  // Each step is exact until the number leaves the range of a double, where no 32 bits hold it either.
  for (let left = Math.abs(places); left > 0 && value !== 0 && Number.isFinite(value); left--) {
    value = places > 0 ? value * 2 : value / 2;
  }
  return sign === "-" ? -value : value;
}

/** Whole units, a part of one counted as one: usage has no parts. Beyond 2^53 it is rounded, where no usage is. */
function readQuantity(signal: string, text: string): { readonly amount: number; readonly text: string } {
  const quantity = parseQuantity(text);
  if ("error" in quantity) throw new Refusal(`the quantity of ${signal} cannot be read: ${text}: ${quantity.error}`);
  return { amount: Number(quantityAt(quantity, 0)), text: canonicalQuantity(quantity) };
}

function readGrace(signal: string, text: string): number {
  const millis = readMillis(`the grace period of ${signal}`, text);
  if (millis < 0) throw new Refusal(`invalid eviction grace period specified: ${text}, must be a positive value`);
  return millis;
}

function readMillis(what: string, text: string): number {
  const nanos = parseDuration(text);
  if (typeof nanos !== "bigint") throw new Refusal(`${what} cannot be read: ${text}: ${nanos.error}`);
  return Number(nanos) / 1_000_000;
}
