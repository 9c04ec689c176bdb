/** The text of a file that a flag names: what has no end, as a device, or far more than anybody means, is refused. */
import { closeSync, openSync, readSync } from "node:fs";
import { UsageError } from "./usage-error.ts";

const chunkBytes = 1 << 20;

/** What people write by hand, certificates and keys among it. */
export const writtenMebibytesMax = 4;

/** As `readSync`. */
type Reads = (descriptor: number, into: Buffer) => number;

/** Throws as `readFileSync`, and `UsageError` for what is too long. */
export function fileText(path: string, mebibytesMax = 256, read: Reads = readSync): string {
  const descriptor = openSync(path, "r");
  try {
    const parts: Buffer[] = [];
    for (let bytes = 0; ; ) {
      const chunk = Buffer.allocUnsafe(chunkBytes);
      const count = read(descriptor, chunk);
      if (count === 0) return Buffer.concat(parts, bytes).toString("utf8");
      bytes += count;
      if (bytes > mebibytesMax << 20)
        throw new UsageError(`${path}: it is longer than ${mebibytesMax} MiB. Give a smaller file.`);
      parts.push(chunk.subarray(0, count));
    }
  } finally {
    closeSync(descriptor);
  }
}

/** The beginning of a file, however long it is. Throws as `readFileSync`. */
export function fileHead(path: string, bytes: number): string {
  const descriptor = openSync(path, "r");
  try {
    const head = Buffer.alloc(bytes);
    return head.toString("utf8", 0, readSync(descriptor, head, 0, bytes, 0));
  } finally {
    closeSync(descriptor);
  }
}
