/**
 * The served API over plain HTTP/1.1 on the loopback: one server process (`serve --profile kubernetes`), and its
 * client in this one. A round starts a server of its own, warms it up with the same kind of requests, and counts.
 * The generator is `load-generator.ts`; `http.ceiling-…` is what it reaches against a server that does nothing, and
 * figures near that say more of the generator than of the server. Run alone: `node bench/http.ts`.
 */
import { configMap } from "./config-map.ts";
import { type ChildServer, hasProcessorTimes, withServer } from "./child-server.ts";
import { type Bench, machine, measure } from "./harness.ts";
import { load, OneConnection, requestBytes } from "./load-generator.ts";
import { openWatches } from "./watch-readers.ts";

const CONNECTIONS = 32;
/** Writers whose events are watched: more of them at a time, so that a turn of the server has many events to tell. */
const WATCHED_CONNECTIONS = 128;
const LISTED = 5_000;
const WATCHERS = 50;
const MANY_WATCHERS = 10_000;

const collection = "/api/v1/namespaces/default/configmaps";
const json = { Accept: "application/json", "User-Agent": "bench/1" };

/** About what the server answers to a create or a get of `small`, with what it adds to the object. */
const ANSWER_BYTES = 400;

/** About a list of `LISTED` objects of a kilobyte. */
const LIST_BYTES = 5_000_000;

const served = <Result>(work: (server: ChildServer) => Promise<Result>): Promise<Result> =>
  withServer("../cli/main.ts", ["serve", "--port", "0", "--profile", "kubernetes", "--anonymous-auth=true"], work);

const bare = <Result>(work: (server: ChildServer) => Promise<Result>, answerBytes = ANSWER_BYTES): Promise<Result> =>
  withServer("bare-server.ts", [String(answerBytes)], work);

const small = (name: string): string => JSON.stringify(configMap(name));

/** An object of about a kilobyte as it is listed. */
const large = (name: string): string =>
  JSON.stringify(configMap(name, { mode: "fast", text: "0123456789abcdef".repeat(40) }));

const get = (path: string): Buffer => requestBytes("GET", path, "", json);

/** Sends `requests` requests and holds every answer to `status`. Answers a second. */
async function rate(
  port: number,
  requests: number,
  status: number,
  request: (index: number) => Buffer,
  connections = CONNECTIONS,
): Promise<number> {
  const { perSecond, statuses } = await load({ port, connections, requests, request });
  if (statuses[status] !== requests) throw new Error(`not every answer was ${status}: ${JSON.stringify(statuses)}`);
  return perSecond;
}

/** Creates `count` objects named after `prefix`; they are made as they are sent. Creates a second. */
const create = (
  { port }: ChildServer,
  prefix: string,
  count: number,
  object = small,
  connections = CONNECTIONS,
): Promise<number> =>
  rate(port, count, 201, (at) => requestBytes("POST", collection, object(`${prefix}-${at}`), json), connections);

/** What a round on a warm server finds out, given how to send `count` requests. */
type Figure = (server: ChildServer, count: number, send: () => Promise<number>) => Promise<number>;

const perSecond: Figure = (_server, _count, send) => send();

/** Processor time of the server alone: steadier than a rate where other programs run, too. */
const processorMicrosEach: Figure = async (server, count, send) => {
  const before = server.processorMicros();
  await send();
  return (server.processorMicros() - before) / count;
};

const creates = (figure: Figure) => (): Promise<number> =>
  served(async (server) => {
    await create(server, "warm", 20_000);
    return figure(server, 40_000, () => create(server, "counted", 40_000));
  });

const gets = (figure: Figure) => (): Promise<number> =>
  served(async (server) => {
    await create(server, "config", 1_000);
    const requests = Array.from({ length: 1_000 }, (_, index) => get(`${collection}/config-${index}`));
    const request = (index: number): Buffer => requests[index % requests.length] as Buffer;
    await rate(server.port, 30_000, 200, request);
    return figure(server, 100_000, () => rate(server.port, 100_000, 200, request));
  });

const generatorGets = (): Promise<number> =>
  bare(({ port }) => rate(port, 100_000, 200, (index) => get(`${collection}/config-${index % 1_000}`)));

const generatorCreates = (): Promise<number> =>
  bare(({ port }) =>
    rate(port, 100_000, 200, (index) => requestBytes("POST", collection, small(`counted-${index}`), json)),
  );

/** Milliseconds that `ask` takes; the median of some. */
async function medianMillis(
  ask: () => Promise<unknown>,
  before: () => Promise<unknown> = async () => {},
): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < 30; round++) {
    await before();
    const begin = performance.now();
    await ask();
    times.push(performance.now() - begin);
  }
  return times.sort((left, right) => left - right)[15] as number;
}

/** What the client alone needs for a list: the server sends ready bytes. */
const generatorLists = (): Promise<number> =>
  bare(async ({ port }) => {
    const client = new OneConnection(port);
    const millis = await medianMillis(() => client.ask(get(collection)));
    client.close();
    return millis;
  }, LIST_BYTES);

/** Milliseconds to have `LISTED` objects of a kilobyte, `limit` at a time; 0 is all at once. */
const listed =
  (limit: number, changing = false) =>
  (): Promise<number> =>
    served(async (server) => {
      await create(server, "listed", LISTED, large);
      const client = new OneConnection(server.port);
      let changes = 0;
      const change = (): Promise<Buffer> => {
        const name = `listed-${(changes * 1_709) % LISTED}`;
        return client.ask(
          requestBytes(
            "PUT",
            `${collection}/${name}`,
            JSON.stringify(configMap(name, { text: String(changes++) })),
            json,
          ),
        );
      };
      const millis = await medianMillis(() => listAll(client, limit), changing ? change : undefined);
      client.close();
      return millis;
    });

/** What a client has to do between pages is part of it: finding the token. It stands before the items. */
async function listAll(client: OneConnection, limit: number): Promise<void> {
  let token = "";
  for (let left = LISTED; left > 0; ) {
    const query = limit === 0 ? "" : `?limit=${limit}${token === "" ? "" : `&continue=${token}`}`;
    const answer = await client.ask(get(`${collection}${query}`));
    if (limit === 0) {
      if (answer.length < LISTED * 900) throw new Error(`the list has only ${answer.length} bytes`);
      return;
    }
    token = /"continue":"([^"]*)"/.exec(answer.toString("latin1", 0, 1_000))?.[1] ?? "";
    left -= limit;
    if (left > 0 !== (token !== "")) throw new Error("a page too many, or too few");
  }
}

/** As clients do: the version of a list, and everything after it. */
async function watchFromNow({ port }: ChildServer): Promise<string> {
  const client = new OneConnection(port);
  const answer = await client.ask(get(`${collection}?limit=1`));
  client.close();
  const version = /"resourceVersion":"(\d+)"/.exec(answer.toString("latin1"))?.[1];
  if (version === undefined) throw new Error("a list without a version");
  return `${collection}?watch=1&resourceVersion=${version}`;
}

/** Events that arrive at `WATCHERS` readers in a second, while objects are created as fast as they can be. */
const watched = (): Promise<number> =>
  served(async (server) => {
    await create(server, "warm", 20_000);
    const readers = await openWatches(server.port, await watchFromNow(server), WATCHERS);
    try {
      await Promise.all([
        create(server, "warmer", 5_000, small, WATCHED_CONNECTIONS),
        readers.reached(5_000 * WATCHERS),
      ]);
      const count = 20_000;
      const begin = performance.now();
      await Promise.all([
        create(server, "counted", count, small, WATCHED_CONNECTIONS),
        readers.reached((5_000 + count) * WATCHERS),
      ]);
      return (count * WATCHERS * 1_000) / (performance.now() - begin);
    } finally {
      readers.close();
    }
  });

/** Events that arrive at `WATCHERS` readers in a second, when one request deletes a collection: writing costs little here. */
const watchedDeletes = (): Promise<number> =>
  served(async (server) => {
    const readers = await openWatches(server.port, await watchFromNow(server), WATCHERS);
    try {
      const count = 10_000;
      let events = 0;
      let perSecond = 0;
      for (const round of ["warm", "warmer", "counted"]) {
        events += count * WATCHERS;
        await Promise.all([create(server, round, count), readers.reached(events)]);
        events += count * WATCHERS;
        const begin = performance.now();
        const remove = rate(server.port, 1, 200, () => requestBytes("DELETE", collection, "", json));
        await Promise.all([remove, readers.reached(events)]);
        perSecond = (count * WATCHERS * 1_000) / (performance.now() - begin);
      }
      return perSecond;
    } finally {
      readers.close();
    }
  });

/** Milliseconds until one event has reached everybody, with a great many watches open. Takes as many open files in each process. */
const manyWatched = (): Promise<number> =>
  served(async (server) => {
    const readers = await openWatches(server.port, await watchFromNow(server), MANY_WATCHERS);
    try {
      await Promise.all([create(server, "warm", 5, small, 1), readers.reached(5 * MANY_WATCHERS)]);
      const begin = performance.now();
      await Promise.all([create(server, "counted", 1, small, 1), readers.reached(6 * MANY_WATCHERS)]);
      return performance.now() - begin;
    } finally {
      readers.close();
    }
  });

/** Objects that one DELETE of a collection removes in a second. */
const deleted = (): Promise<number> =>
  served(async (server) => {
    const count = 10_000;
    let perSecond = 0;
    for (const round of ["warm", "warmer", "counted"]) {
      await create(server, round, count);
      const begin = performance.now();
      await rate(server.port, 1, 200, () => requestBytes("DELETE", collection, "", json));
      perSecond = (count * 1_000) / (performance.now() - begin);
    }
    return perSecond;
  });

/** Memory of a server that holds `LISTED` objects of a kilobyte, after 25,000 writes, lists, gets and watches. */
const resident = (): Promise<number> =>
  served(async (server) => {
    await create(server, "listed", LISTED, large);
    const readers = await openWatches(server.port, await watchFromNow(server), WATCHERS);
    try {
      await Promise.all([create(server, "passing", 15_000), readers.reached(15_000 * WATCHERS)]);
    } finally {
      readers.close();
    }
    await rate(server.port, 20, 200, () => get(collection));
    await rate(server.port, 50_000, 200, (index) => get(`${collection}/listed-${index % LISTED}`));
    await rate(server.port, 1, 200, () => requestBytes("DELETE", collection, "", json));
    await create(server, "listed", LISTED, large);
    return server.residentBytes() / 1024 / 1024;
  });

export const benches: readonly Bench[] = [
  { name: "http.ceiling-gets", unit: "requests/s", run: generatorGets },
  { name: "http.ceiling-creates", unit: "requests/s", run: generatorCreates },
  { name: "http.ceiling-list", unit: "ms", run: generatorLists },
  { name: "http.configmap-creates", unit: "creates/s", target: 12_000, run: creates(perSecond) },
  { name: "http.gets", unit: "gets/s", target: 25_000, run: gets(perSecond) },
  { name: "http.list-5000", unit: "ms", target: 8, run: listed(0) },
  { name: "http.list-5000-changing", unit: "ms", run: listed(0, true) },
  { name: "http.list-5000-by-500", unit: "ms", target: 15, run: listed(500) },
  { name: "http.watch-events", unit: "events/s", target: 500_000, run: watched },
  { name: "http.watch-events-of-deletes", unit: "events/s", target: 500_000, run: watchedDeletes },
  { name: "http.watch-event-10000", unit: "ms", run: manyWatched },
  { name: "http.collection-deletes", unit: "deletes/s", target: 50_000, run: deleted },
  { name: "http.memory", unit: "MiB", target: 286, run: resident },
  ...(hasProcessorTimes
    ? [
        { name: "http.configmap-create-cpu", unit: "µs", run: creates(processorMicrosEach) },
        { name: "http.get-cpu", unit: "µs", run: gets(processorMicrosEach) },
      ]
    : []),
];

if (import.meta.main) {
  console.log(JSON.stringify(machine()));
  for (const bench of benches) console.log(JSON.stringify(await measure(bench, 3, 0)));
}
