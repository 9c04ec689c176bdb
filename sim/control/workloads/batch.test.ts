import { describe, expect, it } from "vitest";
import { ClusterBed, core, templateOf } from "../cluster-bed.fixture.ts";
import type { Pod } from "../shared/stored.ts";
import { dueTimes } from "./cron-times.ts";
import type { Job } from "./job-progress.ts";

const batch = "/apis/batch/v1/namespaces/default";
const template = (more: object = {}) => {
  const { spec } = templateOf("x") as { spec: object };
  return { spec: { ...spec, restartPolicy: "Never", ...more } };
};
const job = (bed: ClusterBed, name = "work"): Job => bed.get(`${batch}/jobs/${name}`) as unknown as Job;
const make = (bed: ClusterBed, spec: object) =>
  bed.make(`${batch}/jobs`, { metadata: { name: "work" }, spec: { template: template(), ...spec } });
const holds = (bed: ClusterBed, type: string) =>
  job(bed).status?.conditions?.find((each) => each.type === type && each.status === "True");

describe("a Job", () => {
  it("runs so many pods at a time until enough have succeeded, counts each once and lets them go", () => {
    const bed = new ClusterBed();
    bed.exitOf = () => 0;
    make(bed, { completions: 7, parallelism: 3 });
    let most = 0;
    for (let step = 0; step < 100; step++) {
      bed.advance(0.1);
      most = Math.max(most, bed.pods().filter(({ status }) => status?.phase !== "Succeeded").length);
    }
    expect(most).toBe(3);
    expect(job(bed).status).toMatchObject({ succeeded: 7 });
    expect(holds(bed, "Complete")?.reason).toBe("CompletionsReached");
    expect(job(bed).status?.completionTime).toBeDefined();
    expect(bed.pods()).toHaveLength(7);
    expect(bed.pods().flatMap(({ metadata }) => metadata.finalizers ?? [])).toEqual([]);
    expect(bed.reasons()).toContain("Completed");
  });

  it("tries again later each time, and gives up beyond its limit", () => {
    const bed = new ClusterBed();
    bed.exitOf = () => 1;
    make(bed, { backoffLimit: 2 });
    bed.advance(8);
    expect(bed.pods()).toHaveLength(1);
    bed.advance(10);
    expect(bed.pods()).toHaveLength(2);
    bed.advance(60);
    expect(bed.pods()).toHaveLength(3);
    expect(job(bed).status).toMatchObject({ failed: 3 });
    expect(holds(bed, "Failed")?.reason).toBe("BackoffLimitExceeded");
  });

  it("has numbers for its pods, and says which are done", () => {
    const bed = new ClusterBed();
    bed.exitOf = (pod) =>
      pod.metadata.annotations?.["batch.kubernetes.io/job-completion-index"] === "2" ? undefined : 0;
    make(bed, { completions: 4, parallelism: 4, completionMode: "Indexed" });
    bed.advance(5);
    expect(job(bed).status).toMatchObject({ succeeded: 3, completedIndexes: "0,1,3", active: 1 });
    const [running] = bed.pods().filter(({ status }) => status?.phase === "Running");
    expect(running?.spec.hostname).toBe("work-2");
    expect(((running as Pod).spec.containers[0] as unknown as { env: object[] }).env).toMatchObject([
      { name: "JOB_COMPLETION_INDEX" },
    ]);
  });

  it("is late, is suspended, and is removed when its time is over", () => {
    const late = new ClusterBed();
    make(late, { activeDeadlineSeconds: 10 });
    late.advance(15);
    expect([holds(late, "Failed")?.reason, late.pods()]).toEqual(["DeadlineExceeded", []]);
    const bed = new ClusterBed();
    make(bed, { suspend: true, ttlSecondsAfterFinished: 30 });
    bed.advance(3);
    expect([bed.pods(), holds(bed, "Suspended")?.reason]).toEqual([[], "JobSuspended"]);
    bed.exitOf = () => 0;
    bed.merge(`${batch}/jobs/work`, { spec: { suspend: false } });
    bed.advance(5);
    expect(holds(bed, "Complete")).toBeDefined();
    bed.advance(35);
    expect([bed.bed.ask(`GET ${batch}/jobs/work`, { as: "admin" }).status, bed.pods()]).toEqual([404, []]);
  });

  it("fails at once by an exit code that its policy names, and forgives others", () => {
    const bed = new ClusterBed();
    bed.exitOf = (pod: Pod) => (pod.metadata.name.length > 0 ? 42 : 0);
    const rules = [{ action: "FailJob", onExitCodes: { operator: "In", values: [42] } }];
    make(bed, { podFailurePolicy: { rules } });
    bed.advance(5);
    expect(holds(bed, "Failed")).toMatchObject({ reason: "PodFailurePolicy" });
    expect(holds(bed, "Failed")?.message).toContain("failed with exit code 42 matching FailJob rule at index 0");
  });
});

describe("a CronJob", () => {
  it("makes a job when it is due, one at a time if it is told so, and keeps few", () => {
    const bed = new ClusterBed();
    bed.exitOf = () => 0;
    bed.make(`${batch}/cronjobs`, {
      metadata: { name: "tick" },
      spec: {
        schedule: "* * * * *",
        concurrencyPolicy: "Forbid",
        successfulJobsHistoryLimit: 2,
        jobTemplate: { spec: { template: template() } },
      },
    });
    bed.advance(400);
    const jobs = bed.list<Job>(`${batch}/jobs`);
    expect(jobs).toHaveLength(2);
    expect(jobs.every(({ metadata }) => /^tick-\d+$/.test(metadata.name))).toBe(true);
    const { status } = bed.get(`${batch}/cronjobs/tick`) as unknown as {
      status: { lastScheduleTime: string; lastSuccessfulTime: string };
    };
    expect(status.lastScheduleTime).toMatch(/^2030-01-01T00:0[67]:00Z$/);
    expect(status.lastSuccessfulTime).toBeDefined();
    bed.merge(`${batch}/cronjobs/tick`, { spec: { suspend: true } });
    const before = bed.reasons().filter((reason) => reason === "SuccessfulCreate").length;
    bed.advance(200);
    expect(bed.reasons().filter((reason) => reason === "SuccessfulCreate")).toHaveLength(before);
    expect(bed.list<Pod>(`${core}/pods`)).toHaveLength(2);
  });
});

it("finds the next time of a schedule", () => {
  const at = (schedule: string, from: string): string | undefined => {
    const due = dueTimes(schedule)(Date.parse(from) / 1000);
    return due === undefined ? undefined : new Date(due * 1000).toISOString().slice(0, 16);
  };
  const now = "2030-01-01T00:00:30Z"; // a Tuesday
  expect(at("* * * * *", now)).toBe("2030-01-01T00:01");
  expect(at("*/15 3-5 * * *", now)).toBe("2030-01-01T03:00");
  expect(at("0 0 29 2 *", now)).toBe("2032-02-29T00:00");
  expect(at("30 9 13 * fri", now)).toBe("2030-01-04T09:30");
  expect(at("0 12 * jan,mar mon", "2030-01-29T00:00:00Z")).toBe("2030-03-04T12:00");
  expect(at("@weekly", now)).toBe("2030-01-06T00:00");
  expect(at("@every 90s", now)).toBe("2030-01-01T00:02");
  expect(at("0 0 31 2 *", now)).toBeUndefined();
});
