/**
 * Tells the API server what pods have come to: on each change, and again every ten seconds what did not arrive. A pod
 * shows its end only when nothing of it can be running; then, if its deletion was asked for, it is deleted.
 * Source: the facts, Loops, Phase and conditions, Stopping; a write is a read and a patch, as the published agent does it.
 */
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { metadataOf } from "../../contract/objects.ts";
import { jsonEqual } from "../../objects/equality.ts";
import type { AgentBugs } from "../../planted/agent-bugs.ts";
import type { Micros, Process } from "../../kernel/types.ts";
import { ask } from "../client/api-task.ts";
import type { ApiCaller } from "../ports.ts";
import { run, type Task } from "../task.ts";
import { Ticks } from "../ticks.ts";
import { ownConditions } from "./conditions.ts";
import type { HeldPod } from "./held-pod.ts";
import { type Condition, isTerminalPhase, podOf, type PodStatus } from "./pod-types.ts";

const batchMicros: Micros = 10_000_000;

export interface StatusManagerOptions {
  readonly process: Process;
  /** Undefined in standalone mode: statuses are kept, and told to nobody. */
  readonly api: ApiCaller | undefined;
  readonly bugs: AgentBugs;
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
    this.batches = new Ticks(options.process.clock, batchMicros, () => this.pushStale());
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
    this.isPlanned = true;
    // After what is going on at this moment: the worker may be done with the pod by then.
    this.options.process.clock.after(0, () => {
      this.isPlanned = false;
      for (const each of this.mirrors) this.due.add(each);
      this.mirrors.clear();
      for (const each of this.due) this.push(each);
      this.due.clear();
    });
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
    run(this.write(api, held), (isWritten) => {
      held.isPushing = false;
      if (isWritten) held.pushedVersion = version;
      else this.batches.ask();
      if (held.statusVersion > version) this.plan(held);
    });
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
    const isBlind = this.options.bugs["status-patch-hits-new-uid"];
    if (metadataOf(read.object).uid !== uid && !isBlind) return true; // another of this name
    const before = (read.object["status"] ?? {}) as PodStatus;
    const mayRun = held.state !== "terminated" && !this.options.bugs["evict-shown-early"];
    const merged = mergedStatus(before, status, mayRun);
    let current = read.object;
    if (!jsonEqual(before as Json, merged as unknown as Json)) {
      const patch = { ...(isBlind ? {} : { metadata: { uid } }), status: statusPatch(before, merged) };
      const contentType = "application/strategic-merge-patch+json";
      const answer = yield* ask(api, { method: "PATCH", path: `${path}/status`, contentType, body: patch });
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

/** What the server gets to see: others' conditions stay, and an end waits until nothing can be running. */
function mergedStatus(before: PodStatus, after: PodStatus, mayRun: boolean): PodStatus {
  const isEnding = !isTerminalPhase(before.phase) && isTerminalPhase(after.phase);
  const isHeldBack = isEnding && mayRun;
  const old = before.conditions ?? [];
  const conditions: Condition[] = old.filter(({ type }) => !ownConditions.includes(type));
  for (const condition of after.conditions ?? []) {
    if (ownConditions.includes(condition.type)) conditions.push(condition);
    else if (condition.type === "DisruptionTarget" && isEnding && !mayRun) {
      const at = conditions.findIndex(({ type }) => type === condition.type);
      if (at < 0) conditions.push(condition);
      else conditions[at] = condition;
    }
  }
  const { phase: _phase, reason: _reason, message: _message, ...kept } = before;
  const { phase, reason, message, ...told } = after;
  const shown = isHeldBack ? before : { phase, reason, message };
  const ended = isTerminalPhase(shown.phase);
  return {
    ...kept,
    ...told,
    conditions: ended ? conditions.map((condition) => unready(condition, shown.phase === "Failed")) : conditions,
    ...(shown.phase === undefined ? {} : { phase: shown.phase }),
    ...(shown.reason === undefined ? {} : { reason: shown.reason }),
    ...(shown.message === undefined ? {} : { message: shown.message }),
  };
}

/** What has ended is not ready, whatever was said before. */
function unready(condition: Condition, hasFailed: boolean): Condition {
  if ((condition.type !== "Ready" && condition.type !== "ContainersReady") || condition.status === "False")
    return condition;
  return { ...condition, status: "False", reason: hasFailed ? "PodFailed" : "PodCompleted" };
}

/** Lists that a patch would merge item by item. */
const mergedLists = new Set(["podIPs", "hostIPs"]);

/** A strategic merge patch: fields that differ, conditions by their type, and null for what has gone. */
function statusPatch(before: PodStatus, after: PodStatus): JsonObject {
  const patch: Record<string, Json> = {};
  const old = before as unknown as Record<string, Json>;
  const now = after as unknown as Record<string, Json>;
  for (const key of new Set([...Object.keys(old), ...Object.keys(now)])) {
    const [from, to] = [old[key], now[key]];
    if (jsonEqual(from ?? null, to ?? null)) continue;
    if (key === "conditions") continue;
    const isReplaced = mergedLists.has(key) && from !== undefined && Array.isArray(to);
    patch[key] = isReplaced ? [{ $patch: "replace" }, ...(to as Json[])] : (to ?? null);
  }
  const conditions = after.conditions ?? [];
  const changed = conditions.flatMap((condition) => {
    const from = before.conditions?.find(({ type }) => type === condition.type);
    if (from !== undefined && jsonEqual(from as unknown as Json, condition as unknown as Json)) return [];
    // The items are merged field by field: what is said no more has to be taken back.
    const taken = Object.keys(from ?? {}).filter((key) => !(key in condition));
    return [{ ...condition, ...Object.fromEntries(taken.map((key) => [key, null])) }];
  });
  const gone = (before.conditions ?? [])
    .filter(({ type }) => !conditions.some((each) => each.type === type))
    .map(({ type }) => ({ type, $patch: "delete" }));
  const order = conditions.map(({ type }) => ({ type }));
  if (changed.length + gone.length > 0) {
    patch["$setElementOrder/conditions"] = order;
    patch["conditions"] = [...changed, ...gone] as unknown as Json;
  }
  return patch;
}
