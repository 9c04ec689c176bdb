/** Where a real agent finds manifests: the machine's files, and URLs. */
import { closeSync, constants, fstatSync, openSync, readdirSync, readSync, statSync, watch } from "node:fs";
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { join } from "node:path";
import { type FilesRead, type FilesReader, manifestBytesMax, type PathWatcher } from "../agent/sources/file-source.ts";
import type { UrlFetcher } from "../agent/sources/url-source.ts";

/** Of all files of a directory: what is more is not read, and what was there before stays. */
const directoryFilesMax = 10_000;
const directoryBytesMax = 64 * 1024 * 1024;
/** Read in one turn. */
const filesPerTurn = 100;
const bytesPerTurn = 1024 * 1024;

/** `later` runs what is read as an event of the agent. A large directory is read in several. */
export function machineFiles(later: (work: () => void) => void): FilesReader {
  return (path, done) => {
    const steps = readPath(path);
    const goOn = (): void => {
      const { done: isDone, value: read } = steps.next();
      later(isDone === true ? () => done(read) : goOn);
    };
    goOn();
  };
}

/** `turn` runs work as an event of the agent. What cannot be watched is found at the next look. */
export function fileWatcher(turn: (work: () => void) => void, watchPath: typeof watch = watch): PathWatcher {
  return (path, changed) => {
    try {
      const watcher = watchPath(path, { persistent: false }, () => turn(changed));
      watcher.on("error", () => watcher.close());
      return () => watcher.close();
    } catch {
      return () => {};
    }
  };
}

function* readPath(path: string): Generator<void, FilesRead> {
  try {
    if (statSync(path).isDirectory()) return yield* readDirectory(path);
    const content = regularFile(path);
    return content === undefined
      ? { is: "unreadable", why: "neither a file nor a directory" }
      : { is: "file", content };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === "ENOENT" ? { is: "missing" } : { is: "unreadable", why: message };
  }
}

function* readDirectory(path: string): Generator<void, FilesRead> {
  const entries = readdirSync(path, { withFileTypes: true });
  const names = entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name);
  if (names.length > directoryFilesMax) return { is: "unreadable", why: `it has more than ${directoryFilesMax} files` };
  const files: { name: string; content: Uint8Array }[] = [];
  let [bytes, filesOfTurn, bytesOfTurn] = [0, 0, 0];
  for (const name of names.sort()) {
    if (filesOfTurn >= filesPerTurn || bytesOfTurn >= bytesPerTurn) {
      yield;
      [filesOfTurn, bytesOfTurn] = [0, 0];
    }
    filesOfTurn++;
    const content = ownFile(join(path, name));
    if (content === undefined) continue;
    bytes += content.length;
    bytesOfTurn += content.length;
    if (bytes > directoryBytesMax)
      return { is: "unreadable", why: `its files are longer than ${directoryBytesMax} bytes all together` };
    files.push({ name, content });
  }
  return { is: "directory", files };
}

/** Undefined: gone meanwhile, not ours to read, or none. */
function ownFile(path: string): Uint8Array | undefined {
  try {
    return regularFile(path);
  } catch {
    return undefined;
  }
}

/**
 * A file, or of one that is too long for a manifest so much as shows that. Undefined for a device, a pipe or a socket, which might
 * never end, and which opening does not wait for.
 */
function regularFile(path: string): Uint8Array | undefined {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return undefined;
    const content = Buffer.allocUnsafeSlow(Math.min(stats.size || unknownBytes, manifestBytesMax) + 1);
    let end = 0;
    for (let count = 1; count > 0 && end < content.length; end += count)
      count = readSync(descriptor, content, end, content.length - end, null);
    return content.subarray(0, end);
  } finally {
    closeSync(descriptor);
  }
}

/** Of a file whose size the machine does not tell. */
const unknownBytes = 64 * 1024;

const bodyBytesMax = 64 * 1024 * 1024;

/** Headers of one name are sent in their order. */
export function urlFetcher(turn: (work: () => void) => void): UrlFetcher {
  return (url, headers, done) => {
    let isOver = false;
    const end = (fetched: Parameters<typeof done>[0]): void => {
      if (isOver) return;
      isOver = true;
      turn(() => done(fetched));
    };
    const lists: Record<string, string[]> = {};
    for (const [name, value] of headers) (lists[name] ??= []).push(value);
    const outgoing = (url.startsWith("https:") ? requestHttps : requestHttp)(url, { headers: lists }, (incoming) => {
      const chunks: Buffer[] = [];
      let size = 0;
      incoming.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size > bodyBytesMax) incoming.destroy(new Error(`the answer is longer than ${bodyBytesMax} bytes`));
        else chunks.push(chunk);
      });
      incoming.on("error", (error) => end({ error: error.message }));
      incoming.on("end", () => end({ status: incoming.statusCode ?? 0, body: Buffer.concat(chunks) }));
    });
    outgoing.on("error", (error) => end({ error: error.message }));
    outgoing.end();
    return () => {
      isOver = true;
      outgoing.destroy();
    };
  };
}
