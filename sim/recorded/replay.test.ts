import { describe, expect, it } from "vitest";
import { kubernetesDialect, svcDialect } from "../../wire/dialect.ts";
import type { ApiHandler, ApiRequest, Json, Payload } from "../contract/http-message.ts";
import { fromDialect, intoDialect } from "./brand.ts";
import { type Step, type Topic, topics } from "./exchanges.ts";
import { firstDifference, judge } from "./judge.ts";
import { masked } from "./mask.ts";
import { replay, type ReplayTarget } from "./replay.ts";

const payload = (value: Json): Payload => ({
  object: undefined,
  contentType: "application/json",
  bytes: () => new TextEncoder().encode(`${JSON.stringify(value)}\n`),
});

/** A server that answers by a table, `METHOD path?query` → answer, with a clock of its own. */
function desk(answers: (request: string, body: string) => Json | { readonly stream: readonly Json[] } | undefined) {
  const seen: ApiRequest[] = [];
  let timers: { at: number; fire: () => void }[] = [];
  let now = 0;
  const server: ApiHandler = {
    start(request, responder) {
      seen.push(request);
      const sent = `${request.method} ${request.path}${request.query === "" ? "" : `?${request.query}`}`;
      const answer = answers(sent, new TextDecoder().decode(request.body as Uint8Array | undefined));
      if (answer === undefined) return () => {};
      const stream = (answer as { stream?: readonly Json[] }).stream;
      if (stream === undefined) {
        timers.push({
          at: now + 100,
          fire: () => responder.respond((answer as { code?: number }).code ?? 200, {}, payload(answer as Json)),
        });
        return () => {};
      }
      responder.open(200, { "content-type": "application/json" });
      stream.forEach((event, index) =>
        timers.push({ at: now + 200 * (index + 1), fire: () => responder.frame(payload(event)) }),
      );
      return () => {
        timers = [];
      };
    },
  };
  const target: ReplayTarget = {
    dialect: kubernetesDialect,
    server,
    advance(millis) {
      now += millis;
      const due = timers.filter(({ at }) => at <= now);
      timers = timers.filter(({ at }) => at > now);
      for (const { fire } of due) fire();
    },
  };
  return { target, seen };
}

const topicOf = (...steps: readonly Step[]): Topic => ({
  topic: "made-up",
  profile: "kubernetes-1.33",
  gates: [],
  historyMillis: 300_000,
  steps,
});

describe("a replay", () => {
  it("captures values, translates names both ways and sends credentials", () => {
    const { target, seen } = desk((sent) =>
      sent.startsWith("POST")
        ? { metadata: { uid: "u-1", resourceVersion: "7" } }
        : { kind: "Lease", apiVersion: "coordination.k8s.io/v1", metadata: { namespace: "recorded" } },
    );
    const steps: Step[] = [
      {
        id: "make",
        send: "POST /apis/events.svc.io/v1/namespaces/${ns}/events",
        body: { a: "svc.io/x" },
        captures: { rv: "metadata.resourceVersion" },
      },
      {
        id: "get",
        send: "GET /a?resourceVersion=${rv}",
        headers: { accept: "application/vnd.svc.protobuf" },
        as: "none",
        expect: {
          status: 200,
          body: { kind: "Lease", apiVersion: "coordination.svc.io/v1", metadata: { namespace: "${ns}" } },
        },
      },
    ];
    const [only] = replay(topicOf(...steps), target).map(judge);
    expect(only).toMatchObject({ id: "get", sameOutcome: true, sameContent: true });
    expect(seen[0]).toMatchObject({
      path: "/apis/events.k8s.io/v1/namespaces/recorded/events",
      headers: { authorization: "Bearer admintoken", "content-type": "application/json" },
      body: new TextEncoder().encode('{"a":"kubernetes.io/x"}'),
    });
    expect(seen[1]).toMatchObject({
      query: "resourceVersion=7",
      headers: { accept: "application/vnd.kubernetes.protobuf" },
    });
    expect(seen[1]?.headers).not.toHaveProperty("authorization");
  });

  it("reads a stream for as long as the recording did, and writes meanwhile", () => {
    const { target, seen } = desk((sent) =>
      sent.startsWith("DELETE") ? {} : { stream: [{ type: "ADDED" }, { type: "DELETED" }, { type: "ADDED" }] },
    );
    const step: Step = {
      id: "watch",
      send: "GET /a?watch=1",
      watchMillis: 500,
      meanwhile: [{ id: "delete", send: "DELETE /a/b", waitBeforeMillis: 100 }],
      expect: { status: 200, events: [{ type: "ADDED" }, { type: "DELETED" }] },
    };
    expect(replay(topicOf(step), target).map(judge)[0]).toMatchObject({
      expected: "200 ADDED DELETED",
      sameContent: true,
    });
    expect(seen.map(({ method }) => method)).toEqual(["GET", "DELETE"]);
  });

  it.each([
    ["another status", { code: 404, reason: "NotFound" }, "404 NotFound", "body.code: 409"],
    ["another reason", { code: 409, reason: "Conflict" }, "409 Conflict", 'body.message: "a", but is absent'],
    ["another word", { code: 409, reason: "AlreadyExists", message: "b" }, "409 AlreadyExists", 'body.message: "a"'],
    [
      "a missing field",
      { code: 409, reason: "AlreadyExists" },
      "409 AlreadyExists",
      'body.message: "a", but is absent',
    ],
    ["silence", undefined, "no answer", "no answer"],
  ])("rejects %s", (_, answer, actual, difference) => {
    const { target } = desk(() => answer);
    const expect409 = { status: 409, body: { code: 409, reason: "AlreadyExists", message: "a" } };
    const [only] = replay(topicOf({ id: "x", send: "GET /a", expect: expect409 }), target).map(judge);
    expect(only).toMatchObject({ expected: "409 AlreadyExists", actual, sameContent: false });
    expect(only?.sameOutcome).toBe(actual === "409 AlreadyExists");
    expect(only?.difference).toContain(difference);
  });
});

describe("a comparison", () => {
  it("hides what differs between runs, and nothing else", () => {
    const object = {
      metadata: {
        uid: "a",
        resourceVersion: "5",
        generateName: "g-",
        name: "g-x7",
        creationTimestamp: null,
        labels: { time: "" },
      },
      message: "Timeout: Too large resource version: 9, current: 5; at 2030-01-01T00:00:00Z",
    };
    expect(masked(object)).toEqual({
      metadata: {
        uid: "*",
        resourceVersion: "*",
        generateName: "g-",
        name: "g-*",
        creationTimestamp: null,
        labels: { time: "" },
      },
      message: "Timeout: Too large resource version: 9, current: *; at *",
    });
  });

  it("takes a cut text for its beginning only", () => {
    expect(firstDifference("abc…(9 characters)", "abcdefghi", "x")).toBeUndefined();
    expect(firstDifference("abc…(9 characters)", "abX", "x")).toBe('x: "abc…(9 characters)", but is "abX"');
    expect(firstDifference("abc", "abcd", "x")).toBe('x: "abc", but is "abcd"');
    expect(firstDifference([1], { 0: 1 }, "x")).toBe('x: [1], but is {"0":1}');
  });

  it("translates every name there and back", () => {
    const text =
      "meta.svc.io svc.io/metadata.name svc-system svc-node-lease x-svc-list-type application/vnd.svc.protobuf svc1";
    expect(intoDialect(kubernetesDialect, text)).toBe(
      "meta.k8s.io kubernetes.io/metadata.name kube-system kube-node-lease x-kubernetes-list-type application/vnd.kubernetes.protobuf svc1",
    );
    expect(fromDialect(kubernetesDialect, intoDialect(kubernetesDialect, text))).toBe(text);
    expect(fromDialect(svcDialect, intoDialect(svcDialect, text))).toBe(text);
  });
});

it("has every recorded topic, each step under a name of its own", () => {
  const counts = topics.map(({ topic, steps }) => [topic, steps.filter((step) => step.expect !== undefined).length]);
  const whole = {
    objects: 45,
    lists: 36,
    watch: 21,
    deletion: 35,
    patch: 36,
    "field-validation": 29,
    "dry-run": 14,
    negotiation: 33,
    events: 34,
    "custom-resources": 15,
    discovery: 15,
  };
  expect(Object.fromEntries(counts)).toEqual({
    ...whole,
    ...Object.fromEntries(Object.entries(whole).map(([topic, count]) => [`1.36-${topic}`, count])),
    "gates-watch": 20,
    "gates-deletion": 35,
    "gates-negotiation": 33,
    "gates-expiry": 7,
  });
  for (const { steps } of topics) expect(new Set(steps.map(({ id }) => id)).size).toBe(steps.length);
});
