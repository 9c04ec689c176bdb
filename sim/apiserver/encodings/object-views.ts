/** Resources that are stored in another form than clients of one of their versions see. */
import { apiVersionInDialect, type Dialect } from "../../../wire/dialect.ts";
import type { ResourceRow } from "../../../wire/resources.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { autoscalerForms } from "./autoscaler-views.ts";
import { eventForms } from "./event-views.ts";

/** Another form of a stored object. Both functions keep metadata, but for annotations that stand for fields. */
export interface ObjectView {
  /** The same answer, the same object, for as long as the stored one lives. */
  fromStored(stored: JsonObject): JsonObject;
  toStored(object: JsonObject): JsonObject;
}

/** How the objects of one version look, and how they are stored. `apiVersion`s are in the dialect. */
export interface Forms {
  toView(stored: JsonObject, apiVersion: string): JsonObject;
  toStored(object: JsonObject): JsonObject;
}

function formsOf({ group, version, resource }: ResourceRow, dialect: Dialect): Forms | undefined {
  if (resource === "events" && group !== "") return eventForms;
  if (resource === "horizontalpodautoscalers" && version === "v1") return autoscalerForms(dialect);
  return undefined;
}

/** The view of a resource that is stored in another form; undefined for all others. */
export function viewOf(row: ResourceRow, dialect: Dialect): ObjectView | undefined {
  const forms = formsOf(row, dialect);
  if (forms === undefined) return undefined;
  const apiVersion = apiVersionInDialect(dialect, row.groupVersion);
  const made = new WeakMap<JsonObject, JsonObject>();
  return {
    fromStored(stored) {
      const known = made.get(stored);
      if (known !== undefined) return known;
      const view = Object.freeze(forms.toView(stored, apiVersion));
      made.set(stored, view);
      return view;
    },
    toStored: forms.toStored,
  };
}
