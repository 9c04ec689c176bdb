/**
 * Places that a command writes to, tried before it runs anything: what cannot be written is told at once. And files that are there
 * whole, or as they were before.
 */
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import process from "node:process";
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

/** Nothing is left behind or changed: who reads a pipe would take one that is opened and closed for its end. Throws `UsageError`. */
export function requireWritable(file: string, flag: string): void {
  const isNew = !existsSync(file);
  try {
    if (!isNew && statSync(file).isFIFO()) return accessSync(file, constants.W_OK);
    closeSync(openSync(file, "a"));
    if (isNew) rmSync(file);
  } catch (error) {
    throw new UsageError(`${flag} ${file}: ${unwritable(error)}. Name another file.`);
  }
}

/**
 * Writes a file whose old text stays until all of the new one is there: a disk that is full takes nobody's report or baseline away,
 * and whoever reads it meanwhile has the one or the other. A device or a pipe is written to as it is.
 */
export function writeWhole(file: string, content: string | Uint8Array): void {
  const old = existsSync(file) ? statSync(file) : undefined;
  if (old?.isFile() !== false && isReplaced(old === undefined ? file : realpathSync(file), old, content)) return;
  try {
    writeFileSync(file, content);
  } catch (error) {
    throw ofWriting(file, error);
  }
}

/** That a file was opened in order to write it is not told by the system. */
const ofWriting = (path: string, error: unknown): Error => Object.assign(error as Error, { path, syscall: "write" });

/** False where only the file itself may be written to, as one that is mounted by itself, or in a folder of somebody else's. */
function isReplaced(file: string, old: Stats | undefined, content: string | Uint8Array): boolean {
  const beside = `${file}.${process.pid}.new`;
  try {
    writeFileSync(beside, content, { mode: old === undefined ? 0o666 : old.mode & 0o777 });
    renameSync(beside, file);
    return true;
  } catch (error) {
    rmSync(beside, { force: true });
    if (old !== undefined && notReplaceable.has((error as NodeJS.ErrnoException).code ?? "")) return false;
    throw ofWriting(file, error);
  }
}

const notReplaceable: ReadonlySet<string> = new Set(["EACCES", "EPERM", "EROFS", "EBUSY", "EXDEV"]);
