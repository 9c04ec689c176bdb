/**
 * CustomResourceDefinitions as a kind: defaults, the first status, the deletion mark, validation.
 * Source: recorded answers (crd-create, crd-delete); the published rules.
 */
import type { Json, JsonObject } from "../../contract/http-message.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import { type Draft, isObject, ownChild, ownMetadata } from "../../contract/objects.ts";
import { definitionCauses, definitionUpdateCauses } from "./definition-causes.ts";
import { type Condition, readDefinition } from "./definition.ts";
import { cleanupFinalizer, withCondition } from "./naming.ts";
import type { KindRow } from "../kind-row.ts";

const definitionRules: KindRules = {
  defaults(draft) {
    const spec = draft["spec"];
    if (!isObject(spec)) return;
    const names = isObject(spec["names"]) ? spec["names"] : {};
    const kind = (names["kind"] ?? "") as string;
    const wantsSingular = kind !== "" && (names["singular"] ?? "") === "";
    const wantsList = kind !== "" && (names["listKind"] ?? "") === "";
    if (wantsSingular || wantsList) {
      const own = ownChild(ownChild(draft, "spec"), "names");
      if (wantsSingular) own["singular"] = kind.toLowerCase();
      if (wantsList) own["listKind"] = `${kind}List`;
      orderNames(own);
    }
    const conversion = spec["conversion"];
    if (!isObject(conversion) || (conversion["strategy"] ?? "") === "") {
      ownChild(ownChild(draft, "spec"), "conversion")["strategy"] = "None";
    }
  },

  prepareForCreate(draft) {
    draft["status"] = { conditions: null, acceptedNames: { plural: "", kind: "" }, storedVersions: [] };
    noteStoredVersion(draft);
  },

  prepareForUpdate(draft, _live, subresource) {
    if (subresource === "") noteStoredVersion(draft);
  },

  markDeleted(draft, now, dialect) {
    const metadata = ownMetadata(draft);
    const finalizers = metadata.finalizers ?? [];
    const finalizer = cleanupFinalizer(dialect);
    if (!finalizers.includes(finalizer)) metadata.finalizers = [...finalizers, finalizer];
    const { conditions } = readDefinition(draft as JsonObject);
    ownChild(draft, "status")["conditions"] = withCondition(conditions, deletionPending, now) as unknown as Json;
  },

  validate: definitionCauses,

  validateUpdate: definitionUpdateCauses,
};

const deletionPending: Condition = {
  type: "Terminating",
  status: "True",
  reason: "InstanceDeletionPending",
  message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
};

const nameOrder = ["plural", "singular", "shortNames", "kind", "listKind", "categories"];

/** Names that were filled in stand where the type has them. */
function orderNames(names: Draft): void {
  for (const name of nameOrder) {
    const value = names[name];
    if (value === undefined) continue;
    delete names[name];
    names[name] = value;
  }
}

/** Every version that was ever the storage's is on record until somebody takes it off. */
function noteStoredVersion(draft: Draft): void {
  const { storage } = readDefinition(draft as JsonObject);
  const status = draft["status"];
  const stored = ((isObject(status) ? status["storedVersions"] : undefined) ?? []) as readonly string[];
  if (storage === undefined || stored.includes(storage.name)) return;
  ownChild(draft, "status")["storedVersions"] = [...stored, storage.name] as Json;
}

export const customResourceDefinitionKind: KindRow = {
  resource: "apiextensions.svc.io/customresourcedefinitions",
  unconditionalUpdate: false,
  usesGeneration: true,
  rules: definitionRules,
};
