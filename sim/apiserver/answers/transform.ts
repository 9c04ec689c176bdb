/** What the parameter `as` of an Accept clause makes of an answer. Source: the facts, section 5. */
import type { ResourceRow } from "../../../wire/resources.ts";
import { agePrinter } from "../../kinds/custom/columns.ts";
import type { CustomParts } from "../catalogue/served-resource.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import type { Transform } from "./negotiate.ts";
import type { Run } from "../requests/run.ts";
import type { Profile } from "../../contract/profile.ts";
import type { AnswerContext } from "./answer-context.ts";
import { Times } from "../../contract/times.ts";
import { partialInParts, partialOfOne } from "./partial-metadata.ts";
import type { ShownInParts } from "../encodings/shown-payload.ts";
import { defaultPrinter, parseInclude, printerOf as printerOfKind, tableInParts, type TableOptions } from "./table.ts";

/** Throws 400 for a bad `includeObject`, and 406 when a list was asked of an object or the other way round. */
export function transformed(
  context: AnswerContext,
  run: Run,
  transform: Transform,
  object: JsonObject,
): JsonObject | ShownInParts {
  const { kind, apiVersion } = transform;
  if (kind === "Table") {
    const { row } = run.resourcePlace;
    const custom = context.custom.find(row.group, row.version, row.resource)?.custom;
    const include = parseInclude(run.query.first("includeObject"));
    const shown = tableInParts(object, tableOptions(context, custom, { apiVersion, include, headers: true }));
    return { ...shown, isNullWhenEmpty: isNullWhenEmpty(context.profile, object, custom) };
  }
  const goType = goTypeOf(run.resourcePlace.row, String(object["kind"]));
  if (kind === "PartialObjectMetadata") return partialOfOne(object, apiVersion, goType);
  return { ...partialInParts(object, apiVersion, goType), isNullWhenEmpty: context.profile.nullWhenNothing };
}

/** As the server's clock and the type's columns have it. */
export function tableOptions(
  { clock, profile }: AnswerContext,
  custom: CustomParts | undefined,
  options: Pick<TableOptions, "apiVersion" | "include" | "headers">,
): TableOptions {
  return { ...options, nowSeconds: new Times(clock).nowSeconds(), ...printerOf(profile, custom) };
}

/** A list that nobody has added anything to is null where the observed server says so. */
function isNullWhenEmpty(profile: Profile, object: JsonObject, custom: CustomParts | undefined): boolean {
  const isBare = custom === undefined && printerOfKind(String(object["kind"]).replace(/List$/, "")) === defaultPrinter;
  return profile.nullWhenNothing && isBare;
}

/** The columns that a definition asks for, or those of its profile when it asks for none. */
function printerOf(profile: Profile, custom: CustomParts | undefined): Pick<TableOptions, "printer"> {
  if (custom === undefined) return {};
  const asksForNone = custom.printer === agePrinter;
  return { printer: asksForNone && profile.customTableColumns === "default" ? defaultPrinter : custom.printer };
}

/** The real server names its own types in refusals: `*core.ConfigMap`. Events of both groups are core's. */
function goTypeOf({ group, custom }: ResourceRow, kind: string): string {
  if (custom) return "*unstructured.Unstructured";
  const package_ = group === "" || group.startsWith("events.") ? "core" : group.split(".", 1)[0];
  return `*${package_}.${kind.replace(/List$/, "")}`;
}
