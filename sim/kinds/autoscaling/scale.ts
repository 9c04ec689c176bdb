/** Scale. Source: the published strategies and printers. */
import { printer, nameColumn, integerColumn, numberAt, ageColumn, type Printer } from "../shared/printer.ts";

export const scaleColumns: Printer = printer(
  nameColumn,
  integerColumn("Desired", "Pods that are wanted.", (it) => numberAt(it, "spec.replicas")),
  integerColumn("Available", "Pods that there are.", (it) => numberAt(it, "status.replicas")),
  ageColumn,
);
