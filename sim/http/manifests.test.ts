import { EventEmitter } from "node:events";
import type { watch } from "node:fs";
import { expect, it } from "vitest";
import { fileWatcher } from "./manifests.ts";

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
