/** Files of JSON that an earlier command has written. */
import type { z } from "zod";
import { inPlainWords } from "../../wire/plain-words.ts";
import { unreadable } from "./file-problem.ts";
import { fileJson } from "./file-text.ts";
import { UsageError } from "./usage-error.ts";

/** `name`: how errors call it; `wanted`: a sentence that says what to give. Throws `UsageError`. */
export function readJsonFile(path: string, name: string, wanted: string): unknown {
  try {
    return fileJson(path);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const why = error instanceof SyntaxError ? `not JSON: ${error.message.replaceAll(/\s+/g, " ")}` : unreadable(error);
    throw new UsageError(`${name}: ${why}. ${wanted}`);
  }
}

/** What the document of a file says; told as `readJsonFile` tells it. Throws `UsageError` with the first place that does not fit. */
export function asSchema<Schema extends z.ZodType>(
  schema: Schema,
  document: unknown,
  name: string,
  wanted: string,
): z.infer<Schema> {
  const parsed = schema.safeParse(document, { error: inPlainWords });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new UsageError(`${name}: ${issue?.path.join(".") || "the document"}: ${issue?.message ?? "wrong"}. ${wanted}`);
}
