/** Namespaces: a phase, a finalizer in the spec, a label with the name. Source: recorded answers. */
import { qualifiedNameErrors } from "../../../wire/names.ts";
import type { Dialect } from "../../../wire/dialect.ts";
import type { Cause } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { invalidValue, pushInvalid } from "../../objects/causes.ts";
import { type Draft, metadataOf, ownChild } from "../../contract/objects.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import { printer, nameColumn, column, ageColumn } from "../shared/printer.ts";
import { text } from "../shared/columns.ts";
import type { KindRow } from "../kind-row.ts";
import { plainFields } from "../shared/field-labels.ts";

const standardFinalizers = ["orphan", "foregroundDeletion"];

const namespaceRules: KindRules = {
  defaults(draft, dialect) {
    const { name } = metadataOf(draft);
    if (name === undefined || name === "") return; // a generated name is labelled when it is known
    labelWithName(draft, dialect.namespaceNameLabel, name);
  },
  prepareForCreate(draft, dialect) {
    labelWithName(draft, dialect.namespaceNameLabel, metadataOf(draft).name ?? "");
    draft["status"] = { phase: "Active" };
    const spec = ownChild(draft, "spec");
    const finalizers = (spec["finalizers"] as readonly string[] | undefined) ?? [];
    if (!finalizers.includes(dialect.namespaceFinalizer))
      spec["finalizers"] = [...finalizers, dialect.namespaceFinalizer];
  },
  prepareForUpdate(draft, live, subresource) {
    if (subresource === "finalize") {
      if (live["status"] !== undefined) draft["status"] = live["status"];
      return;
    }
    if (live["spec"] === undefined) delete draft["spec"];
    else draft["spec"] = live["spec"]; // only the finalize subresource writes finalizers
  },
  validate(object, causes, dialect, live) {
    if (live === undefined) finalizerCauses(object, () => "spec.finalizers", dialect, causes);
  },
  validateUpdate(object, _live, causes, subresource, dialect) {
    if (subresource === "finalize") finalizerCauses(object, (at) => `spec.finalizers[${at}]`, dialect, causes);
  },
  validateStatus(object, _live, causes) {
    const phase = ((object["status"] ?? {}) as JsonObject)["phase"] ?? "";
    const isGoing = metadataOf(object).deletionTimestamp !== undefined;
    if (phase === (isGoing ? "Terminating" : "Active")) return;
    const detail = isGoing
      ? "may only be 'Terminating' if `deletionTimestamp` is not empty"
      : "may only be 'Active' if `deletionTimestamp` is empty";
    causes.push(invalidValue("status.Phase", phase, detail));
  },
};

function finalizerCauses(object: JsonObject, pathOf: (at: number) => string, dialect: Dialect, causes: Cause[]): void {
  const spec = (object["spec"] ?? {}) as JsonObject;
  ((spec["finalizers"] ?? []) as readonly string[]).forEach((finalizer, at) => {
    const path = pathOf(at);
    pushInvalid(path, finalizer, qualifiedNameErrors(finalizer), causes);
    if (finalizer.includes("/") || [...standardFinalizers, dialect.namespaceFinalizer].includes(finalizer)) return;
    causes.push(invalidValue(path, finalizer, "name is neither a standard finalizer name nor is it fully qualified"));
  });
}

function labelWithName(draft: Draft, label: string, name: string): void {
  if (metadataOf(draft).labels?.[label] === name) return;
  const metadata = ownChild(draft, "metadata");
  const labels = { ...(metadata["labels"] as Record<string, string> | undefined), [label]: name };
  metadata["labels"] = Object.fromEntries(
    Object.keys(labels)
      .sort()
      .map((key) => [key, labels[key] as string]),
  );
}

export const namespaceKind: KindRow = {
  resource: "/namespaces",
  isEmptiedFirst: true,
  nameRule: "label",
  returnsDeleted: true,
  rules: namespaceRules,
  columns: printer(nameColumn, column("Status", "Whether it is active or going.", text("status.phase")), ageColumn),
  fieldLabels: plainFields("status.phase", "metadata.name"),
};
