/**
 * The columns of a custom resource's table: its name, then what its definition asks for, else its age.
 * Source: recorded tables; the published convertor.
 */
import { encodeJson } from "../../../wire/go-strings.ts";
import { parseTime } from "../../../wire/time.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { isObject } from "../../contract/objects.ts";
import {
  ageColumn,
  type Column as TableColumn,
  type FilledColumn,
  nameColumn,
  type Printer,
  printer,
  printerOf,
  since,
} from "../shared/printer.ts";
import type { Column } from "./definition.ts";
import { type JsonPath, parseJsonPath, valuesAt } from "./json-path.ts";

/** For definitions without columns, where the profile gives those columns of their own. */
export const agePrinter: Printer = printer(nameColumn, { ...ageColumn, type: "date" });

export function customPrinter(columns: readonly Column[]): Printer {
  if (columns.length === 0) return agePrinter;
  return printerOf([nameColumn, ...columns.map(filled)]);
}

function filled({ name, type, format, description, priority, jsonPath }: Column): FilledColumn {
  const path = parseJsonPath(jsonPath);
  const column = { name, type, format, description, priority } as TableColumn;
  return { ...column, cell: (object, now) => (path === undefined ? null : cellOf(object, path, type, now)) };
}

/** The first value that the path leads to, as far as it is of the column's type. */
function cellOf(object: JsonObject, path: JsonPath, type: string, nowSeconds: number): Json {
  const [value] = valuesAt(path, object);
  if (value === undefined) return null;
  switch (type) {
    case "string":
      return textOf(value);
    case "integer":
      return isWide(value) ? value : typeof value === "number" ? Math.trunc(value) : null;
    case "number":
      return isWide(value) || typeof value === "number" ? value : null;
    case "boolean":
      return typeof value === "boolean" ? value : null;
    default:
      return typeof value === "string" ? dateOf(value, nowSeconds) : null;
  }
}

/** A whole number beyond 2^53. */
const isWide = (value: Json): boolean => typeof (value as unknown) === "bigint";

/** How long ago; nobody promises that the text is a time. */
function dateOf(text: string, nowSeconds: number): string {
  return text === "" || "seconds" in parseTime(text) ? since(text, nowSeconds) : "<invalid>";
}

function textOf(value: Json): string {
  if (typeof value === "string") return value;
  return isObject(value) || Array.isArray(value) ? encodeJson(value) : String(value);
}
