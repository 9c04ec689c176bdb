/** A report of `capacity` as other commands read it. */
import { type CapacityReport, capacityReportSchema } from "../../reports/schema/capacity-report.ts";
import { fileText } from "./file-text.ts";
import { UsageError } from "./usage-error.ts";

/** `flag`: who asks, for errors. Throws `UsageError`. */
export function readCapacityReport(path: string, flag: string): CapacityReport {
  let document: unknown;
  try {
    document = JSON.parse(fileText(path));
  } catch (error) {
    throw new UsageError(
      `${flag} ${path}: not JSON: ${(error as Error).message.replaceAll(/\s+/g, " ")}. Give the report.json of capacity.`,
    );
  }
  const parsed = capacityReportSchema.safeParse(document);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new UsageError(
    `${flag} ${path}: ${issue?.path.join(".") ?? ""}: ${issue?.message ?? "wrong"}. Give the report.json of capacity.`,
  );
}
