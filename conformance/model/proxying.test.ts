import { expect, it } from "vitest";
import { answerTo, judgeProxied, type Proxied } from "./proxying.ts";

const sent = { ask: "one" };
const through: Proxied = { name: "near", isOurs: true, sent, status: 200, answered: answerTo(sent), arrived: [sent] };
const nowhere: Proxied = { name: "far", isOurs: false, sent, status: 503, answered: {}, arrived: [] };

it("accepts what arrives where its path says, and what arrives nowhere", () => {
  expect(judgeProxied(through)).toBeUndefined();
  expect(judgeProxied(nowhere)).toBeUndefined();
  expect(judgeProxied({ ...nowhere, status: 400 })).toBeUndefined();
});

it.each<[string, Proxied]>([
  ["an answer of the server's own", { ...through, answered: { kind: "Service" }, arrived: [] }],
  ["another answer than ours", { ...through, answered: answerTo({ ask: "two" }) }],
  ["an error after it has arrived", { ...through, status: 502 }],
  ["what arrives twice", { ...through, arrived: [sent, sent] }],
  ["another body", { ...through, arrived: [{ ask: "two" }] }],
  ["what is sent to another", { ...nowhere, arrived: [sent] }],
  ["an answer of nobody", { ...nowhere, status: 200 }],
])("rejects %s", (_, proxied) => {
  expect(judgeProxied(proxied)).toBeDefined();
});
