/** A file that is written line by line while a command is at work. */
import { closeSync, ftruncateSync, openSync, writeFileSync } from "node:fs";
import { unwritable } from "../flags/file-problem.ts";
import { UsageError } from "../flags/usage-error.ts";

export interface LineFile {
  /** Each line is written whole and at once. */
  write(line: string): void;
  /** Whether everything was written. */
  readonly isWhole: boolean;
  close(): void;
}

/**
 * Empties the file or makes it. Throws `UsageError` where that cannot be. When a line cannot be written, as on a full disk, `failed`
 * is told why, once; the file keeps the lines before it, and no more are written.
 */
export function lineFile(file: string, flag: string, failed: (why: string) => void): LineFile {
  const descriptor = opened(file, flag);
  let bytes = 0;
  let isWhole = true;
  return {
    write(line) {
      if (!isWhole) return;
      try {
        writeFileSync(descriptor, line);
        bytes += Buffer.byteLength(line);
      } catch (error) {
        isWhole = false;
        dropHalf(descriptor, bytes);
        failed(`${flag} ${file}: ${unwritable(error)}`);
      }
    },
    get isWhole() {
      return isWhole;
    },
    close: () => closeSync(descriptor),
  };
}

function opened(file: string, flag: string): number {
  try {
    return openSync(file, "w");
  } catch (error) {
    throw new UsageError(`${flag} ${file}: ${unwritable(error)}. Name another file.`);
  }
}

/** What there was room for of a line that was not written whole. */
function dropHalf(descriptor: number, bytes: number): void {
  try {
    ftruncateSync(descriptor, bytes);
  } catch {
    // A pipe or a device: nothing can be taken back.
  }
}
