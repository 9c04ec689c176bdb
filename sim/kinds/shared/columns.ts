/** Cells and columns that several kinds have. Source: the published printers. */
import type { JsonObject } from "../../contract/http-message.ts";
import { textAt, numberAt, at, type FilledColumn, wide, column, listAt, none, orNone } from "./printer.ts";
import { selectorText } from "../../objects/selector-text.ts";

export const text = (path: string) => (it: JsonObject) => textAt(it, path);

export const numberOf = (path: string) => (it: JsonObject) => numberAt(it, path);

export const template = templateColumns("spec.template.spec");

/** The containers that a template holds, at the path of its pod's spec. */
export function templateColumns(podSpec: string): readonly FilledColumn[] {
  return [
    wide(
      column("Containers", "Names of the template's containers.", (it) => names(it, `${podSpec}.containers`, "name")),
    ),
    wide(column("Images", "Images of the template's containers.", (it) => names(it, `${podSpec}.containers`, "image"))),
  ];
}

const names = (object: JsonObject, path: string, field: string): string =>
  listAt(object, path)
    .map((item) => textAt(item, field))
    .join(",");

export const selectorColumn = (path: string): FilledColumn =>
  wide(column("Selector", "Labels of the pods that belong to it.", (it) => labelSelector(it, path)));

/** `<none>` for no selector, and for one that selects everything. */
function labelSelector(object: JsonObject, path: string): string {
  const selector = at(object, path);
  return selector === undefined ? none : orNone(selectorText(selector as JsonObject));
}

export function booleanColumn(name: string, description: string, path: string): FilledColumn {
  return { ...column(name, description, (it) => at(it, path) === true), type: "boolean" };
}
