/** The server as its clients see it, in every representation, under both profiles. */
import { describe, expect, it } from "vitest";
import { decodeCbor, decodeCborItem, encodeCbor } from "../../../wire/cbor.ts";
import type { Dialect } from "../../../wire/dialect.ts";
import { structNamed, type TypeRow } from "../../../wire/schema.ts";
import { Kernel } from "../../kernel/kernel.ts";
import { RevisionStore } from "../../store/revision-store.ts";
import { createApiServer } from "../api-server.ts";
import type { Json, JsonObject, Payload, ResponseHeaders } from "../../contract/http-message.ts";
import { kubernetesProfile, type Profile, svcProfile } from "../../contract/profile.ts";
import { encodeMessage } from "./protobuf/messages.ts";
import { decodeProtobuf, encodeProtobuf, openEnvelope, typeOfObject } from "./protobuf/envelope.ts";

interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

/** A server with a namespace, and a way to ask it. */
function bed(profile: Profile, cbor = true) {
  const kernel = new Kernel({ seed: "representations" });
  const process = kernel.process("apiserver");
  const featureGates = { CBORServingAndStorage: cbor };
  const server = kernel.enter(process, () =>
    createApiServer({ process, store: new RevisionStore(), profile, featureGates, anonymousAuth: true }),
  );
  const frames: Uint8Array[] = [];
  const ask = (send: string, headers: Record<string, string> = {}, body?: Uint8Array | JsonObject): Answer => {
    const [method = "", target = ""] = send.split(" ");
    const [path = "", query = ""] = target.split("?");
    let answer: Answer | undefined;
    const told = (status: number, all: ResponseHeaders, payload?: Payload): void => {
      const contentType = String(all["content-type"] ?? payload?.contentType);
      answer = { status, contentType, bytes: payload?.bytes() ?? new Uint8Array() };
    };
    const sink = {
      respond: told,
      open: told,
      frame: (payload: Payload) => {
        frames.push(payload.bytes());
        return 0;
      },
      close() {},
    };
    kernel.enter(process, () => server.start({ method, path, query, headers, body }, sink));
    kernel.run(kernel.nowMicros() + 1_000);
    if (answer === undefined) throw new Error(`no answer to ${send}`);
    return answer;
  };
  return {
    ask,
    frames,
    dialect: profile.dialect,
    pass: (seconds: number) => kernel.run(kernel.nowMicros() + seconds * 1e6),
  };
}

const collection = "/api/v1/namespaces/default/secrets";
const secret: JsonObject = { kind: "Secret", apiVersion: "v1", metadata: { name: "s" }, data: { k: "AAEC" } };

const text = (answer: Answer): string => new TextDecoder().decode(answer.bytes);
const json = (answer: Answer): JsonObject => JSON.parse(text(answer)) as JsonObject;

function fromProtobuf(dialect: Dialect, bytes: Uint8Array): JsonObject {
  const body = openEnvelope(bytes);
  return decodeProtobuf(typeOfObject(dialect, { kind: body.kind, apiVersion: body.apiVersion }) as TypeRow, body);
}

describe.each([svcProfile, kubernetesProfile])("$name", (profile) => {
  const { protobufMediaType, groupSuffix } = profile.dialect;
  const as = (kind: string, mediaType = "application/json", version = "v1"): string =>
    `${mediaType};as=${kind};g=meta.${groupSuffix};v=${version}`;

  it("shows one object alike in all of them", () => {
    const { ask, dialect } = bed(profile);
    ask(`POST ${collection}`, {}, secret);
    const plain = json(ask(`GET ${collection}/s`));
    const binary = ask(`GET ${collection}/s`, { accept: protobufMediaType });
    expect(binary.contentType).toBe(protobufMediaType);
    expect(fromProtobuf(dialect, binary.bytes)).toEqual(plain);
    const cbor = ask(`GET ${collection}/s`, { accept: "application/cbor" });
    expect(cbor.contentType).toBe("application/cbor");
    expect(decodeCbor(cbor.bytes)).toEqual(plain);
    expect(Buffer.from(cbor.bytes).includes(Buffer.from("d643000102", "hex"))).toBe(true); // bytes, shown as base64
    const list = decodeCbor(ask(`GET ${collection}`, { accept: "application/cbor" }).bytes) as JsonObject;
    expect(list).toEqual(json(ask(`GET ${collection}`)));
    expect(fromProtobuf(dialect, ask(`GET ${collection}`, { accept: protobufMediaType }).bytes)).toEqual(list);
  });

  it("takes one object alike in all of them", () => {
    const { ask } = bed(profile);
    const protobuf = encodeProtobuf(structNamed("core.v1.Secret"), secret);
    expect(ask(`POST ${collection}`, { "content-type": protobufMediaType }, protobuf).status).toBe(201);
    expect(json(ask(`GET ${collection}/s`))["data"]).toEqual({ k: "AAEC" });
    const update = encodeCbor({ ...secret, data: { k: Uint8Array.of(3) } } as never);
    expect(ask(`PUT ${collection}/s`, { "content-type": "application/cbor" }, update).status).toBe(200);
    expect(json(ask(`GET ${collection}/s`))["data"]).toEqual({ k: "Aw==" });
  });

  it("takes the options of a deletion in all of them", () => {
    const { ask } = bed(profile);
    const type = structNamed("~apimachinery.pkg.apis.meta.v1.DeleteOptions");
    const options: JsonObject = { kind: "DeleteOptions", apiVersion: "v1", preconditions: { uid: "another" } };
    const bodies: readonly (readonly [contentType: string, body: Uint8Array])[] = [
      [protobufMediaType, encodeProtobuf(type, options)],
      ["application/cbor", encodeCbor(options)],
      ["application/json", new TextEncoder().encode(JSON.stringify(options))],
    ];
    ask(`POST ${collection}`, {}, secret);
    for (const [contentType, body] of bodies) {
      expect(ask(`DELETE ${collection}/s`, { "content-type": contentType }, body).status, contentType).toBe(409);
    }
  });

  it("refuses bodies that are not what they say", () => {
    const { ask } = bed(profile);
    const message = (contentType: string, body: Uint8Array): string => {
      const answer = ask(`POST ${collection}`, { "content-type": contentType }, body);
      expect(answer.status).toBe(400);
      return String(json(answer)["message"]);
    };
    const unrecognised = "the object provided is unrecognized (must be of type Secret): ";
    const bytes = new TextEncoder().encode("zzz");
    expect(message(protobufMediaType, bytes)).toBe(
      `${unrecognised}provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] (7a7a7a)`,
    );
    expect(message("application/cbor", bytes)).toBe(
      `${unrecognised}unable to determine group/version/kind: unexpected EOF (7a7a7a)`,
    );
    const pod = encodeProtobuf(structNamed("core.v1.Pod"), { kind: "Pod", apiVersion: "v1" });
    expect(message(protobufMediaType, pod)).toContain("cannot be handled as a Secret");
    const broken = encodeProtobuf(structNamed("core.v1.Secret"), secret);
    const at = Buffer.from(broken).indexOf(Buffer.from(encodeMessage(structNamed("core.v1.Secret"), secret)));
    broken[at] = 0x0f; // a wire type that does not exist
    expect(message(protobufMediaType, broken)).toContain('Secret in version "v1" cannot be handled as a Secret: ');
  });

  it("frames a watch in protobuf", () => {
    const { ask, frames, dialect } = bed(profile);
    ask(`POST ${collection}`, {}, secret);
    const answer = ask(`GET ${collection}?watch=1`, { accept: protobufMediaType });
    expect(answer.contentType).toBe(`${protobufMediaType};stream=watch`);
    const [frame = new Uint8Array()] = frames;
    expect(new DataView(frame.buffer, frame.byteOffset).getUint32(0)).toBe(frame.length - 4);
    expect(Buffer.from(frame.subarray(4, 11)).toString("latin1")).toBe("\n\u0005ADDED");
    const object = frame.subarray(Buffer.from(frame).indexOf("k8s\0"));
    expect(fromProtobuf(dialect, object)).toEqual(json(ask(`GET ${collection}/s`)));
  });

  it("strings events together in CBOR", () => {
    const { ask, frames } = bed(profile);
    ask(`POST ${collection}`, {}, secret);
    const answer = ask(`GET ${collection}?watch=1`, { accept: "application/cbor" });
    expect(answer.contentType).toBe("application/cbor-seq");
    ask(`DELETE ${collection}/s`);
    const stream = Buffer.concat(frames);
    const first = decodeCborItem(stream, 0);
    const second = decodeCborItem(stream, first.end);
    expect(first.value).toMatchObject({ type: "ADDED", object: { kind: "Secret", data: { k: "AAEC" } } });
    expect(second).toMatchObject({ value: { type: "DELETED" }, end: stream.length });
  });

  it("shows the columns of a watched table once in each watch, and ages by its clock", () => {
    const { ask, frames, pass } = bed(profile);
    ask(`POST ${collection}`, {}, secret);
    pass(200);
    for (let watch = 0; watch < 2; watch++) {
      ask(`GET ${collection}?watch=1&includeObject=None`, { accept: as("Table") });
      ask(`POST ${collection}`, {}, { ...secret, metadata: { name: `s${watch}` } });
    }
    const events = frames.map((frame) => JSON.parse(new TextDecoder().decode(frame)) as { object: JsonObject });
    // The second watch begins with two objects, and both hear of the last.
    const headers = events.map(({ object }) => object["columnDefinitions"] !== null);
    expect(headers).toEqual([true, false, true, false, false, false]);
    expect(events[0]?.object["rows"]).toEqual([{ cells: ["s", "Opaque", 1, "3m20s"], object: null }]);
  });

  it("reduces objects to their metadata, in every format and both versions", () => {
    const { ask, dialect } = bed(profile);
    ask(`POST ${collection}`, {}, secret);
    const { metadata } = json(ask(`GET ${collection}/s`));
    const partial = { kind: "PartialObjectMetadata", apiVersion: `meta.${groupSuffix}/v1`, metadata };
    const kind = "PartialObjectMetadata";
    expect(json(ask(`GET ${collection}/s`, { accept: as(kind) }))).toEqual(partial);
    expect(fromProtobuf(dialect, ask(`GET ${collection}/s`, { accept: as(kind, protobufMediaType) }).bytes)).toEqual(
      partial,
    );
    expect(decodeCbor(ask(`GET ${collection}/s`, { accept: as(kind, "application/cbor") }).bytes)).toEqual(partial);
    const list = json(ask(`GET ${collection}`, { accept: as(`${kind}List`, "application/json", "v1beta1") }));
    const apiVersion = `meta.${groupSuffix}/v1beta1`;
    expect(list).toMatchObject({ kind: `${kind}List`, apiVersion, items: [{ ...partial, apiVersion }] });
  });

  it("refuses the arity that does not fit, and tables that JSON cannot hold", () => {
    const { ask } = bed(profile);
    ask(`POST ${collection}`, {}, secret);
    const refused = (path: string, accept: string): Json => {
      const answer = ask(`GET ${path}`, { accept });
      expect(answer.status).toBe(406);
      return (answer.contentType === "application/json" ? json(answer)["message"] : "") as Json;
    };
    expect(refused(collection, as("PartialObjectMetadata"))).toBe(
      "you requested PartialObjectMetadata, but the requested object is a list (*core.SecretList)",
    );
    expect(refused(`${collection}/s`, as("PartialObjectMetadataList"))).toBe(
      "you requested PartialObjectMetadataList, but the requested object is not a list (*core.Secret)",
    );
    refused(collection, as("Table", protobufMediaType));
    refused(collection, as("Table", "application/cbor"));
    refused(collection, as("Table", "application/json", "v2"));
    const bad = ask(`GET ${collection}?includeObject=All`, { accept: as("Table") });
    expect([bad.status, json(bad)["reason"]]).toEqual([400, "BadRequest"]);
  });

  it("goes down a list of wishes, as clients of the command line have them", () => {
    const { ask } = bed(profile);
    const tables = `${as("Table")},${as("Table", "application/json", "v1beta1")},application/json`;
    expect(json(ask(`GET ${collection}`, { accept: tables }))["kind"]).toBe("Table");
    const accept = `${as("Table", protobufMediaType)}, application/yaml;q=0.5, ${as("Nothing")}`;
    expect(ask(`GET ${collection}`, { accept }).contentType).toBe("application/yaml");
    expect(ask(`GET ${collection}`, { accept: `${protobufMediaType};q=0.2,application/json;q=0.3` }).contentType).toBe(
      "application/json",
    );
  });

  it("writes errors in them, but never as tables", () => {
    const { ask, dialect } = bed(profile);
    const answer = ask(`GET ${collection}/none`, { accept: protobufMediaType });
    expect([answer.status, answer.contentType]).toEqual([404, protobufMediaType]);
    expect(fromProtobuf(dialect, answer.bytes)).toMatchObject({ kind: "Status", code: 404, reason: "NotFound" });
    expect(json(ask(`GET ${collection}/none`, { accept: as("Table") }))["kind"]).toBe("Status");
    expect(decodeCbor(ask(`GET ${collection}/none`, { accept: "application/cbor" }).bytes)).toMatchObject({
      code: 404,
    });
  });

  it("shows discovery in protobuf, and its index of paths in no such thing", () => {
    const { ask, dialect } = bed(profile);
    for (const path of ["/api", "/apis", "/apis/apps", "/api/v1"]) {
      const plain = json(ask(`GET ${path}`));
      const { bytes } = ask(`GET ${path}`, { accept: protobufMediaType });
      expect(fromProtobuf(dialect, bytes), path).toMatchObject({ kind: plain["kind"] as string });
    }
    expect(ask("GET /", { accept: protobufMediaType }).status).toBe(406);
  });

  it("knows no CBOR while the gate is off", () => {
    const { ask } = bed(profile, false);
    expect(ask(`GET ${collection}`, { accept: "application/cbor" }).status).toBe(406);
    expect(ask(`POST ${collection}`, { "content-type": "application/cbor" }, encodeCbor(secret)).status).toBe(415);
  });
});
