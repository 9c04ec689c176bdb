/** Reads and writes ConfigMaps in every encoding that a target may have. */
import { stringify } from "yaml";
import { encodeCbor } from "../../wire/cbor.ts";
import { cborMediaType, jsonMediaType, yamlMediaType } from "../../wire/media-types.ts";
import type { Answer } from "../client/exchange.ts";
import { cborIn, jsonIn, yamlIn } from "../client/read-bodies.ts";
import { isJsonObject, type Json, type JsonObject } from "../client/types.ts";
import { sameJson } from "../model/json-values.ts";
import { openEnvelope, readObject, writeConfigMap } from "../model/protobuf.ts";
import type { Attempt } from "./attempt.ts";

export type Encoding = "json" | "yaml" | "protobuf" | "cbor";

export function mediaTypeIn(attempt: Attempt, encoding: Encoding): string {
  const { protobufMediaType } = attempt.profile.dialect;
  return { json: jsonMediaType, yaml: yamlMediaType, protobuf: protobufMediaType, cbor: cborMediaType }[encoding];
}

/** JSON and YAML, and what else the target has. */
export function encodingsOf(attempt: Attempt): Encoding[] {
  const optional = (["protobuf", "cbor"] as const).filter((name) => attempt.features.get(name)?.supported !== false);
  return ["json", "yaml", ...optional];
}

/** A ConfigMap in a body. YAML in quotes: what else may stand plain differs between its versions. */
export function written(encoding: Encoding, object: JsonObject): string | Uint8Array {
  if (encoding === "protobuf") return writeConfigMap(object);
  if (encoding === "cbor") return encodeCbor(object as Parameters<typeof encodeCbor>[0]);
  return encoding === "yaml" ? stringify(object, { defaultStringType: "QUOTE_DOUBLE" }) : JSON.stringify(object);
}

/**
 * The documents that an answer may mean; a text of YAML may mean one thing in version 1.1 and another in 1.2. Throws
 * when it means none.
 */
export function readIn(encoding: Encoding, answer: Answer): Json[] {
  if (encoding === "json") return [jsonIn(answer.text)];
  if (encoding === "yaml") return (["1.1", "1.2"] as const).map((version) => yamlIn(answer.text, version));
  if (encoding === "cbor") return [cborIn(answer.bytes)];
  const { apiVersion, kind, raw } = openEnvelope(answer.bytes);
  return [{ apiVersion, kind, ...readObject(apiVersion, kind, raw) }];
}

/** Whether one of the documents has the parts of an object that every encoding can show. */
export function showsSame(documents: readonly Json[], object: JsonObject): boolean {
  return documents.some((document) => sameJson(partsOf(document), partsOf(object)));
}

export function partsOf(document: Json): JsonObject {
  if (!isJsonObject(document) || !isJsonObject(document["metadata"])) return { misshapen: document };
  const { name, namespace, uid, resourceVersion, labels, creationTimestamp } = document["metadata"];
  const metadata = { name, namespace, uid, resourceVersion, creationTimestamp, labels: labels ?? {} };
  return { apiVersion: document["apiVersion"], kind: document["kind"], metadata, data: document["data"] ?? {} };
}
