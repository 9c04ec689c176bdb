/**
 * What a hunt has found so far, in a file: every seed once for a build and a question, so that a hunt goes on where it was
 * stopped, and a seed that two workers have played counts once.
 */
import { createHash } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import type { HuntGroup, HuntReport } from "../../reports/schema/hunt-report.ts";
import type { HuntedSeed } from "../../sim/experiments/hunt-seed.ts";
import { unwritable } from "../flags/file-problem.ts";
import { seedsInAll, type SeedWalk } from "../flags/hunt-seeds.ts";
import type { HuntTask } from "./hunt-part.ts";

const tables = `
create table if not exists played (
  hunt text not null,
  seed integer not null,
  hash text not null,
  records integer not null,
  signature text,
  at_micros integer,
  failure text,
  faults text,
  broke text,
  primary key (hunt, seed)
) without rowid;
create table if not exists covered (hunt text not null, seed integer not null, names text not null, primary key (hunt, seed)) without rowid;
`;

/** Of this hunt alone, and of the seeds that are asked for: all else that the file knows is nobody's question now. */
const viewOf = (hunt: string, { first, last, step, offset }: SeedWalk): string => {
  const place = `((seed - ${offset} + ${seedsInAll}) % ${seedsInAll})`;
  return `create temp view asked as select * from played
    where hunt = '${hunt}' and ${place} between ${first} and ${last} and (${place} - ${first}) % ${step} = 0`;
};

/** Which hunt a seed belongs to: the same question put to the same build. */
export const huntKey = (task: HuntTask, build: string): string => digest([build, ...questionOf(task)]).slice(0, 16);

/** Short, for names of files: the same question has the same, whichever build it is put to. */
export const huntName = (task: HuntTask): string => digest(questionOf(task)).slice(0, 6);

const questionOf = ({ scenario, profile, mode, bugs }: HuntTask): readonly unknown[] => [
  scenario,
  profile,
  mode,
  [...bugs].sort(),
];

const digest = (values: readonly unknown[]): string =>
  createHash("sha256").update(JSON.stringify(values)).digest("hex");

/** What the system calls the reasons for which SQLite could not write, by the lowest byte of its code. */
const systemCodes: Readonly<Record<number, string>> = { 8: "EACCES", 10: "EIO", 13: "ENOSPC" };

/** The error as a system call's, where it is one of these. */
function ofSystem(error: unknown, path: string): Error {
  const { errcode = 0 } = error as { errcode?: number };
  const code = systemCodes[errcode & 0xff];
  if (code === undefined) return error as Error;
  const told = Object.assign(new Error("", { cause: error }), { code, path, syscall: "write" });
  return Object.assign(told, { message: `${path} ${unwritable(told)}` });
}

export class HuntStore {
  private readonly file: string;
  private readonly database: DatabaseSync;
  private readonly hunt: string;

  /** Looks at the seeds of `walk`. Throws what SQLite throws when the file is none of its own. */
  constructor(file: string, hunt: string, walk: SeedWalk) {
    this.file = file;
    this.database = new DatabaseSync(file);
    this.hunt = hunt;
    this.write("pragma journal_mode = wal; pragma synchronous = normal; pragma busy_timeout = 5000");
    this.write(tables);
    this.write(viewOf(hunt, walk));
  }

  /** Those that were played. */
  known(): ReadonlySet<number> {
    const rows = this.database.prepare("select seed from asked").all() as { seed: number }[];
    return new Set(rows.map(({ seed }) => seed));
  }

  /** Returns how many of them are new. */
  add(results: readonly HuntedSeed[]): number {
    const insert = this.database.prepare(
      "insert or ignore into played (hunt, seed, hash, records, signature, at_micros, failure, faults, broke) values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    );
    const cover = this.database.prepare("insert or ignore into covered (hunt, seed, names) values (?, ?, ?)");
    let added = 0;
    this.database.exec("begin");
    try {
      for (const { seed, traceHash, records, failure, faults, broke, coverage } of results) {
        const text = failure === undefined ? null : JSON.stringify(failure);
        const { changes } = insert.run(
          this.hunt,
          seed,
          traceHash,
          records,
          failure?.signature ?? null,
          failure?.atMicros ?? null,
          text,
          faults === undefined ? null : JSON.stringify(faults),
          broke ?? null,
        );
        if (changes === 0) continue;
        added++;
        cover.run(this.hunt, seed, JSON.stringify(coverage));
      }
      this.database.exec("commit");
    } catch (error) {
      // Where the disk is full SQLite has taken it back by itself.
      if (this.database.isTransaction) this.database.exec("rollback");
      throw ofSystem(error, this.file);
    }
    return added;
  }

  private write(statements: string): void {
    try {
      this.database.exec(statements);
    } catch (error) {
      throw ofSystem(error, this.file);
    }
  }

  get seedCount(): number {
    return (this.database.prepare("select count(*) as count from asked").get() as { count: number }).count;
  }

  coverage(): Readonly<Record<string, number>> {
    const rows = this.database
      .prepare(
        "select value as name, count(*) as seeds from asked join covered using (hunt, seed), json_each(names) group by value order by value",
      )
      .all();
    return Object.fromEntries((rows as { name: string; seeds: number }[]).map(({ name, seeds }) => [name, seeds]));
  }

  broke(): HuntReport["broke"] {
    const rows = this.database
      .prepare("select seed, broke from asked where broke is not null order by seed limit 100")
      .all();
    return (rows as { seed: number; broke: string }[]).map(({ seed, broke }) => ({ seed, message: broke }));
  }

  /** By signature, the commonest first. */
  groups(): readonly HuntGroup[] {
    const rows = this.database
      .prepare(
        "select signature, count(*) as count, min(seed) as first from asked where signature is not null group by signature order by count desc, signature",
      )
      .all() as { signature: string; count: number; first: number }[];
    return rows.map(({ signature, count, first }) => {
      const { seed, failure } = this.fastest(signature);
      const { requirement, expected, actual, atMicros } = failure;
      return { signature, requirement, expected, actual, count, firstSeed: first, fastest: { seed, atMicros } };
    });
  }

  /** The seed whose failure of this kind comes soonest, with all that makes it again. */
  fastest(signature: string): Required<Pick<HuntedSeed, "seed" | "failure" | "faults">> {
    const row = this.database
      .prepare("select seed, failure, faults from asked where signature = ? order by at_micros, seed limit 1")
      .get(signature) as { seed: number; failure: string; faults: string };
    return { seed: row.seed, failure: JSON.parse(row.failure), faults: JSON.parse(row.faults) };
  }

  close(): void {
    this.database.close();
  }
}
