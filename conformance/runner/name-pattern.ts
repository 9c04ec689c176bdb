import { didYouMean } from "../../wire/near-names.ts";

/** Names as people give them: of checks, requirements and areas, with `*` for any characters. */
export type NamePattern = (name: string) => boolean;

/** `watch.*`, `*-gone`, `watch`. Everything but `*` stands for itself. */
export function namePattern(word: string): NamePattern {
  const literals = word.split("*").map((part) => part.replaceAll(/[^\w-]/g, "\\$&"));
  const expression = new RegExp(`^${literals.join(".*")}$`);
  return (name) => expression.test(name);
}

/** Of a requirement's id: `watch` of `watch.reliable`. */
export const areaOf = (id: string): string => id.slice(0, id.indexOf("."));

/** Of a word that means nothing: the names near it, or else all areas. */
export function meansNothing(word: string, areas: Iterable<string>, others: Iterable<string>): Error {
  const known = [...new Set(areas)].sort();
  const hint = didYouMean(word, [...new Set([...known, ...others])]) || `; areas: ${known.join(", ")}`;
  return new Error(`no check, requirement or area is called ${JSON.stringify(word)}${hint}`);
}
