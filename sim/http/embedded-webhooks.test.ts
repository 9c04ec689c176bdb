import { expect, it } from "vitest";
import type { WebhookAnswer } from "../apiserver/admission/webhooks.ts";
import { Kernel } from "../kernel/kernel.ts";
import { embeddedWebhooks } from "./embedded-webhooks.ts";

function asked(url: string): WebhookAnswer[] {
  const kernel = new Kernel({ seed: "1" });
  const process = kernel.process("server");
  const { host, caller } = embeddedWebhooks(process);
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
