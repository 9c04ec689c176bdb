/**
 * The constants of the latency model, each with the published measurement that it comes from. A file of the same names
 * replaces them. Whole microseconds, bytes and counts: no float decides when something happens.
 */
import { z } from "zod";

interface Constant {
  readonly name: string;
  readonly usual: number;
  /** What it is, and its unit. */
  readonly is: string;
  readonly source: string;
}

const ourServer =
  "processor time of a real 1.33 API server over TLS and HTTP/2, measured beside this project's server on one machine";
const etcdPage = "etcd.io, operations guide, performance: 3 members of 8 vCPUs, etcd 3.2";
const kep2340 = "KEP-2340, consistent reads from cache: 1 list/s whose selector matches nothing";

export const costConstants = [
  { name: "getMicros", usual: 360, is: "processor µs of a get", source: ourServer },
  { name: "writeMicros", usual: 820, is: "processor µs of a create, update, patch or delete", source: ourServer },
  { name: "watchEventMicros", usual: 27, is: "processor µs of one event to one watch", source: ourServer },
  {
    name: "watchStartMicros",
    usual: 360,
    is: "processor µs to begin a watch",
    source: "taken as a get; no published figure was found",
  },
  {
    name: "listBaseMicros",
    usual: 360,
    is: "processor µs of a list beside its objects",
    source: "taken as a get; no published figure was found",
  },
  {
    name: "cacheObjectNanos",
    usual: 1_700,
    is: "ns per object that a list looks at in the watch cache",
    source: `${kep2340}: p50 499 ms for 300,000 objects of 1 KB`,
  },
  {
    name: "storeObjectNanos",
    usual: 35_000,
    is: "ns per object that a list reads from the store",
    source: `${kep2340}, from etcd: p50 10,494 ms for 300,000 objects of 1 KB`,
  },
  {
    name: "storeMegabyteMicros",
    usual: 1_800,
    is: "µs per MB that a list reads from the store, beside its objects",
    source: `${kep2340}, from etcd: p50 1,438 ms for 300 objects of 1 MB, less the objects' own part`,
  },
  {
    name: "answerMegabyteMicros",
    usual: 9_500,
    is: "processor µs per MB of an answer that is encoded",
    source: "a real 1.33 server's list of 5,000 objects of 1 KB, 49 ms on this project's machine",
  },
  {
    name: "consistentReadMicros",
    usual: 25_000,
    is: "µs that a list of the newest state waits for the cache to be as new",
    source: `${kep2340}: p50 25 ms for 300 objects of 1 MB, hardly any of it work`,
  },
  {
    name: "storeWriteMicros",
    usual: 1_600,
    is: "µs from a write's arrival at the store until it is on a majority's disks",
    source: `${etcdPage}: one client, mean 1.6 ms`,
  },
  {
    name: "storeWriteGapMicros",
    usual: 23,
    is: "µs between two writes of a busy store",
    source: `${etcdPage}: 1,000 clients, 44,341 writes a second`,
  },
  {
    name: "refusalMicros",
    usual: 30,
    is: "processor µs of a request that is turned away with 429",
    source: "assumed: far below a get; no published figure was found",
  },
] as const satisfies readonly Constant[];

export type CostName = (typeof costConstants)[number]["name"];
export type Costs = Readonly<Record<CostName, number>>;

export const usualCosts = Object.fromEntries(costConstants.map(({ name, usual }) => [name, usual])) as Costs;

const amounts = Object.fromEntries(
  costConstants.map(({ name, is }) => [name, z.int().min(0).max(1_000_000_000).optional().describe(is)]),
) as Record<CostName, z.ZodOptional<z.ZodInt>>;

/** Those that are left out are the usual ones. */
export const costFileSchema = z.strictObject(amounts);
export type CostFile = z.infer<typeof costFileSchema>;
