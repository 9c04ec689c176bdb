/** The published schemas, as JSON Schema documents (2020-12). The files beside this one are these, and a test says so. */
import { z } from "zod";
import { baselineSchema } from "../gate/baseline.ts";
import { diffReportSchema } from "./diff-report.ts";
import { faultReportSchema } from "./fault-report.ts";
import { suiteEventSchema } from "./suite-event.ts";
import { suiteFailureSchema, suiteReportSchema } from "./suite-report-schema.ts";

const schemas = {
  report: suiteReportSchema,
  failure: suiteFailureSchema,
  event: suiteEventSchema,
  baseline: baselineSchema,
  diff: diffReportSchema,
  faults: faultReportSchema,
} as const;

export type SchemaName = keyof typeof schemas;

export const schemaNames = Object.keys(schemas) as SchemaName[];

/** Indented, ending in a newline. Readers must take fields that they do not know, but for a baseline. */
export function renderSchema(name: SchemaName): string {
  return `${JSON.stringify(z.toJSONSchema(schemas[name], { io: "input" }), undefined, 2)}\n`;
}
