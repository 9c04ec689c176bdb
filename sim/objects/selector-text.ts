/** A LabelSelector object as the text of a `labelSelector` parameter. */
import type { JsonObject } from "../contract/http-message.ts";

/** Also takes a plain map of labels, as replication controllers have it. Terms are sorted. */
export function selectorText(selector: JsonObject): string {
  const isMap = selector["matchLabels"] === undefined && selector["matchExpressions"] === undefined;
  const labels = (isMap ? selector : (selector["matchLabels"] ?? {})) as Readonly<Record<string, string>>;
  const expressions = isMap ? [] : ((selector["matchExpressions"] ?? []) as readonly JsonObject[]);
  const terms = [...Object.keys(labels).map((key) => `${key}=${labels[key]}`), ...expressions.map(expressionText)];
  return terms.sort().join(",");
}

function expressionText({ key, operator, values }: JsonObject): string {
  const list = [...((values ?? []) as readonly string[])].sort().join(",");
  if (operator === "Exists") return String(key);
  if (operator === "DoesNotExist") return `!${String(key)}`;
  return `${String(key)} ${operator === "NotIn" ? "notin" : "in"} (${list})`;
}
