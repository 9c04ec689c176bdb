/**
 * YAML bodies as the server reads them: the first document, YAML 1.1 scalars, every key a text, merge keys where they
 * stand, duplicates reported by line, the last one standing. Aliases that would multiply a document are refused.
 * Source: the facts, section 4, field validation; recorded answers (06); the published reader's rules and texts.
 */
import { drained } from "../../wire/steps.ts";
import { goQuote } from "../../wire/go-strings.ts";
import { toldCharactersMax } from "../contract/errors.ts";
import type { Json } from "../contract/http-message.ts";
import { goSyntax } from "./go-values.ts";
import { depthMax } from "./walk-context.ts";
import { setKey } from "./walker.ts";
import { firstDocument, nodesPerStop, type YamlNode } from "./yaml-nodes.ts";
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
  return drained(yamlSteps(text));
}

/** The same, stopping now and then. */
function* yamlSteps(text: string): Generator<void, YamlBody> {
  const problem = yamlTextProblem(text);
  if (problem !== undefined) return refused(problem);
  try {
    const reader = new Reader();
    const document = yield* firstDocument(text);
    return { ok: true, value: yield* reader.read(document), duplicates: reader.duplicates };
  } catch (error) {
    if (error instanceof YamlTagError || error instanceof YamlSyntaxError) return refused(error.message);
    if (error instanceof Refusal) return { ok: false, error: error.message };
    throw error;
  }
}

const readBodies = new WeakMap<Uint8Array, YamlBody>();
const lenient = new TextDecoder();

/** The body, as it was read in steps where it was. */
export const readYamlBody = (body: Uint8Array): YamlBody => readBodies.get(body) ?? parseYaml(lenient.decode(body));

/** Reads a body in steps, for whoever calls `readYamlBody` with it afterwards. */
export function* yamlBodySteps(body: Uint8Array): Generator<void, void> {
  readBodies.set(body, yield* yamlSteps(lenient.decode(body)));
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

/** What is read of a part. It yields the reading of a part of its own, whose result it is given, or stops for a while. */
interface Reading<Result = unknown> extends Generator<Reading | undefined, Result, unknown> {}

/** From the tree of a document to its value. */
class Reader {
  readonly duplicates: string[] = [];
  private charactersLeft = toldCharactersMax; // of duplicates
  private depth = 0;
  private stepCount = 0;
  private readonly open = new Set<YamlNode>();
  private readonly known = new Map<YamlNode, Key>();
  private readonly budget = new AliasBudget();

  /** However deep the document is, no stack grows with it. */
  *read(document: YamlNode | undefined): Generator<void, unknown> {
    if (document === undefined) return null;
    const open: Reading[] = [this.value(document)];
    let result: unknown;
    for (let last = open.at(-1); last !== undefined; last = open.at(-1)) {
      const { done, value } = last.next(result);
      result = undefined;
      if (done === true) {
        open.pop();
        result = value;
      } else if (value === undefined) yield;
      else open.push(value);
    }
    return result;
  }

  /** A value for JSON, which has no name for what is no finite number. */
  private *value(node: YamlNode): Reading {
    return finite(node.is === "scalar" ? this.scalar(node) : yield this.decoded(node));
  }

  private scalar(node: YamlNode): YamlScalar {
    this.budget.spend();
    return resolveScalar(node.text, node.tag, node.isPlain);
  }

  private *decoded(node: YamlNode): Reading {
    if (node.is === "scalar") return this.scalar(node);
    this.budget.spend();
    if (node.is === "alias") {
      const target = this.follow(node);
      const result = yield this.decoded(target);
      this.budget.depth--;
      return result;
    }
    if (++this.depth > depthMax) throw new YamlTagError("exceeded max depth");
    const value =
      node.is === "list"
        ? yield this.list(node)
        : yield this.object((yield this.fields(node, new Map(), new Set())) as Fields);
    this.depth--;
    return value;
  }

  private *object(fields: Fields): Reading<Record<string, unknown>> {
    const object: Record<string, unknown> = {};
    for (const [name, value] of fields) {
      if (++this.stepCount % nodesPerStop === 0) yield undefined;
      setKey(object, name, value);
    }
    return object;
  }

  private *list(node: YamlNode): Reading<unknown[]> {
    this.open.add(node);
    const items: unknown[] = [];
    for (const child of node.children) {
      if (++this.stepCount % nodesPerStop === 0) yield undefined;
      // Most are scalars, and need no step of their own.
      items.push(child.is === "scalar" ? finite(this.scalar(child)) : yield this.value(child));
    }
    this.open.delete(node);
    return items;
  }

  /** What an alias stands for; its depth is for the caller to take back. */
  private follow(alias: YamlNode): YamlNode {
    const target = alias.target as YamlNode;
    if (this.open.has(target)) throw new YamlTagError(`anchor '${alias.text}' value contains itself`);
    this.budget.depth++;
    return target;
  }

  /** Adds the fields of `map`. `keys` are those that are there, with their types. */
  private *fields(map: YamlNode, fields: Fields, keys: Set<string>): Reading<Fields> {
    this.open.add(map);
    const { children } = map;
    for (let at = 0; at < children.length; at += 2) {
      if (++this.stepCount % nodesPerStop === 0) yield undefined;
      const [key, value] = [children[at] as YamlNode, children[at + 1] as YamlNode];
      if (isMergeKey(key)) {
        yield this.merge(value, fields, keys);
        continue;
      }
      const { name, shown } = (yield this.key(key)) as Key;
      const read = value.is === "scalar" ? finite(this.scalar(value)) : yield this.value(value);
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

  private *merge(source: YamlNode, fields: Fields, keys: Set<string>): Reading<void> {
    if (++this.depth > depthMax) throw new YamlTagError("exceeded max depth");
    const sources = source.is === "list" ? source.children.toReversed() : [source]; // the earlier wins
    for (const node of sources) {
      this.budget.spend();
      const target = node.target ?? node;
      if (target.is !== "map") throw new YamlTagError("map merge requires map or sequence of maps as the value");
      if (node.is === "alias") this.follow(node);
      yield this.fields(target, fields, keys);
      if (node.is === "alias") this.budget.depth--;
    }
    this.depth--;
  }

  /** `shown` tells keys apart as the server's texts do; a key of another type is another key. */
  private *key(node: YamlNode): Reading<Key> {
    // Merges meet the same ones again and again; what they cost the budget has been counted with the first.
    let key = this.known.get(node);
    if (key === undefined) this.known.set(node, (key = (yield this.readKey(node)) as Key));
    else this.budget.spend();
    return key;
  }

  private *readKey(node: YamlNode): Reading<Key> {
    const value = node.is === "scalar" ? this.scalar(node) : yield this.decoded(node);
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

function finite(value: unknown): unknown {
  if (typeof value !== "number" || Number.isFinite(value)) return value;
  throw new Refusal(`json: unsupported value: ${goInfinity(value)}`);
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
