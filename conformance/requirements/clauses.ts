/**
 * The clauses of the three documents, and how a row's source names them. The tables are ours, written by hand; they
 * hold numbers and names, so that a clause without a requirement, and a requirement without a clause, can be found.
 */
import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { z } from "zod";

/** A section of a document, with its numbered items and the rows of its tables. */
export interface Section {
  readonly title: string;
  readonly items: readonly string[]; // at least one
}

const sections = z.array(
  z.strictObject({ title: z.string().min(1), items: z.array(z.string().regex(/^[^,;]+$/)).min(1) }),
);

/** `number`: 1, 2 or 3. In the order of the document. Throws when the table is not as it should be. */
export function readSections(number: number): readonly Section[] {
  const fileName = `document-${number}.yaml`;
  const text = readFileSync(new URL(`clauses/${fileName}`, import.meta.url), "utf8");
  const result = sections.safeParse(parse(text));
  if (!result.success) throw new Error(`${fileName}: ${z.prettifyError(result.error)}`);
  return result.data;
}

/** The name of one clause: `Watch, 3`. */
export const clauseName = ({ title }: Section, item: string): string => `${title}, ${item}`;

/**
 * The clauses that a source names: `Watch 1, 2; Errors, 410` names `Watch, 1`, `Watch, 2` and `Errors, 410`.
 * Throws at a title that the document does not have, at an item that its section does not have, and at a title alone.
 */
export function clausesNamed(source: string, document: readonly Section[]): readonly string[] {
  return source.split(";").flatMap((part) => {
    const reference = part.trim();
    const section = sectionOf(reference, document);
    if (section === undefined) throw new Error(`no section of the document begins ${JSON.stringify(reference)}`);
    const items = reference
      .slice(section.title.length)
      .split(",")
      .map((item) => item.trim())
      .filter((item) => item !== "");
    if (items.length === 0) throw new Error(`${reference}: which item of it? ${section.items.join(", ")}`);
    for (const item of items) {
      if (!section.items.includes(item)) throw new Error(`${section.title} has no ${JSON.stringify(item)}`);
    }
    return items.map((item) => clauseName(section, item));
  });
}

/** The longest title wins: `Watch semantics` is not an item of `Watch`. */
function sectionOf(reference: string, document: readonly Section[]): Section | undefined {
  return document
    .filter(({ title }) => reference.startsWith(title) && /^([ ,]|$)/.test(reference.slice(title.length)))
    .reduce<Section | undefined>(
      (best, each) => (each.title.length > (best?.title.length ?? 0) ? each : best),
      undefined,
    );
}
