/**
 * A Table against the objects that it shows. Source: document 1, Table representation; what was observed of rows,
 * cells and `includeObject`.
 */
import { type ApiObject, isJsonObject, type Json, type JsonObject, objectsIn } from "../client/types.ts";
import type { Violation } from "../client/findings.ts";
import { sameJson } from "./json-values.ts";

/** What a row carries of its object. */
export type IncludeObject = "None" | "Metadata" | "Object";

/** Kind, apiVersion (`meta.…/v1`), and columns with a name and a type. */
export function judgeShape(table: Json | undefined, apiVersion: string): Violation | undefined {
  const named = isJsonObject(table)
    ? `${String(table["kind"])} ${String(table["apiVersion"])}`
    : JSON.stringify(table ?? null);
  return named === `Table ${apiVersion}` ? undefined : { expected: `Table ${apiVersion}`, actual: named };
}

export function judgeColumns(table: Json | undefined): Violation | undefined {
  const columns = objectsIn(table, "columnDefinitions");
  const isWhole = ({ name, type }: JsonObject) =>
    typeof name === "string" && name !== "" && typeof type === "string" && type !== "";
  if (columns.length > 0 && columns.every(isWhole)) return undefined;
  return { expected: "columns, each with a name and a type", actual: JSON.stringify(columns) };
}

/** `Name string, Created At date` */
export function columnsText(table: Json | undefined): string {
  return objectsIn(table, "columnDefinitions")
    .map(({ name, type }) => `${String(name)} ${String(type)}`)
    .join(", ");
}

/** One row an object, in order, a cell a column, the name in the column that is called so. */
export function judgeRows(
  table: Json | undefined,
  items: readonly ApiObject[],
  columns: readonly JsonObject[] = objectsIn(table, "columnDefinitions"),
): Violation | undefined {
  const rows = objectsIn(table, "rows");
  const nameColumn = columns.findIndex(({ name }) => name === "Name");
  const shown = rows.map(({ cells }) => (Array.isArray(cells) ? (cells as readonly Json[]) : []));
  const names = shown.map((cells) => String(cells[nameColumn]));
  const expected = items.map(({ metadata }) => metadata.name);
  if (!sameJson(names, expected))
    return { expected: `rows ${expected.join(", ")}`, actual: `rows ${names.join(", ")}` };
  const wrong = shown.find((cells) => cells.length !== columns.length);
  if (wrong === undefined) return undefined;
  return { expected: `${columns.length} cells in each row`, actual: `${wrong.length}: ${JSON.stringify(wrong)}` };
}

/** `apiVersion` is that of the metadata alone. */
export function judgeCarried(
  table: Json | undefined,
  items: readonly ApiObject[],
  include: IncludeObject,
  apiVersion: string,
): Violation | undefined {
  for (const [index, row] of objectsIn(table, "rows").entries()) {
    const item = items[index] as ApiObject;
    const metadata: JsonObject = { kind: "PartialObjectMetadata", apiVersion, metadata: item.metadata };
    const expected = { None: null, Metadata: metadata, Object: item }[include];
    // Items of a list need not repeat what they are.
    const carried = row["object"] ?? null;
    const actual = include === "Object" && isJsonObject(carried) ? withoutType(carried) : carried;
    if (!sameJson(actual, include === "Object" ? withoutType(item) : expected)) {
      return {
        expected: `with includeObject=${include}: ${JSON.stringify(expected)}`,
        actual: JSON.stringify(carried),
      };
    }
  }
  return undefined;
}

function withoutType({ kind: _kind, apiVersion: _apiVersion, ...rest }: JsonObject): JsonObject {
  return rest;
}
