/** The text of a file that a flag names: what has no end, as a device, or far more than anybody means, is refused. */
import { closeSync, openSync, readSync } from "node:fs";
import { answerDepthMax, hasFewJsonValues, isJsonDeeperThan } from "../../wire/json-values.ts";
import { UsageError } from "./usage-error.ts";

const chunkBytes = 1 << 20;

/** What people write by hand, certificates and keys among it. */
export const writtenMebibytesMax = 4;

/** Of what an earlier command has written. */
const defaultMebibytesMax = 256;

/** As `readSync`. */
type Reads = (descriptor: number, into: Buffer) => number;

/** Throws as `readFileSync`, and `UsageError` for what is too long. */
export function fileText(path: string, mebibytesMax = defaultMebibytesMax, read: Reads = readSync): string {
  return fileBytes(path, mebibytesMax, read).toString("utf8");
}

/** Of JSON that an earlier command has written, a long trace as well. Each takes some hundred bytes of memory at worst. */
const fileValuesMax = 10_000_000;

/** What a file of JSON says. Throws as `fileText`, `UsageError` for more values than anybody means, and SyntaxError. */
export function fileJson(path: string): unknown {
  const bytes = fileBytes(path, defaultMebibytesMax, readSync);
  if (!hasFewJsonValues(bytes, fileValuesMax))
    throw new UsageError(
      `${path}: it has more than ${fileValuesMax.toLocaleString("en")} values. Give a smaller file.`,
    );
  if (isJsonDeeperThan(bytes, answerDepthMax))
    throw new UsageError(
      `${path}: it is nested more than ${answerDepthMax.toLocaleString("en")} deep. Give another file.`,
    );
  return JSON.parse(bytes.toString("utf8"));
}

function fileBytes(path: string, mebibytesMax: number, read: Reads): Buffer {
  const descriptor = openSync(path, "r");
  try {
    const parts: Buffer[] = [];
    for (let bytes = 0; ; ) {
      const chunk = Buffer.allocUnsafe(chunkBytes);
      const count = read(descriptor, chunk);
      if (count === 0) return Buffer.concat(parts, bytes);
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
