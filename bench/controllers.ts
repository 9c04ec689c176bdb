/**
 * The controllers in the server, in process: how fast garbage collection deletes what an owner leaves behind, and what
 * following every collection adds to a write that concerns no controller. Run alone: `node bench/controllers.ts`.
 */
import { configMap } from "./config-map.ts";
import { startServer } from "../sim/cluster/server.ts";
import type { JsonObject, Responder } from "../sim/contract/http-message.ts";
import { kubernetesProfile } from "../sim/contract/profile.ts";
import { type ControllerSwitches, noControllers } from "../sim/control/controllers.ts";
import { Kernel } from "../sim/kernel/kernel.ts";
import { RevisionStore } from "../sim/store/revision-store.ts";
import { type Bench, measure } from "./harness.ts";

const collection = "/api/v1/namespaces/default/configmaps";
const headers = { accept: "application/json", "user-agent": "bench/1" };
const DEPENDENTS = 5_000;

class Bed {
  readonly kernel = new Kernel({ seed: "bench" });
  readonly store = new RevisionStore();
  private readonly process = this.kernel.process("apiserver");
  private readonly server;
  private status = 0;
  private object: JsonObject = {};
  private readonly sink: Responder = {
    respond: (status, _headers, payload) => {
      this.status = status;
      this.object = payload.object ?? {};
    },
    open: () => {},
    frame: () => 0,
    close: () => {},
  };

  constructor(controllers: ControllerSwitches) {
    const { process, store } = this;
    const options = { process, store, profile: kubernetesProfile, anonymousAuth: true, controllers };
    this.server = this.kernel.enter(process, () => startServer(options));
    this.kernel.run(1_000_000);
  }

  enter(work: () => void): void {
    this.kernel.enter(this.process, work);
  }

  /** Within `enter`. */
  ask(method: string, path: string, body: JsonObject | undefined, status: number): JsonObject {
    this.server.start({ method, path, query: "", headers, body }, this.sink);
    if (this.status !== status) throw new Error(`${method} ${path} was answered ${this.status}`);
    return this.object;
  }
}

/** Dependents that go in a second, after the one that owns them all; each is read, judged and deleted by the API. */
function dependentsDeleted(): number {
  const bed = new Bed({});
  // The first rounds warm up.
  for (let round = 0; round < 3; round++) deleteDependents(bed);
  return deleteDependents(bed);
}

function deleteDependents(bed: Bed): number {
  bed.enter(() => {
    const owner = bed.ask("POST", collection, configMap("owner"), 201);
    const { uid = "" } = owner["metadata"] as { uid?: string };
    const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid }];
    const dependent = (at: number): JsonObject => configMap(`dependent-${at}`, undefined, { ownerReferences });
    for (let at = 0; at < DEPENDENTS; at++) bed.ask("POST", collection, dependent(at), 201);
  });
  bed.kernel.run(bed.kernel.nowMicros() + 1_000_000);
  const begin = performance.now();
  bed.enter(() => void bed.ask("DELETE", `${collection}/owner`, undefined, 200));
  bed.kernel.run(bed.kernel.nowMicros() + 10_000_000);
  const seconds = (performance.now() - begin) / 1000;
  const left = bed.store.count("/registry/configmaps/default/", "/registry/configmaps/default0");
  if (left !== 0) throw new Error(`${left} objects are left`);
  return Math.round(DEPENDENTS / seconds);
}

/** Processor time of one create of what owns nothing and is owned by nothing. */
const createMicros = (controllers: ControllerSwitches) => (): number => {
  const bed = new Bed(controllers);
  const creates = (from: number, to: number): void =>
    bed.enter(() => {
      for (let at = from; at < to; at++) bed.ask("POST", collection, configMap(`free-${at}`), 201);
    });
  creates(0, 20_000);
  const before = process.cpuUsage();
  creates(20_000, 60_000);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 40_000;
};

export const benches: readonly Bench[] = [
  { name: "controllers.dependents-deleted", unit: "deletes/s", run: dependentsDeleted },
  { name: "controllers.create-cpu-without", unit: "µs", run: createMicros(noControllers) },
  { name: "controllers.create-cpu-with", unit: "µs", run: createMicros({}) },
];

if (import.meta.main) for (const bench of benches) console.log(JSON.stringify(await measure(bench, 3)));
