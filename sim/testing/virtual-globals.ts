/**
 * Gives code that knows nothing of the simulator virtual time and seeded chance: while installed, `Date`,
 * `performance.now`, timers (global, `node:timers` and `node:timers/promises`), `AbortSignal.timeout`,
 * `Math.random`, and the random parts of `crypto` all come from one process of a run.
 *
 * Simplification: the replacement is for the whole realm, as JavaScript has no narrower scope that reaches
 * into libraries; two installations at once are refused. Out of reach are functions that somebody took before
 * (`const { now } = Date`; a timer taken so is reported as outside work) and what Node does inside: the timestamps
 * of DOM events, `Intl`'s present, key generation, the timeouts of real sockets.
 */
// Node's own modules keep the timers that they find when they are first loaded: the real ones, this way.
import "node:child_process";
import "node:dns";
import "node:fs/promises";
import "node:http2";
import "node:https";
import "node:readline/promises";
import "node:stream/web";
import "node:zlib";
import nodeCrypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import nodeTimers from "node:timers";
import nodeTimersPromises from "node:timers/promises";
import type { Clock, Prng } from "../kernel/types.ts";
import { holdTime, type WaitingTimer } from "./open-cluster.ts";
import { type TimerHost, virtualTimers } from "./virtual-timers.ts";

export interface VirtualSource extends TimerHost {
  readonly prng: Prng;
  /** `function (file:line:column)` of whoever wanted this. */
  readonly createdAt: string;
}

export interface VirtualGlobals {
  /** Puts the real ones back. */
  readonly restore: () => void;
  /** Timeouts that were made while time stood still and have not fired. */
  readonly waitingTimers: () => readonly WaitingTimer[];
}

type Host = Record<PropertyKey, unknown>;
type Timers = ReturnType<typeof virtualTimers>;
type Replacement = readonly [host: object, name: PropertyKey, value: unknown];

/** Installs the virtual globals. Throws when they are installed already, and says for whom. */
export function installVirtualGlobals(source: VirtualSource): VirtualGlobals {
  const timers = virtualTimers(source);
  const release = holdTime({ createdAt: source.createdAt, waitingTimers: timers.waiting });
  const replacements = [...timeReplacements(source, timers), ...chanceReplacements(source.prng)];
  const restores = replacements.map(replace);
  syncBuiltinESMExports();
  let installed = true;
  return {
    restore() {
      if (!installed) return;
      installed = false;
      for (const restore of restores.reverse()) restore();
      syncBuiltinESMExports();
      release();
    },
    waitingTimers: timers.waiting,
  };
}

function replace([host, name, value]: Replacement): () => void {
  const before = Object.getOwnPropertyDescriptor(host, name);
  Object.defineProperty(host, name, {
    value,
    configurable: true,
    writable: true,
    enumerable: before?.enumerable ?? true,
  });
  return () => {
    // A method that its host inherits is uncovered again by removing the replacement.
    if (before === undefined) delete (host as Host)[name];
    else Object.defineProperty(host, name, before);
  };
}

function timeReplacements({ clock }: VirtualSource, { callbacks, promises }: Timers): Replacement[] {
  const { scheduler } = nodeTimersPromises;
  const virtualPromises = {
    setTimeout: promises.setTimeout,
    setInterval: promises.setInterval,
    scheduler: {
      wait: (millis: number, options?: { readonly signal?: AbortSignal }) =>
        promises.setTimeout(millis, undefined, options),
      yield: () => scheduler.yield(),
    },
  };
  const sinceStartMillis = (): number => clock.nowMicros() / 1000;
  const date = virtualDate(() => clock.epochUnixMillis + Math.floor(clock.nowMicros() / 1000));
  return [
    [globalThis, "Date", date],
    [Date.prototype, "constructor", date],
    [performance, "now", sinceStartMillis],
    [performance, "timeOrigin", clock.epochUnixMillis],
    [process, "hrtime", virtualHrtime(clock)],
    [process, "uptime", () => sinceStartMillis() / 1000],
    [AbortSignal, "timeout", timeoutSignal(callbacks.setTimeout)],
    ...Object.entries(callbacks).flatMap(([name, value]): Replacement[] => [
      [globalThis, name, value],
      [nodeTimers, name, value],
    ]),
    ...Object.entries(virtualPromises).map(([name, value]): Replacement => [nodeTimersPromises, name, value]),
  ];
}

function virtualHrtime(clock: Clock): NodeJS.HRTime {
  const nanosNow = (): bigint => BigInt(clock.nowMicros()) * 1000n;
  const hrtime = (previous?: readonly [number, number]): [number, number] => {
    const before = previous === undefined ? 0n : BigInt(previous[0]) * 1_000_000_000n + BigInt(previous[1]);
    const nanos = nanosNow() - before;
    return [Number(nanos / 1_000_000_000n), Number(nanos % 1_000_000_000n)];
  };
  return Object.assign(hrtime, { bigint: nanosNow });
}

/** `Date` whose present is the run's. Only the present differs: parsing and arithmetic are the real ones. */
function virtualDate(nowMillis: () => number): DateConstructor {
  let now = nowMillis;
  return new Proxy(globalThis.Date, {
    construct: (target, parameters, newTarget) =>
      Reflect.construct(target, parameters.length === 0 ? [nowMillis()] : parameters, newTarget) as Date,
    apply: (target) => new target(nowMillis()).toString(),
    get: (target, name, receiver) => (name === "now" ? now : (Reflect.get(target, name, receiver) as unknown)),
    // Whoever puts a wrapper around `now` must not reach the real one.
    set(target, name, value, receiver) {
      if (name !== "now") return Reflect.set(target, name, value, receiver);
      now = value as () => number;
      return true;
    },
  });
}

const timeoutSignal =
  (setTimeout: (callback: () => void, millis: number) => unknown) =>
  (millis: number): AbortSignal => {
    const controller = new AbortController();
    const reason = "The operation was aborted due to timeout";
    setTimeout(() => controller.abort(new DOMException(reason, "TimeoutError")), millis);
    return controller.signal;
  };

function chanceReplacements(prng: Prng): Replacement[] {
  const float = prng.stream("Math.random");
  const bytes = prng.stream("crypto");
  const fill = <T extends ArrayBufferView>(view: T): T => {
    const target = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    for (let i = 0; i < target.length; i++) target[i] = bytes.intInclusive(0, 255);
    return view;
  };
  const uuid = (): `${string}-${string}-${string}-${string}-${string}` => {
    const hex = Buffer.from(fill(new Uint8Array(16))).toString("hex");
    const variant = "89ab"[Number.parseInt(hex[16] as string, 16) & 3] as string;
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`;
  };
  const fraction = (stream: Prng): number => (stream.uint32() * 0x200000 + (stream.uint32() >>> 11)) / 2 ** 53;
  const randomBytes = orByCallback((size: number) => fill(Buffer.alloc(size)));
  const randomInt = orByCallback((...range: number[]) => {
    const [min, max] = range.length === 1 ? [0, range[0] as number] : (range as [number, number]);
    if (!(Number.isSafeInteger(min) && Number.isSafeInteger(max) && min < max && max - min < 2 ** 48)) {
      throw new RangeError(`not a range of integers for randomInt: ${range.join(", ")}`);
    }
    return min + Math.floor(fraction(bytes) * (max - min));
  });
  const fillPart = (view: ArrayBufferView | ArrayBuffer, offset = 0, size?: number): typeof view => {
    const unit = "BYTES_PER_ELEMENT" in view ? (view.BYTES_PER_ELEMENT as number) : 1;
    const [buffer, start] = ArrayBuffer.isView(view) ? [view.buffer, view.byteOffset] : [view, 0];
    const first = offset * unit;
    fill(new Uint8Array(buffer, start + first, size === undefined ? view.byteLength - first : size * unit));
    return view;
  };
  return [
    [Math, "random", () => fraction(float)],
    [globalThis.crypto, "randomUUID", uuid],
    [globalThis.crypto, "getRandomValues", fill],
    [nodeCrypto, "randomUUID", uuid],
    // `node:crypto`'s own getRandomValues can't be replaced, and goes through the global one.
    [nodeCrypto, "randomFillSync", fillPart],
    [nodeCrypto, "randomFill", orByCallback(fillPart)],
    [nodeCrypto, "randomBytes", randomBytes],
    [nodeCrypto, "randomInt", randomInt],
  ];
}

/** Of functions that answer a last parameter that is a function, and otherwise their caller. */
function orByCallback<P extends never[], R>(answer: (...parameters: P) => R) {
  return (...parameters: unknown[]): R | undefined => {
    const done = parameters.at(-1);
    if (typeof done !== "function") return answer(...(parameters as P));
    const result = answer(...(parameters.slice(0, -1) as P));
    queueMicrotask(() => (done as (error: null, result: R) => void)(null, result));
    return undefined;
  };
}
