/**
 * What can be shown as files in a volume: keys of config maps and secrets, facts about the pod, tokens.
 * Source: the published validation of such volumes. Simplification: bundles of trust are not judged.
 */
import type { Json, JsonObject } from "../../../contract/http-message.ts";
import { isObject } from "../../../contract/objects.ts";
import type { Check, Place } from "../../../objects/place.ts";
import { all, always, atLeast, atMost, between, each, required, struct, type Table } from "../../../objects/rules.ts";
import { listOf } from "../../shared/fields.ts";
import { fieldRef, resourceRefByName } from "./environment.ts";
import { fileInVolume } from "./paths.ts";

export const mode = between(0, 0o777, "must be a number between 0 and 0777 (octal), both inclusive");

const keyItems = { items: each(struct({ key: required(), path: required(fileInVolume), mode })) };

/** Keys of one config map or secret. */
export const files: Table = { defaultMode: mode, ...keyItems };

const shownField = fieldRef([
  "metadata.annotations",
  "metadata.labels",
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
]);

/** One fact as a file. */
export const downwardItem = struct(
  { path: required(fileInVolume), fieldRef: shownField },
  ({ fieldRef: field, resourceFieldRef: amount }: JsonObject, at) => {
    if (!isObject(field)) {
      if (isObject(amount)) at.judge("resourceFieldRef", amount, resourceRefByName);
      else at.required("one of fieldRef and resourceFieldRef is required");
    } else if (isObject(amount)) {
      at.invalid("resource", "fieldRef and resourceFieldRef can not be specified simultaneously");
    }
  },
  { mode },
);

/** Several sources in one volume, no two of whose files may be the same. */
export const projected = struct({ defaultMode: mode, sources: projectedSources as Check });

function projectedSources(sources: readonly JsonObject[], at: Place): void {
  const taken = new Set<Json>();
  const take = (file: Json | undefined, shown: Json | undefined): void => {
    if (file === undefined || file === "") return;
    if (taken.has(file)) at.above(2).invalid(shown, "conflicting duplicate paths"); // of the volume
    taken.add(file);
  };
  at.eachItem(sources, (source: JsonObject) => {
    for (const kind of ["secret", "configMap"]) {
      at.judge(kind, source[kind], keysOfNamed);
      const named = (source[kind] ?? {}) as JsonObject;
      for (const { path } of listOf(named, "items")) take(path, named["name"] ?? "");
    }
    for (const item of listOf((source["downwardAPI"] ?? {}) as JsonObject, "items")) {
      at.judge("downwardAPI", item, downwardItem);
      take(item["path"], item["path"]);
    }
    at.judge("serviceAccountToken", source["serviceAccountToken"], token);
    if (sourceNames.filter((name) => isObject(source[name])).length > 1) {
      at.forbidden("may not specify more than 1 volume type per source");
    }
  });
}

const sourceNames = ["secret", "configMap", "downwardAPI", "serviceAccountToken", "clusterTrustBundle"];
const keysOfNamed = struct({ name: required(), ...keyItems });
const tokenPath = required(fileInVolume);

/** The file of a token is named as if it were the volume's. */
const token = struct(
  {
    expirationSeconds: always(
      all(
        atLeast(600, "may not specify a duration less than 10 minutes"),
        atMost(4_294_967_296, "may not specify a duration larger than 2^32 seconds"),
      ),
    ),
  },
  ({ path }: JsonObject, at) => {
    if (tokenPath.holds?.((path ?? "") as never) !== true) at.above(3).judge("path", path, tokenPath);
  },
);
