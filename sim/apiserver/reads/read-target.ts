/** What the reads must know of a built-in resource, from the resource table. */
import { apiVersionInDialect, groupInDialect } from "../../../wire/dialect.ts";
import type { ResourceRow } from "../../../wire/resources.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { zeroStruct } from "../../objects/zero-values.ts";
import type { Profile } from "../../contract/profile.ts";
import { fieldLabelsOf } from "./field-labels.ts";
import type { ReadTarget } from "./types.ts";

/** All versions of a resource share a storage, and so do the two spellings of events. */
export function readTargetOf(row: ResourceRow, profile: Profile): ReadTarget {
  const { group, version, resource, kind, namespaced, groupVersion, type } = row;
  const { dialect } = profile;
  const isEvent = resource === "events" && (group === "" || group === "events.svc.io");
  const { kind: _kind, apiVersion: _apiVersion, metadata: _metadata, ...zeroFields } = type ? zeroStruct(type) : {};
  return {
    prefix: group === "" || isEvent ? `/registry/${resource}/` : `/registry/${resource}.${group}/`,
    namespaced,
    cached: !(isEvent && profile.eventsUncached),
    name: { group: groupInDialect(dialect, group), resource },
    apiVersion: apiVersionInDialect(dialect, groupVersion),
    kind,
    fieldLabels: fieldLabelsOf(group, version, resource),
    zeroFields: zeroFields as JsonObject,
  };
}
