/** Namespaces: a phase, a finalizer in the spec, a label with the name. Source: recorded answers. */
import type { JsonObject } from "../../contract/http-message.ts";
import { invalidValue } from "../../objects/causes.ts";
import { type Draft, metadataOf, ownChild } from "../../contract/objects.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import type { Place } from "../../objects/place.ts";
import { each, eachUnnumbered, fieldRules, whenNew } from "../../objects/rules.ts";
import { qualifiedName } from "../shared/formats.ts";
import { printer, nameColumn, column, ageColumn } from "../shared/printer.ts";
import { text } from "../shared/columns.ts";
import type { KindRow } from "../kind-row.ts";
import { plainFields } from "../shared/field-labels.ts";

const standardFinalizers = ["orphan", "foregroundDeletion"];

function finalizer(name: string, at: Place): void {
  qualifiedName.judge(name as never, at);
  if (name.includes("/") || [...standardFinalizers, at.dialect.namespaceFinalizer].includes(name)) return;
  at.invalid(name, "name is neither a standard finalizer name nor is it fully qualified");
}

const finalizers = fieldRules({ "spec.finalizers": each(finalizer) });

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
  validate: fieldRules({ "spec.finalizers": whenNew(eachUnnumbered(finalizer)) }),
  validateUpdate(object, live, causes, subresource, dialect) {
    if (subresource === "finalize") finalizers(object, causes, dialect, live);
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
