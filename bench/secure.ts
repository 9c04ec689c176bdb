/**
 * Processor time of the served API over TLS, by HTTP/1.1 and HTTP/2: of the server alone, all its threads, for one request. The
 * client of this process does not weigh on it. Run alone: `node bench/secure.ts`.
 */
import { configMap } from "./config-map.ts";
import { type ClientHttp2Session, connect, constants } from "node:http2";
import { Pool } from "undici";
import { type ChildServer, hasProcessorTimes, withServer } from "./child-server.ts";
import { type Bench, measure } from "./harness.ts";

const collection = "/api/v1/namespaces/default/configmaps";
/** Nearly nothing is in it. */
const watched = "/api/v1/namespaces/kube-public/configmaps";
const inFlight = 32;
const watchers = 50;
const args = ["serve", "--port", "0", "--tls", "--profile", "kubernetes", "--anonymous-auth=true"];

interface Client {
  send(method: string, path: string, body?: string): Promise<void>;
  close(): Promise<void> | void;
}

type Connect = (port: number) => Client;

const headers = { accept: "application/json", "content-type": "application/json", "user-agent": "bench/1" };

function overHttp1(port: number): Client {
  const pool = new Pool(`https://127.0.0.1:${port}`, {
    connections: inFlight,
    allowH2: false,
    connect: { rejectUnauthorized: false },
  });
  return {
    async send(method, path, body) {
      const answer = await pool.request({
        method: method as "GET",
        path,
        headers,
        ...(body === undefined ? {} : { body }),
      });
      await answer.body.dump();
      if (answer.statusCode >= 300) throw new Error(`${method} ${path} was answered ${answer.statusCode}`);
    },
    close: () => pool.destroy(),
  };
}

const session = (port: number): ClientHttp2Session =>
  connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false }).on("error", () => {});

function overHttp2(port: number): Client {
  const sessions = Array.from({ length: 4 }, () => session(port));
  let turn = 0;
  return {
    send: (method, path, body) =>
      new Promise((resolve, reject) => {
        const to = sessions[turn++ % sessions.length] as ClientHttp2Session;
        const stream = to.request({
          ...headers,
          [constants.HTTP2_HEADER_METHOD]: method,
          [constants.HTTP2_HEADER_PATH]: path,
        });
        stream.on("response", (head) => {
          const status = Number(head[constants.HTTP2_HEADER_STATUS]);
          if (status >= 300) reject(new Error(`${method} ${path} was answered ${status}`));
        });
        stream.on("error", reject).on("end", resolve).resume();
        stream.end(body);
      }),
    close() {
      for (const each of sessions) each.destroy();
    },
  };
}

async function all(count: number, send: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) await send(next++);
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
}

/** Of the server, for each of `count` requests once it is warm. */
function microsEach(
  connectTo: Connect,
  count: number,
  send: (client: Client, index: number) => Promise<void>,
): () => Promise<number> {
  return () =>
    withServer("../cli/main.ts", args, async (server) => {
      const client = connectTo(server.port);
      try {
        await all(count, (index) => send(client, index));
        const before = server.processorMicros();
        await all(count, (index) => send(client, count + index));
        return (server.processorMicros() - before) / count;
      } finally {
        await client.close();
      }
    });
}

const create = (client: Client, index: number, path = collection): Promise<void> =>
  client.send("POST", path, JSON.stringify(configMap(`config-${index}`)));
const get = (client: Client): Promise<void> => client.send("GET", "/api/v1/namespaces/default");

/** What the same creates cost more with watches beside, for each event. */
async function watchEventMicros(): Promise<number> {
  const creates = 5_000;
  let rounds = 0;
  const cost = (server: ChildServer, path = collection): Promise<number> => {
    const client = overHttp2(server.port);
    const before = server.processorMicros();
    rounds++;
    return all(creates, (index) => create(client, rounds * creates + index, path)).then(() => {
      void client.close();
      return server.processorMicros() - before;
    });
  };
  return withServer("../cli/main.ts", args, async (server) => {
    await cost(server);
    const without = await cost(server);
    const watching = session(server.port);
    const opened = Array.from(
      { length: watchers },
      () =>
        new Promise<void>((resolve, reject) => {
          const stream = watching.request({
            ...headers,
            [constants.HTTP2_HEADER_PATH]: `${watched}?watch=true`,
          });
          stream.on("response", (head) => {
            if (Number(head[constants.HTTP2_HEADER_STATUS]) === 200) resolve();
            else reject(new Error(`a watch was answered ${String(head[constants.HTTP2_HEADER_STATUS])}`));
          });
          stream.on("error", reject).on("data", (part: Buffer) => {
            for (const byte of part) if (byte === 10) heard++;
          });
        }),
    );
    let heard = 0;
    await Promise.all(opened);
    const before = server.processorMicros();
    const withThem = await cost(server, watched);
    while (heard < creates * watchers) await new Promise((resolve) => setTimeout(resolve, 20));
    const late = server.processorMicros() - before - withThem;
    watching.destroy();
    return Math.max(0, (withThem + late - without) / (creates * watchers));
  });
}

export const benches: readonly Bench[] = hasProcessorTimes
  ? [
      { name: "secure.http1-create-cpu", unit: "µs", run: microsEach(overHttp1, 5_000, create) },
      { name: "secure.http1-get-cpu", unit: "µs", run: microsEach(overHttp1, 10_000, get) },
      { name: "secure.http2-create-cpu", unit: "µs", target: 164, run: microsEach(overHttp2, 5_000, create) },
      { name: "secure.http2-get-cpu", unit: "µs", target: 58, run: microsEach(overHttp2, 10_000, get) },
      { name: "secure.http2-watch-event-cpu", unit: "µs", target: 10, run: watchEventMicros },
    ]
  : [];

if (import.meta.main) for (const bench of benches) console.log(JSON.stringify(await measure(bench, 3)));
