/** What a claim asks of a volume. Source: the published validation of claims. */
import { canonicalQuantity, parseQuantity } from "../../../wire/quantity.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import type { Check, Place } from "../../objects/place.ts";
import { all, always, eachUnnumbered, fine, oneOf, required, struct, unlessEmpty } from "../../objects/rules.ts";
import { labels, subdomain } from "../shared/formats.ts";
import { labelSelector } from "../shared/label-selector.ts";

const modes = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
export const volumeMode = oneOf(["Block", "Filesystem"]);

export const accessModes = all(eachUnnumbered(oneOf(modes)), (given: readonly string[], at: Place) => {
  const others = given.filter((mode) => mode !== "ReadWriteOncePod" && modes.includes(mode));
  if (given.includes("ReadWriteOncePod") && others.length > 0) {
    at.forbidden("may not use ReadWriteOncePod with other access modes");
  }
});

export function positiveAmount(amount: Json, at: Place): void {
  const size = parseQuantity(String(amount));
  if ("error" in size || size.digits > 0n) return;
  at.invalid(canonicalQuantity(size), "must be greater than zero");
}

const dataSource = struct(
  { name: required(), kind: required() },
  ({ apiGroup = "", kind = "" }: JsonObject, at) => {
    if (apiGroup !== "" || kind === "PersistentVolumeClaim") return;
    at.invalid(kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup");
  },
  { apiGroup: unlessEmpty(subdomain) },
);

export const claimSpec = struct(
  { accessModes: required(fine, "at least 1 access mode is required"), selector: labelSelector },
  { accessModes },
  ({ resources }: JsonObject, at) => {
    const requests = ((resources as JsonObject | undefined)?.["requests"] ?? {}) as JsonObject;
    if (requests["storage"] === undefined) at.of("resources[storage]").required();
    else at.judge("resources[storage]", requests["storage"], positiveAmount as Check);
  },
  { storageClassName: unlessEmpty(subdomain), volumeMode, dataSource, dataSourceRef: dataSource },
);

/** A claim made for each pod: its labels and its spec. */
export const claimTemplate = struct({ "metadata.labels": labels, spec: always(claimSpec) });
