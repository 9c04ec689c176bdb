/** What an agent tells of its configuration: the fields of its file with their values, under one name. */
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { durationText } from "./checks.ts";
import { type FileField, fileFields } from "./file-fields.ts";
import type { FlagValue, HeaderValue } from "./flag-values.ts";
import type { AgentSettings } from "./settings.ts";

export function configzOf(settings: AgentSettings): JsonObject {
  const document: Record<string, Json> = {};
  for (const field of fileFields) {
    const value = settings.of(field.flag ?? field.field);
    const shown = value === undefined ? (settings.open.get(field.field) as Json | undefined) : jsonOf(field, value);
    if (shown !== undefined) place(document, field.field.split("."), shown);
  }
  return { [settings.rules.dialect === "svc" ? "nodeagentconfig" : "kubeletconfig"]: document };
}

function jsonOf({ type }: FileField, value: FlagValue): Json {
  if (type === "duration") return durationText(value as number);
  if (type === "headers") return headerLists(value as readonly HeaderValue[]);
  if (type === "vmodule") {
    const levels = Object.entries(value as Readonly<Record<string, string>>);
    return levels.map(([filePattern, verbosity]) => ({ filePattern, verbosity: Number(verbosity) }));
  }
  return value as unknown as Json;
}

function headerLists(headers: readonly HeaderValue[]): Json {
  const lists: Record<string, string[]> = {};
  for (const [name, text] of headers) (lists[name] ??= []).push(text);
  return lists;
}

function place(document: Record<string, Json>, path: readonly string[], value: Json): void {
  let at = document;
  for (const key of path.slice(0, -1)) at = (at[key] ??= {}) as Record<string, Json>;
  at[path.at(-1) as string] = value;
}
