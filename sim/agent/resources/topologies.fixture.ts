/** For tests: the machines of the published agent's own cases. */
import { type Topology, topologyOf } from "./topology.ts";

function made(
  cpuCount: number,
  of: (id: number) => { core: number; socket: number; numa?: number; cache?: number },
): Topology {
  return topologyOf(
    Array.from({ length: cpuCount }, (_, id) => {
      const { core, socket, numa = socket, cache = numa } = of(id);
      return { id, core, socket, numa, cache };
    }),
  );
}

/** One socket of four cores of two threads. */
export const single = made(8, (id) => ({ core: id % 4, socket: 0 }));
/** Two sockets of three cores of two threads; even processors are on the first. */
export const dual = made(12, (id) => ({ core: id % 6, socket: id % 2 }));
/** Two sockets of four cores of one thread. */
export const dualPlain = made(8, (id) => ({ core: id, socket: id < 4 ? 0 : 1 }));
/** Two sockets of two NUMA nodes each, of ten cores of two threads. */
export const dualOfTwo = made(80, (id) => {
  const core = id % 40;
  return { core, socket: Math.floor(core / 20), numa: Math.floor(core / 10) };
});
/** One socket of eight cores of two threads, of which four share a cache. */
export const twoCaches = made(16, (id) => ({ core: id % 8, socket: 0, cache: Math.floor((id % 8) / 4) }));
/** Two sockets of four NUMA nodes each, of sixteen cores of two threads. */
export const dualOfFour = made(256, (id) => {
  const core = id % 128;
  return { core, socket: Math.floor(core / 64), numa: Math.floor(core / 16) };
});
