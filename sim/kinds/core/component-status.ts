/** ComponentStatus. Source: the published strategies and printers. */
import { printer, nameColumn, column, textAt, listAt } from "../shared/printer.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import type { KindRow } from "../kind-row.ts";

export const componentStatusKind: KindRow = {
  resource: "/componentstatuses",
  columns: printer(
    nameColumn,
    column("Status", "Whether the component is healthy.", componentHealth),
    column("Message", "What the component says.", (it) => textAt(health(it), "message")),
    column("Error", "What is wrong with it.", (it) => textAt(health(it), "error")),
  ),
};

function componentHealth(component: JsonObject): string {
  const status = textAt(health(component), "status");
  if (status === "True") return "Healthy";
  return status === "False" ? "Unhealthy" : "Unknown";
}

const health = (component: JsonObject): JsonObject | undefined =>
  listAt(component, "conditions").find(({ type }) => type === "Healthy");
