/** The paths by which validation rules name the field that is to blame. Source: the published rules of CustomResourceDefinitions. */
import type { Schema } from "./schema.ts";

/** A field by its path from a schema on, `spec.x`, `labels[a]`; or why the path leads nowhere. */
export function resolveFieldPath(
  path: string,
  schema: Schema,
): { readonly path: string; readonly schema: Schema } | { readonly error: string } {
  let at: Schema = schema;
  let found = "";
  let rest = path;
  while (rest !== "") {
    const [whole, name, quoted] = /^(?:\.([^.[\]]+)|\['((?:[^'\\]|\\.)*)'\])/.exec(rest) ?? [];
    if (whole === undefined) return { error: wrongStep(rest) };
    const key = name ?? (quoted as string).replace(/\\(.)/g, "$1");
    const isMap: boolean = at.properties.size === 0 && at.additional !== undefined && at.additional !== "any";
    const next: Schema | "any" | undefined = isMap ? at.additional : at.properties.get(key);
    if (next === undefined || next === "any") return { error: "does not refer to a valid field" };
    found += isMap ? `[${key}]` : found === "" ? key : `.${key}`;
    at = next;
    rest = rest.slice(whole.length);
  }
  return { path: found, schema: at };
}

function wrongStep(rest: string): string {
  if (rest === "." || rest === "[") return "unexpected end of JSON path";
  const inside = /^\[([^\]]*)/.exec(rest)?.[1];
  if (inside !== undefined) return `expected single quoted string but got ${inside}`;
  return `expected [ or . but got: ${/^[^.[\]]*/.exec(rest)?.[0] ?? rest}`;
}
