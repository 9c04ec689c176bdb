import { expect, it } from "vitest";
import type { WebhookAnswer } from "../apiserver/admission/webhooks.ts";
import { Kernel } from "../kernel/kernel.ts";
import { embeddedWebhooks } from "./embedded-webhooks.ts";

function asked(url: string): WebhookAnswer[] {
  const kernel = new Kernel({ seed: "1" });
  const process = kernel.process("server");
  const reach = embeddedWebhooks();
  const { host } = reach;
  const { webhooks: caller } = reach.reachedBy(process);
  host.answer("/here", () => ({ said: "yes" }));
  const gone = host.answer("/gone", () => ({}));
  gone();
  const answers: WebhookAnswer[] = [];
  const call = { url, service: undefined, caBundle: undefined, body: {} };
  kernel.enter(process, () => caller(call, (answer) => answers.push(answer)));
  expect(answers).toEqual([]); // later, in an event
  kernel.run(1_000_000);
  return answers;
}

it("answers what is posted to a path that is listened to", () => {
  expect(asked("https://203.0.113.7:443/here?timeout=1s")).toEqual([{ status: 200, body: { said: "yes" } }]);
});

it("knows no other path, and none that was given up", () => {
  expect(asked("https://203.0.113.7:443/there")).toEqual([{ status: 404, body: "" }]);
  expect(asked("https://203.0.113.7:443/gone")).toEqual([{ status: 404, body: "" }]);
});

it("reaches nobody else", () => {
  expect(asked("https://127.0.0.1:1/here")).toEqual([
    { error: 'Post "https://127.0.0.1:1/here": dial tcp 127.0.0.1:1: connect: connection refused' },
  ]);
});

it("hands on what is sent through a proxy, to its own address alone", () => {
  const kernel = new Kernel({ seed: "1" });
  const process = kernel.process("server");
  const reach = embeddedWebhooks();
  const { host } = reach;
  const { forward } = reach.reachedBy(process);
  host.answer("/here", (document) => ({ said: document }));
  const request = { scheme: "https", host: "203.0.113.7", port: "443", method: "POST", headers: {} } as const;
  const sent = (target: string, text: string, port = "443"): unknown => {
    let got: unknown;
    const body = new TextEncoder().encode(text);
    kernel.enter(process, () => {
      forward({ ...request, port, target, body }, (answer) => {
        got = "error" in answer ? answer.error : [answer.status, new TextDecoder().decode(answer.body)];
      });
    });
    expect(got).toBeUndefined(); // later, in an event
    kernel.run(kernel.nowMicros() + 1_000_000);
    return got;
  };
  expect(sent("/here?a=b", '"yes"')).toEqual([200, '{"said":"yes"}']);
  expect(sent("/here", "no document")).toEqual([400, ""]);
  expect(sent("//", '"yes"')).toEqual([404, ""]);
  expect(sent("/here", '"yes"', "80")).toBe("dial tcp 203.0.113.7:80: connect: connection refused");
});
