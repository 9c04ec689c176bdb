import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RuntimeBench } from "./runtime.fixture.ts";

/** What a runtime may say of one container, by the calls so far: the states of the interface and nothing else. */
type Known = "none" | "CONTAINER_CREATED" | "CONTAINER_RUNNING" | "CONTAINER_EXITED";

const step = fc.oneof(
  fc.record({
    is: fc.constantFrom("create", "start", "stop", "remove", "stopSandbox", "removeSandbox"),
    pod: fc.nat(2),
  }),
  fc.record({ is: fc.constant("pass"), pod: fc.nat(0), seconds: fc.integer({ min: 1, max: 4 }) }),
);

describe("sandboxes and containers", () => {
  it("go through their states as a small model of them does, whatever the order of the calls", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), fc.nat(), (steps, seed) => {
        const bench = new RuntimeBench({}, `states-${seed}`);
        const pods = [0, 1, 2].map((pod) => ({
          sandbox: bench.sandbox(`p${pod}`),
          ready: true,
          gone: false,
          id: "",
          known: "none" as Known,
          endsAt: Infinity,
          attempt: 0,
        }));
        const settle = (): void => {
          for (const pod of pods)
            if (pod.known === "CONTAINER_RUNNING" && bench.seconds() >= pod.endsAt) pod.known = "CONTAINER_EXITED";
        };
        for (const { is, pod: index, ...more } of steps) {
          const pod = pods[index] as (typeof pods)[0];
          const config = {
            metadata: { name: "c", attempt: pod.attempt },
            image: { image: "local/box:1" },
            command: ["sleep", "3"],
          };
          if (is === "pass") bench.pass((more as { seconds: number }).seconds);
          settle();
          if (is === "create") {
            if (pod.known !== "none") continue;
            const answer = bench.call("CreateContainer", { podSandboxId: pod.sandbox, config });
            expect(answer.ok).toBe(pod.ready);
            if (answer.ok)
              Object.assign(pod, {
                id: answer.message.containerId,
                known: "CONTAINER_CREATED",
                attempt: pod.attempt + 1,
              });
          } else if (is === "start" && pod.known !== "none") {
            const answer = bench.call("StartContainer", { containerId: pod.id });
            expect(answer.ok).toBe(pod.known === "CONTAINER_CREATED" && pod.ready);
            if (answer.ok) Object.assign(pod, { known: "CONTAINER_RUNNING", endsAt: bench.seconds() + 3 - 1e-6 });
          } else if (is === "stop") {
            bench.ask("StopContainer", { containerId: pod.id || "absent", timeout: 1 });
            settle();
            if (pod.known === "CONTAINER_RUNNING") pod.known = "CONTAINER_EXITED";
          } else if (is === "remove") {
            bench.ask("RemoveContainer", { containerId: pod.id || "absent" });
            Object.assign(pod, { known: "none", id: "" });
          } else if (is === "stopSandbox" || is === "removeSandbox") {
            bench.ask(is === "stopSandbox" ? "StopPodSandbox" : "RemovePodSandbox", { podSandboxId: pod.sandbox });
            settle();
            if (pod.known === "CONTAINER_RUNNING") pod.known = "CONTAINER_EXITED";
            pod.ready = false;
            if (is === "removeSandbox") Object.assign(pod, { gone: true, known: "none", id: "" });
          }
          settle();
          const listed = new Map(bench.ask("ListContainers", {}).containers.map(({ id, state }) => [id, state]));
          expect(listed).toEqual(
            new Map(pods.filter(({ known }) => known !== "none").map(({ id, known }) => [id, known])),
          );
          const sandboxes = new Map(bench.ask("ListPodSandbox", {}).items.map(({ id, state }) => [id, state]));
          expect(sandboxes).toEqual(
            new Map(
              pods
                .filter(({ gone }) => !gone)
                .map(({ sandbox, ready }) => [sandbox, ready ? "SANDBOX_READY" : "SANDBOX_NOTREADY"]),
            ),
          );
        }
      }),
      { numRuns: 100 },
    );
  });
});
