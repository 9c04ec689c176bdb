/**
 * Tells the API server what pods have come to: on each change, and again every ten seconds what did not arrive. A pod
 * shows its end only when nothing of it can be running; then, if its deletion was asked for, it is deleted.
 * Source: the facts, Loops, Phase and conditions, Stopping; a write is a read and a patch, as the published agent does it.
 */
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { metadataOf } from "../../contract/objects.ts";
import { jsonEqual } from "../../objects/equality.ts";
import type { Micros, Process } from "../../kernel/types.ts";
import { ask } from "../client/api-task.ts";
import type { ApiCaller } from "../ports.ts";
import { later, piece } from "../piece.ts";
import { run, type Task } from "../task.ts";
import { Ticks } from "../ticks.ts";
import type { HeldPod } from "./held-pod.ts";
import { isTerminalPhase, podOf, type PodStatus } from "./pod-types.ts";
import type { StatusLaw } from "./status-law.ts";

const batchMicros: Micros = 10_000_000;

export interface StatusManagerOptions {
  readonly process: Process;
  /** Undefined in standalone mode: statuses are kept, and told to nobody. */
  readonly api: ApiCaller | undefined;
  /** What it decides by, asked anew at each write. */
  readonly law: () => StatusLaw;
  readonly all: () => Iterable<HeldPod>;
}

export class StatusManager {
  private readonly options: StatusManagerOptions;
  private readonly due = new Set<HeldPod>();
  /** Static pods with a new mirror: it is told of them as soon as there is anything to tell of any pod. */
  private readonly mirrors = new Set<HeldPod>();
  private isPlanned = false;
  /** For what was refused, or changed by others. */
  private readonly batches: Ticks;

  constructor(options: StatusManagerOptions) {
    this.options = options;
    this.batches = new Ticks(options.process, "status-manager", batchMicros, () => this.pushStale());
  }

  start(): void {
    if (this.options.api === undefined) return;
    this.batches.start();
  }

  /** `isForced`: even what says nothing new goes to the server, since more depends on it than words. */
  set(held: HeldPod, status: PodStatus, isForced = false): void {
    if (!isForced && held.status !== undefined && jsonEqual(held.status as Json, status as unknown as Json)) return;
    held.status = status;
    held.statusVersion++;
    this.plan(held);
  }

  /** The API server's object has changed: whether it still says what was told. */
  heard(held: HeldPod, object: JsonObject): void {
    if (held.isPushing || held.status === undefined || held.pushed === undefined) return;
    if (metadataOf(object).resourceVersion === metadataOf(held.pushed).resourceVersion) return;
    if (jsonEqual((object["status"] ?? {}) as Json, (held.pushed["status"] ?? {}) as Json)) return;
    held.pushed = undefined;
    this.batches.ask();
  }

  /** What is known now goes out as it is, though more will be known at this very moment. */
  tellNow(held: HeldPod): void {
    if (this.due.delete(held)) this.push(held);
  }

  /**
   * There is a mirror to tell it to, of which nothing is told yet. That alone is no reason for a write: the published agent
   * writes such statuses with the next of any pod, or every ten seconds.
   */
  mirrored(held: HeldPod): void {
    this.mirrors.add(held);
    held.pushed = undefined;
    this.batches.ask();
  }

  private plan(held: HeldPod): void {
    if (this.options.api === undefined) return;
    this.due.add(held);
    if (this.isPlanned) return;
    // After what is going on at this moment: the worker may be done with the pod by then.
    later(this.options.process, 0, () => {
      this.isPlanned = false;
      for (const each of this.mirrors) this.due.add(each);
      this.mirrors.clear();
      for (const each of this.due) this.push(each);
      this.due.clear();
    });
    this.isPlanned = true;
  }

  private pushStale(): void {
    for (const held of this.options.all()) {
      if (held.status !== undefined && (held.pushedVersion < held.statusVersion || held.pushed === undefined))
        this.push(held);
    }
  }

  private push(held: HeldPod): void {
    const { api } = this.options;
    if (api === undefined || held.isPushing) return; // it looks again when it is done
    held.isPushing = true;
    const version = held.statusVersion;
    const end = (isWritten: boolean): void => {
      held.isPushing = false;
      if (isWritten) held.pushedVersion = version;
      else this.batches.ask();
      if (held.statusVersion > version) this.plan(held);
    };
    piece(
      this.options.process,
      "status-manager",
      () => `status of pod ${held.namespace}/${held.name} (${held.uid})`,
      () => run(this.write(api, held), end),
      () => end(false),
    );
  }

  private *write(api: ApiCaller, held: HeldPod): Task<boolean> {
    const place = held.isStatic ? held.mirror : held.object;
    const { status } = held;
    if (place === undefined || status === undefined) return held.isStatic;
    const { uid = "" } = metadataOf(place);
    const path = `/api/v1/namespaces/${held.namespace}/pods/${held.name}`;
    const read = yield* ask(api, { method: "GET", path });
    if (read.status === 404) return true;
    if (read.status !== 200 || read.object === undefined) return false;
    const law = this.options.law();
    if (!law.isMeant(place, read.object)) return true; // another of this name
    const before = (read.object["status"] ?? {}) as PodStatus;
    const merged = law.mergedStatus(before, status, held.state !== "terminated");
    let current = read.object;
    if (!jsonEqual(before as Json, merged as unknown as Json)) {
      const contentType = "application/strategic-merge-patch+json";
      const body = law.patchOf(place, before, merged);
      const answer = yield* ask(api, { method: "PATCH", path: `${path}/status`, contentType, body });
      if (answer.status === 404) return true;
      if (answer.status !== 200 || answer.object === undefined) return false;
      current = answer.object;
    }
    held.pushed = current;
    shareStatus(held, current);
    if (!mayDelete(held, current)) return true;
    const body = { kind: "DeleteOptions", apiVersion: "v1", gracePeriodSeconds: 0, preconditions: { uid } };
    const deleted = yield* ask(api, { method: "DELETE", path, body });
    return deleted.status === 200 || deleted.status === 404 || deleted.status === 409;
  }
}

/** What both say alike is held once: the server's objects are in its watch cache anyway. */
function shareStatus(held: HeldPod, { status }: JsonObject): void {
  if (status !== undefined && jsonEqual(held.status as Json, status)) held.status = status as PodStatus;
}

function mayDelete(held: HeldPod, object: JsonObject): boolean {
  if (held.isStatic || !held.isFinished) return false;
  const { metadata, status } = podOf(object);
  return metadata.deletionTimestamp !== undefined && isTerminalPhase(status?.phase);
}
