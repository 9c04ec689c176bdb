/** Namespaces: a phase, a finalizer in the spec, a label with the name. Source: recorded answers. */
import { qualifiedNameErrors } from "../../../../wire/names.ts";
import type { JsonObject } from "../../http-message.ts";
import { invalidValue } from "../causes.ts";
import { type Draft, metadataOf, ownChild } from "../types.ts";
import type { KindRules } from "./kind-rules.ts";

const standardFinalizers = ["orphan", "foregroundDeletion"];

export const namespaceRules: KindRules = {
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
  validate(object, causes, dialect) {
    const spec = (object["spec"] ?? {}) as JsonObject;
    for (const finalizer of (spec["finalizers"] ?? []) as readonly string[]) {
      for (const text of qualifiedNameErrors(finalizer)) causes.push(invalidValue("spec.finalizers", finalizer, text));
      if (finalizer.includes("/") || [...standardFinalizers, dialect.namespaceFinalizer].includes(finalizer)) continue;
      const detail = "name is neither a standard finalizer name nor is it fully qualified";
      causes.push(invalidValue("spec.finalizers", finalizer, detail));
    }
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
