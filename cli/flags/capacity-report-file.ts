/** A report of `capacity` as other commands read it. */
import { type CapacityReport, capacityReportSchema } from "../../reports/schema/capacity-report.ts";
import { asSchema, readJsonFile } from "./json-file.ts";

/** `flag`: who asks, for errors. Throws `UsageError`. */
export function readCapacityReport(path: string, flag: string): CapacityReport {
  const name = `${flag} ${path}`;
  return asSchema(capacityReportSchema, readJsonFile(path, name, expectedFile), name, expectedFile);
}

const expectedFile = "Give the report.json of capacity.";
