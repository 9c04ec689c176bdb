/**
 * What a strict reader of JSON has against a body with duplicates: fields that it has already seen and fields that the
 * type does not have, in the order of the text. It does not look into fields that it does not know, nor into values
 * that have a reader of their own.
 * Source: the published reader, against which the rules were tried.
 */
import { goQuote } from "../../wire/go-strings.ts";
import { readJson } from "../../wire/json-reader.ts";
import type { Shape, TypeRow } from "../../wire/schema.ts";

/** More are not told. */
const problemsMax = 100;

/** Whole texts. `allUnknown` are the paths of unknown fields in the order of the text, of which each is told once. */
export function strictProblems(body: Uint8Array, type: TypeRow, allUnknown: readonly string[]): readonly string[] {
  const unknown = allUnknown.slice(0, problemsMax);
  const read = readJson(body, { duplicateObjects: "merge", offsetsOf: unknown });
  if (!read.ok || read.offsets === undefined) return [];
  const { first, second } = read.offsets;
  const unread = (path: string): boolean =>
    unknown.some((other) => path === other || isBelow(path, other)) || isInOpaque(path, type);
  const problems = [
    ...unknown.map((path) => ({ at: first.get(path) ?? 0, text: `unknown field ${goQuote(path)}` })),
    ...[...second].flatMap(([path, at]) => (unread(path) ? [] : [{ at, text: `duplicate field ${goQuote(path)}` }])),
  ];
  return problems
    .sort((left, right) => left.at - right.at)
    .slice(0, problemsMax)
    .map(({ text }) => text);
}

const isBelow = (path: string, other: string): boolean =>
  path.startsWith(other) && (path[other.length] === "." || path[other.length] === "[");

/** Follows a path as far as types tell its steps apart: a key of a map may hold anything. */
function isInOpaque(path: string, type: TypeRow): boolean {
  let shape: Shape | undefined = { is: "struct", type };
  for (const step of path.split(/[.[]/)) {
    if (shape.is === "opaque") return true;
    if (shape.is === "struct") shape = shape.type.fields.get(step)?.shape;
    else if (shape.is === "list") shape = shape.items;
    else shape = shape.is === "map" ? shape.values : undefined;
    if (shape === undefined) return false;
  }
  return false;
}
