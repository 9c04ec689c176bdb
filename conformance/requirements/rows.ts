/** The requirement tables: a row a promised sentence, in our own words. Read once, and strictly: a mistyped key would empty a row. */
import { readdirSync, readFileSync } from "node:fs";
import { parse } from "yaml";
import { z } from "zod";
import type { RequirementLevel, RequirementSource, UnjudgedBy } from "../../reports/schema/suite-report.ts";

export interface Requirement {
  readonly id: string; // `area.word`
  readonly level: RequirementLevel;
  /** Why it has this level, where the words of the documents alone do not say it. */
  readonly reading: string | undefined;
  readonly source: RequirementSource;
  readonly text: string;
  /** `url`: a check judges it. Anything else: none does, and `why` says so. */
  readonly judged: "url" | UnjudgedBy;
  readonly why: string | undefined;
  /** Tests of our own server that show it, as paths from the root; only of what a simulation or a process shows. */
  readonly tests: readonly string[];
}

/** A row that no check judges. */
export type UnjudgedRequirement = Requirement & { readonly judged: UnjudgedBy; readonly why: string };

export function isUnjudged(row: Requirement): row is UnjudgedRequirement {
  return row.judged !== "url";
}

const row = z
  .strictObject({
    id: z.string().regex(/^[a-z][a-z-]*\.[a-z][a-z0-9-]*$/, "an id is area.word, in lower case"),
    level: z.enum(["must", "should", "may", "observed"]),
    reading: z.string().min(1).optional(),
    source: z.strictObject({ document: z.int().min(1).max(3).optional(), clause: z.string().min(1) }),
    text: z.string().min(1),
    judged: z.enum(["url", "simulation", "process", "pending", "no"]),
    why: z.string().min(1).optional(),
    tests: z
      .array(z.string().regex(/\.test\.ts$/, "a test is a path that ends in .test.ts"))
      .min(1)
      .optional(),
  })
  .refine(
    (value) => (value.judged === "url") === (value.why === undefined),
    "`why` belongs to rows that no check judges, and only to them",
  )
  .refine(
    (value) => (value.level === "observed") === (value.source.document === undefined),
    "a promise names its document; an observation has none",
  )
  .refine(
    (value) => value.judged !== "url" || (value.level !== "should" && value.level !== "may"),
    "what the documents recommend or allow can be left out, so no check judges it",
  )
  .refine(
    (value) => value.tests === undefined || value.judged === "simulation" || value.judged === "process",
    "`tests` belongs to rows that a simulation or a process shows",
  );

/** Parses one table. Throws with the file, the row and the rule when it is not as it should be. */
export function parseRequirements(fileName: string, text: string): Requirement[] {
  const result = z.array(row).safeParse(parse(text));
  if (!result.success) throw new Error(`${fileName}: ${z.prettifyError(result.error)}`);
  return result.data.map((value) => ({
    ...value,
    source: { document: value.source.document, clause: value.source.clause },
    reading: value.reading,
    why: value.why,
    tests: value.tests ?? [],
  }));
}

/** All rows of this folder, by id, in the order of the files and of their rows. Throws when an id is there twice. */
export function readRequirements(): ReadonlyMap<string, Requirement> {
  return (known ??= rowsOfFolder());
}

/** Read once: to parse the tables takes longer than many a check does, and an embedded run plans for each check anew. */
let known: ReadonlyMap<string, Requirement> | undefined;

function rowsOfFolder(): ReadonlyMap<string, Requirement> {
  const rows = new Map<string, Requirement>();
  const folder = new URL("./", import.meta.url);
  for (const fileName of fileOrder(readdirSync(folder))) {
    for (const requirement of parseRequirements(fileName, readFileSync(new URL(fileName, folder), "utf8"))) {
      if (rows.has(requirement.id)) throw new Error(`${fileName}: ${requirement.id} is there twice`);
      rows.set(requirement.id, requirement);
    }
  }
  return rows;
}

function fileOrder(names: readonly string[]): string[] {
  return names.filter((name) => name.endsWith(".yaml")).sort();
}
