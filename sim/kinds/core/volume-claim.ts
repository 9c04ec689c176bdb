/**
 * Claims of volumes, and volumes: what is asked and what is there. Both stay what they were made for.
 * Source: the published defaults and validation. Simplification: sources that drivers serve are not judged, and a
 * refusal of a change goes on with a diff in the real server.
 */
import { compareQuantities, parseQuantity } from "../../../wire/quantity.ts";
import type { Cause } from "../../contract/errors.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { forbiddenField, invalidValue } from "../../objects/causes.ts";
import { jsonEqual } from "../../objects/equality.ts";
import { type Draft, isObject, ownChild } from "../../contract/objects.ts";
import { fill } from "../shared/fields.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import type { Check, Place } from "../../objects/place.ts";
import { always, fieldRules, oneOf, present, required, struct, unlessEmpty } from "../../objects/rules.ts";
import { subdomain } from "../shared/formats.ts";
import { requiredNodes } from "../shared/node-selector.ts";
import { accessModes, claimSpec, positiveAmount, volumeMode } from "./volume-claim-spec.ts";
import { printer, nameColumn, column, at, textAt, ageColumn, wide } from "../shared/printer.ts";
import { text } from "../shared/columns.ts";
import { metadataOf } from "../../contract/objects.ts";
import type { KindRow } from "../kind-row.ts";
import { groupInDialect, type Dialect } from "../../../wire/dialect.ts";
import type { Quantity } from "../../../wire/quantity.ts";
import { type Amounts, oneQuantity, type QuotaUse } from "../../objects/quota-use.ts";

export function claimDefaults(claim: Draft): void {
  if (isObject(claim["spec"])) ownChild(claim, "spec")["volumeMode"] ??= "Filesystem";
  fill(ownChild(claim, "status"), "phase", "Pending");
}

const volumeClaimRules: KindRules = {
  defaults: claimDefaults,
  prepareForCreate(draft) {
    draft["status"] = { phase: "Pending" };
  },
  validate: fieldRules({ spec: always(claimSpec) }),
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
  validate: fieldRules({
    spec: always(
      struct(
        {
          accessModes: required(accessModes),
          capacity: { zero: {}, absent: {}, judge: capacity as Check },
          persistentVolumeReclaimPolicy: required(oneOf(["Delete", "Recycle", "Retain"])),
          nodeAffinity: struct({ required: present(requiredNodes, "must specify required node constraints") }),
        },
        oneVolumeType,
        { storageClassName: unlessEmpty(subdomain), volumeMode },
      ),
    ),
  }),
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

/** A volume is of one type; what is on one node says so. */
function oneVolumeType(spec: JsonObject, at: Place): void {
  const sources = Object.keys(sourceOf(spec)).filter((field) => isObject(spec[field]));
  for (const source of sources.slice(1)) at.of(source).forbidden("may not specify more than 1 volume type");
  if (sources.length === 0) at.required("must specify a volume type");
  if (sources.includes("local") && !isObject(spec["nodeAffinity"])) {
    at.of("nodeAffinity").required("Local volume requires node affinity");
  }
}

function capacity(amounts: JsonObject, at: Place): void {
  const names = Object.keys(amounts);
  if (names.length === 0) at.required();
  if (amounts["storage"] === undefined || names.length > 1) at.unsupported(names[0] ?? "", ["storage"]);
  else at.judge(["storage"], amounts["storage"], positiveAmount as Check);
}

export const persistentVolumeKind: KindRow = {
  resource: "/persistentvolumes",
  returnsDeleted: true,
  rules: volumeRules,
  columns: printer(
    nameColumn,
    column("Capacity", "How much it holds.", text("spec.capacity.storage")),
    column("Access Modes", "How it can be mounted.", (it) => shownModes(at(it, "spec.accessModes"))),
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
  useOf: (claim, dialect) => ({ traits: undefined, amounts: claimAmounts(claim, dialect) }),
  growsOnUpdate: true,
};

/** Between the name of a storage class and what is limited for its claims. */
const storageClassKey = (dialect: Dialect): string => `.storageclass.${groupInDialect(dialect, "storage.svc.io")}/`;

function claimAmounts(claim: JsonObject, dialect: Dialect): Amounts {
  const { storageClassName, resources } = (claim["spec"] ?? {}) as JsonObject;
  const legacy = metadataOf(claim).annotations?.[`volume.beta.${dialect.labelSuffix}/storage-class`];
  const prefix = `${legacy ?? String(storageClassName ?? "")}${storageClassKey(dialect)}`;
  const amounts = new Map([[`${prefix}persistentvolumeclaims`, oneQuantity]]);
  const text = ((resources as JsonObject | undefined)?.["requests"] as JsonObject | undefined)?.["storage"];
  const quantity = parseQuantity(String(text ?? "0"));
  if (!("error" in quantity))
    for (const start of ["", prefix]) amounts.set(`${start}requests.storage`, quantity as Quantity);
  return amounts;
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
      isBound(it) ? shownModes(at(it, "status.accessModes")) : "",
    ),
    column("StorageClass", "What kind of storage it asks for.", text("spec.storageClassName")),
    column("VolumeAttributesClass", "The class of its attributes.", orUnset("spec.volumeAttributesClassName")),
    ageColumn,
    wide(column("VolumeMode", "A filesystem, or a block device.", orUnset("spec.volumeMode"))),
  ),
};

function shownModes(modes: Json | undefined): string {
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
