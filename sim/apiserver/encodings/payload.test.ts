import { expect, it } from "vitest";
import type { JsonObject } from "../../contract/http-message.ts";
import { Encodings } from "./encodings.ts";
import { compactJson } from "./encode.ts";
import { InitialEventPayload, ObjectPayload, WatchEventPayload } from "./payload.ts";

const object: JsonObject = Object.freeze({ kind: "ConfigMap", apiVersion: "v1", data: { é: "\n" } });
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

it("tells two watches of one object with the same bytes, which are an event's", () => {
  const encodings = new Encodings(1_000);
  const first = new InitialEventPayload(object, encodings).bytes();
  expect(new InitialEventPayload(object, encodings).bytes()).toBe(first);
  expect(text(first)).toBe(text(new WatchEventPayload("ADDED", object, encodings).bytes()));
  expect(JSON.parse(text(first))).toEqual({ type: "ADDED", object });
});

it("makes them anew where nothing may be kept", () => {
  const encodings = new Encodings(0);
  const first = new InitialEventPayload(object, encodings).bytes();
  const second = new InitialEventPayload(object, encodings).bytes();
  expect(second).not.toBe(first);
  expect(second).toEqual(first);
});

it("writes a refusal of much in slices, which together are what it is at once", () => {
  const causes = Array.from({ length: 5_000 }, (_, at) => ({
    field: `spec.a[${at}]`,
    message: 'Invalid value: "<ä>"',
  }));
  const message = causes.map(({ field, message }) => `${field}: ${message}`).join(", ");
  const status = { kind: "Status", apiVersion: "v1", message, details: { causes } };
  const payload = new ObjectPayload(status, "application/json", compactJson);
  const slices = [...(payload.slices() ?? [])];
  expect(text(Buffer.concat(slices))).toBe(text(payload.bytes()));
  expect(Math.max(...slices.map(({ length }) => length))).toBeLessThan(200_000);
  expect(slices.length).toBeGreaterThan(10);
  const short = { ...status, message: "short", details: {} };
  expect(new ObjectPayload(short, "application/json", compactJson).slices()).toBeUndefined();
});
