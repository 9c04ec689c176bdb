/** Files of JSON that an earlier command has written. */
import type { z } from "zod";
import { inPlainWords } from "../../scenarios/plain-words.ts";
import { fileText } from "./file-text.ts";
import { unreadable } from "./file-problem.ts";
import { UsageError } from "./usage-error.ts";

/** `name`: how errors call it; `wanted`: a sentence that says what to give. Throws `UsageError`. */
export function readJsonFile(path: string, name: string, wanted: string): unknown {
  const text = readable(path, name, wanted);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${name}: not JSON: ${(error as Error).message.replaceAll(/\s+/g, " ")}. ${wanted}`);
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

function readable(path: string, name: string, wanted: string): string {
  try {
    return fileText(path);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${name}: ${unreadable(error)}. ${wanted}`);
  }
}
