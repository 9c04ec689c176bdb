import { expect, it } from "vitest";
import { svcDialect } from "../../../wire/dialect.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { Encoders } from "./encode.ts";

const times = <Item>(count: number, make: (at: number) => Item): Item[] =>
  Array.from({ length: count }, (_, at) => make(at));
const named = (value: string, count: number): JsonObject => Object.fromEntries(times(count, (at) => [`k${at}`, value]));
const configMap = (data: JsonObject, more: object = {}): JsonObject =>
  ({ kind: "ConfigMap", apiVersion: "v1", metadata: { name: "a" }, data, ...more }) as JsonObject;
const cbor = new Encoders(svcDialect).of("cbor");

// Sixty thousand texts in base64 had taken a quarter of a second at once.
it.each([
  ["many texts in base64", configMap({}, { binaryData: named("YQ==", 60_000) }), 40],
  ["many texts", configMap(named("v", 60_000)), 40],
  ["long texts", configMap(named("v".repeat(1_000), 4_500)), 12],
])("an object with %s is written in parts, of which none is long", (_, object, count) => {
  const parts = [...(cbor.slices?.(object) ?? [])];
  expect(parts.length).toBeGreaterThanOrEqual(count);
  expect(Math.max(...parts.map(({ length }) => length))).toBeLessThan(512 * 1024);
  expect(Buffer.concat(parts).equals(cbor(object))).toBe(true);
});

it("bytes are bytes wherever a type has them, and texts elsewhere", () => {
  const hex = (object: JsonObject): string => Buffer.from(cbor(object)).toString("hex");
  const [asText, asBytes] = ["4459513d3d", "d64161"]; // YQ==, and what it stands for
  const map = configMap({ k: "YQ==" }, { binaryData: { b: "YQ==" } });
  expect(hex(map)).toContain(`4464617461a1416b${asText}`);
  expect(hex(map)).toContain(`a14162${asBytes}`);
  const list = { kind: "ConfigMapList", apiVersion: "v1", metadata: {}, items: [map] } as JsonObject;
  expect(hex(list)).toContain(`a14162${asBytes}`);
  const clientConfig = { url: "https://a", caBundle: "YQ==" };
  const hook = {
    kind: "ValidatingWebhookConfiguration",
    apiVersion: "admissionregistration.svc.io/v1",
    metadata: { name: "YQ==" },
    webhooks: [{ name: "YQ==", clientConfig }, { clientConfig }],
  } as unknown as JsonObject;
  expect(hex(hook).split(asBytes)).toHaveLength(3);
  expect(hex(hook).split(asText)).toHaveLength(3);
});
