import { configMap } from "../../arbitraries/config-maps.ts";
import type { Answer } from "../../client/exchange.ts";
import { objectOf, succeeded } from "../../client/collection.ts";
import { readOr } from "../../client/read-bodies.ts";
import type { JsonObject } from "../../client/types.ts";
import { openEnvelope, readFrames, readObject, hasPrefix, writeConfigMap } from "../../model/protobuf.ts";
import { mediaTypeIn, partsOf, showsSame } from "../../runner/encodings.ts";
import { defineCheck } from "../../runner/define-check.ts";

/**
 * Property: protobuf comes in its envelope, in objects, lists, errors and watches, and goes in only with it.
 * Method: one ConfigMap, read in every way; bodies that are no protobuf.
 */
export const protobufIsWhole = defineCheck({
  id: "protobuf-is-whole",
  area: "encodings",
  property: "Answers in protobuf begin with the prefix, and their envelope holds what JSON shows.",
  requirements: [
    "encodings.prefix",
    "encodings.envelope",
    "encodings.protobuf",
    "encodings.protobuf-write",
    "encodings.wrong-prefix",
    "encodings.protobuf-watch",
  ],
  features: ["configmaps", "watch", "protobuf"],
  async run(attempt) {
    const collection = await attempt.target.collection("configmaps");
    const { client } = collection;
    const mediaType = mediaTypeIn(attempt, "protobuf");
    const before = await collection.readList();
    const body = {
      rawBody: writeConfigMap(configMap("a", { data: { k: "v" }, labels: { a: "b" } })),
      contentType: mediaType,
    };
    succeeded(await client.request("POST", collection.path, body), "encodings.protobuf-write");
    const object = objectOf(await collection.get("a"));
    const written = JSON.stringify({ labels: object.metadata.labels, data: object["data"] });
    attempt.expect(
      "encodings.protobuf-write",
      written === '{"labels":{"a":"b"},"data":{"k":"v"}}',
      "a=b, k=v",
      written,
    );
    const opened = (answer: Answer, kind: string) => {
      const begins = hasPrefix(answer.bytes);
      attempt.expect("encodings.prefix", begins, "6b 38 73 00 first", answer.text.slice(0, 40));
      const read = readOr(() => {
        const envelope = openEnvelope(answer.bytes);
        return { envelope, object: readObject("v1", kind, envelope.raw) };
      });
      const named = read === undefined ? "nothing" : `${read.envelope.apiVersion} ${read.envelope.kind}`;
      attempt.expect("encodings.envelope", named === `v1 ${kind}`, `v1 ${kind}`, named);
      return read?.object ?? {};
    };
    const one = opened(await client.request("GET", collection.pathOf("a"), { accept: mediaType }), "ConfigMap");
    const same = showsSame([{ apiVersion: "v1", kind: "ConfigMap", ...one }], object);
    attempt.expect("encodings.protobuf", same, JSON.stringify(partsOf(object)), JSON.stringify(one));
    const list = opened(await client.request("GET", collection.path, { accept: mediaType }), "ConfigMapList");
    const items = (list["items"] ?? []) as JsonObject[];
    const item = items.find((found) => (found["metadata"] as JsonObject | undefined)?.["name"] === "a") ?? {};
    const listed = showsSame([{ apiVersion: "v1", kind: "ConfigMap", ...item }], object);
    attempt.expect(
      "encodings.protobuf",
      listed,
      `a list with ${JSON.stringify(partsOf(object))}`,
      JSON.stringify(list),
    );
    opened(await client.request("GET", collection.pathOf("absent"), { accept: mediaType }), "Status");

    const watched = await client.request("GET", collection.path, {
      accept: mediaType,
      query: { watch: true, resourceVersion: before.resourceVersion, timeoutSeconds: 1 },
    });
    const events = framesOf(watched);
    const event = events.find(({ type, object: seen }) => {
      const read = readOr(() => readObject("v1", "ConfigMap", seen.raw)) ?? {};
      return type === "ADDED" && showsSame([{ apiVersion: seen.apiVersion, kind: seen.kind, ...read }], object);
    });
    const actual =
      events.map(({ type, object: seen }) => `${type} ${seen.kind}`).join(", ") || watched.text.slice(0, 100);
    attempt.expect(
      "encodings.protobuf-watch",
      event !== undefined,
      `frames with ADDED ${JSON.stringify(partsOf(object))}`,
      actual,
    );

    const wrong = [
      "not protobuf",
      "xxxx\n\n",
      JSON.stringify(configMap("b")),
      writeConfigMap(configMap("b")).subarray(4),
    ];
    for (const rawBody of wrong) {
      const answer = await client.request("POST", collection.path, { rawBody, contentType: mediaType });
      attempt.expect(
        "encodings.wrong-prefix",
        answer.status === 400,
        "400 for a body without the prefix",
        `${answer.status} ${answer.text.slice(0, 200)}`,
      );
    }
    const absent = await collection.get("b");
    attempt.expect("encodings.wrong-prefix", absent.status === 404, "nothing created", String(absent.status));
  },
});

const framesOf = (answer: Answer): ReturnType<typeof readFrames> =>
  (answer.status === 200 ? readOr(() => readFrames(answer.bytes)) : undefined) ?? [];
