/**
 * Makes a Job whenever a CronJob is due, minds those that still run, and keeps few of those that are over.
 * Source: the published cron job controller.
 */
import { formatTime } from "../../../wire/time.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { jsonEqual } from "../../objects/equality.ts";
import type { Outcome, WorkQueue } from "../../client/work-queue.ts";
import { EventRecorder, unixSeconds } from "../event-recorder.ts";
import {
  collectionOf,
  type ControlParts,
  controllerReference,
  kindRow,
  messageOf,
  pathTo,
  queueOf,
  subjectOf,
} from "../shared/controller.ts";
import { bodyOf, controllerOf, type Informer, keyOf } from "../shared/informers.ts";
import { secondsOf } from "../shared/pods.ts";
import { call, isGood, type Steps } from "../shared/steps.ts";
import type { Stored } from "../shared/stored.ts";
import { dueTimes, type NextDue } from "./cron-times.ts";
import { isFinished, type Job } from "./job-progress.ts";
import { jobRow } from "./jobs.ts";

interface CronJob extends Stored {
  readonly spec: {
    readonly schedule: string;
    readonly suspend?: boolean;
    readonly concurrencyPolicy?: string;
    readonly startingDeadlineSeconds?: number;
    readonly successfulJobsHistoryLimit?: number;
    readonly failedJobsHistoryLimit?: number;
    readonly jobTemplate: { readonly metadata?: JsonObject; readonly spec: JsonObject };
  };
  readonly status?: {
    readonly active?: readonly JsonObject[];
    readonly lastScheduleTime?: string;
    readonly lastSuccessfulTime?: string;
  };
}

const row = kindRow("batch/v1", "CronJob", "cronjobs");
/** More missed starts than these are told of. */
const missedMax = 100;

export class CronJobController {
  private readonly parts: ControlParts;
  private readonly crons: Informer<CronJob>;
  private readonly jobs: Informer<Job>;
  private readonly events: EventRecorder;
  private readonly queue: WorkQueue<string>;

  constructor(parts: ControlParts) {
    this.parts = parts;
    this.crons = parts.informers.of<CronJob>(collectionOf(row));
    this.jobs = parts.informers.of<Job>(collectionOf(jobRow));
    this.events = new EventRecorder(parts.client, "cronjob-controller");
    this.queue = queueOf(parts, "cronjob", (key) => this.sync(key));
  }

  start(): void {
    this.crons.hear({ changed: (cron) => this.queue.add(keyOf(cron)), gone: (cron) => this.queue.drop(keyOf(cron)) });
    const look = (job: Job): void => {
      const owner = controllerOf(job);
      if (owner?.kind === row.kind) this.queue.add(`${job.metadata.namespace}/${owner.name}`);
    };
    this.jobs.hear({ changed: look, gone: look });
  }

  private *sync(key: string): Steps<Outcome> {
    const cron = this.crons.get(key);
    if (cron === undefined) return "done";
    const jobs = this.jobs.controlledBy(cron.metadata.uid);
    yield* this.prune(cron, jobs);
    const active = jobs.filter((job) => !isFinished(job));
    const known = yield* this.writeStatus(cron, this.statusOf(cron, jobs, active));
    if (known === undefined) return "again";
    if (cron.metadata.deletionTimestamp !== undefined || cron.spec.suspend === true) return "done";
    return yield* this.run(key, known, active);
  }

  private *run(key: string, cron: CronJob, active: readonly Job[]): Steps<Outcome> {
    const now = this.seconds();
    const { schedule, startingDeadlineSeconds, concurrencyPolicy } = cron.spec;
    const nextDue = dueTimes(schedule);
    const due = this.lastDue(cron, nextDue, now);
    const next = nextDue(now);
    if (next !== undefined) this.queue.addAfter(key, (next - now) * 1_000_000 + 100_000);
    if (due === undefined) return "done";
    if (startingDeadlineSeconds !== undefined && due + startingDeadlineSeconds < now) {
      this.tell(cron, "Warning", "MissSchedule", `Missed scheduled time to start a job: ${formatTime(due)}`);
      return "done";
    }
    if (concurrencyPolicy === "Forbid" && active.length > 0) {
      this.tell(
        cron,
        "Normal",
        "JobAlreadyActive",
        "Not starting job because prior execution is running and concurrency policy is Forbid",
      );
      return "done";
    }
    if (concurrencyPolicy === "Replace") {
      for (const job of active) {
        const answer = yield* this.remove(job, "Background");
        if (!answer) return "again";
        this.tell(cron, "Normal", "SuccessfulDelete", `Deleted job ${job.metadata.name}`);
      }
    }
    return yield* this.make(cron, due);
  }

  private *make(cron: CronJob, due: number): Steps<Outcome> {
    const { name, namespace = "" } = cron.metadata;
    const { metadata = {}, spec } = cron.spec.jobTemplate;
    const jobName = `${name}-${Math.floor(due / 60)}`;
    const mark = { [`batch.${this.parts.dialect.labelSuffix}/cronjob-scheduled-timestamp`]: formatTime(due) };
    const annotations = { ...(metadata["annotations"] as object | undefined), ...mark };
    const ownerReferences = [controllerReference(row, cron)];
    const { apiVersion, kind } = jobRow;
    const body = bodyOf({
      apiVersion,
      kind,
      metadata: { ...metadata, name: jobName, namespace, annotations, ownerReferences },
      spec,
    });
    const answer = yield* call({ method: "POST", path: collectionOf(jobRow, namespace), body });
    if (!isGood(answer) && answer.status !== 409) {
      if (answer.status !== 403) this.tell(cron, "Warning", "FailedCreate", `Error creating job: ${messageOf(answer)}`);
      return "again";
    }
    if (isGood(answer)) this.tell(cron, "Normal", "SuccessfulCreate", `Created job ${jobName}`);
    const active = [...(cron.status?.active ?? [])];
    if (isGood(answer)) active.push(referenceTo(answer.object as unknown as Job));
    const status = { ...cron.status, active, lastScheduleTime: formatTime(due) };
    return (yield* this.writeStatus(cron, status)) === undefined ? "again" : "done";
  }

  /** The latest start that is due and was not made. */
  private lastDue(cron: CronJob, nextDue: NextDue, now: number): number | undefined {
    const { startingDeadlineSeconds } = cron.spec;
    let earliest = secondsOf(cron.status?.lastScheduleTime ?? cron.metadata.creationTimestamp);
    if (startingDeadlineSeconds !== undefined) earliest = Math.max(earliest, now - startingDeadlineSeconds);
    let due: number | undefined;
    let missed = 0;
    for (let at = nextDue(earliest); at !== undefined && at <= now; at = nextDue(at)) {
      due = at;
      if (++missed <= missedMax) continue;
      const message = "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew";
      this.tell(cron, "Warning", "TooManyMissedTimes", message);
      // What lies between is of no use: go on shortly before now.
      const recent = nextDue(now - 3600);
      at = recent !== undefined && recent > at && recent <= now ? recent : at;
      missed = 0;
    }
    return due;
  }

  private statusOf(cron: CronJob, jobs: readonly Job[], active: readonly Job[]): NonNullable<CronJob["status"]> {
    const successes = jobs.flatMap(({ status }) =>
      status?.completionTime === undefined ? [] : [status.completionTime],
    );
    const last = [cron.status?.lastSuccessfulTime ?? "", ...successes].reduce((left, right) =>
      left > right ? left : right,
    );
    const { active: _, ...others } = cron.status ?? {};
    const references = active.map(referenceTo);
    return {
      ...others,
      ...(references.length === 0 ? {} : { active: references }),
      ...(last === "" ? {} : { lastSuccessfulTime: last }),
    };
  }

  private *prune(cron: CronJob, jobs: readonly Job[]): Steps<void> {
    const { successfulJobsHistoryLimit = 3, failedJobsHistoryLimit = 1 } = cron.spec;
    const isOf =
      (type: string) =>
      (job: Job): boolean =>
        job.status?.conditions?.some((each) => each.type === type && each.status === "True") ?? false;
    const byStart = [...jobs].sort((left, right) =>
      (left.status?.startTime ?? "") < (right.status?.startTime ?? "") ? -1 : 1,
    );
    for (const [type, limit] of [
      ["Complete", successfulJobsHistoryLimit],
      ["Failed", failedJobsHistoryLimit],
    ] as const) {
      const over = byStart.filter(isOf(type)).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
      for (const job of over.slice(0, Math.max(0, over.length - limit))) yield* this.remove(job, "Background");
    }
  }

  private *remove(job: Job, propagationPolicy: string): Steps<boolean> {
    const body = bodyOf({ apiVersion: "v1", kind: "DeleteOptions", propagationPolicy });
    const answer = yield* call({ method: "DELETE", path: pathTo(jobRow, job), body });
    return isGood(answer) || answer.status === 404;
  }

  private *writeStatus(cron: CronJob, status: NonNullable<CronJob["status"]>): Steps<CronJob | undefined> {
    if (jsonEqual(bodyOf(cron.status ?? {}), bodyOf(status))) return cron;
    const { apiVersion, kind } = row;
    const body = bodyOf({ ...cron, apiVersion, kind, status });
    const answer = yield* call({ method: "PUT", path: `${pathTo(row, cron)}/status`, body });
    return isGood(answer) ? (answer.object as unknown as CronJob) : undefined;
  }

  private tell(cron: CronJob, type: "Normal" | "Warning", reason: string, message: string): void {
    this.events.tell(subjectOf(row, cron), type, reason, message);
  }

  private seconds(): number {
    return unixSeconds(this.parts.client.process.clock);
  }
}

function referenceTo({ metadata }: Job): JsonObject {
  const { apiVersion, kind } = jobRow;
  const { name, namespace = "", uid, resourceVersion = "" } = metadata;
  return { apiVersion, kind, name, namespace, uid, resourceVersion };
}
