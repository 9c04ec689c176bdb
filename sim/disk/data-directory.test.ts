import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { RevisionStore } from "../store/revision-store.ts";
import { openDataDirectory, UnusableData } from "./data-directory.ts";

const made: string[] = [];
const directory = (): string => {
  const path = mkdtempSync(join(tmpdir(), "data-"));
  made.push(path);
  return path;
};
afterEach(() => {
  for (const path of made.splice(0)) rmSync(path, { recursive: true, force: true });
});

const value = (name: string, more: object = {}): object => ({ kind: "ConfigMap", metadata: { name, ...more } });

function storeIn(path: string) {
  const data = openDataDirectory(path, "svc");
  return { data, store: new RevisionStore({ restored: data.restored, journal: data }) };
}

function problem(path: string, profile = "svc"): string {
  try {
    openDataDirectory(path, profile).close();
    return "opened";
  } catch (error) {
    expect(error).toBeInstanceOf(UnusableData);
    return (error as Error).message;
  }
}

describe("a data directory", () => {
  it("gives the next process the same store, whatever was written", () => {
    const write = fc.record({ key: fc.constantFrom("/a", "/b", "/c/d", "/ü"), text: fc.option(fc.string()) });
    fc.assert(
      fc.property(fc.array(fc.array(write, { maxLength: 12 }), { maxLength: 3 }), (runs) => {
        const path = directory();
        let expected = new RevisionStore();
        for (const writes of runs) {
          const { data, store } = storeIn(path);
          for (const { key, text } of writes) {
            for (const each of [store, expected]) {
              const held = each.get(key);
              const revision = typeof held === "object" ? held.modRevision : 0;
              if (text === null) each.delete(key, revision);
              else
                each.put(key, revision, () => value(text, { generation: 9_007_199_254_740_993n as unknown as number }));
            }
          }
          data.close();
        }
        const { data, store } = storeIn(path);
        const all = (of: RevisionStore): unknown => of.range("/", "");
        expect(store.revision).toBe(expected.revision);
        expect((all(store) as { items: unknown }).items).toEqual((all(expected) as { items: unknown }).items);
        expect(data.openings).toBe(runs.length + 1);
        if (store.revision > 1) expect(store.get("/a", store.revision - 1)).toBe("compacted");
        data.close();
        expected = store;
      }),
      { numRuns: 25 },
    );
  });

  it("has a write before it counts, so that one that cannot be kept has not happened", () => {
    const path = directory();
    const { data, store } = storeIn(path);
    store.put("/a", 0, () => value("a"));
    data.close();
    expect(() => store.put("/b", 0, () => value("b"))).toThrow();
    expect(() => store.delete("/a", store.revision)).toThrow();
    expect([store.get("/b"), store.count("/", ""), store.revision]).toEqual([undefined, 1, 2]);
  });

  it("has all that was written from `begin` to `keep`, or nothing of it", () => {
    const [path, parent] = [directory(), directory()];
    const first = storeIn(path);
    first.data.begin();
    first.store.put("/a", 0, () => value("a"));
    first.store.put("/b", 0, () => value("b"));
    first.data.keep();
    first.store.put("/c", 0, () => value("c"));
    first.data.close();
    const before = readFileSync(join(path, "store.sqlite"));
    const refused = storeIn(path);
    expect(refused.store.count("/", "")).toBe(3);
    refused.data.begin();
    refused.store.put("/d", 0, () => value("d"));
    refused.store.delete("/a", 2);
    refused.data.abandon();
    expect(readFileSync(join(path, "store.sqlite")).length).toBe(before.length);
    const again = storeIn(path);
    expect([again.store.count("/", ""), again.store.revision]).toEqual([3, 4]);
    again.data.close();

    const fresh = storeIn(join(parent, "new"));
    fresh.data.begin();
    fresh.store.put("/a", 0, () => value("a"));
    fresh.data.abandon();
    expect(readdirSync(join(parent, "new"))).toEqual([]);
  });

  it("has nothing of what was written since `begin` by a process that was killed, however much it was", () => {
    const path = directory();
    const { data, store } = storeIn(path);
    store.put("/kept", 0, () => value("kept"));
    data.begin();
    // More than SQLite holds back in memory: some of it is in the log.
    for (let at = 0; at < 1_500; at++) store.put(`/${at}`, 0, () => value("x".repeat(4_000)));
    const copy = directory();
    for (const name of ["store.sqlite", "store.sqlite-wal"]) copyFileSync(join(path, name), join(copy, name));
    data.abandon();
    const again = storeIn(copy);
    expect([again.store.count("/", ""), again.store.revision]).toEqual([1, 2]);
    again.data.close();
  });

  it("is one process's alone", () => {
    const path = directory();
    const { data } = storeIn(path);
    expect(problem(path)).toContain("in use by another process");
    data.close();
    expect(problem(path)).toBe("opened");
  });

  it("is refused when its log has acknowledged writes behind damage, and not for what a crash can leave", () => {
    const path = directory();
    const { data, store } = storeIn(path);
    for (let at = 0; at < 40; at++) store.put(`/${at}`, 0, () => value(`name-${at}`));
    // As a kill leaves them: nobody closes.
    const [main, log] = ["store.sqlite", "store.sqlite-wal"].map((name) => readFileSync(join(path, name)));
    data.close();
    const after = (change: (log: Buffer) => Buffer): string => {
      const copy = directory();
      writeFileSync(join(copy, "store.sqlite"), main as Buffer);
      writeFileSync(join(copy, "store.sqlite-wal"), change(Buffer.from(log as Buffer)));
      const said = problem(copy);
      if (said !== "opened") expect(problem(copy)).toBe(said); // what was refused is left as it was
      return said;
    };
    const flipped = (offset: number) => (bytes: Buffer) => {
      bytes[offset] = (bytes[offset] as number) ^ 1;
      return bytes;
    };
    const { length } = log as Buffer;
    expect(after((bytes) => bytes)).toBe("opened");
    expect(after(flipped(Math.floor(length / 2)))).toContain("writes behind what is not what was written");
    expect(after(flipped(17))).toContain("the head of its log is not what was written");
    expect(after((bytes) => bytes.subarray(0, 20))).toBe("opened");
    expect(after((bytes) => bytes.subarray(0, length - 100))).toBe("opened"); // cut while it was written
    expect(after((bytes) => Buffer.concat([bytes, bytes.subarray(32, 32 + 4120)]))).toBe("opened"); // and not yet whole
  });

  it("is refused without the log that belongs to it, and not once it was closed", () => {
    const path = directory();
    const copied = (): string => {
      const copy = directory();
      copyFileSync(join(path, "store.sqlite"), join(copy, "store.sqlite"));
      return problem(copy);
    };
    const { data, store } = storeIn(path);
    expect(copied()).toContain("its log, store.sqlite-wal, is not beside it");
    store.put("/a", 0, () => value("a"));
    expect(copied()).toContain("its log, store.sqlite-wal, is not beside it");
    data.close();
    expect(copied()).toBe("opened");
  });

  it("is refused, with what is wrong, when it is not what was written", () => {
    const fill = (): string => {
      const path = directory();
      const { data, store } = storeIn(path);
      for (let at = 0; at < 200; at++) store.put(`/${at}`, 0, () => value(`name-${at}`));
      data.close();
      return path;
    };
    const file = (path: string): string => join(path, "store.sqlite");
    const path = fill();
    expect(problem(path, "kubernetes")).toContain("--profile svc");
    const change = (how: (path: string) => void): string => {
      const copy = directory();
      copyFileSync(file(path), file(copy));
      how(copy);
      return problem(copy);
    };
    const sql = (text: string) => (copy: string) => {
      const database = new DatabaseSync(file(copy));
      database.exec(text);
      database.close();
    };
    expect(change(() => {})).toBe("opened");
    expect(change((copy) => truncateSync(file(copy), 8192))).toContain("is damaged");
    expect(change((copy) => truncateSync(file(copy), 0))).toContain("no store of Touchstone's");
    expect(change((copy) => writeFileSync(file(copy), "hello ".repeat(1000)))).toContain("is damaged");
    expect(
      change((copy) => {
        const bytes = readFileSync(file(copy));
        bytes[bytes.indexOf("name-77") + 5] = 0x38;
        writeFileSync(file(copy), bytes);
      }),
    ).toContain("what it has of /77 is not what was written");
    expect(change(sql("DELETE FROM objects WHERE key = '/3'"))).toContain("it has 199 objects, and should have 200");
    expect(change(sql("PRAGMA user_version = 2"))).toContain("has format 2, and this version reads format 1");
    expect(
      change((copy) => {
        writeFileSync(`${file(copy)}-wal`, "");
        rmSync(file(copy));
      }),
    ).toContain("part of the data is missing");
    expect(existsSync(file(path))).toBe(true);
  });
});
