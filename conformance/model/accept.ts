import { largest } from "../../wire/lists.ts";
/**
 * Which of the types that a server offers an `Accept` list asks for. Written from RFC 9110, 12.5.1, with what the
 * documents and observations add: among clauses of one quality the first wins, or any (`ties`). Where a wildcard is wanted more than a type
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

/** The media types to answer in, of which any will do. None: 406. `offered`: best first. */
export function chosen(clauses: readonly Clause[], offered: readonly string[], ties: "any" | "first"): string[] {
  const served = clauses.flatMap(({ asks, quality = 1 }) => {
    const type = asks === "any" ? offered[0] : asks;
    return type !== undefined && offered.includes(type) ? [{ type, quality }] : [];
  });
  const best = largest(
    served.map(({ quality }) => quality),
    0,
  );
  const wanted = served.filter(({ quality }) => quality === best).map(({ type }) => type);
  return ties === "first" ? wanted.slice(0, 1) : wanted;
}
