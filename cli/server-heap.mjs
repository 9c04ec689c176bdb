// How large the heap of a server may become. Plain JavaScript without dependencies, since it decides the flags of the process that
// runs everything else.
import { constrainedMemory } from "node:process";
import { totalmem } from "node:os";

const mebi = 1024 ** 2;
/** Where nothing else is said. A server refuses what goes beyond half of its heap (`sim/http/memory-limit.ts`). */
const usualBytes = 6144 * mebi;

/**
 * The flags of the engine that runs `serve` with `args`: a heap of 6 GiB, or of twice what `--memory-max` asks for, since the engine
 * collects ever more often as its heap fills. At most half of the machine's memory, or nine tenths of it where `--memory-max` is
 * given. None where `NODE_OPTIONS` says how large the heap is.
 */
export function serverHeapFlags(args, environment = process.env, machineBytes = memoryOfMachine()) {
  if (/--max[-_]old[-_]space[-_]size/.test(environment.NODE_OPTIONS ?? "")) return [];
  const asked = askedBytes(args);
  const bytes = Math.min(Math.max(usualBytes, 2 * (asked ?? 0)), machineBytes * (asked === undefined ? 0.5 : 0.9));
  return [`--max-old-space-size=${Math.floor(bytes / mebi)}`];
}

/** What `--memory-max` asks for in bytes; undefined where it says nothing that can be read, which the command line then refuses. */
function askedBytes(args) {
  const at = args.findLastIndex((arg) => arg === "--memory-max" || arg.startsWith("--memory-max="));
  if (at < 0) return undefined;
  const text = args[at].includes("=") ? args[at].slice("--memory-max=".length) : (args[at + 1] ?? "");
  const [, digits, unit = ""] = /^(\d{1,15}(?:\.\d{1,9})?)([kMGT]i?|Ki)?$/.exec(text) ?? [];
  return digits === undefined ? undefined : Number(digits) * bytesOf(unit);
}

function bytesOf(unit) {
  const power = " kMGT".indexOf(unit === "Ki" ? "k" : unit.slice(0, 1) || " ");
  return (unit.endsWith("i") ? 1024 : 1000) ** power;
}

function memoryOfMachine() {
  const limit = constrainedMemory();
  return limit > 0 ? Math.min(totalmem(), limit) : totalmem();
}
