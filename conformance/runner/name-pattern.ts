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
