import { describe, expect, it } from "vitest";
import { RuntimeBench } from "../../runtime/runtime.fixture.ts";
import { run } from "../task.ts";
import { CriCaller } from "./cri-caller.ts";
import { inspectPod } from "./inspection.ts";
import type { RuntimePod } from "./runtime-pod.ts";

/** What is told of a container that ran this script and has ended. */
function wordsOf(script: string, policy: "File" | "FallbackToLogsOnError"): string {
  const bench = new RuntimeBench();
  const metadata = { name: "a", namespace: "default", uid: "u", attempt: 0 };
  const labels = { "io.kubernetes.pod.uid": "u" };
  const { podSandboxId } = bench.ask("RunPodSandbox", {
    config: { metadata, labels, logDirectory: "/var/log/pods/a" },
  });
  bench.ask("MakePath", { path: "/pods/u" });
  bench.ask("WritePath", { path: "/pods/u/words" });
  const annotations = {
    "io.kubernetes.container.terminationMessagePath": "/dev/termination-log",
    "io.kubernetes.container.terminationMessagePolicy": policy,
  };
  bench.run(podSandboxId, ["sh", "-c", script], {
    annotations,
    labels: { ...labels, "io.kubernetes.container.name": "c" },
    mounts: [{ containerPath: "/dev/termination-log", hostPath: "/pods/u/words" }],
  });
  bench.pass(10);
  const process = bench.kernel.process("agent-n1");
  let seen: RuntimePod | { readonly error: string } | undefined;
  bench.kernel.enter(process, () =>
    run(inspectPod(new CriCaller(process, bench.runtime, 10_000_000), metadata, 0), (found) => (seen = found)),
  );
  while (seen === undefined && bench.kernel.step());
  if (seen === undefined || "error" in seen) throw new Error(JSON.stringify(seen));
  return seen.containers[0]?.message ?? "none";
}

describe("the last words of a container", () => {
  it("are what it wrote into its file, the end of it where that is long", () => {
    expect(wordsOf("echo bye > /dev/termination-log; exit 1", "File")).toBe("bye\n");
    const long = wordsOf("i=0; while [ $i -lt 3000 ]; do echo $i; i=$((i+1)); done > /dev/termination-log", "File");
    expect(long).toHaveLength(4096);
    expect(long.endsWith("2998\n2999\n")).toBe(true);
  });

  it("are the last lines of its log where it failed and wrote nothing, and that is asked for", () => {
    expect(wordsOf("echo one; echo two >&2; exit 1", "FallbackToLogsOnError")).toBe("one\ntwo\n");
    expect(wordsOf("echo one; exit 1", "File")).toBe("");
    expect(wordsOf("echo one", "FallbackToLogsOnError")).toBe("");
    expect(wordsOf("echo one; echo bye > /dev/termination-log; exit 1", "FallbackToLogsOnError")).toBe("bye\n");
    const long = wordsOf("i=0; while [ $i -lt 3000 ]; do echo $i; i=$((i+1)); done; exit 1", "FallbackToLogsOnError");
    expect(long.split("\n")).toEqual([...Array.from({ length: 80 }, (_, at) => String(2920 + at)), ""]);
  });
});
