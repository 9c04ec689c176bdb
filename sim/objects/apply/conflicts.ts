/**
 * Conflicts of an application, as the client is told of them.
 * Source: the facts, section 4, server-side apply; recorded answers (05-patch/apply-conflict*).
 */
import { compareBytes, goQuote } from "../../../wire/go-strings.ts";
import { ApiError, type Cause, toldCharactersMax } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import type { FieldSet } from "../field-set.ts";
import type { ManagedFieldsEntry } from "../../contract/objects.ts";
import { pathCountOf, pathTextsOf } from "./path-text.ts";

export interface Conflict {
  /** Whose fields would change. */
  readonly entry: ManagedFieldsEntry;
  readonly paths: FieldSet;
}

/** 409 with a cause for each path that there is room to tell, owners in order. */
export class ApplyConflict extends ApiError {
  readonly conflicts: readonly Conflict[];

  constructor(conflicts: readonly Conflict[]) {
    const room = { left: toldCharactersMax };
    const told = conflicts
      .toSorted((left, right) => compareBytes(identity(left.entry), identity(right.entry)))
      .map(({ entry, paths }) => ({ owner: ownerText(entry), paths: pathTextsOf(paths, room) }))
      .filter(({ paths }) => paths.length > 0);
    const causes = told.flatMap(({ owner, paths }) =>
      paths.map((field): Cause => ({ reason: "FieldManagerConflict", message: `conflict with ${owner}`, field })),
    );
    const count = conflicts.reduce((sum, { paths }) => sum + pathCountOf(paths), 0);
    super(409, "Conflict", `Apply failed with ${summary(told, count)}`, {
      causes: causes as unknown as JsonObject[string],
    });
    this.conflicts = conflicts;
  }
}

interface Told {
  readonly owner: string;
  readonly paths: readonly string[];
}

function summary(told: readonly Told[], count: number): string {
  if (count === 1) return `1 conflict: conflict with ${told[0]?.owner}: ${told[0]?.paths[0]}`;
  const lines = told.flatMap(({ owner, paths }) => [`conflicts with ${owner}:`, ...paths.map((path) => `- ${path}`)]);
  return `${count} conflicts: ${lines.join("\n")}`;
}

/** Who an entry belongs to, apart from its version for appliers, which may change it. */
function identity({ manager, operation, apiVersion, subresource }: ManagedFieldsEntry): string {
  return JSON.stringify({
    manager,
    operation,
    ...(operation === "Update" && { apiVersion }),
    ...((subresource ?? "") !== "" && { subresource }),
  });
}

function ownerText({ manager = "", operation, apiVersion, subresource = "" }: ManagedFieldsEntry): string {
  const of = subresource === "" ? "" : ` with subresource ${goQuote(subresource)}`;
  const using = operation === "Update" ? ` using ${apiVersion}` : "";
  return `${goQuote(manager)}${of}${using}`;
}
