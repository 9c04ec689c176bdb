/**
 * YAML bodies as the server reads them: YAML 1.1 scalars, every key a string, duplicates reported by line, the last
 * one standing. Aliases that would multiply a document are refused.
 * Source: the facts, section 4, field validation; recorded answers (06).
 */
import { isMap, isScalar, LineCounter, type Document, parseDocument, visit, type Tags } from "yaml";
import { goQuote } from "../../../wire/go-strings.ts";

export type YamlBody =
  | { readonly ok: true; readonly value: unknown; readonly duplicates: readonly string[] }
  | { readonly ok: false; readonly error: string };

const aliasesMax = 100;

/** The first document of `text`. `duplicates` are whole texts: `line 8: key "k" already set in map`. */
export function parseYaml(text: string): YamlBody {
  const lines = new LineCounter();
  const first = firstDocument(text);
  if (isTooDeep(first)) return refused("exceeded max depth");
  try {
    const document = parseDocument(first, {
      version: "1.1",
      customTags: withoutTimes,
      uniqueKeys: false,
      intAsBigInt: true,
      lineCounter: lines,
      logLevel: "silent",
      prettyErrors: false,
    });
    const problem = document.errors[0];
    if (problem !== undefined) return refused(`line ${lines.linePos(problem.pos[0]).line}: ${problem.message}`);
    const duplicates = findDuplicates(document, lines);
    return { ok: true, value: plainNumbers(document.toJS({ maxAliasCount: aliasesMax })), duplicates };
  } catch (error) {
    if (error instanceof RangeError) return refused("exceeded max depth"); // the parser recurses
    if (error instanceof ReferenceError) return refused("document contains excessive aliasing");
    throw error;
  }
}

/** The parser would read all that follow, only to forget them. Nothing but a marker begins at a line like this. */
function firstDocument(text: string): string {
  for (const { index } of text.matchAll(/^(?:---|\.\.\.)(?=[ \t\r\n]|$)/gm)) {
    if (!/^(?:[ \t]*(?:#.*)?\r?\n|%.*\n)*$/.test(text.slice(0, index))) return text.slice(0, index);
  }
  return text;
}

/**
 * Whether the parser would spend seconds on nesting only to run out of stack. Brackets within text count too; more of
 * them open than the limit says is no body that anybody sends.
 */
function isTooDeep(text: string): boolean {
  let open = 0;
  let indicators = 0; // "- - - " on one line
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === 91 || char === 123) open++;
    else if ((char === 93 || char === 125) && open > 0) open--;
    const next = text.charCodeAt(at + 1);
    if ((char === 45 || char === 63 || char === 58) && (next === 32 || next === 9)) indicators++;
    else if (char !== 32 && char !== 9) indicators = 0;
    if (open > nestingMax || indicators > nestingMax) return true;
  }
  return false;
}

const nestingMax = 10_000; // as in JSON

const refused = (problem: string): YamlBody => ({
  ok: false,
  error: `error converting YAML to JSON: yaml: ${problem}`,
});

/** Dates and sexagesimal numbers stay text, as in the reader that the server uses. */
function withoutTimes(tags: Tags): Tags {
  return tags.filter((tag) => {
    if (typeof tag === "string") return !unreadTags.has(tag);
    return tag.tag !== "tag:yaml.org,2002:timestamp" && tag.format !== "TIME";
  });
}

const unreadTags: ReadonlySet<string> = new Set(["timestamp", "intTime", "floatTime"]);

function findDuplicates(document: Document, lines: LineCounter): readonly string[] {
  const found: string[] = [];
  visit(document, {
    Map(_, map) {
      const seen = new Set<string>();
      for (const { key } of map.items) {
        if (!isScalar(key) || key.range === null || key.range === undefined) continue;
        const name = String(key.value);
        if (name === "<<") continue;
        if (seen.has(name))
          found.push(`line ${lines.linePos(key.range[0]).line}: key ${goQuote(name)} already set in map`);
        seen.add(name);
      }
    },
  });
  return isMap(document.contents) || found.length > 0 ? found : none;
}

const none: readonly string[] = [];

/** Integers come as bigints, so that none is rounded unseen; those that fit become numbers. */
function plainNumbers(value: unknown): unknown {
  if (typeof value === "bigint") {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value;
  }
  if (Array.isArray(value)) return value.map(plainNumbers);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plainNumbers(item)]));
}
