/** Places that a command will write to, tried before it runs anything: what cannot be written is told at once. */
import { accessSync, closeSync, constants, existsSync, mkdirSync, openSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { UsageError } from "../flags/usage-error.ts";

/** Makes the folder, with those above it. Throws `UsageError`. */
export function prepareFolder(directory: string, flag: string): void {
  try {
    makeFolder(directory);
    accessSync(directory, constants.W_OK);
  } catch (error) {
    throw new UsageError(`${flag} ${directory}: cannot be written: ${(error as Error).message}. Name another folder.`);
  }
}

/** One by one from the top: where none can be made, as in `/proc`, Node's own recursion never ends. */
function makeFolder(directory: string): void {
  if (existsSync(directory)) {
    if (!statSync(directory).isDirectory()) throw new Error(`${directory} is a file`);
    return;
  }
  makeFolder(dirname(directory));
  mkdirSync(directory);
}

/** Nothing is left behind or changed. Throws `UsageError`. */
export function requireWritable(file: string, flag: string): void {
  const isNew = !existsSync(file);
  try {
    closeSync(openSync(file, "a"));
    if (isNew) rmSync(file);
  } catch (error) {
    throw new UsageError(`${flag} ${file}: cannot be written: ${(error as Error).message}. Name another file.`);
  }
}
