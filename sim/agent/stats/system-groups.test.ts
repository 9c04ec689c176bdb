import { describe, expect, it } from "vitest";
import { RuntimeBench } from "../../runtime/runtime.fixture.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { CriCaller } from "../runtime/cri-caller.ts";
import { run } from "../task.ts";
import { groupParts } from "./system-groups.ts";

const times = { time: "2026-01-01T00:00:10Z", startTime: "2026-01-01T00:00:00Z" };

function partsOf(files: Readonly<Record<string, string>>): readonly JsonObject[] | undefined {
  const bench = new RuntimeBench();
  const process = bench.kernel.process("agent-n1");
  for (const [path, text] of Object.entries(files)) {
    bench.ask("MakePath", { path: path.slice(0, path.lastIndexOf("/")) });
    bench.ask("WritePath", { path, content: new TextEncoder().encode(text) });
  }
  let parts: readonly JsonObject[] | undefined;
  const groups = [
    { name: "kubelet", path: "/agent.slice" },
    { name: "runtime", path: "runtime/" },
  ];
  const cri = new CriCaller(process, bench.runtime, 10_000_000);
  bench.kernel.enter(process, () => run(groupParts(cri, groups, times), (made) => (parts = made)));
  bench.pass(1);
  return parts;
}

describe("groups of programs beside pods", () => {
  it("have their usage in the summary, each that the machine has", () => {
    const folder = "/sys/fs/cgroup/runtime";
    const files = {
      [`${folder}/memory.current`]: "5000\n",
      [`${folder}/memory.stat`]: "anon 3000\ninactive_file 1200\npgfault 7\npgmajfault 2\n",
      [`${folder}/cpu.stat`]: "usage_usec 250\nuser_usec 200\n",
    };
    expect(partsOf(files)).toEqual([
      {
        name: "runtime",
        startTime: times.startTime,
        cpu: { time: times.time, usageCoreNanoSeconds: 250_000 },
        memory: {
          time: times.time,
          usageBytes: 5000,
          workingSetBytes: 3800,
          rssBytes: 3000,
          pageFaults: 7,
          majorPageFaults: 2,
        },
      },
    ]);
  });

  it("are left out where the machine has none, or says something else", () => {
    expect(partsOf({})).toEqual([]);
    expect(partsOf({ "/sys/fs/cgroup/agent.slice/memory.current": "max" })).toEqual([]);
  });
});
