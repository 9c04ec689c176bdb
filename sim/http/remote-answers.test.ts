import { describe, expect, it } from "vitest";
import { kubernetesDialect } from "../../wire/dialect.ts";
import { structOfKind, type TypeRow } from "../../wire/schema.ts";
import { encodeProtobuf, encodeWatchFrame } from "../apiserver/encodings/protobuf/envelope.ts";
import type { JsonObject } from "../contract/http-message.ts";
import { answerValuesMax } from "../../wire/json-values.ts";
import { answerReader } from "./remote-answers.ts";

const reader = answerReader(kubernetesDialect);
const bytes = (value: unknown): Uint8Array =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value), "utf8");
const pod = (more: object = {}): JsonObject => ({ kind: "Pod", apiVersion: "v1", metadata: { name: "a" }, ...more });
const podPath = "/api/v1/namespaces/d/pods/a";
const answer = (value: unknown, path = podPath): JsonObject | undefined => reader.answer(path, bytes(value), false);

describe("an answer", () => {
  it("is an object of the kind that was asked for, nulls left out", () => {
    expect(answer(pod({ spec: { containers: [{ name: "c", image: null }], volumes: null } }))).toMatchObject({
      kind: "Pod",
      metadata: { name: "a" },
      spec: { containers: [{ name: "c" }] },
    });
    const list = { kind: "PodList", apiVersion: "v1", metadata: {}, items: [{ metadata: { name: "a" } }] };
    expect(answer(list, "/api/v1/pods")).toMatchObject({ items: [{ metadata: { name: "a" } }] });
    const refusal = { kind: "Status", apiVersion: "v1", code: 404, message: "not found" };
    expect(answer(refusal)).toMatchObject({ code: 404, message: "not found" });
    const lease = { kind: "Lease", apiVersion: "coordination.k8s.io/v1", metadata: { name: "a" } };
    expect(answer(lease, "/apis/coordination.k8s.io/v1/namespaces/d/leases/a")).toMatchObject(lease);
    const token = { kind: "TokenRequest", apiVersion: "authentication.k8s.io/v1", status: { token: "t" } };
    expect(answer(token, "/api/v1/namespaces/d/serviceaccounts/a/token")).toMatchObject({ status: { token: "t" } });
    const own = { kind: "Own", apiVersion: "a.io/v1", of: { any: [1, null] } };
    expect(answer(own, "/apis/a.io/v1/owns/a")).toEqual(own);
  });

  it.each<[string, unknown]>([
    ["no JSON", "{"],
    ["nothing", ""],
    ["null", null],
    ["a list", [pod()]],
    ["of no kind", {}],
    ["of a kind that is no text", pod({ kind: { a: 1 } })],
    ["of another kind", { ...pod(), kind: "ConfigMap" }],
    ["of another version's kind", { ...pod(), kind: "Deployment", apiVersion: "apps/v1" }],
    ["with metadata that are a text", pod({ metadata: "a" })],
    ["with a list that is an object", pod({ spec: { containers: { length: 1 } } })],
    ["with a number that is a text", pod({ spec: { terminationGracePeriodSeconds: "9" } })],
    ["with a number that no whole number holds", '{"kind":"Pod","apiVersion":"v1","spec":{"priority":1e400}}'],
    ["with a list in it that is of another kind", pod({ spec: { containers: [[]] } })],
    [
      "very deep",
      `{"kind":"Pod","apiVersion":"v1","metadata":{"managedFields":[{"fieldsV1":${'{"f:a":'.repeat(100_000)}{}${"}".repeat(100_000)}}]}}`,
    ],
    [
      "very deep where nothing is known",
      `{"kind":"Own","apiVersion":"a.io/v1","of":${"[".repeat(2e5)}${"]".repeat(2e5)}}`,
    ],
    ["of very many values", `{"kind":"Pod","apiVersion":"v1","a":[${"0,".repeat(answerValuesMax)}0]}`],
  ])("makes no sense where it is %s", (_what, value) => {
    expect(answer(value, _what.includes("nothing is known") ? "/apis/a.io/v1/owns/a" : podPath)).toBeUndefined();
  });

  it("has whole characters alone", () => {
    expect(
      answer('{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a\\ud800b\\udc00\\ud83d\\ude00"}}'),
    ).toMatchObject({
      metadata: { name: "a\ufffdb\ufffd\u{1f600}" },
    });
  });

  it("may be a long list, in protobuf as in JSON", () => {
    const items = Array.from({ length: 40_000 }, (_, at) => ({
      metadata: { name: `s${at}`, namespace: "d", uid: `u${at}`, resourceVersion: "1" },
      spec: { clusterIP: "10.0.0.1", ports: [{ name: "a", port: 80, protocol: "TCP", targetPort: 80 }] },
    }));
    const list = { kind: "ServiceList", apiVersion: "v1", metadata: { resourceVersion: "1" }, items };
    const encoded = encodeProtobuf(structOfKind("v1", "ServiceList") as TypeRow, list);
    for (const [said, isProtobuf] of [[bytes(list), false] as const, [encoded, true] as const]) {
      const read = reader.answer("/api/v1/services", said, isProtobuf);
      expect((read?.["items"] as unknown[] | undefined)?.length).toBe(40_000);
    }
  });
});

describe("an event of a watch", () => {
  it("has a type and an object of the kind that is watched, or a status", () => {
    const event = { type: "ADDED", object: pod() };
    expect(reader.event("/api/v1/pods", bytes(event), false)).toMatchObject(event);
    const gone = { type: "ERROR", object: { kind: "Status", apiVersion: "v1", code: 410 } };
    expect(reader.event("/api/v1/pods", bytes(gone), false)).toMatchObject(gone);
    const frame = encodeWatchFrame("DELETED", encodeProtobuf(structOfKind("v1", "Pod") as TypeRow, pod()));
    expect(reader.event("/api/v1/pods", frame.subarray(4), true)).toMatchObject({ type: "DELETED", object: pod() });
  });

  it.each([
    [[]],
    [{}],
    [{ type: "ADDED" }],
    [{ type: "ADDED", object: null }],
    [{ type: "ADDED", object: [] }],
    [{ type: ["ADDED"], object: pod() }],
    [{ type: "ADDED", object: { ...pod(), kind: "Node" } }],
  ])("makes no sense otherwise: %j", (event) => {
    expect(reader.event("/api/v1/pods", bytes(event), false)).toBeUndefined();
  });

  it("makes no sense in protobuf that is cut, or none", () => {
    const frame = encodeWatchFrame("ADDED", encodeProtobuf(structOfKind("v1", "Pod") as TypeRow, pod())).subarray(4);
    for (const part of [frame.subarray(0, 20), Buffer.alloc(50, 0xff), new Uint8Array(0)])
      expect(reader.event("/api/v1/pods", part, true)).toBeUndefined();
  });
});
