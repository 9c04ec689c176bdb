/** Where a real agent finds manifests: the machine's files, and URLs. */
import { readdirSync, readFileSync, statSync, watch } from "node:fs";
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { join } from "node:path";
import type { FilesRead, FilesReader, PathWatcher } from "../agent/sources/file-source.ts";
import type { UrlFetcher } from "../agent/sources/url-source.ts";

/** `later` runs what is read as an event of the agent. */
export function machineFiles(later: (work: () => void) => void): FilesReader {
  return (path, done) => {
    const read = readPath(path);
    later(() => done(read));
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

function readPath(path: string): FilesRead {
  try {
    if (!statSync(path).isDirectory()) return { is: "file", content: readFileSync(path) };
    const entries = readdirSync(path, { withFileTypes: true });
    const names = entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name);
    const files = names.sort().flatMap((name) => {
      try {
        return [{ name, content: readFileSync(join(path, name)) }];
      } catch {
        return []; // gone meanwhile, or not ours to read
      }
    });
    return { is: "directory", files };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === "ENOENT" ? { is: "missing" } : { is: "unreadable", why: message };
  }
}

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
