/** What every list is like by its documents. */
import { type ApiObject, isApiObject, isJsonObject, type Json, type JsonObject } from "../../client/types.ts";
import { isSelectorError, parseFieldSelector, parseLabelSelector } from "../../../wire/selectors.ts";
import { valueAt } from "../json-values.ts";
import type { Asked } from "./asked.ts";
import { type Breach, breach } from "./breach.ts";

/** An answer to a list, in its own shape. Which items there have to be is another question. */
export function judgeList(asked: Asked, list: JsonObject): Breach | undefined {
  const { kind, apiVersion, metadata, items } = list;
  const shown = (): string => JSON.stringify({ kind, apiVersion, metadata }).slice(0, 300);
  if (typeof kind !== "string" || !kind.endsWith("List") || kind === "List")
    return breach("lists.collection", "a kind that ends in List", shown());
  if (apiVersion !== asked.groupVersion)
    return breach("lists.collection", `apiVersion: ${asked.groupVersion}`, shown());
  if (
    !isJsonObject(metadata) ||
    typeof metadata["resourceVersion"] !== "string" ||
    metadata["resourceVersion"] === ""
  ) {
    return breach("lists.fields", "a version of the list", shown());
  }
  if (!Array.isArray(items)) return breach("lists.fields", "items: an array", `items: ${JSON.stringify(items)}`);
  const objects = (items as readonly Json[]).filter(isApiObject);
  return (
    judgePage(asked, metadata) ??
    judgeLimit(asked, items.length) ??
    judgeOnce(objects) ??
    judgeTypes(asked, objects) ??
    judgeSelected(asked, objects)
  );
}

/** What a page says of the pages after it. */
function judgePage({ query }: Asked, metadata: JsonObject): Breach | undefined {
  const token = metadata["continue"];
  const hasMore = typeof token === "string" && token !== "";
  const remaining = metadata["remainingItemCount"];
  const isSelected = [query.get("labelSelector"), query.get("fieldSelector")].some(
    (selector) => selector !== null && selector !== "",
  );
  if (remaining != null && (isSelected || !hasMore)) {
    const why = isSelected ? "with a selector" : "where nothing remains";
    return breach("pages.remaining-absent", `no remainingItemCount ${why}`, JSON.stringify(metadata).slice(0, 300));
  }
  const version = query.get("resourceVersion");
  const isExact = query.get("resourceVersionMatch") === "Exact" && !query.has("continue");
  if (isExact && metadata["resourceVersion"] !== version) {
    return breach("versions.list-exact", `the list's version: ${version}`, String(metadata["resourceVersion"]));
  }
  return undefined;
}

/** A first page at version 0 may be the whole of a cache; what continues a list is cut as it is. */
function judgeLimit({ query }: Asked, count: number): Breach | undefined {
  const limit = Number(query.get("limit") ?? 0);
  if ((query.get("continue") ?? "") === "" || !(limit > 0) || count <= limit) return undefined;
  return breach("pages.limit", `at most ${limit} items on a further page`, `${count} items`);
}

/** Items need not say what they are; what they say is what was asked for. */
function judgeTypes({ groupVersion }: Asked, items: readonly ApiObject[]): Breach | undefined {
  const stray = items.find(({ apiVersion }) => typeof apiVersion === "string" && apiVersion !== groupVersion);
  if (stray === undefined) return undefined;
  return breach(
    "lists.collection",
    `items of ${groupVersion}`,
    `${stray.metadata.name} of ${String(stray["apiVersion"])}`,
  );
}

function judgeOnce(items: readonly ApiObject[]): Breach | undefined {
  const seen = new Set<string>();
  for (const { metadata } of items) {
    if (metadata.uid === undefined) continue;
    if (seen.has(metadata.uid)) return breach("lists.complete", "each object once", `${metadata.name} twice`);
    seen.add(metadata.uid);
  }
  return undefined;
}

/** What the selectors of the request choose, whatever page it is. */
function judgeSelected({ query }: Asked, items: readonly ApiObject[]): Breach | undefined {
  for (const [what, matches] of simpleSelectors(query)) {
    const stray = items.find((item) => !matches(item));
    if (stray !== undefined)
      return breach("lists.selectors", `only items that match ${what}`, JSON.stringify(stray.metadata).slice(0, 300));
  }
  return undefined;
}

/** The selectors of a request, as far as they can be judged by what an object shows. */
export function* simpleSelectors(
  query: URLSearchParams,
): Iterable<readonly [what: string, (object: ApiObject) => boolean]> {
  const labels = query.get("labelSelector") ?? "";
  const byLabel = parseLabelSelector(labels);
  if (labels !== "" && !isSelectorError(byLabel))
    yield [labels, ({ metadata }) => byLabel.matches(metadata.labels ?? undefined)];
  const fields = query.get("fieldSelector") ?? "";
  const byField = parseFieldSelector(fields);
  if (isSelectorError(byField)) return;
  for (const { field, operator, value } of byField.requirements) {
    if (!shownFields.has(field)) continue;
    yield [fields, (object) => (textAt(object, field) === value) === (operator !== "!=")];
  }
}

/** Fields that selectors may name and whose value is what an object shows under this name; absent, it is empty. */
const shownFields: ReadonlySet<string> = new Set([
  "metadata.name",
  "metadata.namespace",
  "status.phase",
  "spec.nodeName",
  "spec.schedulerName",
  "spec.serviceAccountName",
  "spec.restartPolicy",
  "type",
  "reason",
  "involvedObject.kind",
  "involvedObject.name",
  "involvedObject.namespace",
  "regarding.kind",
  "regarding.name",
  "regarding.namespace",
]);

function textAt(object: ApiObject, field: string): string {
  const found = valueAt(object, ...field.split("."));
  return typeof found === "string" ? found : "";
}
