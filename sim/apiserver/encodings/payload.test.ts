import { expect, it } from "vitest";
import type { JsonObject } from "../../contract/http-message.ts";
import { Encodings } from "./encodings.ts";
import { InitialEventPayload, WatchEventPayload } from "./payload.ts";

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
