/**
 * A store's content in a directory: one SQLite file, which has each change before it is acknowledged (a write-ahead log,
 * synced to the disk at each commit), so that the end of the process, however sudden, loses none. What is there and
 * cannot be trusted is refused, and never taken for empty.
 */
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { KeyValue, StoredValue, StoreJournal } from "../store/types.ts";
import { damageOfLog } from "./log-soundness.ts";
import { sumOf, textOfValue, valueOfText } from "./stored-values.ts";

/** What is wrong with the directory, and what to do. */
export class UnusableData extends Error {}

export interface DataDirectory extends StoreJournal {
  /** What was there; of a new directory nothing, at revision 1. */
  readonly restored: { readonly revision: number; readonly items: readonly KeyValue[] };
  /** How often it has been opened, this time included: seeds of two runs must not be the same. */
  readonly openings: number;
  /** From now on writes are on the disk together, once `keep` is called: all of them or, when the process ends before, none. */
  begin(): void;
  /** Throws when they cannot be kept. */
  keep(): void;
  /** Closes it, without what was written since `begin`, and without the file where this opening has made it. */
  abandon(): void;
  close(): void;
}

const formatVersion = 1;
/** "TSto": files of other programs have another. */
const applicationId = 0x5453746f;
const fileName = "store.sqlite";

/** `profile` is whose objects are stored: another's names would be foreign ones. Throws `UnusableData`. */
export function openDataDirectory(directory: string, profile: string): DataDirectory {
  const file = join(directory, fileName);
  try {
    mkdirSync(directory, { recursive: true });
    const isNew = !existsSync(file);
    if (isNew) makeFile(directory, file, profile);
    return opened(file, profile, isNew);
  } catch (error) {
    if (error instanceof UnusableData) throw error;
    const { message } = error as Error;
    if (/database is locked/.test(message)) {
      throw new UnusableData(`${file} is in use by another process: end that one, or give another directory.`);
    }
    throw new UnusableData(`${file}: ${message}. Give a directory that can be written to.`);
  }
}

/** Whole or not at all: it gets its name when it is. */
function makeFile(directory: string, file: string, profile: string): void {
  if (existsSync(`${file}-wal`)) {
    throw new UnusableData(
      `${file}-wal is there and ${fileName} is not: part of the data is missing. Put it back, or give another directory.`,
    );
  }
  const fresh = `${file}.new`;
  for (const each of [fresh, `${fresh}-journal`, `${fresh}-wal`]) rmSync(each, { force: true });
  const database = new DatabaseSync(fresh);
  database.exec(`
    PRAGMA application_id = ${applicationId};
    PRAGMA user_version = ${formatVersion};
    CREATE TABLE facts (name TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
    CREATE TABLE objects (key TEXT PRIMARY KEY, revision INTEGER NOT NULL, value TEXT NOT NULL, sum INTEGER NOT NULL) WITHOUT ROWID;
  `);
  const fact = database.prepare("INSERT INTO facts VALUES (?, ?)");
  for (const [name, value] of [
    ["profile", profile],
    ["revision", 1],
    ["openings", 0],
    ["count", 0],
  ] as const)
    fact.run(name, value);
  database.close();
  renameSync(fresh, file);
  const handle = openSync(directory, "r");
  fsyncSync(handle);
  closeSync(handle);
}

function opened(file: string, profile: string, isNew: boolean): DataDirectory {
  const hasLog = existsSync(`${file}-wal`);
  requireLog(file);
  const database = new DatabaseSync(file);
  try {
    requireOurs(database, file);
    // One process alone, and each commit on the disk before it returns.
    database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
    database.exec("BEGIN IMMEDIATE; UPDATE facts SET value = value + 1 WHERE name = 'openings'; COMMIT;");
    requireSound(database, file);
    const facts = new Map(
      database
        .prepare("SELECT name, value FROM facts")
        .all()
        .map(({ name, value }) => [name, value]),
    );
    if (facts.get("profile") !== profile) {
      throw new UnusableData(
        `${file} was written under --profile ${String(facts.get("profile"))}, and this is ${profile}: give that profile, or another directory.`,
      );
    }
    if (facts.get("inUse") === 1 && !hasLog) {
      throw new UnusableData(
        `${file} is not whole: its log, ${fileName}-wal, is not beside it, and has what was written last. Put both back together, or give another directory.`,
      );
    }
    const restored = {
      revision: Number(facts.get("revision")),
      items: itemsOf(database, file, Number(facts.get("revision"))),
    };
    if (restored.items.length !== Number(facts.get("count"))) {
      throw damaged(file, `it has ${restored.items.length} objects, and should have ${String(facts.get("count"))}`);
    }
    setInUse(database, 1);
    // The file itself has to say so, also without its log.
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    return new OpenDirectory(database, file, isNew, restored, Number(facts.get("openings")));
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Whether a log belongs to the file: from its opening until it is closed. Files that do not say it are of before. */
function setInUse(database: DatabaseSync, inUse: 0 | 1): void {
  database.exec(`INSERT OR REPLACE INTO facts VALUES ('inUse', ${inUse})`);
}

const damaged = (file: string, what: string): UnusableData =>
  new UnusableData(`${file} is damaged: ${what}. Put a copy of it back, or give another directory.`);

/** Before SQLite opens it to write: that would drop what it cannot read of the log. */
function requireLog(file: string): void {
  const damage = damageOfLog(file);
  if (damage === undefined) return;
  // Somebody who writes it meanwhile is told of first: this throws when the file is locked.
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    requireOurs(database, file);
  } finally {
    database.close();
  }
  throw damaged(file, damage);
}

const numberOf = (database: DatabaseSync, pragma: string): number =>
  Number(Object.values(database.prepare(`PRAGMA ${pragma}`).get() ?? {})[0]);

function requireOurs(database: DatabaseSync, file: string): void {
  let id: number;
  try {
    id = numberOf(database, "application_id");
  } catch (error) {
    const { message } = error as Error;
    if (/locked/.test(message)) throw error;
    throw damaged(file, message);
  }
  if (id !== applicationId) throw damaged(file, "it is no store of Touchstone's");
  const version = numberOf(database, "user_version");
  if (version !== formatVersion) {
    throw new UnusableData(
      `${file} has format ${version}, and this version reads format ${formatVersion}: use the version that wrote it, or give another directory.`,
    );
  }
}

function requireSound(database: DatabaseSync, file: string): void {
  let found: readonly unknown[];
  try {
    found = database
      .prepare("PRAGMA integrity_check(3)")
      .all()
      .map((row) => Object.values(row)[0]);
  } catch (error) {
    throw damaged(file, (error as Error).message);
  }
  if (found.length !== 1 || found[0] !== "ok") throw damaged(file, found.join("; "));
}

function itemsOf(database: DatabaseSync, file: string, last: number): readonly KeyValue[] {
  const items: KeyValue[] = [];
  for (const row of database.prepare("SELECT key, revision, value, sum FROM objects").iterate()) {
    const key = String(row["key"]);
    const modRevision = Number(row["revision"]);
    const text = String(row["value"]);
    const value = sumOf(`${key} ${modRevision} ${text}`) === Number(row["sum"]) ? valueOfText(text) : undefined;
    if (value === undefined || modRevision > last) throw damaged(file, `what it has of ${key} is not what was written`);
    items.push({ key, value, modRevision });
  }
  return items;
}

class OpenDirectory implements DataDirectory {
  readonly restored: DataDirectory["restored"];
  readonly openings: number;
  private readonly database: DatabaseSync;
  private readonly file: string;
  private readonly isNew: boolean;
  private readonly statements: Readonly<Record<"begin" | "commit" | "put" | "remove" | "advance", StatementSync>>;
  private readonly keys: Set<string>;
  /** After a failed write nobody knows what the disk has: nothing more is taken. */
  private failure: string | undefined;
  /** Whether writes belong to one that is kept whole. */
  private isBegun = false;

  constructor(
    database: DatabaseSync,
    file: string,
    isNew: boolean,
    restored: DataDirectory["restored"],
    openings: number,
  ) {
    this.database = database;
    this.file = file;
    this.isNew = isNew;
    this.restored = restored;
    this.openings = openings;
    this.keys = new Set(restored.items.map(({ key }) => key));
    this.statements = {
      begin: database.prepare("BEGIN IMMEDIATE"),
      commit: database.prepare("COMMIT"),
      put: database.prepare("INSERT OR REPLACE INTO objects VALUES (?, ?, ?, ?)"),
      remove: database.prepare("DELETE FROM objects WHERE key = ?"),
      advance: database.prepare(
        "UPDATE facts SET value = CASE name WHEN 'revision' THEN ? ELSE ? END WHERE name IN ('revision', 'count')",
      ),
    };
  }

  write(revision: number, key: string, value: StoredValue | undefined): void {
    if (this.failure !== undefined) throw new Error(`${this.file} cannot be written since: ${this.failure}`);
    const { begin, commit, put, remove, advance } = this.statements;
    const isNew = value !== undefined && !this.keys.has(key);
    const count = this.keys.size + (isNew ? 1 : value === undefined ? -1 : 0);
    try {
      if (!this.isBegun) begin.run();
      if (value === undefined) remove.run(key);
      else {
        const text = textOfValue(value);
        put.run(key, revision, text, sumOf(`${key} ${revision} ${text}`));
      }
      advance.run(revision, count);
      if (!this.isBegun) commit.run();
    } catch (error) {
      this.failure = (error as Error).message;
      throw error;
    }
    if (value === undefined) this.keys.delete(key);
    else this.keys.add(key);
  }

  begin(): void {
    this.statements.begin.run();
    this.isBegun = true;
  }

  keep(): void {
    if (this.failure !== undefined) throw new UnusableData(`${this.file} cannot be written: ${this.failure}.`);
    try {
      this.statements.commit.run();
    } catch (error) {
      throw new UnusableData(`${this.file} cannot be written: ${(error as Error).message}.`);
    }
    this.isBegun = false;
  }

  abandon(): void {
    if (this.isBegun) this.database.exec("ROLLBACK");
    this.isBegun = false;
    this.close();
    if (this.isNew) for (const each of [this.file, `${this.file}-wal`]) rmSync(each, { force: true });
  }

  close(): void {
    try {
      setInUse(this.database, 0);
    } catch {
      // The log stays then, and the file goes on to say that there is one.
    }
    this.database.close();
  }
}
