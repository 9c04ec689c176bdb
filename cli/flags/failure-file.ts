/** Reads the failure files that `conform --report DIR` writes, as far as a command needs what is in them. */
import { z } from "zod";
import { suiteReportVersion } from "../../reports/schema/suite-report.ts";
import { asSchema, readJsonFile } from "./json-file.ts";

/** Which failure it is. */
export const failureHead = z.object({
  apiVersion: z.literal(suiteReportVersion),
  kind: z.literal("SuiteFailure"),
  check: z.string().min(1),
  requirement: z.string().min(1),
  expected: z.string(),
  actual: z.string(),
  profile: z.enum(["svc", "kubernetes"]),
  seed: z.int(),
  path: z.string(),
});

/** Throws `UsageError` for a file that cannot be read, or is none that fits the schema. */
export function readFailureFile<Schema extends z.ZodType>(path: string, schema: Schema): z.infer<Schema> {
  return asSchema(schema, readJsonFile(path, path, expectedFile), path, expectedFile);
}

const expectedFile =
  "Give a file from the failures/ folder that `touchstone conform --report DIR` wrote, or a capsule of `touchstone hunt`.";
