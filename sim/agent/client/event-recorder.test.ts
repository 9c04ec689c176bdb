import { describe, expect, it } from "vitest";
import { dialects } from "../../../wire/dialect.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { Kernel } from "../../kernel/kernel.ts";
import type { ApiAnswer, ApiCall } from "../ports.ts";
import { EventRecorder } from "./event-recorder.ts";

const pod: JsonObject = { metadata: { name: "p", namespace: "default", uid: "u" } };

/** An agent's events, and what the server was sent; `answers`: what it says, the last one from then on. */
function recorded(...answers: readonly Partial<ApiAnswer>[]) {
  const kernel = new Kernel({ seed: "events" });
  const process = kernel.process("agent");
  const sent: { readonly method: string; readonly atSeconds: number; readonly body: JsonObject }[] = [];
  const api = {
    call: (request: ApiCall, done: (answer: ApiAnswer) => void): void => {
      const answer = answers[Math.min(sent.length, answers.length - 1)] ?? { status: 201 };
      sent.push({
        method: request.method,
        atSeconds: kernel.nowMicros() / 1_000_000,
        body: request.body as JsonObject,
      });
      process.clock.after(1000, () => done(answer as ApiAnswer));
    },
  };
  const recorder = kernel.enter(
    process,
    () => new EventRecorder({ process, api, dialect: dialects.kubernetes, nodeName: "n1" }),
  );
  const tell = (reason: string, message: string, fieldPath?: string): void => {
    kernel.enter(process, () =>
      recorder.pod(pod, "Warning", reason, message, fieldPath === undefined ? {} : { fieldPath }),
    );
    kernel.run(kernel.nowMicros() + 100_000);
  };
  return { sent, tell, pass: (seconds: number) => kernel.run(kernel.nowMicros() + seconds * 1_000_000) };
}

const shown = ({ method, body }: { readonly method: string; readonly body: JsonObject }) =>
  `${method} x${String(body["count"])} ${String(body["message"])}`;

describe("events of an agent", () => {
  it("that say the same are one whose count grows, for each container by itself", () => {
    const { sent, tell } = recorded();
    tell("Failed", "m", "spec.containers{a}");
    tell("Failed", "m", "spec.containers{a}");
    tell("Failed", "m", "spec.containers{b}");
    expect(sent.map(shown)).toEqual(["POST x1 m", "PATCH x2 m", "POST x1 m"]);
  });

  it("of one reason become one from the tenth message on, whichever container each is about", () => {
    const { sent, tell } = recorded();
    for (let at = 1; at <= 12; at++) tell("Created", `container ${at}`, `spec.containers{c${at}}`);
    expect(sent.slice(8).map(shown)).toEqual([
      "POST x1 container 9",
      "POST x1 (combined from similar events): container 10",
      "PATCH x2 (combined from similar events): container 11",
      "PATCH x3 (combined from similar events): container 12",
    ]);
  });

  it("of one object are no more than 25, and one more every five minutes", () => {
    const { sent, tell, pass } = recorded();
    for (let at = 0; at < 40; at++) tell("Failed", "m");
    expect(sent).toHaveLength(25);
    pass(310);
    tell("Failed", "m");
    expect(sent).toHaveLength(26);
    // Those that were not sent have counted.
    expect(sent.at(-1)?.body["count"]).toBe(41);
  });

  it("that the server has forgotten are made anew", () => {
    const { sent, tell } = recorded({ status: 201 }, { status: 404 }, { status: 201 });
    tell("Failed", "m");
    tell("Failed", "m");
    expect(sent.map(({ method }) => method)).toEqual(["POST", "PATCH", "POST"]);
  });

  it("that do not arrive are sent again, twelve times in all, and what is refused is not", () => {
    const lost = recorded({ status: 0 });
    lost.tell("Failed", "m");
    lost.pass(300);
    expect(lost.sent).toHaveLength(12);
    const times = lost.sent.map(({ atSeconds }) => atSeconds);
    for (let at = 2; at < times.length; at++)
      expect((times[at] as number) - (times[at - 1] as number)).toBeCloseTo(10, 1);
    const refused = recorded({ status: 403 });
    refused.tell("Failed", "m");
    refused.pass(300);
    expect(refused.sent).toHaveLength(1);
  });
});
