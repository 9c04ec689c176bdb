import { describe, expect, it } from "vitest";
import { Kernel } from "../../kernel/kernel.ts";
import type { WebhookAnswer, WebhookCaller } from "../admission/webhooks.ts";
import { type Attack, post, times } from "../attack-requests.fixture.ts";
import { Struck } from "../struck.fixture.ts";
import { LargeRequests } from "./large-requests.ts";

const mebibyte = 1024 * 1024;

/** A line, and what has begun in it. */
function lineOf(): { readonly line: LargeRequests; readonly begun: string[]; readonly run: () => void } {
  const kernel = new Kernel({ seed: "line" });
  const process = kernel.process("server");
  const line = new LargeRequests(process.clock);
  const run = (): void => {
    while (kernel.nextEventMicros === kernel.nowMicros()) kernel.step();
  };
  return { line, begun: [], run };
}

describe("large requests in line", () => {
  it("are carried out side by side up to four mebibytes, and then in the order in which they came", () => {
    const { line, begun, run } = lineOf();
    const bodies = times(6, (at) => ({ name: `b${at}`, bytes: 2 * mebibyte }));
    for (const body of bodies) line.enter(body, body.bytes, () => begun.push(body.name));
    expect(begun).toEqual(["b0", "b1"]);
    line.leave(bodies[1] as object);
    line.leave(bodies[1] as object);
    expect(begun).toHaveLength(2); // not within the event of another
    run();
    expect(begun).toEqual(["b0", "b1", "b2"]);
    line.leave(bodies[0] as object);
    line.leave(bodies[2] as object);
    run();
    expect(begun).toEqual(["b0", "b1", "b2", "b3", "b4"]);
  });

  it("are carried out alone where they are larger, and nobody passes them", () => {
    const { line, begun, run } = lineOf();
    const [first, large, small] = [{}, {}, {}];
    line.enter(first, 1, () => begun.push("first"));
    line.enter(large, 9 * mebibyte, () => begun.push("large"));
    line.enter(small, 1, () => begun.push("small"));
    expect(begun).toEqual(["first"]);
    line.leave(first);
    run();
    expect(begun).toEqual(["first", "large"]);
    line.leave(large);
    run();
    expect(begun).toEqual(["first", "large", "small"]);
  });

  it("give their place back when they are not wanted any more, at any time", () => {
    const { line, begun, run } = lineOf();
    const [first, second, third, last] = [{}, {}, {}, {}];
    const stopFirst = line.enter(first, 4 * mebibyte, () => begun.push("first"));
    const stopSecond = line.enter(second, mebibyte, () => begun.push("second"));
    const stopThird = line.enter(third, mebibyte, () => begun.push("third"));
    line.enter(last, 4 * mebibyte, () => begun.push("last"));
    stopSecond(); // while it waits
    stopFirst(); // while it is carried out
    stopThird(); // when it is to be next
    run();
    expect(begun).toEqual(["first", "last"]);
  });
});

const configMaps = "/api/v1/namespaces/default/configmaps";

/** Sends such requests at once. `answeredAt` is filled as they are answered: after how many events of this instant each was. */
function sendTogether(
  struck: Struck,
  count: number,
  path: string,
  contentType: string,
  bodyOf: (at: number) => string,
) {
  const { kernel, process, server } = struck.bed;
  const answeredAt: number[] = [];
  let eventCount = 0;
  for (let at = 0; at < count; at++) {
    const request = {
      method: "POST",
      path,
      query: "fieldValidation=Strict",
      headers: { authorization: "Bearer admin", "content-type": contentType },
      body: new TextEncoder().encode(bodyOf(at)),
    };
    const responder = { respond: () => void answeredAt.push(eventCount), open() {}, frame: () => 0, close() {} };
    kernel.enter(process, () => server.start(request, responder));
  }
  for (const now = kernel.nowMicros(); kernel.nextEventMicros === now; eventCount++) kernel.step();
  expect(struck.failures).toEqual([]);
  return { answeredAt, eventCount };
}

it("large bodies in YAML are not held half read all at once", () => {
  const body = `kind: ConfigMap\nmetadata:\n  name: x\n${times(90_000, (at) => `unknown${at}: "some text"\n`).join("")}`;
  const { answeredAt, eventCount } = sendTogether(new Struck({}, 1), 6, configMaps, "application/yaml", () => body);
  expect(answeredAt).toHaveLength(6);
  // Where all were read side by side, the first would be answered when nearly all is done.
  expect(answeredAt[0]).toBeLessThan(eventCount / 2);
});

const largeMap = (name: string): string =>
  JSON.stringify({
    metadata: { name },
    data: Object.fromEntries(times(20_000, (at) => [`key-${at}`, "v".repeat(20)])),
  });

it("large objects are carried out a few at a time, not only read so: what is made of each is many times its bytes", () => {
  const { answeredAt, eventCount } = sendTogether(new Struck({}, 1), 24, configMaps, "application/json", (at) =>
    largeMap(`m${at}`),
  );
  expect(answeredAt).toHaveLength(24);
  expect(largeMap("m").length * 7).toBeGreaterThan(4 * mebibyte); // six at most at a time
  expect(answeredAt[0]).toBeLessThan(eventCount / 3);
});

/** A webhook that is asked about all config maps whose names begin so. */
const asksAboutThese: Pick<Attack, "prepare"> = {
  prepare: () => [
    post("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", {
      metadata: { name: "silent" },
      webhooks: [
        {
          name: "silent.example.com",
          clientConfig: { url: "https://127.0.0.1:9/" },
          rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
          matchConditions: [{ name: "some", expression: "object.metadata.name.startsWith('waits')" }],
          sideEffects: "None",
          admissionReviewVersions: ["v1"],
        },
      ],
    }),
  ],
};

it("a large request that waits for a webhook holds no other up", () => {
  const struck = new Struck(asksAboutThese, 1, { webhooks: () => () => {} });
  const bodyOf = (at: number): string => largeMap(at < 8 ? `waits-${at}` : `m${at}`);
  const { answeredAt } = sendTogether(struck, 12, configMaps, "application/json", bodyOf);
  expect(answeredAt).toHaveLength(4);
});

it("a large request is told in an event of its own why it is refused, which may be megabytes of text", () => {
  let answer: (outcome: WebhookAnswer) => void = () => {};
  const webhooks: WebhookCaller = (_call, done) => {
    answer = done;
    return () => {};
  };
  const struck = new Struck(asksAboutThese, 1, { webhooks });
  const { kernel, process, server } = struck.bed;
  let refusedCount = 0;
  const refuse = server.refuse.bind(server);
  server.refuse = (run, error) => {
    refusedCount++;
    refuse(run, error);
  };
  for (const [body, inTheSame] of [
    [largeMap("waits"), 0],
    [`{"metadata":{"name":"waits"}}`, 1],
  ] as const) {
    refusedCount = 0;
    expect(struck.send({ ...post(configMaps, {}), body }).status).toBe(0);
    const response = { uid: "", allowed: false };
    kernel.enter(process, () => answer({ status: 200, body: { response } }));
    expect(refusedCount).toBe(inTheSame);
    kernel.step();
    expect(refusedCount).toBe(1);
  }
});

it("a collection that is deleted in many turns holds no large request up", () => {
  const struck = new Struck({}, 1);
  for (let at = 0; at < 3_000; at++) struck.send(post(configMaps, { metadata: { name: `c${at}` } }));
  const { kernel, process, server } = struck.bed;
  const answered: string[] = [];
  const start = (method: string, path: string, body: string): void => {
    const headers = { authorization: "Bearer admin", "content-type": "application/json" };
    const responder = { respond: () => void answered.push(method), open() {}, frame: () => 0, close() {} };
    kernel.enter(process, () =>
      server.start({ method, path, query: "", headers, body: new TextEncoder().encode(body) }, responder),
    );
  };
  start("DELETE", configMaps, `{"kind":"DeleteOptions","apiVersion":"v1"}${" ".repeat(2_900_000)}`);
  start("POST", "/api/v1/namespaces/kube-public/configmaps", `${largeMap("m")}${" ".repeat(2_000_000)}`);
  struck.bed.advance(1);
  expect(answered).toEqual(["POST", "DELETE"]);
});
