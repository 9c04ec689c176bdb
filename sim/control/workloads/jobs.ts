/**
 * Runs Jobs to their end: as many pods at a time as they may have, those that failed again and later each time, each
 * pod counted exactly once. A finalizer keeps a pod until it is counted: first its uid is written down, then the
 * finalizer goes, then it is counted.
 * Source: the published job controller.
 */
import { formatTime } from "../../../wire/time.ts";
import type { ClientRequest } from "../../client/api-client.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { jsonEqual } from "../../objects/equality.ts";
import type { Outcome, WorkQueue } from "../../client/work-queue.ts";
import { unixSeconds } from "../event-recorder.ts";
import { claim } from "../shared/claims.ts";
import {
  collectionOf,
  type ControlParts,
  isOfTerminatingNamespace,
  kindRow,
  pathTo,
  podRow,
  queueOf,
} from "../shared/controller.ts";
import { Expectations } from "../shared/expectations.ts";
import { bodyOf, controllerOf, type Informer, keyOf } from "../shared/informers.ts";
import { isReady, isTerminated, secondsOf } from "../shared/pods.ts";
import { selectorOf } from "../shared/selecting.ts";
import { call, callAll, isGood, type Steps } from "../shared/steps.ts";
import type { Condition, Pod, PodTemplate } from "../shared/stored.ts";
import {
  activeWanted,
  backOff,
  endSeconds,
  failureAction,
  isFinished,
  isIndexed,
  type Job,
  type JobStatus,
} from "./job-progress.ts";
import { IndexRanges } from "./index-ranges.ts";
import { PodControl, type PodShape } from "./pod-control.ts";

export const jobRow = kindRow("batch/v1", "Job", "jobs");

interface Verdict {
  readonly reason: string;
  readonly message: string;
}

/** The most uids that are written down in one turn. */
const countedMax = 500;
/** So many pods are made at one look at a job; those that come cause the next. Source: the published job controller. */
const madeMax = 500;

export class JobController {
  private readonly parts: ControlParts;
  private readonly jobs: Informer<Job>;
  private readonly pods: Informer<Pod>;
  private readonly control: PodControl;
  private readonly expectations: Expectations;
  private readonly queue: WorkQueue<string>;
  private readonly names: { readonly finalizer: string; readonly index: string };

  constructor(parts: ControlParts) {
    const { informers, client, dialect } = parts;
    this.parts = parts;
    this.names = {
      finalizer: `batch.${dialect.labelSuffix}/job-tracking`,
      index: `batch.${dialect.labelSuffix}/job-completion-index`,
    };
    this.jobs = informers.of<Job>(collectionOf(jobRow));
    this.pods = informers.of<Pod>(collectionOf(podRow));
    this.control = new PodControl(client, "job-controller", jobRow);
    this.expectations = new Expectations(client.process.clock);
    this.queue = queueOf(parts, "job", (key) => this.sync(key));
  }

  start(): void {
    this.jobs.hear({
      changed: (job) => {
        this.queue.add(keyOf(job));
        this.planExpiry(job);
      },
      gone: (job) => {
        this.expectations.forget(keyOf(job));
        this.queue.drop(keyOf(job));
      },
    });
    this.pods.hear({
      changed: (pod, before) => this.hearOfPod(pod, before === undefined),
      gone: (pod) => this.hearOfPod(pod, false),
    });
  }

  private hearOfPod(pod: Pod, isNew: boolean): void {
    const owner = controllerOf(pod);
    if (owner?.kind !== jobRow.kind) return;
    const key = `${pod.metadata.namespace}/${owner.name}`;
    if (isNew) this.expectations.created(key);
    if (pod.metadata.deletionTimestamp !== undefined) this.expectations.deleted(key, pod.metadata.uid);
    this.queue.add(key);
    // Its job is gone: nobody else would let it go.
    if (this.jobs.get(key)?.metadata.uid !== owner.uid && this.isTracked(pod))
      this.parts.client.call(this.release(pod), () => {});
  }

  private *sync(key: string): Steps<Outcome> {
    const job = this.jobs.get(key);
    if (job === undefined || job.metadata.deletionTimestamp !== undefined) return "done";
    if (isFinished(job)) return yield* this.expire(job);
    const { namespace = "", uid } = job.metadata;
    const candidates = [...this.pods.controlledBy(uid), ...this.pods.orphansIn(namespace)];
    const pods = yield* claim({
      owner: job,
      ownerRow: jobRow,
      candidates,
      row: podRow,
      selector: selectorOf(job.spec.selector),
      finalizer: this.names.finalizer,
    });
    if (pods === undefined) return "again";
    return yield* this.advance(key, job, pods);
  }

  /** 1. Which pods have ended. 2. Whether the job has. 3. Pods made or deleted. 4. The status, and pods counted. */
  private *advance(key: string, job: Job, pods: readonly Pod[]): Steps<Outcome> {
    const status = job.status ?? {};
    const started = status.startTime === undefined && job.spec.suspend !== true ? { startTime: this.now() } : {};
    const indexes = new IndexRanges(status.completedIndexes);
    const ended = this.ended(job, pods, indexes);
    const succeeded = (status.succeeded ?? 0) + (isIndexed(job) ? 0 : ended.succeeded.length);
    if (isIndexed(job)) for (const pod of ended.succeeded) indexes.add(this.indexOf(pod));
    const reached = isIndexed(job) ? indexes.size : succeeded;
    const failed = (status.failed ?? 0) + ended.failed.length;
    const active = pods.filter((pod) => !isTerminated(pod) && pod.metadata.deletionTimestamp === undefined);
    const failure = ended.verdict ?? this.failureOf({ ...job, status: { ...status, ...started } }, failed, reached);
    const isThrough = failure === undefined && this.isThrough(job, reached, active.length);
    let running: number = active.length;
    let refused = false;
    if (this.expectations.isMet(key)) {
      const outcome = yield* this.manage(
        key,
        job,
        active,
        ended,
        failure !== undefined || isThrough ? 0 : activeWanted(job, reached),
        indexes,
      );
      running = outcome.active;
      refused = outcome.refused;
    }
    const next: JobStatus = {
      ...status,
      ...started,
      active: running,
      ready: active.filter(isReady).length,
      terminating: pods.filter((pod) => !isTerminated(pod) && pod.metadata.deletionTimestamp !== undefined).length,
    };
    const conditions = this.conditionsOf(job, failure, isThrough);
    const isDone = yield* this.count(job, pods, ended, { ...next, conditions }, indexes, failure, isThrough);
    this.planDeadline(key, { ...job, status: next });
    return isDone && !refused ? "done" : "again";
  }

  /** Pods that have ended and that nobody has counted. */
  private ended(job: Job, pods: readonly Pod[], done: IndexRanges) {
    const uncounted = new Set([
      ...(job.status?.uncountedTerminatedPods?.succeeded ?? []),
      ...(job.status?.uncountedTerminatedPods?.failed ?? []),
    ]);
    const succeeded: Pod[] = [];
    const failed: Pod[] = [];
    const ignored: Pod[] = [];
    const fresh = new Set<number>();
    let verdict: Verdict | undefined;
    for (const pod of pods) {
      if (!this.isTracked(pod) && !uncounted.has(pod.metadata.uid)) continue;
      const { phase } = pod.status ?? {};
      if (phase === "Succeeded") {
        const index = this.indexOf(pod);
        const isSpare = isIndexed(job) && (done.has(index) || fresh.has(index));
        fresh.add(index);
        (isSpare ? ignored : succeeded).push(pod);
        continue;
      }
      const isGoing = pod.metadata.deletionTimestamp !== undefined && job.spec.podFailurePolicy === undefined;
      if (phase !== "Failed" && !isGoing) continue;
      const action = failureAction(job, pod);
      if (action.act === "FailJob") verdict ??= { reason: "PodFailurePolicy", message: action.message };
      (action.act === "Ignore" ? ignored : failed).push(pod);
    }
    return { succeeded, failed, ignored, verdict };
  }

  private failureOf(job: Job, failed: number, reached: number): Verdict | undefined {
    const target = job.status?.conditions?.find(({ type, status }) => type === "FailureTarget" && status === "True");
    if (target !== undefined) return { reason: target.reason ?? "", message: target.message ?? "" };
    const { backoffLimit = 6, activeDeadlineSeconds, completions } = job.spec;
    const hasAll = completions !== undefined && reached >= completions;
    if (failed > backoffLimit && !hasAll) {
      return { reason: "BackoffLimitExceeded", message: "Job has reached the specified backoff limit" };
    }
    const since = secondsOf(job.status?.startTime);
    const isLate =
      activeDeadlineSeconds !== undefined &&
      since > 0 &&
      job.spec.suspend !== true &&
      this.seconds() - since >= activeDeadlineSeconds;
    return isLate
      ? { reason: "DeadlineExceeded", message: "Job was active longer than specified deadline" }
      : undefined;
  }

  private isThrough(job: Job, reached: number, active: number): boolean {
    const { completions } = job.spec;
    return completions === undefined ? reached > 0 && active === 0 : reached >= completions;
  }

  private *manage(
    key: string,
    job: Job,
    active: readonly Pod[],
    ended: { readonly failed: readonly Pod[] },
    wanted: number,
    indexes: IndexRanges,
  ): Steps<{ readonly active: number; readonly refused: boolean }> {
    // Without a number of completions, the first success ends the making of pods, and those that run go on.
    const difference = wanted < 0 ? 0 : wanted - active.length;
    if (difference < 0) {
      const going = [...active]
        .sort((left, right) => Number(isReady(left)) - Number(isReady(right)))
        .slice(0, -difference);
      this.expectations.expect(
        key,
        0,
        going.map(({ metadata }) => metadata.uid),
      );
      const refused = yield* this.control.deleteMany(job, going);
      if (refused !== undefined) this.expectations.forget(key);
      return { active: active.length - going.length, refused: refused !== undefined };
    }
    if (difference === 0) return { active: active.length, refused: false };
    const wait = this.backOffSeconds(job, ended.failed);
    if (wait > 0) {
      this.queue.addAfter(key, wait * 1_000_000);
      return { active: active.length, refused: false };
    }
    const shapes = this.shapes(job, active, Math.min(difference, madeMax), indexes);
    this.expectations.expect(key, shapes.length, []);
    const { count, refused } = yield* this.control.createMany(job, this.templateOf(job), shapes);
    this.expectations.created(key, shapes.length - count);
    return { active: active.length + count, refused: refused !== undefined && !isOfTerminatingNamespace(refused) };
  }

  /** After failures in a row. A success begins the row anew. */
  private backOffSeconds(job: Job, fresh: readonly Pod[]): number {
    const pods = this.pods.controlledBy(job.metadata.uid);
    const lastSuccess = pods
      .filter(({ status }) => status?.phase === "Succeeded")
      .reduce((latest, pod) => Math.max(latest, endSeconds(pod)), 0);
    const failures = pods.filter((pod) => pod.status?.phase === "Failed" && endSeconds(pod) > lastSuccess);
    const row = Math.max(failures.length, fresh.length);
    const last = failures.reduce((latest, pod) => Math.max(latest, endSeconds(pod)), 0);
    return backOff(row, last, this.seconds());
  }

  private shapes(job: Job, active: readonly Pod[], count: number, done: IndexRanges): readonly PodShape[] {
    const finalizers = [this.names.finalizer];
    if (!isIndexed(job)) return new Array<PodShape>(count).fill({ finalizers });
    const taken = new Set(active.map((pod) => this.indexOf(pod)));
    const { name } = job.metadata;
    const shapes: PodShape[] = [];
    const { completions = 0 } = job.spec;
    for (let index = done.freeFrom(0); index < completions && shapes.length < count; index = done.freeFrom(index + 1)) {
      if (taken.has(index)) continue;
      const mark = { [this.names.index]: String(index) };
      const spec = bodyOf({ hostname: `${name}-${index}` });
      shapes.push({ generateName: `${name}-${index}-`, labels: mark, annotations: mark, finalizers, spec });
    }
    return shapes;
  }

  /** Containers of an indexed job learn their number. */
  private templateOf(job: Job): PodTemplate {
    const { template } = job.spec;
    if (!isIndexed(job)) return template;
    const fieldPath = `metadata.labels['${this.names.index}']`;
    const own = { name: "JOB_COMPLETION_INDEX", valueFrom: { fieldRef: { fieldPath } } };
    const told = template.spec.containers.map((container) => {
      const { env = [] } = container as { readonly env?: readonly JsonObject[] };
      return env.some(({ name }) => name === own.name) ? container : { ...container, env: [...env, own] };
    });
    return { ...template, spec: { ...template.spec, containers: told } };
  }

  /** 1. Uids are written down. 2. Finalizers go. 3. What was written down is counted; the job may end now. */
  private *count(
    job: Job,
    pods: readonly Pod[],
    ended: { readonly succeeded: readonly Pod[]; readonly failed: readonly Pod[]; readonly ignored: readonly Pod[] },
    status: JobStatus,
    indexes: IndexRanges,
    failure: Verdict | undefined,
    isThrough: boolean,
  ): Steps<boolean> {
    const uidsOf = (list: readonly Pod[]): readonly string[] =>
      list.slice(0, countedMax).map(({ metadata }) => metadata.uid);
    const before = job.status?.uncountedTerminatedPods ?? {};
    const merged = (old: readonly string[] | undefined, list: readonly Pod[]): readonly string[] => [
      ...new Set([...(old ?? []), ...uidsOf(list)]),
    ];
    const succeeded = isIndexed(job) ? [] : merged(before.succeeded, ended.succeeded);
    const failed = merged(before.failed, ended.failed);
    const completedIndexes = isIndexed(job) ? { completedIndexes: indexes.text } : {};
    const uncounted = { ...(succeeded.length === 0 ? {} : { succeeded }), ...(failed.length === 0 ? {} : { failed }) };
    let known = job;
    if (succeeded.length + failed.length > 0) {
      const written = yield* this.writeStatus(known, {
        ...status,
        ...completedIndexes,
        uncountedTerminatedPods: uncounted,
      });
      if (written === undefined) return false;
      known = written;
    }
    const counted = new Set([...succeeded, ...failed]);
    const [ignored, through] = [new Set(ended.ignored), new Set(ended.succeeded)];
    const free = pods.filter(
      (pod) =>
        this.isTracked(pod) &&
        (counted.has(pod.metadata.uid) || ignored.has(pod) || (isIndexed(job) && through.has(pod))),
    );
    const answers = yield* callAll(free.map((pod) => this.release(pod)));
    if (answers.some((answer) => !isGood(answer) && answer.status !== 404)) return false;
    const total = (counter: number | undefined, list: readonly string[]): number => (counter ?? 0) + list.length;
    const allEnded = status.active === 0 && (status.terminating ?? 0) === 0;
    const isOver = (failure !== undefined || isThrough) && allEnded;
    const conditions = isOver ? this.withEnd(status.conditions ?? [], failure) : (status.conditions ?? []);
    const sums = {
      succeeded: isIndexed(job) ? indexes.size : total(job.status?.succeeded, succeeded),
      failed: total(job.status?.failed, failed),
    };
    const final = yield* this.writeStatus(known, {
      ...status,
      ...sums,
      ...completedIndexes,
      conditions,
      uncountedTerminatedPods: {},
      ...(isOver && failure === undefined ? { completionTime: this.now() } : {}),
    });
    if (final === undefined) return false;
    if (isOver) {
      if (failure === undefined) this.control.tell(job, "Normal", "Completed", "Job completed");
      else this.control.tell(job, "Warning", failure.reason, failure.message);
    }
    return true;
  }

  private conditionsOf(job: Job, failure: Verdict | undefined, isThrough: boolean): readonly Condition[] {
    let conditions = job.status?.conditions ?? [];
    const isSuspended = job.spec.suspend === true;
    if (failure !== undefined)
      return this.withCondition(conditions, "FailureTarget", "True", failure.reason, failure.message);
    if (isThrough) {
      return this.withCondition(
        conditions,
        "SuccessCriteriaMet",
        "True",
        "CompletionsReached",
        "Reached expected number of succeeded pods",
      );
    }
    const was = conditions.find(({ type }) => type === "Suspended");
    if (isSuspended && was?.status !== "True") {
      conditions = this.withCondition(conditions, "Suspended", "True", "JobSuspended", "Job suspended");
      this.control.tell(job, "Normal", "Suspended", "Job suspended");
    } else if (!isSuspended && was?.status === "True") {
      conditions = this.withCondition(conditions, "Suspended", "False", "JobResumed", "Job resumed");
      this.control.tell(job, "Normal", "Resumed", "Job resumed");
    }
    return conditions;
  }

  private withEnd(conditions: readonly Condition[], failure: Verdict | undefined): readonly Condition[] {
    return failure === undefined
      ? this.withCondition(
          conditions,
          "Complete",
          "True",
          "CompletionsReached",
          "Reached expected number of succeeded pods",
        )
      : this.withCondition(conditions, "Failed", "True", failure.reason, failure.message);
  }

  private withCondition(
    conditions: readonly Condition[],
    type: string,
    status: string,
    reason: string,
    message: string,
  ): readonly Condition[] {
    const old = conditions.find((condition) => condition.type === type);
    if (old?.status === status && old.reason === reason) return conditions;
    const now = this.now();
    return [
      ...conditions.filter((each) => each !== old),
      { type, status, lastProbeTime: now, lastTransitionTime: now, reason, message },
    ];
  }

  /** The job as it is now; undefined when it could not be written. */
  private *writeStatus(job: Job, status: JobStatus): Steps<Job | undefined> {
    const clean = cleaned(status);
    if (jsonEqual(cleaned(job.status ?? {}), clean)) return job;
    const { apiVersion, kind } = jobRow;
    const body = bodyOf({ ...job, apiVersion, kind, status: clean });
    const answer = yield* call({ method: "PUT", path: `${pathTo(jobRow, job)}/status`, body });
    return isGood(answer) ? (answer.object as unknown as Job) : undefined;
  }

  private planDeadline(key: string, { spec, status }: Job): void {
    const since = secondsOf(status?.startTime);
    if (spec.activeDeadlineSeconds === undefined || since === 0) return;
    this.queue.addAfter(key, Math.max(0, since + spec.activeDeadlineSeconds - this.seconds()) * 1_000_000 + 10_000);
  }

  private planExpiry(job: Job): void {
    const left = this.secondsLeft(job);
    if (left !== undefined) this.queue.addAfter(keyOf(job), Math.max(0, left) * 1_000_000);
  }

  /** Pods of a job that is over are let go of; the job itself goes when its time is over. */
  private *expire(job: Job): Steps<Outcome> {
    const tracked = this.pods.controlledBy(job.metadata.uid).filter((pod) => this.isTracked(pod));
    const answers = yield* callAll(tracked.map((pod) => this.release(pod)));
    if (answers.some((answer) => !isGood(answer) && answer.status !== 404)) return "again";
    const left = this.secondsLeft(job);
    if (left === undefined || left > 0) return "done";
    const body = bodyOf({
      apiVersion: "v1",
      kind: "DeleteOptions",
      propagationPolicy: "Foreground",
      preconditions: { uid: job.metadata.uid },
    });
    const answer = yield* call({ method: "DELETE", path: pathTo(jobRow, job), body });
    return isGood(answer) || answer.status === 404 || answer.status === 409 ? "done" : "again";
  }

  private secondsLeft(job: Job): number | undefined {
    const { ttlSecondsAfterFinished } = job.spec;
    if (ttlSecondsAfterFinished === undefined || !isFinished(job)) return undefined;
    const end = job.status?.conditions?.find(({ type }) => type === "Complete" || type === "Failed");
    return secondsOf(end?.lastTransitionTime) + ttlSecondsAfterFinished - this.seconds();
  }

  private isTracked({ metadata }: Pod): boolean {
    return metadata.finalizers?.includes(this.names.finalizer) ?? false;
  }

  private release(pod: Pod): ClientRequest {
    const body = bodyOf({
      metadata: { uid: pod.metadata.uid, "$deleteFromPrimitiveList/finalizers": [this.names.finalizer] },
    });
    return { method: "PATCH", path: pathTo(podRow, pod), contentType: "application/strategic-merge-patch+json", body };
  }

  private indexOf({ metadata }: Pod): number {
    return Number(metadata.annotations?.[this.names.index] ?? -1);
  }

  private seconds(): number {
    return unixSeconds(this.parts.client.process.clock);
  }

  private now(): string {
    return formatTime(this.seconds());
  }
}

/** Without counts of zero and empty lists, as the server writes it. */
function cleaned(status: JobStatus): JsonObject {
  const isEmpty = (value: unknown): boolean =>
    value === undefined || value === 0 || value === "" || (Array.isArray(value) && value.length === 0);
  const shown = Object.entries(status).filter(
    ([key, value]) => key === "terminating" || key === "ready" || !isEmpty(value),
  );
  return bodyOf(Object.fromEntries(shown));
}
