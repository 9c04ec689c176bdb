import { describe, expect, it } from "vitest";
import type { CriAnswer, CriRequest } from "../../wire/cri.ts";
import type { Endpoint } from "../kernel/types.ts";
import { Kernel } from "../kernel/kernel.ts";
import { callRuntime, noDeadlineMicros } from "./cri-port.ts";

describe("callRuntime", () => {
  it("answers later than it returns, with the runtime's own answer", () => {
    const { agent, kernel } = world();
    const seen: CriAnswer[] = [];
    const runtime = answering((request, done) => done({ ok: false, code: 5, text: `no ${request.method}` }));
    kernel.enter(agent, () =>
      callRuntime(agent, runtime, "Version", {}, noDeadlineMicros, (answer) => seen.push(answer)),
    );
    expect(seen).toEqual([]);
    kernel.run(0);
    expect(seen).toEqual([{ ok: false, code: 5, text: "no Version" }]);
  });

  it("tells a call that hangs as its deadline, and one that nobody takes as unavailable", () => {
    const { agent, kernel } = world();
    const seen: CriAnswer[] = [];
    const refusing: Endpoint<CriRequest, CriAnswer> = {
      start(_request, _done, fail) {
        fail("refused");
        return () => {};
      },
    };
    kernel.enter(agent, () => {
      callRuntime(
        agent,
        answering(() => {}),
        "Status",
        {},
        2_000_000,
        (answer) => seen.push(answer),
      );
      callRuntime(agent, refusing, "Status", {}, 2_000_000, (answer) => seen.push(answer));
    });
    kernel.run(1_999_999);
    expect(seen).toMatchObject([{ ok: false, code: 14 }]);
    kernel.run(2_000_000);
    expect(seen[1]).toEqual({ ok: false, code: 4, text: "context deadline exceeded" });
  });
});

function world() {
  const kernel = new Kernel({ seed: "cri" });
  return { kernel, agent: kernel.process("agent") };
}

function answering(
  answer: (request: CriRequest, done: (answer: CriAnswer) => void) => void,
): Endpoint<CriRequest, CriAnswer> {
  return {
    start(request, done) {
      answer(request, done);
      return () => {};
    },
  };
}
