/**
 * YAML bodies as the server reads them: the first document, YAML 1.1 scalars, every key a text, merge keys where they
 * stand, duplicates reported by line, the last one standing. Aliases that would multiply a document are refused.
 * Source: the facts, section 4, field validation; recorded answers (06); the published reader's rules and texts.
 */
import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type Scalar,
  visit,
  type YAMLMap,
} from "yaml";
import { goQuote } from "../../wire/go-strings.ts";
import type { Json } from "../contract/http-message.ts";
import { goSyntax } from "./go-values.ts";
import { yamlProblem, yamlTextProblem } from "./yaml-problems.ts";
import { keyText, resolveScalar, type YamlScalar, YamlTagError } from "./yaml-scalars.ts";

export type YamlBody =
  | { readonly ok: true; readonly value: unknown; readonly duplicates: readonly string[] }
  | { readonly ok: false; readonly error: string };

/**
 * The first document of `text`. `duplicates` are whole texts: `line 8: key "k" already set in map`. Integers that no
 * double holds come as bigints.
 */
export function parseYaml(text: string): YamlBody {
  const first = firstDocument(text);
  const problem = isTooDeep(first) ? "exceeded max depth" : yamlTextProblem(first);
  if (problem !== undefined) return refused(problem);
  const lines = new LineCounter();
  try {
    const document = parseDocument(first, {
      version: "1.1",
      schema: "failsafe", // scalars are resolved here
      resolveKnownTags: false,
      uniqueKeys: false,
      lineCounter: lines,
      logLevel: "silent",
      prettyErrors: false,
    });
    const [error] = document.errors;
    if (error !== undefined) return refused(yamlProblem(error, lines));
    const reader = new Reader(document, first, lines);
    return { ok: true, value: reader.read(), duplicates: reader.duplicates };
  } catch (error) {
    if (error instanceof RangeError) return refused("exceeded max depth"); // the parser recurses
    if (error instanceof YamlTagError) return refused(error.message);
    if (error instanceof Refusal) return { ok: false, error: error.message };
    throw error;
  }
}

/** The whole text of a refusal. */
class Refusal extends Error {}

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

const refused = (problem: string): YamlBody => ({ ok: false, error: `yaml: ${problem}` });

type Fields = Map<string, unknown>;

/** Of texts of duplicates, which merge keys can make a thousand times as long as the body. */
const charactersMax = 1_000_000;

/** From the tree of a document to its value. */
class Reader {
  readonly duplicates: string[] = [];
  private charactersLeft = charactersMax;
  private readonly document: Document;
  private readonly text: string;
  private readonly lines: LineCounter;
  private readonly targets: ReadonlyMap<Alias, Node>;
  private readonly open = new Set<Node>();
  private readonly budget = new AliasBudget();

  constructor(document: Document, text: string, lines: LineCounter) {
    this.document = document;
    this.text = text;
    this.lines = lines;
    this.targets = targetsOf(document);
  }

  read(): unknown {
    return this.value(this.document.contents);
  }

  /** A value for JSON, which has no name for what is no finite number. */
  private value(node: Node | null): unknown {
    const value = this.decoded(node);
    if (typeof value !== "number" || Number.isFinite(value)) return value;
    throw new Refusal(`json: unsupported value: ${goInfinity(value)}`);
  }

  private decoded(node: Node | null): unknown {
    this.budget.spend();
    if (node === null) return null;
    if (isAlias(node)) return this.aliased(node, (target) => this.decoded(target));
    if (isSeq(node)) return node.items.map((item) => this.value(item as Node));
    return isMap(node) ? Object.fromEntries(this.fields(node, new Map(), new Set())) : this.scalar(node as Scalar);
  }

  private aliased<Result>(alias: Alias, read: (target: Node) => Result): Result {
    const target = this.targets.get(alias) as Node;
    if (this.open.has(target)) throw new YamlTagError(`anchor '${alias.source}' value contains itself`);
    this.open.add(target);
    this.budget.depth++;
    const result = read(target);
    this.budget.depth--;
    this.open.delete(target);
    return result;
  }

  /** Adds the fields of `map`. `keys` are those that are there, with their types. */
  private fields(map: YAMLMap, fields: Fields, keys: Set<string>): Fields {
    this.open.add(map);
    for (const { key, value } of map.items as readonly { readonly key: Node | null; readonly value: Node | null }[]) {
      if (isMergeKey(key)) {
        this.merge(value, fields, keys);
        continue;
      }
      const { name, shown } = this.key(key);
      const read = this.value(value);
      if (name === undefined)
        throw new Refusal(
          `Unsupported map key of type: ${shown}, value: ${read === null ? "<nil>" : goSyntax(read as Json)}`,
        );
      if (keys.has(shown)) this.duplicate(`line ${this.lineOf(value ?? key)}: key ${shown} already set in map`);
      keys.add(shown);
      fields.set(name, read);
    }
    this.open.delete(map);
    return fields;
  }

  private duplicate(text: string): void {
    if (this.charactersLeft < 0) return;
    this.charactersLeft -= text.length;
    this.duplicates.push(text);
  }

  private merge(source: Node | null, fields: Fields, keys: Set<string>): void {
    const mergeOne = (node: unknown): void => {
      this.budget.spend();
      const target = isAlias(node) ? (this.targets.get(node) as Node) : node;
      if (!isMap(target)) throw new YamlTagError("map merge requires map or sequence of maps as the value");
      if (isAlias(node)) this.aliased(node, () => this.fields(target, fields, keys));
      else this.fields(target, fields, keys);
    };
    if (isSeq(source))
      for (const item of source.items.toReversed()) mergeOne(item); // the earlier wins
    else mergeOne(source);
  }

  /** `shown` tells keys apart as the server's texts do; a key of another type is another key. */
  private key(node: Node | null): { readonly name: string | undefined; readonly shown: string } {
    const value = this.decoded(node);
    if (typeof value === "object" && value !== null) {
      throw new YamlTagError(
        `invalid map key: ${goSyntax(value as Json).replaceAll("map[string]", "map[interface {}]")}`,
      );
    }
    const key = value as YamlScalar;
    if (key === null) return { name: undefined, shown: "%!s(<nil>), key: <nil>" };
    const scalar = isAlias(node) ? (this.targets.get(node) as Node) : node;
    const name = keyText(key, isScalar(scalar) ? String(scalar.value) : "");
    if (name === undefined) return { name, shown: `uint64, key: 0x${key.toString(16)}` };
    return { name, shown: typeof key === "string" ? goQuote(key) : name };
  }

  private scalar(node: Scalar): YamlScalar {
    const isPlain = node.type === "PLAIN" || node.type === undefined;
    if (node.type === "QUOTE_DOUBLE") this.requireEscapes(node);
    return resolveScalar(String(node.value ?? ""), node.tag, isPlain);
  }

  /** JSON knows escapes that this reader does not. */
  private requireEscapes({ range }: Scalar): void {
    if (range === null || range === undefined) return;
    const [, escape] = foreignEscape.exec(this.text.slice(range[0], range[1])) ?? [];
    if (escape === undefined) return;
    throw new YamlTagError(
      escape === "/" ? "found unknown escape character" : "found invalid Unicode character escape code",
    );
  }

  private lineOf(node: Node | null): number {
    return this.lines.linePos(node?.range?.[0] ?? 0).line;
  }
}

const goInfinity = (value: number): string => (Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf");

const foreignEscape = /^(?:[^\\]|\\[^/u]|\\u(?![dD][89a-fA-F]))*\\(\/|u(?=[dD][89a-fA-F]))/;

function isMergeKey(key: Node | null): boolean {
  return isScalar(key) && key.value === "<<" && (key.tag === undefined ? key.type === "PLAIN" : key.tag === mergeTag);
}

const mergeTag = "tag:yaml.org,2002:merge";

/** What each alias stands for: the last node before it with that anchor. */
function targetsOf(document: Document): ReadonlyMap<Alias, Node> {
  const anchors = new Map<string, Node>();
  const targets = new Map<Alias, Node>();
  visit(document, {
    Node(_key, node) {
      if (isAlias(node)) {
        const target = anchors.get(node.source);
        if (target === undefined) throw new YamlTagError(`unknown anchor '${node.source}' referenced`);
        targets.set(node, target);
      } else if (node.anchor !== undefined) anchors.set(node.anchor, node);
    },
  });
  return targets;
}

/** Aliases may make up most of a small document, and a tenth of a large one. Source: the published reader. */
class AliasBudget {
  /** Of aliases that are being followed. */
  depth = 0;
  private nodeCount = 0;
  private aliasedCount = 0;

  spend(): void {
    this.nodeCount++;
    if (this.depth > 0) this.aliasedCount++;
    if (this.aliasedCount <= 100 || this.nodeCount <= 1_000) return;
    if (this.aliasedCount / this.nodeCount > allowedShare(this.nodeCount)) {
      throw new YamlTagError("document contains excessive aliasing");
    }
  }
}

const smallNodeCount = 400_000;
const largeNodeCount = 4_000_000;

function allowedShare(nodeCount: number): number {
  const size = (nodeCount - smallNodeCount) / (largeNodeCount - smallNodeCount);
  return 0.99 - 0.89 * Math.min(1, Math.max(0, size));
}
