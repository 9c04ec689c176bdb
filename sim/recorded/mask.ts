/**
 * What differs between two runs of the same exchange is put out of sight, on both sides of a comparison:
 * uids, versions, times, ages, continue tokens, generated suffixes, the build of a server.
 */
import type { Json, JsonObject } from "../contract/http-message.ts";

const hidden = "*";

const hiddenFields = new Set([
  "uid",
  "resourceVersion",
  "continue",
  "creationTimestamp",
  "deletionTimestamp",
  "lastTransitionTime",
  "time",
  "clusterIP",
]);

/** The build of a server; hidden even when empty. */
const buildFields = new Set([
  "gitVersion",
  "gitCommit",
  "gitTreeState",
  "buildDate",
  "goVersion",
  "compiler",
  "platform",
]);

const hiddenTexts: readonly RegExp[] = [
  /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g,
  /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g,
  /(?<=Too large resource version: \d+, current: )\d+/g,
  /(?<=too old resource version: )\d+ \(\d+\)/g,
  /(?<=resourceVersion\\*": ?\\*")\d+/g,
  /(?<=resourceVersion: ")\d+/g,
  /(?<=the ResourceVersion in record \()\d+/g,
];

export function masked(value: Json): Json {
  if (typeof value === "string") return hiddenTexts.reduce((text, pattern) => text.replace(pattern, hidden), value);
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(masked);
  const object = value as JsonObject;
  const generated = object["generateName"];
  const fields = Object.keys(object)
    .sort()
    .map((key): [string, Json] => {
      const field = object[key] as Json;
      if (buildFields.has(key)) return [key, hidden];
      if (hiddenFields.has(key) && typeof field === "string" && field !== "") return [key, hidden];
      if (key === "cells" && Array.isArray(field)) return [key, field.map(withoutAge)];
      if (key === "name" && typeof generated === "string") return [key, `${generated}${hidden}`];
      return [key, masked(field)];
    });
  return Object.fromEntries(fields);
}

/** How long ago something was, in a cell of a table. */
function withoutAge(cell: Json): Json {
  return typeof cell === "string" && /^(?:\d+[smhdy]){1,2}$/.test(cell) ? hidden : masked(cell);
}
