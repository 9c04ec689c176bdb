/**
 * What can be shown as files in a volume: keys of config maps and secrets, facts about the pod, tokens.
 * Source: the published validation of such volumes. Simplification: bundles of trust are not judged.
 */
import type { Cause } from "../../../contract/errors.ts";
import type { Json, JsonObject } from "../../../contract/http-message.ts";
import { forbiddenField, invalidValue, requiredValue } from "../../../objects/causes.ts";
import { isObject } from "../../../contract/objects.ts";
import { listOf } from "../../shared/fields.ts";
import { fieldRefCauses, resourceRefCauses } from "./environment.ts";
import { fileCauses } from "./paths.ts";

/** Keys of one config map or secret. */
export function filesCauses(source: JsonObject, path: string, causes: Cause[]): void {
  modeCauses(source["defaultMode"], `${path}.defaultMode`, causes);
  itemsCauses(source, path, causes);
}

function itemsCauses(source: JsonObject, path: string, causes: Cause[]): void {
  listOf(source, "items").forEach((item, at) => {
    const here = `${path}.items[${at}]`;
    needs(item, ["key", "path"], here, causes);
    fileCauses((item["path"] ?? "") as string, `${here}.path`, causes);
    modeCauses(item["mode"], `${here}.mode`, causes);
  });
}

function needs(source: JsonObject, fields: readonly string[], path: string, causes: Cause[]): void {
  for (const field of fields) if ((source[field] ?? "") === "") causes.push(requiredValue(`${path}.${field}`));
}

export function modeCauses(mode: Json | undefined, path: string, causes: Cause[]): void {
  if (mode === undefined || ((mode as number) >= 0 && (mode as number) <= 0o777)) return;
  causes.push(invalidValue(path, mode, "must be a number between 0 and 0777 (octal), both inclusive"));
}

const shownFields = ["metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"];

/** One fact as a file. The path of the list stands for that of the item. */
export function downwardCauses(item: JsonObject, path: string, causes: Cause[]): void {
  needs(item, ["path"], path, causes);
  fileCauses((item["path"] ?? "") as string, `${path}.path`, causes);
  const { fieldRef, resourceFieldRef } = item;
  if (isObject(fieldRef)) {
    fieldRefCauses(fieldRef, shownFields, `${path}.fieldRef`, causes);
    if (isObject(resourceFieldRef)) {
      causes.push(invalidValue(path, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously"));
    }
  } else if (isObject(resourceFieldRef)) {
    resourceRefCauses(resourceFieldRef, true, `${path}.resourceFieldRef`, causes);
  } else causes.push(requiredValue(path, "one of fieldRef and resourceFieldRef is required"));
  modeCauses(item["mode"], `${path}.mode`, causes);
}

/** Several sources in one volume, no two of whose files may be the same. */
export function projectedCauses(volume: JsonObject, path: string, causes: Cause[]): void {
  modeCauses(volume["defaultMode"], `${path}.defaultMode`, causes);
  const taken = new Set<string>();
  const take = (file: Json | undefined, shown: Json | undefined): void => {
    if (file === undefined || file === "") return;
    if (taken.has(file as string)) causes.push(invalidValue(path, shown, "conflicting duplicate paths"));
    taken.add(file as string);
  };
  listOf(volume, "sources").forEach((one, at) => {
    const here = `${path}.sources[${at}]`;
    let count = 0;
    for (const kind of ["secret", "configMap"]) {
      const source = one[kind];
      if (!isObject(source)) continue;
      count++;
      needs(source, ["name"], `${here}.${kind}`, causes);
      itemsCauses(source, `${here}.${kind}`, causes);
      for (const item of listOf(source, "items")) take(item["path"], source["name"] ?? "");
    }
    if (isObject(one["downwardAPI"])) {
      count++;
      for (const item of listOf(one["downwardAPI"], "items")) {
        downwardCauses(item, `${here}.downwardAPI`, causes);
        take(item["path"], item["path"]);
      }
    }
    if (isObject(one["serviceAccountToken"])) {
      count++;
      tokenCauses(one["serviceAccountToken"], `${here}.serviceAccountToken`, path, causes);
    }
    if (isObject(one["clusterTrustBundle"])) count++;
    if (count > 1) causes.push(forbiddenField(here, "may not specify more than 1 volume type per source"));
  });
}

const tokenSeconds = { min: 600, max: 4_294_967_296 };

/** The place of a token is named as if it were the volume's. */
function tokenCauses(token: JsonObject, path: string, volumePath: string, causes: Cause[]): void {
  const seconds = (token["expirationSeconds"] ?? 0) as number;
  const refuse = (detail: string): number =>
    causes.push(invalidValue(`${path}.expirationSeconds`, seconds, `may not specify a duration ${detail}`));
  if (seconds < tokenSeconds.min) refuse("less than 10 minutes");
  if (seconds > tokenSeconds.max) refuse("larger than 2^32 seconds");
  needs(token, ["path"], volumePath, causes);
  if ((token["path"] ?? "") !== "") fileCauses(token["path"] as string, `${volumePath}.path`, causes);
}
