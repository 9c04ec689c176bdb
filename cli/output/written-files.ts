/** Places that a command will write to, tried before it runs anything: what cannot be written is told at once. */
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  rmdirSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname } from "node:path";
import { unwritable } from "../flags/file-problem.ts";
import { UsageError } from "../flags/usage-error.ts";

/** Makes the folder, with those above it, and returns those that were not there, outermost first. Throws `UsageError`. */
export function prepareFolder(directory: string, flag: string): readonly string[] {
  const made: string[] = [];
  try {
    makeFolder(directory, made);
    accessSync(directory, constants.W_OK);
    return made;
  } catch (error) {
    removeFolders(made);
    throw new UsageError(`${flag} ${directory}: ${unwritable(error)}. Name another folder.`);
  }
}

/** One by one from the top: where none can be made, as in `/proc`, Node's own recursion never ends. */
function makeFolder(directory: string, made: string[]): void {
  if (existsSync(directory)) {
    if (!statSync(directory).isDirectory()) throw new Error(`${directory} is a file`);
    return;
  }
  makeFolder(dirname(directory), made);
  mkdirSync(directory);
  made.push(directory);
}

/** Removes folders that were made in vain, outermost first, but those that somebody uses by now. */
export function removeFolders(made: readonly string[]): void {
  try {
    for (const directory of made.toReversed()) rmdirSync(directory);
  } catch {
    // Not empty: it stays, and those above it.
  }
}

/** Nothing is left behind or changed. Throws `UsageError`. */
export function requireWritable(file: string, flag: string): void {
  const isNew = !existsSync(file);
  try {
    closeSync(openSync(file, "a"));
    if (isNew) rmSync(file);
  } catch (error) {
    throw new UsageError(`${flag} ${file}: ${unwritable(error)}. Name another file.`);
  }
}
