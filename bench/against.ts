/**
 * What a request costs the server of this checkout and that of another one, side by side: `npm run bench -- --against FOLDER`.
 *
 * A virtual machine's own speed changes by half from minute to minute, and with it the difference of two runs, one after
 * the other. So both servers run at once, are warmed up alike, and take turns with small batches of the same requests: in each
 * round first here, then there, in the next batch the other way round. A ratio is made of the processor time of two processes;
 * what the engine has compiled differs from process to process by some percent, so that several rounds are needed. The folder of
 * this checkout itself as FOLDER shows how far two equal servers come apart.
 */
import { configMap } from "./config-map.ts";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { type ChildServer, hasProcessorTimes, withServer } from "./child-server.ts";
import { load, requestBytes } from "./load-generator.ts";
import { openWatches, type WatchReaders } from "./watch-readers.ts";

/** One figure of one pair of servers after another, in µs of processor time for a request (or an event). */
export interface Against {
  readonly name: string;
  readonly unit: "µs";
  /** Medians of the rounds. */
  readonly here: number;
  readonly there: number;
  /** Here by there, of each round; sorted, so that the middle one is the median: below 1, this checkout is cheaper. */
  readonly ratios: readonly number[];
  readonly median: number;
}

const connections = 32;
const batches = 10;
const watchers = 50;
const collection = "/api/v1/namespaces/default/configmaps";
const headers = { Accept: "application/json", "User-Agent": "bench/1" };

interface Work {
  readonly name: string;
  /** Requests that come before what counts, and that a batch has. */
  readonly warm: number;
  readonly batch: number;
  /** Objects that are there before. */
  readonly objects: number;
  readonly isWatched?: boolean;
  request(index: number): Buffer;
}

const create = (name: string): Buffer => requestBytes("POST", collection, JSON.stringify(configMap(name)), headers);
const get = (path: string): Buffer => requestBytes("GET", path, "", headers);

const works: readonly Work[] = [
  {
    name: "http.gets",
    objects: 1_000,
    warm: 30_000,
    batch: 20_000,
    request: (at) => get(`${collection}/config-${at % 1_000}`),
  },
  { name: "http.configmap-creates", objects: 0, warm: 30_000, batch: 8_000, request: (at) => create(`made-${at}`) },
  { name: "http.list-1000", objects: 1_000, warm: 500, batch: 300, request: () => get(collection) },
  {
    name: "http.create-watched-by-50",
    objects: 0,
    warm: 5_000,
    batch: 2_000,
    isWatched: true,
    request: (at) => create(`made-${at}`),
  },
];

/** Throws an error that names what is wrong with `folder`, or with this system. */
export function checkAgainst(folder: string, names: readonly string[]): void {
  if (!hasProcessorTimes) throw new Error("--against: this system does not tell the processor time of a process");
  if (!existsSync(commandOf(folder)))
    throw new Error(`--against ${folder}: no cli/main.ts is there; it must be another checkout of this project`);
  if (!existsSync(join(folder, "node_modules")))
    throw new Error(`--against ${folder}: nothing is installed there; run npm ci in it`);
  if (chosen(names).length === 0)
    throw new Error(
      `--against compares ${works.map(({ name }) => name).join(", ")}; none begins with ${names.join(" or ")}`,
    );
}

/** Compares each figure whose name begins with one of `names` (all of them if there are none), over `rounds` pairs of servers. */
export async function* compareAgainst(
  folder: string,
  names: readonly string[],
  rounds: number,
): AsyncGenerator<Against> {
  for (const work of chosen(names)) {
    const pairs: { readonly here: number; readonly there: number }[] = [];
    for (let round = 0; round < rounds; round++) pairs.push(await pairOf(work, folder));
    const ratios = pairs.map(({ here, there }) => rounded(here / there)).toSorted(ascending);
    yield {
      name: work.name,
      unit: "µs",
      here: middle(pairs.map(({ here }) => here)),
      there: middle(pairs.map(({ there }) => there)),
      ratios,
      median: middle(ratios),
    };
  }
}

const chosen = (names: readonly string[]): readonly Work[] =>
  works.filter(({ name }) => names.length === 0 || names.some((start) => name.startsWith(start)));

const commandOf = (folder: string): string => join(resolve(folder), "cli/main.ts");
const flags = ["serve", "--port", "0", "--profile", "kubernetes", "--anonymous-auth=true"];

/** A server under its work: how many requests it has had, and who watches. */
interface Loaded {
  readonly server: ChildServer;
  readonly readers: WatchReaders | undefined;
  sent: number;
}

/** µs of processor time for a request, of this checkout's server and of the other one's, which take turns. */
const pairOf = (work: Work, folder: string): Promise<{ here: number; there: number }> =>
  withServer("../cli/main.ts", flags, (here) =>
    withServer(commandOf(folder), flags, async (there) => {
      const both = [await prepared(work, here), await prepared(work, there)] as const;
      const micros = [0, 0];
      for (let batch = 0; batch < batches; batch++) {
        for (const side of batch % 2 === 0 ? [0, 1] : [1, 0]) {
          const loaded = both[side] as Loaded;
          const before = loaded.server.processorMicros();
          await send(work, loaded, work.batch);
          micros[side] = (micros[side] as number) + loaded.server.processorMicros() - before;
        }
      }
      for (const { readers } of both) readers?.close();
      const [hereMicros, thereMicros] = micros.map((sum) => rounded(sum / batches / work.batch)) as [number, number];
      return { here: hereMicros, there: thereMicros };
    }),
  );

async function prepared(work: Work, server: ChildServer): Promise<Loaded> {
  await checked(server, work.objects, (at) => create(`config-${at}`));
  const readers = work.isWatched ? await openWatches(server.port, `${collection}?watch=1`, watchers) : undefined;
  const loaded = { server, readers, sent: 0 };
  await send(work, loaded, work.warm);
  return loaded;
}

/** Sends the next `count` requests, and waits until all who watch have been told. */
async function send(work: Work, loaded: Loaded, count: number): Promise<void> {
  const from = loaded.sent;
  loaded.sent += count;
  await Promise.all([
    checked(loaded.server, count, (at) => work.request(from + at)),
    loaded.readers?.reached(loaded.sent * watchers),
  ]);
}

async function checked({ port }: ChildServer, requests: number, request: (index: number) => Buffer): Promise<void> {
  if (requests === 0) return;
  const { statuses } = await load({ port, connections, requests, request });
  if ((statuses[200] ?? 0) + (statuses[201] ?? 0) !== requests)
    throw new Error(`not every request was answered 200 or 201: ${JSON.stringify(statuses)}`);
}

const ascending = (one: number, other: number): number => one - other;
const rounded = (figure: number): number => Number(figure.toPrecision(4));
const middle = (figures: readonly number[]): number => figures.toSorted(ascending)[figures.length >> 1] as number;
