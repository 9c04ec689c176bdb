/**
 * Claims of volumes, and volumes: what is asked and what is there. Both stay what they were made for.
 * Source: the published defaults and validation. Simplification: sources that drivers serve are not judged, and a
 * refusal of a change goes on with a diff in the real server.
 */
import { canonicalQuantity, compareQuantities, parseQuantity } from "../../../wire/quantity.ts";
import type { Cause } from "../../contract/errors.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { forbiddenField, invalidValue, requiredValue, unsupportedValue } from "../../objects/causes.ts";
import { jsonEqual } from "../../objects/equality.ts";
import { type Draft, isObject, ownChild } from "../../contract/objects.ts";
import { enumCauses, fill } from "../shared/fields.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import { requiredNodesCauses } from "../shared/node-selector.ts";
import { accessModeCauses, claimSpecCauses, classNameCauses, volumeModes } from "./volume-claim-spec.ts";
import { printer, nameColumn, column, at, textAt, ageColumn, wide } from "../shared/printer.ts";
import { text } from "../shared/columns.ts";
import { metadataOf } from "../../contract/objects.ts";
import type { KindRow } from "../kind-row.ts";
import { groupInDialect, type Dialect } from "../../../wire/dialect.ts";
import type { Quantity } from "../../../wire/quantity.ts";
import { oneQuantity, type QuotaUse } from "../../objects/quota-use.ts";

export function claimDefaults(claim: Draft): void {
  if (isObject(claim["spec"])) ownChild(claim, "spec")["volumeMode"] ??= "Filesystem";
  fill(ownChild(claim, "status"), "phase", "Pending");
}

const volumeClaimRules: KindRules = {
  defaults: claimDefaults,
  prepareForCreate(draft) {
    draft["status"] = { phase: "Pending" };
  },
  validate: (claim, causes) => claimSpecCauses((claim["spec"] ?? {}) as JsonObject, "spec", causes),
  validateUpdate(claim, live, causes) {
    const [after, before] = [claim["spec"] as JsonObject, live["spec"] as JsonObject];
    const status = (claim["status"] ?? {}) as JsonObject;
    if (!jsonEqual(fixed(after, before, status["phase"] === "Bound"), before)) {
      const detail =
        "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
      causes.push(forbiddenField("spec", detail));
    }
    sizeStepCauses(after, before, (live["status"] ?? {}) as JsonObject, causes);
    if (!jsonEqual(after["volumeMode"], before["volumeMode"])) {
      causes.push(invalidValue("volumeMode", after["volumeMode"], "field is immutable"));
    }
  },
};

const requestsOf = (spec: JsonObject): JsonObject =>
  ((spec["resources"] as JsonObject | undefined)?.["requests"] ?? {}) as JsonObject;

/** The claim with what may change as it was: its volume and class once, its size when it is bound. */
function fixed(after: JsonObject, before: JsonObject, isBound: boolean): JsonObject {
  const spec: Record<string, Json> = { ...after };
  const keep = (field: string): void => {
    if (before[field] === undefined) delete spec[field];
    else spec[field] = before[field];
  };
  if ((before["volumeName"] ?? "") === "") keep("volumeName");
  if (before["storageClassName"] === undefined) keep("storageClassName");
  if (!isBound) return spec;
  if (after["volumeAttributesClassName"] !== undefined) keep("volumeAttributesClassName");
  const requests = { ...requestsOf(after), ...(requestsOf(before)["storage"] !== undefined && requestsOf(before)) };
  spec["resources"] = { ...(after["resources"] as JsonObject), requests: requests as JsonObject };
  return spec;
}

/** A claim grows; back it goes no further than what it has. */
function sizeStepCauses(after: JsonObject, before: JsonObject, status: JsonObject, causes: Cause[]): void {
  const read = (value: Json | undefined) => parseQuantity(String(value ?? "0"));
  const [now, old, has] = [
    read(requestsOf(after)["storage"]),
    read(requestsOf(before)["storage"]),
    read(((status["capacity"] ?? {}) as JsonObject)["storage"]),
  ];
  if ("error" in now || "error" in old || "error" in has) return;
  if (compareQuantities(now, old) >= 0 || compareQuantities(now, has) > 0) return;
  causes.push(forbiddenField("spec.resources.requests.storage", "field can not be less than status.capacity"));
}

const reclaimPolicies = ["Delete", "Recycle", "Retain"];

const volumeRules: KindRules = {
  defaults(draft) {
    if (!isObject(draft["spec"])) return;
    const spec = ownChild(draft, "spec");
    fill(spec, "persistentVolumeReclaimPolicy", "Retain");
    spec["volumeMode"] ??= "Filesystem";
    fill(ownChild(draft, "status"), "phase", "Pending");
  },
  prepareForCreate(draft) {
    draft["status"] = { phase: "Pending" };
  },
  validate: (volume, causes) => volumeSpecCauses((volume["spec"] ?? {}) as JsonObject, "spec", causes),
  validateUpdate(volume, live, causes) {
    const [after, before] = [volume["spec"] as JsonObject, live["spec"] as JsonObject];
    if (!jsonEqual(sourceOf(after), sourceOf(before))) {
      causes.push(
        forbiddenField("spec.persistentvolumesource", "spec.persistentvolumesource is immutable after creation"),
      );
    }
    if (!jsonEqual(after["volumeMode"], before["volumeMode"])) {
      causes.push(invalidValue("volumeMode", after["volumeMode"], "field is immutable"));
    }
  },
};

/** What of a volume's spec is not where it is. */
const aboutVolumes = [
  "accessModes",
  "capacity",
  "claimRef",
  "mountOptions",
  "nodeAffinity",
  "persistentVolumeReclaimPolicy",
  "storageClassName",
  "volumeAttributesClassName",
  "volumeMode",
];

const sourceOf = (spec: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(spec).filter(([field]) => !aboutVolumes.includes(field))) as JsonObject;

function volumeSpecCauses(spec: JsonObject, path: string, causes: Cause[]): void {
  const modes = (spec["accessModes"] ?? []) as readonly string[];
  if (modes.length === 0) causes.push(requiredValue(`${path}.accessModes`));
  accessModeCauses(modes, `${path}.accessModes`, causes);
  capacityCauses((spec["capacity"] ?? {}) as JsonObject, `${path}.capacity`, causes);
  enumCauses(spec["persistentVolumeReclaimPolicy"], reclaimPolicies, `${path}.persistentVolumeReclaimPolicy`, causes);
  const affinity = spec["nodeAffinity"];
  if (isObject(affinity)) {
    const here = `${path}.nodeAffinity.required`;
    if (isObject(affinity["required"])) requiredNodesCauses(affinity["required"], here, causes);
    else causes.push(requiredValue(here, "must specify required node constraints"));
  }
  const sources = Object.keys(sourceOf(spec)).filter((field) => isObject(spec[field]));
  sources.forEach((source, at) => {
    if (at > 0) causes.push(forbiddenField(`${path}.${source}`, "may not specify more than 1 volume type"));
  });
  if (sources.length === 0) causes.push(requiredValue(path, "must specify a volume type"));
  if (sources.includes("local") && !isObject(affinity)) {
    causes.push(requiredValue(`${path}.nodeAffinity`, "Local volume requires node affinity"));
  }
  classNameCauses(spec, ["storageClassName"], path, causes);
  const mode = spec["volumeMode"];
  if (mode !== undefined && !volumeModes.includes(mode as string)) {
    causes.push(unsupportedValue(`${path}.volumeMode`, mode, volumeModes));
  }
}

function capacityCauses(capacity: JsonObject, path: string, causes: Cause[]): void {
  if (Object.keys(capacity).length === 0) causes.push(requiredValue(path));
  if (capacity["storage"] === undefined || Object.keys(capacity).length > 1) {
    causes.push(unsupportedValue(path, Object.keys(capacity)[0] ?? "", ["storage"]));
    return;
  }
  const size = parseQuantity(String(capacity["storage"]));
  if ("error" in size || size.digits > 0n) return;
  causes.push(invalidValue(`${path}[storage]`, canonicalQuantity(size), "must be greater than zero"));
}

export const persistentVolumeKind: KindRow = {
  resource: "/persistentvolumes",
  returnsDeleted: true,
  rules: volumeRules,
  columns: printer(
    nameColumn,
    column("Capacity", "How much it holds.", text("spec.capacity.storage")),
    column("Access Modes", "How it can be mounted.", (it) => accessModes(at(it, "spec.accessModes"))),
    column("Reclaim Policy", "What becomes of it when it is released.", text("spec.persistentVolumeReclaimPolicy")),
    column("Status", "Whether it is free, bound or going.", phase),
    column("Claim", "Who has it.", (it) => {
      const claim = at(it, "spec.claimRef");
      return claim === undefined ? "" : `${textAt(claim, "namespace")}/${textAt(claim, "name")}`;
    }),
    column("StorageClass", "What kind of storage it is.", text("spec.storageClassName")),
    column("VolumeAttributesClass", "The class of its attributes.", orUnset("spec.volumeAttributesClassName")),
    column("Reason", "Why it is in this state.", text("status.reason")),
    ageColumn,
    wide(column("VolumeMode", "A filesystem, or a block device.", orUnset("spec.volumeMode"))),
  ),
};

/** A claim's storage, in all and for its class. Source: the published evaluator. */
const claimQuota: QuotaUse = {
  counts: (key, dialect) => key === "requests.storage" || key.includes(storageClassKey(dialect)),
  amountOf: claimAmount,
  growsOnUpdate: true,
};

/** Between the name of a storage class and what is limited for its claims. */
const storageClassKey = (dialect: Dialect): string => `.storageclass.${groupInDialect(dialect, "storage.svc.io")}/`;

function claimAmount(claim: JsonObject, key: string, dialect: Dialect): Quantity | undefined {
  const { storageClassName, resources } = (claim["spec"] ?? {}) as JsonObject;
  const legacy = metadataOf(claim).annotations?.[`volume.beta.${dialect.labelSuffix}/storage-class`];
  const prefix = `${legacy ?? String(storageClassName ?? "")}${storageClassKey(dialect)}`;
  const rest = key.startsWith(prefix) ? key.slice(prefix.length) : key;
  if (rest === "persistentvolumeclaims") return oneQuantity;
  if (rest !== "requests.storage") return undefined;
  const text = ((resources as JsonObject | undefined)?.["requests"] as JsonObject | undefined)?.["storage"];
  const quantity = parseQuantity(String(text ?? "0"));
  return "error" in quantity ? undefined : (quantity as Quantity);
}

export const persistentVolumeClaimKind: KindRow = {
  resource: "/persistentvolumeclaims",
  quota: claimQuota,
  returnsDeleted: true,
  rules: volumeClaimRules,
  columns: printer(
    nameColumn,
    column("Status", "Whether it is bound.", phase),
    column("Volume", "The volume that it has.", text("spec.volumeName")),
    column("Capacity", "How much it holds.", (it) => (isBound(it) ? textAt(it, "status.capacity.storage") || "0" : "")),
    column("Access Modes", "How it can be mounted.", (it) =>
      isBound(it) ? accessModes(at(it, "status.accessModes")) : "",
    ),
    column("StorageClass", "What kind of storage it asks for.", text("spec.storageClassName")),
    column("VolumeAttributesClass", "The class of its attributes.", orUnset("spec.volumeAttributesClassName")),
    ageColumn,
    wide(column("VolumeMode", "A filesystem, or a block device.", orUnset("spec.volumeMode"))),
  ),
};

function accessModes(modes: Json | undefined): string {
  const list = (modes ?? []) as readonly string[];
  return accessModeNames
    .filter(([mode]) => list.includes(mode))
    .map(([, short]) => short)
    .join(",");
}

const accessModeNames: readonly (readonly [mode: string, short: string])[] = [
  ["ReadWriteOnce", "RWO"],
  ["ReadOnlyMany", "ROX"],
  ["ReadWriteMany", "RWX"],
  ["ReadWriteOncePod", "RWOP"],
];

function phase(object: JsonObject): string {
  return metadataOf(object).deletionTimestamp === undefined ? textAt(object, "status.phase") : "Terminating";
}

function orUnset(path: string): (it: JsonObject) => string {
  return (it) => textAt(it, path) || "<unset>";
}

const isBound = (claim: JsonObject): boolean => textAt(claim, "spec.volumeName") !== "";
