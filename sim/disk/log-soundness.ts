/**
 * What SQLite says nothing of: it reads a write-ahead log up to the first frame that is not right, and takes what follows for
 * the rest of a commit that never was. Each of our commits is on the disk before the next one begins, so that at most one can be cut by a
 * crash; where more follow, acknowledged writes would be lost.
 * Source: the SQLite file format, "The Write-Ahead Log": a header of 32 bytes, frames of 24 and a page, big-endian; sums over
 * words in the order that the magic number says.
 */
import { closeSync, existsSync, fstatSync, openSync, readSync } from "node:fs";

const headerBytes = 32;
const frameHeaderBytes = 24;
const magic = 0x377f0682;

/** What is wrong with the log of a file; undefined when there is none, or nothing. */
export function damageOfLog(file: string): string | undefined {
  const path = `${file}-wal`;
  if (!existsSync(path)) return undefined;
  const handle = openSync(path, "r");
  try {
    return damageIn(handle, fstatSync(handle).size);
  } finally {
    closeSync(handle);
  }
}

function damageIn(handle: number, size: number): string | undefined {
  const header = Buffer.alloc(headerBytes);
  if (readSync(handle, header, 0, headerBytes, 0) < headerBytes) return undefined; // no frame was ever in it
  const pageBytes = header.readUInt32BE(8);
  const isBig = header.readUInt32BE(0) === magic + 1;
  const sums: Sums = [0, 0];
  addSums(sums, header, 0, 24, isBig);
  if (header.readUInt32BE(0) >>> 1 !== magic >>> 1 || !isPower(pageBytes) || !isSum(sums, header, 24))
    return size < headerBytes + frameHeaderBytes + pageBytes
      ? undefined
      : "the head of its log is not what was written";
  const frame = Buffer.alloc(frameHeaderBytes + pageBytes);
  let isSound = true;
  let commitsBehind = 0;
  for (let at = headerBytes; at + frame.length <= size; at += frame.length) {
    readSync(handle, frame, 0, frame.length, at);
    // Salts of a log before this one: the file is used again from its beginning, and these are older.
    const isOurs = frame.compare(header, 16, 24, 8, 16) === 0;
    if (isSound) {
      if (!isOurs) {
        isSound = false;
        continue;
      }
      addSums(sums, frame, 0, 8, isBig);
      addSums(sums, frame, frameHeaderBytes, frame.length, isBig);
      isSound = isSum(sums, frame, 16);
      if (!isSound && frame.readUInt32BE(4) !== 0) commitsBehind++;
    } else if (isOurs && frame.readUInt32BE(4) !== 0) commitsBehind++;
    if (commitsBehind > 1) return "its log has writes behind what is not what was written";
  }
  return undefined;
}

type Sums = [number, number];

function addSums(sums: Sums, bytes: Buffer, from: number, to: number, isBig: boolean): void {
  let [one, other] = sums;
  for (let at = from; at < to; at += 8) {
    const [first, second] = isBig
      ? [bytes.readUInt32BE(at), bytes.readUInt32BE(at + 4)]
      : [bytes.readUInt32LE(at), bytes.readUInt32LE(at + 4)];
    one = (one + first + other) >>> 0;
    other = (other + second + one) >>> 0;
  }
  sums[0] = one;
  sums[1] = other;
}

const isSum = ([one, other]: Sums, bytes: Buffer, at: number): boolean =>
  bytes.readUInt32BE(at) === one && bytes.readUInt32BE(at + 4) === other;

const isPower = (bytes: number): boolean => bytes >= 512 && bytes <= 65_536 && (bytes & (bytes - 1)) === 0;
