/**
 * Rules of `metadata` that hold for every type: names, labels, annotations, owners, finalizers, and what an update may
 * not change. Each function gives causes in the server's order; those of an object that is fine cost little.
 * Source: the facts, section 4; recorded texts.
 */
import type { Dialect } from "../../wire/dialect.ts";
import { utf8Length } from "../../wire/go-strings.ts";
import {
  dns1035LabelErrors,
  dns1123LabelErrors,
  dns1123SubdomainErrors,
  labelValueErrors,
  maskTrailingDash,
  type NameErrors,
  pathSegmentErrors,
  qualifiedNameErrors,
} from "../../wire/names.ts";
import type { Cause } from "../contract/errors.ts";
import {
  forbiddenField,
  goStrings,
  goTime,
  invalidText,
  invalidValue,
  pushInvalid,
  requiredValue,
  tooLongValue,
} from "./causes.ts";
import { askedOnce } from "../expressions/pace.ts";
import { sizeInParts } from "./place.ts";
import type { Metadata, OwnerReference } from "../contract/objects.ts";

/** How a type's names are judged. */
export type NameRule = "subdomain" | "label" | "label1035" | "pathSegment" | "any";

const nameRules: Readonly<Record<NameRule, (text: string) => NameErrors>> = {
  subdomain: dns1123SubdomainErrors,
  label: dns1123LabelErrors,
  label1035: dns1035LabelErrors,
  pathSegment: pathSegmentErrors,
  any: () => [],
};

export const annotationBytesMax = 262_144;

export interface MetadataRules {
  readonly nameRule: NameRule;
  readonly namespaced: boolean;
  /** Finalizers without a domain must be standard ones; custom resources may use any qualified name. */
  readonly knownFinalizersOnly: boolean;
  readonly dialect: Dialect;
}

/** What is wrong with an object's metadata by itself. */
export function metadataCauses(metadata: Metadata, rules: MetadataRules): Cause[] {
  const causes: Cause[] = [];
  nameCauses(metadata, rules, causes);
  namespaceCauses(metadata, rules, causes);
  if ((metadata.generation ?? 0) < 0) {
    causes.push(invalidValue("metadata.generation", metadata.generation, "must be greater than or equal to 0"));
  }
  commonCauses(metadata, causes);
  finalizerCauses(metadata.finalizers ?? none, causes);
  if (rules.knownFinalizersOnly) knownFinalizerCauses(metadata.finalizers ?? none, rules.dialect, causes);
  return causes;
}

const none: readonly never[] = [];

function nameCauses(metadata: Metadata, rules: MetadataRules, causes: Cause[]): void {
  const errorsOf = nameRules[rules.nameRule];
  const { name, generateName } = metadata;
  if (generateName !== undefined && generateName !== "") {
    pushInvalid("metadata.generateName", generateName, errorsOf(maskTrailingDash(generateName)), causes);
  }
  if (name === undefined || name === "") {
    causes.push(requiredValue("metadata.name", "name or generateName is required"));
    return;
  }
  pushInvalid("metadata.name", name, errorsOf(name), causes);
}

function namespaceCauses(metadata: Metadata, rules: MetadataRules, causes: Cause[]): void {
  const { namespace } = metadata;
  const absent = namespace === undefined || namespace === "";
  if (!rules.namespaced) {
    if (!absent) causes.push(forbiddenField("metadata.namespace", "not allowed on this type"));
    return;
  }
  if (absent) {
    causes.push(requiredValue("metadata.namespace"));
    return;
  }
  pushInvalid("metadata.namespace", namespace, dns1123LabelErrors(namespace), causes);
}

/** What creation and every update judge alike. */
function commonCauses(metadata: Metadata, causes: Cause[]): void {
  if (metadata.labels !== undefined) labelCauses(metadata.labels, "metadata.labels", causes);
  if (metadata.annotations !== undefined) annotationCauses(metadata.annotations, "metadata.annotations", causes);
  if (metadata.ownerReferences !== undefined) ownerCauses(metadata.ownerReferences, causes);
}

/** A map of labels at `field`: in metadata, in a selector, in a template. */
export function labelCauses(labels: Readonly<Record<string, string>>, field: string, causes: Cause[]): void {
  if (askedOnce(() => labels === fitLabels)) return;
  const before = causes.length;
  const count = sizeInParts(labels, causes, keyCost, (key) => {
    const value = labels[key] as string;
    pushInvalid(field, key, qualifiedNameErrors(key), causes);
    pushInvalid(field, value, labelValueErrors(value), causes);
    return 1;
  });
  if (causes.length === before) keepFit(labels, count);
}

/** Of a key that is judged with its value, by the measure of expressions (`pace.ts`). */
const keyCost = 12;

/** Whether nothing is wrong with a map of labels. */
export function areLabels(labels: Readonly<Record<string, string>>): boolean {
  if (labels === fitLabels) return true;
  let count = 0;
  for (const key in labels) {
    if (qualifiedNameErrors(key).length + labelValueErrors(labels[key] as string).length > 0) return false;
    count++;
  }
  keepFit(labels, count);
  return true;
}

/** The last large map of labels that nothing was wrong with: an update judges its own twice, and a selector is judged with each. */
let fitLabels: object | undefined;
const manyLabels = 1024;

function keepFit(labels: object, count: number): void {
  if (count > manyLabels && Object.isFrozen(labels)) fitLabels = labels;
}

/** A map of annotations at `field`: in metadata, in a template. */
export function annotationCauses(annotations: Readonly<Record<string, string>>, field: string, causes: Cause[]): void {
  const bytes = sizeInParts(annotations, causes, keyCost, (key) => {
    pushInvalid(field, key, qualifiedNameErrors(key.toLowerCase()), causes);
    return utf8Length(key) + utf8Length(annotations[key] as string);
  });
  if (bytes > annotationBytesMax) causes.push(tooLongValue(field, annotationBytesMax));
}

function ownerCauses(owners: readonly Partial<OwnerReference>[], causes: Cause[]): void {
  const at = "metadata.ownerReferences";
  let controller: string | undefined;
  let shown: string | undefined; // once for all: the text is as long as the list
  for (const owner of owners) {
    const { apiVersion = "" } = owner; // what was sent as nothing is left out
    if (apiVersion.slice(apiVersion.lastIndexOf("/") + 1) === "") {
      causes.push(invalidValue(`${at}.apiVersion`, apiVersion, "version must not be empty"));
    }
    for (const field of ["kind", "name", "uid"] as const) {
      if ((owner[field] ?? "") === "") causes.push(invalidValue(`${at}.${field}`, "", "must not be empty"));
    }
    if (owner.apiVersion === "v1" && owner.kind === "Event") {
      causes.push(invalidText(at, goOwner(owner), "/v1, Kind=Event is disallowed from being an owner"));
    }
    if (owner.controller !== true) continue;
    const name = `${owner.kind ?? ""}/${owner.name ?? ""}`;
    if (controller === undefined) controller = name;
    else {
      const detail = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`;
      shown ??= `[]v1.OwnerReference{${owners.map(goOwner).join(", ")}}`;
      causes.push(invalidText(at, shown, detail));
    }
  }
}

/** As Go prints the struct, but for its pointers, whose addresses mean nothing to a reader. */
function goOwner(owner: Partial<OwnerReference>): string {
  const { apiVersion = "", kind = "", name = "", uid = "" } = owner;
  return `v1.OwnerReference{APIVersion:"${apiVersion}", Kind:"${kind}", Name:"${name}", UID:"${uid}"}`;
}

function finalizerCauses(finalizers: readonly string[], causes: Cause[]): void {
  for (const finalizer of finalizers) {
    pushInvalid("metadata.finalizers", finalizer, qualifiedNameErrors(finalizer), causes);
  }
  if (finalizers.includes("orphan") && finalizers.includes("foregroundDeletion")) {
    const detail = "finalizer orphan and foregroundDeletion cannot be both set";
    causes.push(invalidText("metadata.finalizers", goStrings(finalizers), detail));
  }
}

function knownFinalizerCauses(finalizers: readonly string[], dialect: Dialect, causes: Cause[]): void {
  finalizers.forEach((finalizer, at) => {
    if (finalizer.includes("/") || finalizer === "orphan" || finalizer === "foregroundDeletion") return;
    if (finalizer === dialect.namespaceFinalizer) return;
    const detail = "name is neither a standard finalizer name nor is it fully qualified";
    causes.push(invalidValue(`metadata.finalizers[${at}]`, finalizer, detail));
  });
}

/** What an update of `before` to `after` may not do to metadata. System fields have been filled in already. */
export function metadataUpdateCauses(after: Metadata, before: Metadata): Cause[] {
  const causes: Cause[] = [];
  if (before.deletionTimestamp !== undefined)
    newFinalizerCauses(after.finalizers ?? none, before.finalizers ?? none, causes);
  if (after.resourceVersion === undefined || after.resourceVersion === "") {
    causes.push(invalidValue("metadata.resourceVersion", "", "must be specified for an update"));
  }
  if ((after.generation ?? 0) < (before.generation ?? 0)) {
    causes.push(invalidValue("metadata.generation", after.generation ?? 0, "must not be decremented"));
  }
  for (const field of immutableStrings) {
    if ((after[field] ?? "") === (before[field] ?? "")) continue;
    causes.push(invalidValue(`metadata.${field}`, after[field] ?? "", "field is immutable"));
  }
  for (const field of immutableTimes) {
    if ((after[field] ?? "") === (before[field] ?? "")) continue;
    const time = after[field];
    const text = time === undefined || time === null ? '"null"' : goTime(time);
    causes.push(invalidText(`metadata.${field}`, text, "field is immutable"));
  }
  if (after.deletionGracePeriodSeconds !== before.deletionGracePeriodSeconds) {
    causes.push(
      invalidValue("metadata.deletionGracePeriodSeconds", after.deletionGracePeriodSeconds, "field is immutable"),
    );
  }
  commonCauses(after, causes);
  return causes;
}

const immutableStrings = ["name", "namespace", "uid"] as const;
const immutableTimes = ["creationTimestamp", "deletionTimestamp"] as const;

function newFinalizerCauses(after: readonly string[], before: readonly string[], causes: Cause[]): void {
  const known = new Set(before);
  const added = [...new Set(after)].filter((finalizer) => !known.has(finalizer)).sort();
  if (added.length === 0) return;
  const detail = `no new finalizers can be added if the object is being deleted, found new finalizers ${goStrings(added)}`;
  causes.push(forbiddenField("metadata.finalizers", detail));
}
