/**
 * Catches what lint cannot see: real time or chance used while the kernel dispatches an event. The
 * wrappers are installed once; outside dispatch they pass through, so libraries may use what they like.
 */

/** How many dispatches are on the stack. The kernel counts; the wrappers only look. */
export const dispatch = { depth: 0 };

/** Thrown inside an event that reached for the real world. */
export class TrapError extends Error {
  /** What was called: `Date.now()`. */
  readonly forbidden: string;
  /** The stack frame that called it. */
  readonly caller: string;

  constructor(forbidden: string, instead: string, caller: string) {
    super(`${forbidden} was called during kernel dispatch, at ${caller}; use ${instead}`);
    this.name = "TrapError";
    this.forbidden = forbidden;
    this.caller = caller;
  }
}

const CLOCK = "the process's clock";
const TIMER = "the process's clock.after";
const PRNG = "the process's prng";

type AnyFunction = (this: unknown, ...parameters: unknown[]) => unknown;
type Host = Record<string, unknown>;

/** Where each forbidden function lives, and what to use in its stead. */
const forbidden: readonly { holder: string; name: string; instead: string }[] = [
  { holder: "Math", name: "random", instead: PRNG },
  { holder: "performance", name: "now", instead: CLOCK },
  { holder: "process", name: "hrtime", instead: CLOCK },
  { holder: "crypto", name: "randomUUID", instead: PRNG },
  { holder: "crypto", name: "getRandomValues", instead: PRNG },
  { holder: "", name: "setTimeout", instead: TIMER },
  { holder: "", name: "setInterval", instead: TIMER },
  { holder: "", name: "setImmediate", instead: TIMER },
  { holder: "", name: "fetch", instead: "the process's call" },
];

let uninstallCurrent: (() => void) | undefined;

/** Installs the wrappers in this realm. Returns what removes them again; installing twice does no more than once. */
export function installTrap(): () => void {
  uninstallCurrent ??= install();
  return uninstallCurrent;
}

function install(): () => void {
  const restores = [trapDate()];
  for (const { holder, name, instead } of forbidden) {
    const host = (holder === "" ? globalThis : (globalThis as unknown as Host)[holder]) as Host | undefined;
    // A browser has no `process`, and an old one no `crypto.randomUUID`.
    if (typeof host?.[name] !== "function") continue;
    restores.push(trapFunction(host, name, `${holder === "" ? "" : `${holder}.`}${name}()`, instead));
  }
  return () => {
    for (const restore of restores.splice(0)) restore();
    uninstallCurrent = undefined;
  };
}

function trapFunction(host: Host, name: string, label: string, instead: string): () => void {
  const original = host[name] as AnyFunction;
  const before = Object.getOwnPropertyDescriptor(host, name);
  const wrapper = function (this: unknown, ...parameters: unknown[]): unknown {
    refuseInDispatch(label, instead);
    return Reflect.apply(original, this, parameters);
  };
  // `hrtime.bigint`, what `promisify(setTimeout)` gives and the like hang on the function; the wrapper must offer them too.
  for (const key of Reflect.ownKeys(original)) {
    if (key !== "prototype") Object.defineProperty(wrapper, key, Object.getOwnPropertyDescriptor(original, key) ?? {});
  }
  const restoreParts =
    typeof wrapper["bigint" as never] === "function"
      ? trapFunction(wrapper as unknown as Host, "bigint", "process.hrtime.bigint()", instead)
      : undefined;
  Object.defineProperty(host, name, {
    value: wrapper,
    configurable: true,
    writable: true,
    enumerable: before?.enumerable ?? true,
  });
  return () => {
    restoreParts?.();
    // A method that its host inherits is uncovered again by removing the wrapper.
    if (before === undefined) delete host[name];
    else Object.defineProperty(host, name, before);
  };
}

/** Only the present moment is forbidden: `new Date(millis)` and `Date.parse` say the same at any time. */
function trapDate(): () => void {
  const RealDate = globalThis.Date;
  const now = RealDate.now;
  const TrappedDate: DateConstructor = new Proxy(RealDate, {
    construct(target, parameters, newTarget) {
      if (parameters.length === 0) refuseInDispatch("new Date()", CLOCK);
      return Reflect.construct(target, parameters, newTarget === TrappedDate ? target : newTarget) as Date;
    },
    apply(target, self, parameters) {
      refuseInDispatch("Date()", CLOCK);
      return Reflect.apply(target, self, parameters) as string;
    },
  });
  RealDate.now = () => {
    refuseInDispatch("Date.now()", CLOCK);
    return now();
  };
  RealDate.prototype.constructor = TrappedDate;
  globalThis.Date = TrappedDate;
  return () => {
    RealDate.now = now;
    RealDate.prototype.constructor = RealDate;
    globalThis.Date = RealDate;
  };
}

function refuseInDispatch(label: string, instead: string): void {
  if (dispatch.depth > 0) throw new TrapError(label, instead, callerFromStack(new Error().stack ?? ""));
}

/** `refuseInDispatch`, and the trap that calls it. */
const ownFrames = 2;

/** The first frame that is not ours. V8 writes `at f (file:1:2)`, other engines `f@file:1:2`. */
function callerFromStack(stack: string): string {
  const frames = stack.split("\n").filter((line) => /:\d+:\d+\)?$/.test(line));
  const outside = frames.slice(ownFrames).find((line) => !line.includes("at Reflect."));
  return outside?.trim().replace(/^at /, "") ?? "an unknown place";
}
