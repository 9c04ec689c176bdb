/** What becomes of pods, seen at the store: how long each took from its creation until it was scheduled, and until it was ready. */
import { LatencyHistogram } from "../../reports/capacity/latency-histogram.ts";
import type { CapacityRun } from "../../reports/schema/capacity-report.ts";
import type { Clock, Micros } from "../kernel/types.ts";
import type { Store, StoreEvent } from "../store/types.ts";

interface Pod {
  readonly spec?: { readonly nodeName?: string; readonly containers?: readonly { readonly image?: string }[] };
  readonly status?: {
    readonly reason?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

interface Course {
  readonly createdMicros: Micros;
  /** Its start-up counts: it was created while the experiment measured. */
  readonly counts: boolean;
  readonly isPulled: boolean;
  isScheduled: boolean;
  isReady: boolean;
}

const podKeys = "/registry/pods/";

export class PodWitness {
  private readonly clock: Clock;
  private readonly started: (micros: Micros) => void;
  private readonly courses = new Map<string, Course>();
  private readonly startup = new LatencyHistogram();
  private readonly scheduled = new LatencyHistogram();
  private readonly pulled = new LatencyHistogram();
  private measures = false;
  private createdCount = 0;
  private readyCount = 0;
  private deletedCount = 0;
  private evictedCount = 0;

  constructor(clock: Clock, store: Store, started: (micros: Micros) => void) {
    this.clock = clock;
    this.started = started;
    store.subscribe((event) => {
      if (event.key.startsWith(podKeys)) this.hear(event);
    });
  }

  begin(): void {
    this.measures = true;
  }

  get startupMicros(): LatencyHistogram {
    return this.startup;
  }

  get unscheduledCount(): number {
    return this.countOf(({ isScheduled }) => !isScheduled);
  }

  get notReadyCount(): number {
    return this.countOf(({ isReady }) => !isReady);
  }

  get evicted(): number {
    return this.evictedCount;
  }

  figures(): Pick<CapacityRun, "pods" | "podStartup" | "podScheduled" | "podPulled"> {
    return {
      pods: {
        created: this.createdCount,
        ready: this.readyCount,
        deleted: this.deletedCount,
        unscheduled: this.unscheduledCount,
        evicted: this.evictedCount,
      },
      podStartup: this.startup.data(),
      podScheduled: this.scheduled.data(),
      podPulled: this.pulled.data(),
    };
  }

  private hear({ key, value, previous }: StoreEvent): void {
    if (value === undefined) {
      this.courses.delete(key);
      if (this.measures) this.deletedCount++;
      return;
    }
    const pod = value as Pod;
    let course = this.courses.get(key);
    if (course === undefined) {
      const isPulled = pod.spec?.containers?.[0]?.image?.startsWith("pulled/") === true;
      const bound = pod.spec?.nodeName !== undefined && pod.spec.nodeName !== "";
      course = {
        createdMicros: this.clock.nowMicros(),
        counts: this.measures,
        isPulled,
        isScheduled: bound,
        isReady: false,
      };
      this.courses.set(key, course);
      if (this.measures) this.createdCount++;
    }
    this.follow(course, pod, previous as Pod | undefined);
  }

  private follow(course: Course, { spec, status }: Pod, before: Pod | undefined): void {
    const took = this.clock.nowMicros() - course.createdMicros;
    if (!course.isScheduled && (spec?.nodeName ?? "") !== "") {
      course.isScheduled = true;
      if (course.counts) this.scheduled.add(took);
    }
    if (status?.reason === "Evicted" && before?.status?.reason !== "Evicted" && this.measures) this.evictedCount++;
    const isReady = status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") === true;
    if (isReady && !course.isReady && course.counts) {
      this.readyCount++;
      (course.isPulled ? this.pulled : this.startup).add(took);
      if (!course.isPulled) this.started(took);
    }
    // One that was ready once has started, whatever becomes of it.
    course.isReady ||= isReady;
  }

  private countOf(is: (course: Course) => boolean): number {
    let count = 0;
    for (const course of this.courses.values()) if (is(course)) count++;
    return count;
  }
}
