import { describe, expect, it } from "vitest";
import { RuntimeBench } from "../../runtime/runtime.fixture.ts";
import { CriCaller } from "./cri-caller.ts";
import { Garbage } from "./garbage.ts";
import { emptyPod, type RuntimePod, runtimeContainer } from "./runtime-pod.ts";

const folder = "/var/log/pods/default_a_uid-a/c";
const limits = { deadContainersPerContainerMax: 1, deadContainersMax: -1, deadContainerAgeMicrosMin: 0 };

/** A pod whose container has ended so many times, each with a log of which a part was moved away. */
function ended(count: number) {
  const bench = new RuntimeBench();
  const process = bench.kernel.process("agent-n1");
  const sandbox = bench.sandbox("a");
  const ids = Array.from({ length: count }, (_, attempt) => {
    const labels = { "io.kubernetes.container.name": "c" };
    const containerId = bench.create(sandbox, ["sh", "-c", "echo said"], { labels }, attempt);
    bench.ask("StartContainer", { containerId });
    bench.pass(5);
    bench.ask("RenamePath", { from: `${folder}/${attempt}.log`, to: `${folder}/${attempt}.log.20250101-000000` });
    return containerId;
  });
  const pod = (): RuntimePod => ({
    ...emptyPod("uid-a", "a", "default", 0),
    containers: ids.map((id) => runtimeContainer(bench.status(id), "")).reverse(),
  });
  const garbage = new Garbage({
    cri: new CriCaller(process, bench.runtime, 10_000_000),
    limits,
    delayMicros: 0,
    pods: () => [],
    isDeleted: () => false,
    hasEnded: () => false,
    isSure: () => true,
  });
  const trim = (all: boolean): void => {
    const seen = pod();
    bench.kernel.enter(process, () => garbage.trim(seen, ids.slice(-1), all));
    bench.pass(10);
  };
  const left = () => ({
    containers: bench.ask("ListContainers", { filter: {} }).containers.map(({ id }) => ids.indexOf(id)),
    logs: bench.ask("ListPath", { path: folder }).entries.map(({ name }) => name),
  });
  return { trim, left };
}

describe("a container that ends", () => {
  it("takes older remains of the same container with it, and their logs with all that was moved away from them", () => {
    const { trim, left } = ended(3);
    expect(left().logs).toHaveLength(3);
    trim(false);
    expect(left()).toEqual({ containers: [2], logs: ["2.log.20250101-000000"] });
  });

  it("leaves nothing where its pod may go", () => {
    const { trim, left } = ended(2);
    trim(true);
    expect(left()).toEqual({ containers: [], logs: [] });
  });
});
