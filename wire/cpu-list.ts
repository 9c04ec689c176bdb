/** Lists of processors as kernels write them: `0-3,7`. */
import { goQuote } from "./go-strings.ts";

export type CpuList = { readonly cpus: readonly number[] } | { readonly error: string };

/** No machine has more. */
const cpusMax = 100_000;

/** Ascending, each once. Empty text: none. A file of the kernel ends with a line's end. */
export function parseCpuList(text: string): CpuList {
  const cpus = new Set<number>();
  const list = text.replace(/\n$/, "");
  if (list === "") return { cpus: [] };
  for (const part of list.split(",")) {
    const ends = part.split("-");
    const bad = ends.find((end) => !/^\d+$/.test(end));
    if (bad !== undefined || ends.length > 2)
      return { error: `strconv.Atoi: parsing ${goQuote(bad ?? part)}: invalid syntax` };
    const [first = 0, last = first] = ends.map(Number);
    if (first > last) return { error: `invalid range ${goQuote(part)} (${ends[0]} > ${ends[1]})` };
    if (last >= cpusMax) return { error: `invalid range ${goQuote(part)}: processors are numbered below ${cpusMax}` };
    for (let cpu = first; cpu <= last; cpu++) cpus.add(cpu);
  }
  return { cpus: [...cpus].sort((one, other) => one - other) };
}

/** Of an ascending list. */
export function cpuListText(cpus: readonly number[]): string {
  const parts: string[] = [];
  for (let at = 0; at < cpus.length; at++) {
    const first = cpus[at] as number;
    let last = first;
    while (cpus[at + 1] === last + 1) last = cpus[++at] as number;
    parts.push(first === last ? String(first) : `${first}-${last}`);
  }
  return parts.join(",");
}
