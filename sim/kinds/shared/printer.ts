/** What a table says about a kind: its columns, and what an object shows in them. */
import { humanDuration } from "../../../wire/human-duration.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { metadataOf } from "../../contract/objects.ts";
import { unixSeconds } from "../../contract/times.ts";

export interface Column {
  readonly name: string;
  readonly type: "string" | "integer" | "boolean" | "date";
  /** `name` for the object's own name. */
  readonly format: "" | "name";
  readonly description: string;
  /** 0 is always shown; 1 when a person asks for more. */
  readonly priority: 0 | 1;
}

export interface Row {
  readonly cells: readonly Json[];
  /** What a client may grey out a row for. */
  readonly conditions?: readonly JsonObject[];
}

/** What rows have cost, beside what each costs by being one: values that were looked at for them, and what their texts are worth. */
export interface RowEffort {
  steps: number;
}

export interface Printer {
  readonly columns: readonly Column[];
  /** `nowSeconds` since 1970, by the server's clock. `effort`: where it says what it has cost. */
  row(object: JsonObject, nowSeconds: number, effort?: RowEffort): Row;
}

type Cell = (object: JsonObject, nowSeconds: number) => Json;

/** A column with what goes into its cells. */
export interface FilledColumn extends Column {
  readonly cell: Cell;
}

/** A printer whose cells do not depend on each other. */
export function printer(...columns: readonly FilledColumn[]): Printer {
  return {
    columns: columns.map(({ cell: _, ...column }) => column),
    row: (object, nowSeconds) => ({ cells: columns.map(({ cell }) => cell(object, nowSeconds)) }),
  };
}

export function column(name: string, description: string, cell: Cell): FilledColumn {
  return { name, type: "string", format: "", description, priority: 0, cell };
}

export function integerColumn(name: string, description: string, cell: Cell): FilledColumn {
  return { ...column(name, description, cell), type: "integer" };
}

/** A column for those who ask for more. */
export function wide(plain: FilledColumn): FilledColumn {
  return { ...plain, priority: 1 };
}

export const nameColumn: FilledColumn = {
  ...column("Name", "The object's name, unique among its kind in its namespace.", (object) => nameOf(object)),
  format: "name",
};

export const ageColumn: FilledColumn = column("Age", "How long ago the object was created.", (object, now) =>
  ageOf(object, now),
);

export const nameOf = (object: JsonObject): string => metadataOf(object).name ?? "";

export const ageOf = (object: JsonObject, nowSeconds: number): string =>
  since(metadataOf(object).creationTimestamp, nowSeconds);

/** Time since `time`, a text or nothing. */
export function since(time: Json | undefined, nowSeconds: number): string {
  return typeof time === "string" && time !== "" ? humanDuration(nowSeconds - unixSeconds(time)) : "<unknown>";
}

export const none = "<none>";
export const unset = "<unset>";
export const unknown = "<unknown>";

export const orNone = (text: string): string => (text === "" ? none : text);

/** What lies at a path, fields joined by dots; undefined when there is nothing. */
export function at(object: Json | undefined, path: string): Json | undefined {
  let value = object;
  for (const field of path.split(".")) {
    if (value === null || typeof value !== "object" || Array.isArray(value)) return undefined;
    value = (value as JsonObject)[field];
  }
  return value ?? undefined;
}

export const textAt = (object: Json | undefined, path: string): string => {
  const value = at(object, path);
  return value === undefined ? "" : String(value as string);
};

export const numberAt = (object: Json | undefined, path: string): number => Number(at(object, path) ?? 0);

export const listAt = (object: Json | undefined, path: string): readonly JsonObject[] =>
  (at(object, path) ?? []) as readonly JsonObject[];

export const mapAt = (object: Json | undefined, path: string): JsonObject => (at(object, path) ?? {}) as JsonObject;

export const sizeAt = (object: Json | undefined, path: string): number => {
  const value = at(object, path);
  return Array.isArray(value) ? value.length : Object.keys((value ?? {}) as JsonObject).length;
};

/** The status of one of an object's conditions; "" when it has none of that type. */
export function conditionStatus(object: JsonObject, type: string): string {
  return textAt(
    listAt(object, "status.conditions").find((condition) => condition["type"] === type),
    "status",
  );
}
