/**
 * One write told to many watches, in process: the whole server, from the create to the frame of every watch, encoded as JSON once.
 * Rates are of processor time, which a busy machine changes less. Run alone: `node --expose-gc bench/watchers.ts`.
 */
import { createApiServer, type ApiServer } from "../sim/apiserver/api-server.ts";
import type { ApiRequest, Payload, Responder } from "../sim/contract/http-message.ts";
import { Kernel } from "../sim/kernel/kernel.ts";
import { RevisionStore } from "../sim/store/revision-store.ts";
import { type Bench, measure } from "./harness.ts";

const path = "/api/v1/namespaces/default/configmaps";
const headers = { accept: "application/json", "user-agent": "bench/1" };

/** Takes the bytes of every event, as a socket would. */
class Reader implements Responder {
  static events = 0;
  static bytes = 0;
  respond(status: number): void {
    if (status >= 300) throw new Error(`an answer was ${status}`);
  }
  open(status: number): void {
    if (status !== 200) throw new Error(`a watch was answered ${status}`);
  }
  frame(payload: Payload): number {
    Reader.events++;
    Reader.bytes += payload.bytes().length;
    return 0;
  }
  close(): void {
    throw new Error("a watch ended");
  }
}

interface Bed {
  readonly kernel: Kernel;
  send(request: ApiRequest): void;
}

function bed(): Bed {
  const kernel = new Kernel({ seed: "bench" });
  const process = kernel.process("apiserver");
  const server: ApiServer = kernel.enter(process, () =>
    createApiServer({ process, store: new RevisionStore(), anonymousAuth: true }),
  );
  return { kernel, send: (request) => kernel.enter(process, () => void server.start(request, new Reader())) };
}

function openWatches({ send }: Bed, watchers: number): void {
  for (let index = 0; index < watchers; index++)
    send({ method: "GET", path, query: "watch=true&timeoutSeconds=86400", headers });
}

function write({ kernel, send }: Bed, index: number): void {
  const body = {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: `config-${index}` },
    data: { index: String(index) },
  };
  send({ method: "POST", path, query: "", headers, body });
  kernel.run(kernel.nowMicros() + 1_000);
}

/** Events in a second of processor time, with what the writes cost that they tell of. */
function eventsPerSecond(watchers: number): () => number {
  return () => {
    const made = bed();
    openWatches(made, watchers);
    const writes = Math.max(5, Math.min(20_000, Math.round(500_000 / watchers)));
    Reader.events = 0;
    const before = process.cpuUsage();
    for (let index = 0; index < writes; index++) write(made, index);
    const { user, system } = process.cpuUsage(before);
    if (Reader.events !== writes * watchers) throw new Error(`${Reader.events} events of ${writes * watchers} came`);
    return Math.round((Reader.events * 1_000_000) / (user + system));
  };
}

/** Heap of an open watch that has been told of one event. */
function bytesEach(watchers: number): () => number {
  return () => {
    const { gc } = globalThis as { gc?: () => void };
    if (gc === undefined) throw new Error("heap is measured with node --expose-gc");
    const made = bed();
    write(made, 0);
    gc();
    const before = process.memoryUsage().heapUsed;
    openWatches(made, watchers);
    write(made, 1);
    gc();
    return Math.max(0, Math.round((process.memoryUsage().heapUsed - before) / watchers));
  };
}

const sizes = [1, 100, 1_000, 10_000, 100_000];

export const benches: readonly Bench[] = [
  ...sizes.map(
    (watchers): Bench => ({ name: `watchers.events-to-${watchers}`, unit: "events/s", run: eventsPerSecond(watchers) }),
  ),
  ...sizes
    .slice(2)
    .map((watchers): Bench => ({ name: `watchers.heap-of-${watchers}`, unit: "bytes", run: bytesEach(watchers) })),
];

if (import.meta.main) for (const bench of benches) console.log(JSON.stringify(await measure(bench, 3)));
