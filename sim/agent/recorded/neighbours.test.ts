/**
 * Scenarios beside the recorded ones, held against what the published agent's own words and order are. Where a row says why, the
 * behaviour is easily taken for another.
 */
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../contract/http-message.ts";
import { type History, play } from "./replay.fixture.ts";

const box = (script: string, more: object = {}, name = "c"): JsonObject =>
  ({ name, image: "box", command: ["sh", "-c", script], ...more }) as JsonObject;

function lived(name: string, spec: object, steps: readonly number[], untilSeconds: number): History {
  return play({ name, spec: spec as JsonObject, steps }, untilSeconds, 0.45, "neighbours");
}

const eventsOf = ({ events }: History, pattern: RegExp): readonly string[] =>
  events.map(({ text }) => text).filter((text) => pattern.test(text));
const phases = ({ statuses }: History): readonly string[] =>
  statuses.map(({ text }) => text.split(" ")[1] as string).filter((phase, at, all) => phase !== all[at - 1]);
const statusesOf = ({ statuses }: History, pattern: RegExp): readonly string[] =>
  statuses.map(({ text }) => text).filter((text) => pattern.test(text));

describe("the end of a pod", () => {
  it("after its deadline is told of each time that its status is put together", () => {
    const spec = { activeDeadlineSeconds: 5, terminationGracePeriodSeconds: 3, containers: [box("sleep 1000")] };
    const history = lived("deadline", spec, [20], 25);
    expect(eventsOf(history, /DeadlineExceeded/).map((text) => text.split(" ").at(-1))).toEqual([
      "x1",
      "x2",
      "x3",
      "x4",
    ]);
    expect(phases(history)).toEqual(["Pending", "Running", "Failed"]);
  });

  it("leaves init containers that were never begun as they are, but for the first", () => {
    const initContainers = [{ ...box("true", {}, "one"), image: "127.0.0.1:1/none:1" }, box("true", {}, "two")];
    const spec = { terminationGracePeriodSeconds: 1, initContainers, containers: [box("sleep 1000")] };
    const last = lived("never-begun", spec, [5], 20).statuses.at(-1)?.text ?? "";
    expect(last).toContain("one: terminated ContainerStatusUnknown 137");
    expect(last).toContain("two: waiting PodInitializing");
    expect(last).toContain("c: waiting PodInitializing");
  });
});

describe("probes", () => {
  const startupProbe = { exec: { command: ["test", "-f", "/tmp/s"] }, periodSeconds: 1, failureThreshold: 30 };

  it("of the start say that it is over before anything else is put together anew", () => {
    const spec = {
      terminationGracePeriodSeconds: 1,
      containers: [box("sleep 4; touch /tmp/s; sleep 1000", { startupProbe })],
    };
    const history = lived("startup", spec, [20], 30);
    const running = statusesOf(history, /MODIFIED Running \|\|/).map(
      (text) => /ready \w+; started \w+/.exec(text)?.[0],
    );
    expect(running).toEqual(["ready false; started false", "ready false; started true", "ready true; started true"]);
  });

  it("of readiness go on while a pod ends, and what they find is told", () => {
    const script = "touch /tmp/r; trap 'rm /tmp/r; sleep 4; exit 0' TERM; while true; do sleep 1; done";
    const readinessProbe = { exec: { command: ["test", "-f", "/tmp/r"] }, periodSeconds: 1, failureThreshold: 1 };
    const history = lived(
      "unready",
      { terminationGracePeriodSeconds: 10, containers: [box(script, { readinessProbe })] },
      [5],
      20,
    );
    expect(statusesOf(history, /deleting 10 .*Ready=False ContainersNotReady.*c: running.*ready false/)).not.toEqual(
      [],
    );
  });

  it("over gRPC are tried until their time is over, where nobody answers them", () => {
    const readinessProbe = { grpc: { port: 80 }, periodSeconds: 5 };
    for (const script of ["sleep 1000", "nc -l -p 80"]) {
      const spec = { terminationGracePeriodSeconds: 1, containers: [box(script, { readinessProbe })] };
      const [first] = eventsOf(lived("grpc", spec, [9], 12), /Unhealthy/);
      expect(first).toMatch(
        /^Warning Unhealthy Readiness probe failed: timeout: failed to connect service "10\.88\.0\.\d+:80" within 1s: context deadline exceeded x1/,
      );
    }
  });
});

describe("sidecars", () => {
  it("of a pod that restarts nothing do not show why they wait", () => {
    const initContainers = [box("sleep 5; exit 1", { restartPolicy: "Always" }, "s")];
    const spec = {
      restartPolicy: "Never",
      terminationGracePeriodSeconds: 1,
      initContainers,
      containers: [box("sleep 1000")],
    };
    const history = lived("sidecar", spec, [40], 50);
    expect(eventsOf(history, /BackOff/)).not.toEqual([]);
    expect(statusesOf(history, /CrashLoopBackOff/)).toEqual([]);
  });

  it("that end do not take a pod back to Pending once its containers have begun", () => {
    const initContainers = [box("sleep 3; exit 1", { restartPolicy: "Always" }, "s")];
    const spec = { terminationGracePeriodSeconds: 1, initContainers, containers: [box("sleep 1000")] };
    expect(phases(lived("sidecar-ends", spec, [40], 50))).toEqual(["Pending", "Running", "Failed"]);
  });
});

describe("hooks", () => {
  it("say in the waiting state what went wrong, and not in the event", () => {
    const lifecycle = { postStart: { exec: { command: ["sh", "-c", "echo no; echo bad >&2; exit 3"] } } };
    const spec = { terminationGracePeriodSeconds: 1, containers: [box("sleep 1000", { lifecycle })] };
    const history = lived("hook", spec, [5], 10);
    expect(eventsOf(history, /FailedPostStartHook/)[0]).toBe(
      "Warning FailedPostStartHook PostStartHook failed x1 spec.containers{c}",
    );
    expect(statusesOf(history, /waiting PostStartHookError; last terminated Error 137/)).not.toEqual([]);
  });

  it("over HTTP fail without an answer alone", () => {
    const lifecycle = { postStart: { httpGet: { port: 80, path: "/x" } } };
    const spec = { terminationGracePeriodSeconds: 1, containers: [box("sleep 1000", { lifecycle })] };
    expect(eventsOf(lived("hook-http", spec, [5], 10), /FailedPostStartHook/)).not.toEqual([]);
  });
});

describe("a class of runtimes", () => {
  it("that does not exist keeps the pod's sandbox from being made", () => {
    const spec = { runtimeClassName: "nope", terminationGracePeriodSeconds: 1, containers: [box("sleep 1000")] };
    const history = lived("class", spec, [5], 20);
    expect(eventsOf(history, /FailedCreatePodSandBox/)[0]).toBe(
      'Warning FailedCreatePodSandBox Failed to create pod sandbox: runtimeclass.node.k8s.io "nope" not found x1',
    );
    expect(history.calls).toEqual([]);
  });
});
