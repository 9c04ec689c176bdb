/** What the parameter `as` of an Accept clause makes of an answer. Source: the facts, section 5. */
import type { ResourceRow } from "../../../wire/resources.ts";
import { agePrinter } from "../custom/columns.ts";
import type { CustomParts } from "../custom/custom-resource.ts";
import type { JsonObject } from "../http-message.ts";
import type { Transform } from "../pipeline/negotiate.ts";
import type { Run } from "../pipeline/run.ts";
import type { Profile } from "../profile.ts";
import type { ServerContext } from "../server-context.ts";
import { Times } from "../writes/times.ts";
import { partialOfList, partialOfOne } from "./partial-metadata.ts";
import { defaultPrinter, parseInclude, type TableOptions, tableOf } from "./table/table.ts";

/** Throws 400 for a bad `includeObject`, and 406 when a list was asked of an object or the other way round. */
export function transformed(context: ServerContext, run: Run, transform: Transform, object: JsonObject): JsonObject {
  const { kind, apiVersion } = transform;
  if (kind === "Table") {
    const include = parseInclude(run.query.first("includeObject"));
    const { row } = run.resourcePlace;
    const custom = context.custom.find(row.group, row.version, row.resource)?.custom;
    const now = nowSeconds(context);
    return tableOf(object, {
      apiVersion,
      include,
      nowSeconds: now,
      headers: true,
      ...printerOf(context.profile, custom),
    });
  }
  const goType = goTypeOf(run.resourcePlace.row, String(object["kind"]));
  return kind === "PartialObjectMetadata"
    ? partialOfOne(object, apiVersion, goType)
    : partialOfList(object, apiVersion, goType);
}

/** The columns that a definition asks for, or those of its profile when it asks for none. */
export function printerOf(profile: Profile, custom: CustomParts | undefined): Pick<TableOptions, "printer"> {
  if (custom === undefined) return {};
  const asksForNone = custom.printer === agePrinter;
  return { printer: asksForNone && profile.customTableColumns === "default" ? defaultPrinter : custom.printer };
}

export const nowSeconds = (context: ServerContext): number => new Times(context.clock).nowSeconds();

/** The real server names its own types in refusals: `*core.ConfigMap`. Events of both groups are core's. */
function goTypeOf({ group, custom }: ResourceRow, kind: string): string {
  if (custom) return "*unstructured.Unstructured";
  const package_ = group === "" || group.startsWith("events.") ? "core" : group.split(".", 1)[0];
  return `*${package_}.${kind.replace(/List$/, "")}`;
}
