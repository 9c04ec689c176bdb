/** Names that a flag takes from a list that is known. */
import { nearNames } from "../../wire/near-names.ts";
import { UsageError } from "./usage-error.ts";

/** Throws `UsageError` for the first of `names` that is none of `known`: what was probably meant, or else all that there are. */
export function requireKnown(flag: string, kind: string, names: readonly string[], known: readonly string[]): void {
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const meant = probablyMeant(unknown, known);
  const advice =
    meant.length > 0
      ? `; did you mean ${meant.join(", or ")}?`
      : `. There ${known.length === 1 ? "is" : "are"} ${known.join("; ")}.`;
  throw new UsageError(`${flag} ${unknown}: there is no such ${kind}${advice}`);
}

/** Names that are spelled nearly the same; or else those that have the word in them. */
function probablyMeant(name: string, known: readonly string[]): readonly string[] {
  const near = nearNames(name, known, 1);
  const word = name.trim().toLowerCase();
  if (near.length > 0 || word === "") return near;
  return known.filter((each) => each.toLowerCase().includes(word)).slice(0, 5);
}
