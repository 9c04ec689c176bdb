/**
 * The whole server in process, object in and shared object out: creates with managed fields and validation, and
 * reads of one object. Run alone: `node bench/server.ts`.
 */
import { configMap } from "./config-map.ts";
import { createApiServer, type ApiServer } from "../sim/apiserver/api-server.ts";
import type { ApiRequest, JsonObject, Responder } from "../sim/contract/http-message.ts";
import { Kernel } from "../sim/kernel/kernel.ts";
import { RevisionStore } from "../sim/store/revision-store.ts";
import { type Bench, measure } from "./harness.ts";

interface Bed {
  readonly kernel: Kernel;
  readonly server: ApiServer;
  /** Carries out `work` as one event of the run. */
  enter(work: () => void): void;
}

function bed(): Bed {
  const kernel = new Kernel({ seed: "bench" });
  const process = kernel.process("apiserver");
  const server = kernel.enter(process, () =>
    createApiServer({ process, store: new RevisionStore(), anonymousAuth: true }),
  );
  return { kernel, server, enter: (work) => kernel.enter(process, work) };
}

const headers = { accept: "application/json", "user-agent": "bench/1" };

/** Remembers the last status and counts the rest. */
class Sink implements Responder {
  status = 0;
  object: JsonObject | undefined;

  respond(status: number, _headers: unknown, payload: { readonly object: JsonObject | undefined }): void {
    this.status = status;
    this.object = payload.object;
  }
  open(): void {}
  frame(): number {
    return 0;
  }
  close(): void {}
}

const path = (resource: string): string => `/api/v1/namespaces/default/${resource}`;

const indexed = (index: number): JsonObject => configMap(`config-${index}`, { mode: "fast", index: String(index) });

const container = (name: string): JsonObject => ({
  name,
  image: `registry.example.com/${name}:1`,
  ports: [{ name: "http", containerPort: 8080, protocol: "TCP" }],
  env: [{ name: "MODE", value: "fast" }],
  resources: { requests: { cpu: "100m", memory: "128Mi" }, limits: { cpu: "1", memory: "256Mi" } },
  volumeMounts: [{ name: "data", mountPath: "/data" }],
});

const pod = (index: number): JsonObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: `pod-${index}`, labels: { app: "bench", shard: String(index % 100) } },
  spec: {
    containers: [container("main"), container("side")],
    volumes: [{ name: "data", emptyDir: {} }],
    nodeSelector: { disk: "fast" },
  },
});

/** Requests are made as they are sent, so that they die young, as a client's do. */
function createsPerSecond(resource: string, object: (index: number) => JsonObject, count: number): number {
  const { server, enter } = bed();
  const sink = new Sink();
  const start = performance.now();
  enter(() => {
    for (let index = 0; index < count; index++) {
      server.start({ method: "POST", path: path(resource), query: "", headers, body: object(index) }, sink);
      if (sink.status !== 201) throw new Error(`a create was answered ${sink.status}`);
    }
  });
  return Math.round(count / ((performance.now() - start) / 1000));
}

function getsPerSecond(): number {
  const { server, enter } = bed();
  const sink = new Sink();
  const objects = 1_000;
  const count = 1_000_000;
  enter(() => {
    for (let index = 0; index < objects; index++) {
      const body = indexed(index);
      server.start({ method: "POST", path: path("configmaps"), query: "", headers, body }, sink);
    }
  });
  const requests: ApiRequest[] = Array.from({ length: objects }, (_, index) => ({
    method: "GET",
    path: `${path("configmaps")}/config-${index}`,
    query: "",
    headers,
  }));
  const start = performance.now();
  enter(() => {
    for (let done = 0; done < count; done++) {
      server.start(requests[done % objects] as ApiRequest, sink);
      if (sink.object === undefined) throw new Error("a get found nothing");
    }
  });
  return Math.round(count / ((performance.now() - start) / 1000));
}

export const benches: readonly Bench[] = [
  {
    name: "server.configmap-creates",
    unit: "creates/s",
    target: 80_000,
    run: () => createsPerSecond("configmaps", indexed, 100_000),
  },
  {
    name: "server.pod-creates",
    unit: "creates/s",
    target: 15_000,
    run: () => createsPerSecond("pods", pod, 20_000),
  },
  { name: "server.gets", unit: "gets/s", target: 1_000_000, run: getsPerSecond },
];

if (import.meta.main) for (const bench of benches) console.log(JSON.stringify(await measure(bench, 3)));
