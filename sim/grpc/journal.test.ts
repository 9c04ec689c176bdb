import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { CriRequest } from "../../wire/cri.ts";
import { Kernel } from "../kernel/kernel.ts";
import type { Cancel } from "../kernel/types.ts";
import { SimulatedRuntime } from "../runtime/runtime.ts";
import { Journal, type JournalEntry } from "./journal.ts";
import { KeptCalls } from "./kept-calls.ts";

type Written = Exclude<JournalEntry, { readonly control: string }>;

const millis = 1000;

/** A machine whose containers take 200 ms to start, as one process after the other has it. */
function machine(entries: readonly Written[] = []) {
  const kernel = new Kernel({ seed: "kept" });
  const process = kernel.process("node-1");
  const times = { RunPodSandbox: 0, CreateContainer: 0, StartContainer: 200 * millis };
  const runtime = new SimulatedRuntime(process, { images: [{ name: "local/box:1", present: true }], times });
  const calls = new KeptCalls(runtime);
  for (const entry of entries) {
    kernel.run(Math.max(kernel.nowMicros(), entry.atMicros));
    kernel.enter(process, () => calls.replay(entry));
  }
  const written: Written[] = [...entries];
  const write = (entry: Written): void => void written.push(entry);
  const port = calls.writing(() => kernel.nowMicros(), write);
  return {
    kernel,
    written,
    begin: (request: CriRequest): Cancel =>
      kernel.enter(process, () =>
        port.start(
          request,
          () => {},
          () => {},
        ),
      ),
    enter: (work: () => void): void => kernel.enter(process, work),
    abandon: (): void => kernel.enter(process, () => calls.abandon(kernel.nowMicros(), write)),
    states: (): readonly string[] => [...runtime.state.containers.values()].map(({ id, state }) => `${id} ${state}`),
    ids: () => ({
      sandbox: [...runtime.state.sandboxes.keys()][0],
      container: [...runtime.state.containers.keys()][0],
    }),
  };
}

function startingContainer() {
  const one = machine();
  const metadata = { name: "p", namespace: "default", uid: "u", attempt: 0 };
  one.begin({ method: "RunPodSandbox", message: { config: { metadata } } } as never);
  one.kernel.run(10 * millis);
  const config = { metadata: { name: "c", attempt: 0 }, image: { image: "local/box:1" }, command: ["sleep", "99"] };
  one.begin({ method: "CreateContainer", message: { podSandboxId: one.ids().sandbox, config } } as never);
  one.kernel.run(20 * millis);
  const leave = one.begin({ method: "StartContainer", message: { containerId: one.ids().container } } as never);
  one.kernel.run(100 * millis);
  return { ...one, leave };
}

describe("kept calls", () => {
  it("come out as they were when they are played again", () => {
    const one = startingContainer();
    one.kernel.run(500 * millis);
    const other = machine(one.written);
    other.kernel.run(500 * millis);
    expect(one.states()[0]).toMatch(/CONTAINER_RUNNING$/);
    expect(other.states()).toEqual(one.states());
  });

  it("know who went away: what was not started then is not started when it is played again", () => {
    const one = startingContainer();
    one.enter(one.leave);
    one.kernel.run(500 * millis);
    expect(one.states()[0]).toMatch(/CONTAINER_CREATED$/);
    const other = machine(one.written);
    other.kernel.run(500 * millis);
    expect(other.states()).toEqual(one.states());
    const forgetful = machine(one.written.filter((entry) => !("gone" in entry)));
    forgetful.kernel.run(500 * millis);
    expect(forgetful.states()[0]).toMatch(/CONTAINER_RUNNING$/);
  });

  it("have nobody who waits once the process was killed, now and in every later process", () => {
    const killed = startingContainer();
    const second = machine(killed.written);
    second.kernel.run(120 * millis);
    second.abandon();
    second.kernel.run(500 * millis);
    expect(second.states()[0]).toMatch(/CONTAINER_CREATED$/);
    const third = machine(second.written);
    third.abandon();
    third.kernel.run(500 * millis);
    expect(third.states()).toEqual(second.states());
    expect(third.written).toEqual(second.written);
  });

  it("write nothing of callers who go when they have their answer", () => {
    const one = startingContainer();
    one.kernel.run(500 * millis);
    one.enter(one.leave);
    expect(one.written.filter((entry) => "gone" in entry)).toEqual([]);
  });
});

describe("a journal's file", () => {
  const folder = mkdtempSync(join(tmpdir(), "journal-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  const head = { version: 2, seed: "1", epochUnixMillis: 5, options: { name: "ä" } } as const;
  const entries: readonly JournalEntry[] = [
    {
      atMicros: 1,
      number: 0,
      call: { method: "WritePath", message: { path: "/a", content: new Uint8Array([0, 255]) } },
    },
    { atMicros: 2, gone: 0 },
    { atMicros: 3, control: '{"calls":["Ä fails"]}' },
  ];

  it("has all that was written whole, whichever byte was the last", () => {
    const path = join(folder, "cut");
    const { journal } = Journal.open(path, head);
    const ends = entries.map((entry) => {
      journal.append(entry);
      return readFileSync(path).length;
    });
    const bytes = readFileSync(path);
    for (let cut = 0; cut <= bytes.length; cut++) {
      writeFileSync(path, bytes.subarray(0, cut));
      const kept = entries.filter((_entry, index) => (ends[index] as number) <= cut);
      const first = Journal.open(path, head);
      expect(first.entries).toEqual(kept);
      expect(first.journal.head).toEqual(head);
      first.journal.append(entries[1] as JournalEntry);
      expect(Journal.open(path, head).entries).toEqual([...kept, entries[1]]);
    }
  });

  it("says again what looks as bytes do there", () => {
    const path = join(folder, "looks");
    const labels = [{ base64: "AAAA" }, { base64: "AAAA", b: "" }, { a: "" }];
    const { journal } = Journal.open(path, head);
    const entry = { atMicros: 1, number: 0, call: { method: "RunPodSandbox", message: { labels } } } as never;
    journal.append(entry);
    expect(Journal.open(path, head).entries).toEqual([entry]);
    for (const _ of journal.compacting(() => [{ labels }], [entry]));
    const { state, entries: again } = Journal.open(path, head);
    expect([state, again]).toEqual([[{ labels }], [entry]]);
  });

  it("is not written over when it is somebody else's", () => {
    const path = join(folder, "other");
    writeFileSync(path, "my diary");
    expect(() => Journal.open(path, head)).toThrow(SyntaxError);
    expect(readFileSync(path, "utf8")).toBe("my diary");
    const earlier = `${JSON.stringify({ ...head, version: 1 })}\n`;
    writeFileSync(path, earlier);
    expect(() => Journal.open(path, head)).toThrow("another version");
    expect(readFileSync(path, "utf8")).toBe(earlier);
  });
});
