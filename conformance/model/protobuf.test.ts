import { describe, expect, it } from "vitest";
import {
  hasPrefix,
  NoProtobuf,
  openEnvelope,
  protobufPrefix,
  readFrames,
  readObject,
  writeConfigMap,
} from "./protobuf.ts";

/** A delimited field, written out by hand: short ones only. */
const field = (number: number, value: string | Uint8Array): Uint8Array => {
  const bytes = typeof value === "string" ? new TextEncoder().encode(value) : value;
  return Uint8Array.of((number << 3) | 2, bytes.length, ...bytes);
};
const message = (...parts: readonly Uint8Array[]): Uint8Array => Uint8Array.from(parts.flatMap((part) => [...part]));

describe("envelopes", () => {
  it("are opened, and the object read by the tables, empty fields and times too", () => {
    const time = Uint8Array.of(0x08, 0x80, 0xa8, 0xd6, 0xfb, 0x03, 0x10, 0);
    const deletionGracePeriodSeconds = Uint8Array.of(0x50, 30);
    const label = field(11, message(field(1, "k"), field(2, "v")));
    const names = message(field(1, "a"), field(2, ""), field(3, "n"), field(6, "7"));
    const metadata = message(names, field(8, time), deletionGracePeriodSeconds, label);
    const raw = message(field(1, metadata), field(2, message(field(1, "k"), field(2, "w"))));
    const typeMeta = message(field(1, "v1"), field(2, "ConfigMap"));
    const bytes = message(protobufPrefix, field(1, typeMeta), field(2, raw), field(3, ""), field(4, ""));
    const envelope = openEnvelope(bytes);
    expect([envelope.apiVersion, envelope.kind, envelope.contentType]).toEqual(["v1", "ConfigMap", ""]);
    expect(readObject("v1", "ConfigMap", envelope.raw)).toEqual({
      metadata: {
        name: "a",
        generateName: "",
        namespace: "n",
        resourceVersion: "7",
        labels: { k: "v" },
        creationTimestamp: "2003-09-27T13:43:28Z",
        deletionGracePeriodSeconds: 30,
      },
      data: { k: "w" },
    });
  });

  it("are written so that they are read the same", () => {
    const object = { metadata: { name: "a", labels: { k: "é", l: "" } }, data: { x: "1\n2" } };
    const bytes = writeConfigMap(object);
    expect(hasPrefix(bytes)).toBe(true);
    const { apiVersion, kind, raw } = openEnvelope(bytes);
    expect(readObject(apiVersion, kind, raw)).toEqual(object);
  });

  it("are refused without their prefix, and when they are cut off", () => {
    const bytes = writeConfigMap({ metadata: { name: "a" } });
    for (const wrong of [bytes.subarray(1), bytes.subarray(0, -1), new TextEncoder().encode("{}")]) {
      expect(() => openEnvelope(wrong)).toThrow(NoProtobuf);
    }
  });
});

describe("frames", () => {
  const envelope = writeConfigMap({ metadata: { name: "a" } });
  const inner = Uint8Array.of(0x0a, envelope.length, ...envelope);
  const event = Uint8Array.of(0x0a, 5, ...new TextEncoder().encode("ADDED"), 0x12, inner.length, ...inner);
  const frame = Uint8Array.of(0, 0, 0, event.length, ...event);

  it("are read one after the other", () => {
    const events = readFrames(Uint8Array.of(...frame, ...frame));
    expect(events.map(({ type, object }) => `${type} ${object.kind}`)).toEqual(["ADDED ConfigMap", "ADDED ConfigMap"]);
    expect(readFrames(new Uint8Array(0))).toEqual([]);
  });

  it("are refused when the last is cut off", () => {
    expect(() => readFrames(frame.subarray(0, -1))).toThrow(NoProtobuf);
    expect(() => readFrames(frame.subarray(0, 3))).toThrow(NoProtobuf);
  });

  it("reads no message of more fields than an answer has values", () => {
    const fields = Buffer.alloc(2 * 3_000_001, Buffer.of(0x08, 0x00)); // field 1, a zero
    expect(() => readObject("v1", "ConfigMap", fields)).toThrow("a message has more than 3000000 fields");
  });
});
