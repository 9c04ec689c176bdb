/** Files of JSON that an earlier command has written. */
import { fileText } from "./file-text.ts";
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

const words: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  ENOTDIR: "there is no such file",
  EISDIR: "it is a folder",
  EACCES: "this user may not read it",
};

function readable(path: string, name: string, wanted: string): string {
  try {
    return fileText(path);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const { code = "", message } = error as NodeJS.ErrnoException;
    throw new UsageError(`${name}: ${words[code] ?? `cannot be read: ${message}`}. ${wanted}`);
  }
}
