import { describe, expect, it } from "vitest";
import { parseFigureLie } from "../../wire/figure-lie.ts";
import { applyControl } from "./control.ts";
import { RuntimeBench } from "./runtime.fixture.ts";

const gigabyte = 1024 ** 3;

/** A pod that leaks, and what is told of it and of its machine. */
function leaking(limitBytes?: number) {
  const bench = new RuntimeBench({ machine: { memoryBytes: 16 * gigabyte } });
  const sandbox = bench.sandbox("a");
  const resources = limitBytes === undefined ? {} : { linux: { resources: { memoryLimitInBytes: limitBytes } } };
  const id = bench.run(sandbox, ["sleep", "10000"], resources);
  const set = (control: object) => applyControl(bench.runtime, JSON.stringify(control));
  set({ pods: { "default/a": { memory: "leak 100M + 1M/s" } } });
  return {
    bench,
    id,
    set,
    lie: (text: string | null) => set({ figures: { pods: { "default/a": text } } }),
    container: () => bench.ask("ContainerStats", { containerId: id }).stats,
    pod: () => bench.ask("PodSandboxStats", { podSandboxId: sandbox }).stats?.linux,
    machine: () => bench.ask("MachineReading", {}),
  };
}

describe("figures", () => {
  it.each([
    ["stand still", { is: "still" }],
    ["are 3 times as much", { is: "times", factor: 3 }],
    ["are 0.5 times as much", { is: "times", factor: 0.5 }],
    ["lack memory", { is: "lack", part: "memory" }],
    [" are old by 5m ", { is: "old", micros: 300_000_000 }],
  ])("%s", (text, lie) => expect(parseFigureLie(text)).toEqual(lie));

  it.each([
    "",
    "stand",
    "are -1 times as much",
    "are 1e9 times as much",
    "lack toString",
    "lack nothing",
    "are old by 0s",
    "are old by x",
  ])("do not %j", (text) =>
    expect(parseFigureLie(text)).toEqual({ error: expect.stringContaining("nothing that figures do") as string }),
  );

  it("stand still while more is used, and a container is killed for what it uses", () => {
    const { bench, id, lie, container, pod } = leaking(150_000_000);
    lie("stand still");
    const [first, firstOfPod] = [container(), pod()];
    bench.pass(40);
    expect(container()).toEqual(first);
    expect(pod()).toEqual(firstOfPod);
    expect(container()?.memory?.timestamp).toBe(first?.memory?.timestamp);
    bench.pass(40);
    expect(bench.status(id)).toMatchObject({ reason: "OOMKilled" });
  });

  it("are as things are again", () => {
    const { bench, lie, container } = leaking();
    lie("stand still");
    const first = container()?.memory?.workingSetBytes?.value ?? 0;
    bench.pass(10);
    lie(null);
    expect(container()?.memory?.workingSetBytes?.value).toBeGreaterThan(first);
  });

  it("are several times as much, of the pod alone", () => {
    const { lie, container, pod, machine } = leaking();
    const [one, whole, all] = [container(), pod(), machine().memory];
    lie("are 3 times as much");
    expect(container()?.memory?.workingSetBytes?.value).toBe(3 * (one?.memory?.workingSetBytes?.value ?? 0));
    expect(pod()?.memory?.workingSetBytes?.value).toBe(3 * (whole?.memory?.workingSetBytes?.value ?? 0));
    expect(pod()?.process?.processCount?.value).toBe(3 * (whole?.process?.processCount?.value ?? 0));
    expect(container()?.memory?.timestamp).toBe(one?.memory?.timestamp);
    expect(machine().memory).toEqual(all);
  });

  it("of the machine are several times as much, and no more than there is", () => {
    const { set, machine } = leaking();
    const before = machine();
    set({ figures: { machine: "are 2 times as much" } });
    const { memory, rootFilesystem } = machine();
    expect(memory?.workingSetBytes).toBe(2 * (before.memory?.workingSetBytes ?? 0));
    const whole = (before.memory?.workingSetBytes ?? 0) + (before.memory?.availableBytes ?? 0);
    expect((memory?.workingSetBytes ?? 0) + (memory?.availableBytes ?? 0)).toBe(whole);
    expect(rootFilesystem?.capacityBytes).toBe(before.rootFilesystem?.capacityBytes);
    set({ figures: { machine: "are 1000000 times as much" } });
    expect(machine().memory).toMatchObject({ availableBytes: 0, workingSetBytes: whole });
  });

  it("lack a part, or are old", () => {
    const { lie, container, pod, set, machine } = leaking();
    const before = container();
    lie("lack memory");
    expect(container()).not.toHaveProperty("memory");
    expect(container()?.cpu).toEqual(before?.cpu);
    expect(pod()).not.toHaveProperty("memory");
    expect(pod()?.containers[0]).not.toHaveProperty("memory");
    lie("are old by 1m");
    expect(container()?.cpu?.timestamp).toBe((before?.cpu?.timestamp ?? 0) - 60e9);
    set({ figures: { machine: "lack disk" } });
    expect(machine()).not.toHaveProperty("rootFilesystem");
    expect(machine()).toHaveProperty("memory");
  });

  it("change nothing where one of several is wrong", () => {
    const { set, container } = leaking();
    const before = container();
    expect(() => set({ figures: { machine: "lack sense", pods: { "default/a": "lack memory" } } })).toThrow(
      "lack sense",
    );
    expect(container()).toEqual(before);
  });
});
