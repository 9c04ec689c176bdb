/**
 * Tables: what an object or a list looks like to a person, made by the server so that clients need not know the kinds.
 * Source: document 1, Table representation; the facts, section 5; recorded tables.
 */
import { badRequest } from "../../contract/errors.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { metadataOf } from "../../contract/objects.ts";
import { isList, listMetadata, partialObject } from "./partial-metadata.ts";
import type { ShownInParts } from "../encodings/shown-payload.ts";
import { resourceRows } from "../../../wire/resources.ts";
import { kindRow } from "../../kinds/all-kinds.ts";
import { scaleColumns } from "../../kinds/autoscaling/scale.ts";
import { column, nameColumn, type Printer, printer, type RowEffort } from "../../kinds/shared/printer.ts";

/** What of an object each row carries. */
export type IncludeObject = "None" | "Metadata" | "Object";

export interface TableOptions {
  /** Of the table and of the metadata in its rows: `meta.svc.io/v1` or `/v1beta1`, in the dialect. */
  readonly apiVersion: string;
  readonly include: IncludeObject;
  /** The server's clock, in seconds since 1970. */
  readonly nowSeconds: number;
  /** False for all but the first event of a watch. */
  readonly headers: boolean;
  /** For kinds that have none here: custom resources. */
  readonly printer?: Printer;
}

/** An object, or a list of them, as a table. `effort`: where its rows say what they have cost. */
export function tableOf(object: JsonObject, options: TableOptions, effort?: RowEffort): JsonObject {
  const { head, field, objects, shown } = tableInParts(object, options);
  return { ...head, [field]: objects.map((one) => shown(one, effort)) };
}

/** The same, row by row. */
export function tableInParts(object: JsonObject, options: TableOptions): ShownInParts {
  const ofList = isList(object);
  const kind = String(object["kind"]);
  const { columns, row } = options.printer ?? printerOf(ofList ? kind.replace(/List$/, "") : kind);
  const head = {
    kind: "Table",
    apiVersion: options.apiVersion,
    metadata: ofList ? listMetadata(object) : ownVersion(object),
    columnDefinitions: options.headers ? (columns as unknown as readonly JsonObject[]) : null,
  };
  const shown = (one: JsonObject, effort?: RowEffort): JsonObject =>
    ({ ...row(one, options.nowSeconds, effort), object: included(one, options) }) as unknown as JsonObject;
  return { head, field: "rows", objects: ofList ? (object["items"] as readonly JsonObject[]) : [object], shown };
}

function ownVersion(object: JsonObject): JsonObject {
  const { resourceVersion } = metadataOf(object);
  return resourceVersion === undefined ? {} : { resourceVersion };
}

function included(object: JsonObject, { include, apiVersion }: TableOptions): Json {
  if (include === "None") return null;
  return include === "Object" ? object : partialObject(object, apiVersion);
}

/** By kind: an object says its own, whatever resource it was asked for as. */
const printers = new Map<string, Printer>([["Scale", scaleColumns]]);
for (const { group, version, resource, kind } of resourceRows) {
  const { columns } = kindRow(group, version, resource) ?? {};
  if (columns !== undefined) printers.set(kind, columns);
}

/** For kinds without columns of their own. */
export const defaultPrinter: Printer = printer(nameColumn, {
  ...column("Created At", "When the object was created.", (object) => metadataOf(object).creationTimestamp ?? zeroTime),
  type: "date",
});

const zeroTime = "0001-01-01T00:00:00Z";

export function printerOf(kind: string): Printer {
  return printers.get(kind) ?? defaultPrinter;
}

const includes: readonly string[] = ["None", "Metadata", "Object"] satisfies readonly IncludeObject[];

/** The parameter `includeObject`. Throws 400. */
export function parseInclude(text: string | undefined): IncludeObject {
  if (text === undefined || text === "") return "Metadata";
  if (includes.includes(text)) return text as IncludeObject;
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(text)}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}
