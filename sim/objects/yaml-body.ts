/**
 * YAML bodies as the server reads them: the first document, YAML 1.1 scalars, every key a text, merge keys where they
 * stand, duplicates reported by line, the last one standing. Aliases that would multiply a document are refused.
 * Source: the facts, section 4, field validation; recorded answers (06); the published reader's rules and texts.
 */
import { goQuote } from "../../wire/go-strings.ts";
import type { Json } from "../contract/http-message.ts";
import { goSyntax } from "./go-values.ts";
import { depthMax } from "./walk-context.ts";
import { firstDocument, type YamlNode } from "./yaml-nodes.ts";
import { yamlTextProblem } from "./yaml-problems.ts";
import { keyText, resolveScalar, type YamlScalar, YamlTagError } from "./yaml-scalars.ts";
import { YamlSyntaxError } from "./yaml-scanner.ts";

export type YamlBody =
  | { readonly ok: true; readonly value: unknown; readonly duplicates: readonly string[] }
  | { readonly ok: false; readonly error: string };

/**
 * The first document of `text`. `duplicates` are whole texts: `line 8: key "k" already set in map`. Integers that no
 * double holds come as bigints.
 */
export function parseYaml(text: string): YamlBody {
  const problem = yamlTextProblem(text);
  if (problem !== undefined) return refused(problem);
  try {
    const reader = new Reader();
    return { ok: true, value: reader.read(firstDocument(text)), duplicates: reader.duplicates };
  } catch (error) {
    if (error instanceof YamlTagError || error instanceof YamlSyntaxError) return refused(error.message);
    if (error instanceof Refusal) return { ok: false, error: error.message };
    throw error;
  }
}

/** The whole text of a refusal. */
class Refusal extends Error {}

const refused = (problem: string): YamlBody => ({ ok: false, error: `yaml: ${problem}` });

type Fields = Map<string, unknown>;

interface Key {
  /** Undefined for what JSON cannot name. */
  readonly name: string | undefined;
  readonly shown: string;
}

/** Of texts of duplicates, which merge keys can make a thousand times as long as the body. */
const charactersMax = 1_000_000;

/** From the tree of a document to its value. */
class Reader {
  readonly duplicates: string[] = [];
  private charactersLeft = charactersMax;
  private depth = 0;
  private readonly open = new Set<YamlNode>();
  private readonly known = new Map<YamlNode, Key>();
  private readonly budget = new AliasBudget();

  read(document: YamlNode | undefined): unknown {
    return document === undefined ? null : this.value(document);
  }

  /** A value for JSON, which has no name for what is no finite number. */
  private value(node: YamlNode): unknown {
    const value = this.decoded(node);
    if (typeof value !== "number" || Number.isFinite(value)) return value;
    throw new Refusal(`json: unsupported value: ${goInfinity(value)}`);
  }

  private decoded(node: YamlNode): unknown {
    this.budget.spend();
    if (node.is === "scalar") return resolveScalar(node.text, node.tag, node.isPlain);
    if (node.is === "alias") return this.aliased(node, (target) => this.decoded(target));
    if (++this.depth > depthMax) throw new YamlTagError("exceeded max depth");
    const value = node.is === "list" ? this.list(node) : Object.fromEntries(this.fields(node, new Map(), new Set()));
    this.depth--;
    return value;
  }

  private list(node: YamlNode): unknown[] {
    this.open.add(node);
    const items: unknown[] = [];
    for (const child of node.children) items.push(this.value(child));
    this.open.delete(node);
    return items;
  }

  private aliased<Result>(alias: YamlNode, read: (target: YamlNode) => Result): Result {
    const target = alias.target as YamlNode;
    if (this.open.has(target)) throw new YamlTagError(`anchor '${alias.text}' value contains itself`);
    this.budget.depth++;
    const result = read(target);
    this.budget.depth--;
    return result;
  }

  /** Adds the fields of `map`. `keys` are those that are there, with their types. */
  private fields(map: YamlNode, fields: Fields, keys: Set<string>): Fields {
    this.open.add(map);
    const { children } = map;
    for (let at = 0; at < children.length; at += 2) {
      const [key, value] = [children[at] as YamlNode, children[at + 1] as YamlNode];
      if (isMergeKey(key)) {
        this.merge(value, fields, keys);
        continue;
      }
      const { name, shown } = this.key(key);
      const read = this.value(value);
      if (name === undefined) {
        const found = read === null ? "<nil>" : goSyntax(read as Json);
        throw new Refusal(`Unsupported map key of type: ${shown}, value: ${found}`);
      }
      if (keys.has(shown)) this.duplicate(`line ${value.line + 1}: key ${shown} already set in map`);
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

  private merge(source: YamlNode, fields: Fields, keys: Set<string>): void {
    const mergeOne = (node: YamlNode): void => {
      this.budget.spend();
      const target = node.target ?? node;
      if (target.is !== "map") throw new YamlTagError("map merge requires map or sequence of maps as the value");
      if (node.is === "alias") this.aliased(node, () => this.fields(target, fields, keys));
      else this.fields(target, fields, keys);
    };
    if (++this.depth > depthMax) throw new YamlTagError("exceeded max depth");
    if (source.is === "list")
      for (const item of source.children.toReversed()) mergeOne(item); // the earlier wins
    else mergeOne(source);
    this.depth--;
  }

  /** `shown` tells keys apart as the server's texts do; a key of another type is another key. */
  private key(node: YamlNode): Key {
    // Merges meet the same ones again and again; what they cost the budget has been counted with the first.
    let key = this.known.get(node);
    if (key === undefined) this.known.set(node, (key = this.readKey(node)));
    else this.budget.spend();
    return key;
  }

  private readKey(node: YamlNode): Key {
    const value = this.decoded(node);
    if (typeof value === "object" && value !== null) {
      throw new YamlTagError(
        `invalid map key: ${goSyntax(value as Json).replaceAll("map[string]", "map[interface {}]")}`,
      );
    }
    const key = value as YamlScalar;
    if (key === null) return { name: undefined, shown: "%!s(<nil>), key: <nil>" };
    const name = keyText(key, (node.target ?? node).text);
    if (name === undefined) return { name, shown: `uint64, key: 0x${key.toString(16)}` };
    return { name, shown: typeof key === "string" ? goQuote(key) : name };
  }
}

const goInfinity = (value: number): string => (Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf");

const isMergeKey = ({ is, text, tag, isPlain }: YamlNode): boolean =>
  is === "scalar" && text === "<<" && (tag === undefined ? isPlain : tag === mergeTag);

const mergeTag = "tag:yaml.org,2002:merge";

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
