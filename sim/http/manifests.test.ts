import { execFileSync } from "node:child_process";
import { EventEmitter } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, type watch, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { type FilesRead, manifestBytesMax } from "../agent/sources/file-source.ts";
import { fileWatcher, machineFiles } from "./manifests.ts";

/** What would watch, and what it was told. */
class Watcher extends EventEmitter {
  isClosed = false;
  tell: () => void = () => {};

  close(): void {
    this.isClosed = true;
  }
}

it("changes of files are events of the agent; what cannot be watched is not", () => {
  const watcher = new Watcher();
  const watchPath = ((path: string, _options: object, tell: () => void) => {
    if (path === "/missing") throw new Error("ENOENT");
    watcher.tell = tell;
    return watcher;
  }) as unknown as typeof watch;
  const log: string[] = [];
  const turn = (work: () => void): void => {
    log.push("turn");
    work();
  };
  const cancel = fileWatcher(turn, watchPath)("/m", () => log.push("changed"));
  watcher.tell();
  expect(log).toEqual(["turn", "changed"]);
  watcher.emit("error", new Error("gone"));
  expect(watcher.isClosed).toBe(true);
  cancel();
  fileWatcher(turn, watchPath)("/missing", () => log.push("changed"))();
  expect(log).toHaveLength(2);
});

/** What is read at a path, and in how many turns. */
function readAt(path: string): { readonly read: FilesRead | undefined; readonly turns: number } {
  const due: (() => void)[] = [];
  let read: FilesRead | undefined;
  machineFiles((work) => void due.push(work))(path, (found) => (read = found));
  let turns = 0;
  for (let work = due.shift(); work !== undefined; work = due.shift()) {
    turns++;
    work();
  }
  return { read, turns };
}

const folder = mkdtempSync(join(tmpdir(), "manifests-"));
afterAll(() => rmSync(folder, { recursive: true }));

it("files that never end or never begin are none, and of a long one so much is read as shows that", () => {
  const path = join(folder, "odd");
  mkdirSync(path);
  execFileSync("mkfifo", [join(path, "pipe")]);
  symlinkSync("/dev/zero", join(path, "zero"));
  symlinkSync(join(path, "loop"), join(path, "loop"));
  symlinkSync(path, join(path, "self"));
  writeFileSync(join(path, "a"), "a: 1");
  writeFileSync(join(path, "long"), "");
  truncateSync(join(path, "long"), 3_000_000_000);
  const { read } = readAt(path);
  const files = read?.is === "directory" ? read.files : [];
  expect(files.map(({ name, content }) => [name, content.length])).toEqual([
    ["a", 4],
    ["long", manifestBytesMax + 1],
  ]);
  const why = "neither a file nor a directory";
  expect([readAt(join(path, "pipe")).read, readAt("/dev/zero").read]).toEqual([
    { is: "unreadable", why },
    { is: "unreadable", why },
  ]);
  expect(readAt("/proc/self/status").read).toMatchObject({ is: "file" });
});

it("a large directory is read in several turns, and no more of it than there is room for", () => {
  const path = join(folder, "many");
  mkdirSync(path);
  for (let at = 0; at < 1_000; at++) writeFileSync(join(path, String(at)), "a");
  const { read, turns } = readAt(path);
  expect(read?.is === "directory" ? read.files.length : 0).toBe(1_000);
  expect(turns).toBe(10);
  for (let at = 0; at < 7; at++) {
    writeFileSync(join(path, `large-${at}`), "");
    truncateSync(join(path, `large-${at}`), manifestBytesMax);
  }
  expect(readAt(path).read).toEqual({ is: "unreadable", why: expect.stringMatching(/longer than 67108864 bytes/) });
});
