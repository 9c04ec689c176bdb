/** ServiceAccount. Source: the published strategies and printers. */
import { printer, nameColumn, column, sizeAt, ageColumn } from "../shared/printer.ts";
import type { KindRow } from "../kind-row.ts";

export const serviceAccountKind: KindRow = {
  resource: "/serviceaccounts",
  returnsDeleted: true,
  columns: printer(
    nameColumn,
    column("Secrets", "How many secrets it may use.", (it) => sizeAt(it, "secrets")),
    ageColumn,
  ),
};
