import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bytesText, textBytes } from "./file-tree.ts";
import {
  type LiveSession,
  type LiveSink,
  openAttach,
  openExec,
  type Opened,
  openPort,
  type SessionEnd,
} from "./live-sessions.ts";
import { RuntimeBench } from "./runtime.fixture.ts";

const serves = ["sh", "-c", "trap 'exit 0' TERM; while true; do sleep 1; done"];

class Client implements LiveSink {
  shown = { 1: "", 2: "" };
  end: SessionEnd | undefined;
  full = false;
  wanted = 0;
  output(stream: 1 | 2, bytes: Uint8Array): void {
    this.shown[stream] += bytesText(bytes);
  }
  isFull = (): boolean => this.full;
  wantsInput = (): void => void this.wanted++;
  ended(end: SessionEnd): void {
    if (this.end !== undefined) throw new Error("it has ended twice");
    this.end = end;
  }
}

function open(bench: RuntimeBench, how: (client: Client) => Opened): { client: Client; session: LiveSession } {
  const client = new Client();
  const { runtime, kernel } = bench;
  const session = kernel.enter(runtime.state.process, () => how(client));
  if ("error" in session) throw new Error(session.error);
  return { client, session };
}

const within = (bench: RuntimeBench, work: () => void): void => {
  bench.kernel.enter(bench.runtime.state.process, work);
  bench.pass(1);
};

function exec(bench: RuntimeBench, containerId: string, cmd: readonly string[], more: object = {}) {
  return open(bench, (client) => openExec(bench.runtime.state, { containerId, cmd, stdin: true, ...more }, client));
}

describe("a command with somebody at its streams", () => {
  it("gets what is written, and ends with its status", () => {
    const bench = new RuntimeBench();
    const id = bench.run(bench.sandbox("a"), serves);
    const { client, session } = exec(bench, id, [
      "sh",
      "-c",
      "while read x; do echo got $x; done; echo bye >&2; exit 3",
    ]);
    within(bench, () => session.input(textBytes("one\ntwo\n")));
    expect(client.shown).toEqual({ 1: "got one\ngot two\n", 2: "" });
    within(bench, () => session.endInput());
    expect(client.shown[2]).toBe("bye\n");
    expect(client.end).toEqual({ exitCode: 3 });
  });

  it("is a shell at a terminal: prompts, echo, errors that end nothing, keys that are signals", () => {
    const bench = new RuntimeBench();
    const id = bench.run(bench.sandbox("a"), serves);
    const { client, session } = exec(bench, id, ["sh"], { tty: true });
    within(bench, () => session.input(textBytes("echo a\u007fb\r")));
    expect(client.shown[1]).toBe("# echo a\b \bb\r\nb\r\n# ");
    client.shown[1] = "";
    within(bench, () => session.input(textBytes("if true\rthen echo yes; fi\r)\rx=5\recho $x $TERM\r")));
    expect(client.shown[1]).toContain("> yes");
    expect(client.shown[1]).toContain("yes\r\n");
    expect(client.shown[1]).toContain("Syntax error");
    expect(client.shown[1]).toContain("5 xterm\r\n");
    within(bench, () => session.input(textBytes("sleep 1000\r")));
    within(bench, () => session.input(textBytes("\u0003")));
    within(bench, () => session.input(textBytes("echo back\r")));
    expect(client.shown[1]).toContain("^C\r\n# ");
    expect(client.shown[1]).toContain("back\r\n");
    expect(client.end).toBeUndefined();
    within(bench, () => session.input(textBytes("\u0004")));
    expect(client.end).toEqual({ exitCode: 0 });
  });

  it("waits for whoever does not take its output, and for input no faster than it is read", () => {
    const bench = new RuntimeBench();
    const id = bench.run(bench.sandbox("a"), serves);
    const yes = exec(bench, id, ["yes"], { stdin: false });
    yes.client.full = true;
    bench.pass(5);
    expect(yes.client.shown[1].length).toBeLessThan(1 << 20);
    within(bench, () => yes.session.close());
    const { client, session } = exec(bench, id, ["sh", "-c", "sleep 5; cat >/dev/null"]);
    within(bench, () => expect(session.input(textBytes("x".repeat(70_000)))).toBe(false));
    expect(client.wanted).toBe(0);
    bench.pass(6);
    expect(client.wanted).toBe(1);
  });

  it("says why it cannot begin", () => {
    const bench = new RuntimeBench();
    const id = bench.run(bench.sandbox("a"), serves);
    expect(() => exec(bench, id, ["none"])).toThrow(/executable file not found/);
    expect(() => exec(bench, "b", ["sh"])).toThrow(/not running/);
  });

  it("hands on any bytes as they are", () => {
    const bench = new RuntimeBench();
    const id = bench.run(bench.sandbox("a"), serves);
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 8 }), (chunks) => {
        const { client, session } = exec(bench, id, ["cat"]);
        for (const chunk of chunks) within(bench, () => void session.input(chunk));
        within(bench, () => session.endInput());
        expect(client.shown[1]).toBe(chunks.map(bytesText).join(""));
        expect(client.end).toEqual({ exitCode: 0 });
      }),
      { numRuns: 30 },
    );
  });
});

describe("attaching", () => {
  it("shows what is written from now on, and lets its input be written", () => {
    const bench = new RuntimeBench();
    const id = bench.run(bench.sandbox("a"), ["sh"], { stdin: true, stdinOnce: true });
    const attach = (stdin: boolean) =>
      open(bench, (client) => openAttach(bench.runtime.state, { containerId: id, stdin }, client));
    const { client, session } = attach(true);
    const other = attach(false);
    within(bench, () => session.input(textBytes("echo hello; echo oh >&2\n")));
    expect(client.shown).toEqual({ 1: "hello\n", 2: "oh\n" });
    expect(other.client.shown).toEqual(client.shown);
    within(bench, () => other.session.close());
    within(bench, () => session.input(textBytes("exit 4\n")));
    expect(client.end).toEqual({ exitCode: 0 });
    expect(bench.status(id).exitCode).toBe(4);
  });
});

describe("a pod's port", () => {
  it("answers as its image says, and refuses where nobody listens", () => {
    const web = {
      name: "web",
      present: true,
      sizeBytes: 1,
      runs: { ports: [{ port: 80, body: "hi" }] },
    };
    const bench = new RuntimeBench({ images: [web] });
    const sandbox = bench.sandbox("a");
    bench.run(sandbox, [], { image: { image: "web" } });
    const at = (port: number) => open(bench, (client) => openPort(bench.runtime.state, sandbox, port, client));
    const { client, session } = at(80);
    within(bench, () => void session.input(textBytes("GET / HTTP/1.1\r\nHo")));
    within(
      bench,
      () =>
        void session.input(
          textBytes("st: a\r\n\r\nPOST /b HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcHEAD / HTTP/1.1\r\n\r\n"),
        ),
    );
    expect(client.shown[1].match(/HTTP\/1.1 200 OK/g)).toHaveLength(3);
    expect(client.shown[1].match(/hi/g)).toHaveLength(2);
    within(bench, () => void session.input(textBytes("nonsense\r\n\r\n")));
    expect(client.end).toEqual({ exitCode: 0 });
    expect(() => at(81)).toThrow(/connection refused/);
  });
});
