/** A report of `capacity` as other commands read it. */
import { type CapacityReport, capacityReportSchema } from "../../reports/schema/capacity-report.ts";
import { readJsonFile } from "./json-file.ts";
import { UsageError } from "./usage-error.ts";

/** `flag`: who asks, for errors. Throws `UsageError`. */
export function readCapacityReport(path: string, flag: string): CapacityReport {
  const document = readJsonFile(path, `${flag} ${path}`, "Give the report.json of capacity.");
  const parsed = capacityReportSchema.safeParse(document);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new UsageError(
    `${flag} ${path}: ${issue?.path.join(".") ?? ""}: ${issue?.message ?? "wrong"}. Give the report.json of capacity.`,
  );
}
