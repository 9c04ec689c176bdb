/**
 * Secrets: ConfigMaps with a type, whose stringData becomes data. Source: the published rules for each type.
 */
import { decodeBase64, encodeBase64 } from "../../../wire/base64.ts";
import type { Dialect } from "../../../wire/dialect.ts";
import { readJson } from "../../../wire/json-reader.ts";
import type { Cause } from "../../contract/errors.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { invalidValue, requiredValue, tooLongValue } from "../../objects/causes.ts";
import { type Draft, metadataOf } from "../../contract/objects.ts";
import { bag, dataBytesMax, dataKeyCauses, dataKeyCost, decodedLength, immutableCauses } from "./config-map.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import { sizeInParts } from "../../objects/place.ts";
import { printer, nameColumn, column, sizeAt, ageColumn } from "../shared/printer.ts";
import { text } from "../shared/columns.ts";
import type { KindRow } from "../kind-row.ts";
import { plainFields } from "../shared/field-labels.ts";

const secretRules: KindRules = {
  defaults(draft) {
    foldStringData(draft);
    if ((draft["type"] ?? "") === "") draft["type"] = "Opaque";
  },
  validate(object, causes, dialect) {
    const data = bag(object, "data");
    const bytes = sizeInParts(data, causes, dataKeyCost, (key) => {
      dataKeyCauses("data", key, causes);
      return decodedLength(data[key] as string);
    });
    if (bytes > dataBytesMax) causes.push(tooLongValue("data", dataBytesMax));
    requiredKeyCauses(object, data, causes, dialect);
  },
  stepFirst: true,
  validateUpdate(object, live, causes) {
    if (object["type"] !== live["type"]) causes.push(invalidValue("type", object["type"], "field is immutable"));
    immutableCauses(object, live, ["data"], causes);
  },
};

const encoder = new TextEncoder();

/** Write-only: each text becomes data, over a key that is there already. */
function foldStringData(draft: Draft): void {
  const texts = draft["stringData"] as Readonly<Record<string, string>> | undefined;
  if (texts === undefined) return;
  const data = { ...(draft["data"] as Record<string, string> | undefined) };
  for (const key of Object.keys(texts)) data[key] = encodeBase64(encoder.encode(texts[key]));
  delete draft["stringData"];
  draft["data"] = Object.fromEntries(
    Object.keys(data)
      .sort()
      .map((key) => [key, data[key] as string]),
  ) as Json;
}

/** Types of a published meaning need these keys. */
const requiredKeys: ReadonlyMap<string, readonly string[]> = new Map([
  ["dockercfg", [".dockercfg"]],
  ["dockerconfigjson", [".dockerconfigjson"]],
  ["ssh-auth", ["ssh-privatekey"]],
  ["tls", ["tls.crt", "tls.key"]],
]);

function requiredKeyCauses(
  object: JsonObject,
  data: Readonly<Record<string, string>>,
  causes: Cause[],
  { labelSuffix }: Dialect,
): void {
  const type = object["type"] as string;
  const slash = type.indexOf("/");
  if (slash < 0 || type.slice(0, slash) !== labelSuffix) return; // whatever another brand means by it
  const name = type.slice(slash + 1);
  for (const key of requiredKeys.get(name) ?? []) {
    if (!Object.hasOwn(data, key) || (name === "ssh-auth" && data[key] === "")) {
      causes.push(requiredValue(`data[${key}]`));
    } else if (name.startsWith("dockerc")) jsonCauses(data[key] as string, `data[${key}]`, causes);
  }
  if (name === "service-account-token") {
    const annotation = `${type.slice(0, slash)}/service-account.name`;
    if ((metadataOf(object).annotations?.[annotation] ?? "") === "") {
      causes.push(requiredValue(`metadata.annotations[${annotation}]`));
    }
  }
  if (name === "basic-auth" && !Object.hasOwn(data, "username") && !Object.hasOwn(data, "password")) {
    causes.push(requiredValue("data[username]"), requiredValue("data[password]"));
  }
}

/** Settings of a registry's client are an object in JSON; what is wrong is told without what is in it. */
function jsonCauses(base64: string, path: string, causes: Cause[]): void {
  const bytes = decodeBase64(base64);
  if (typeof bytes === "number") return; // the decoder has refused it already
  const document = readJson(bytes);
  if ("error" in document) causes.push(invalidValue(path, "<secret contents redacted>", document.error));
}

export const secretKind: KindRow = {
  resource: "/secrets",
  rules: secretRules,
  columns: printer(
    nameColumn,
    column("Type", "What the secret is for.", text("type")),
    column("Data", "How many entries there are.", (it) => sizeAt(it, "data")),
    ageColumn,
  ),
  fieldLabels: plainFields("type", "metadata.name", "metadata.namespace"),
};
