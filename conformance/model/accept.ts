/**
 * Which of the types that a server offers an `Accept` list asks for. Written from RFC 9110, 12.5.1, with what the
 * documents and observations add: among clauses of one quality the first wins. Where a wildcard is wanted more than a type
 * that is named, servers differ; whoever draws lists puts the wildcard behind.
 */

/** One clause: a type as it is written, parameters and all, and what it comes to if it is served. */
export interface Clause {
  readonly text: string;
  /** The media type of the answer; undefined when nobody serves it, `any` for a wildcard. */
  readonly asks: string | undefined;
  /** Default 1. */
  readonly quality?: number;
}

export function acceptHeader(clauses: readonly Clause[]): string {
  return clauses.map(({ text, quality }) => (quality === undefined ? text : `${text};q=${quality}`)).join(", ");
}

/** The media type to answer in. Undefined: none, which is 406. `offered`: best first. */
export function chosen(clauses: readonly Clause[], offered: readonly string[]): string | undefined {
  const byQuality = clauses.toSorted((a, b) => (b.quality ?? 1) - (a.quality ?? 1));
  for (const { asks } of byQuality) {
    if (asks === "any") return offered[0];
    if (asks !== undefined && offered.includes(asks)) return asks;
  }
  return undefined;
}
