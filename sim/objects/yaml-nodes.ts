/**
 * The tree of a text's first document in YAML: the grammar above its tokens, without recursion. Aliases are bound to what
 * they stand for.
 * Source: the published reader's parser.
 */
import { type Token, YamlScanner, YamlSyntaxError } from "./yaml-scanner.ts";
import { YamlTagError } from "./yaml-scalars.ts";

export interface YamlNode {
  readonly is: "scalar" | "list" | "map" | "alias";
  /** From 0. */
  readonly line: number;
  /** Of a scalar its content, of an alias its name. */
  readonly text: string;
  /** The full name; undefined where there is none. */
  readonly tag: string | undefined;
  /** Of a scalar: what it means is for the reader to find out. */
  readonly isPlain: boolean;
  /** Of a list; of a map keys and values in turn. */
  readonly children: YamlNode[];
  /** Of an alias. */
  readonly target: YamlNode | undefined;
}

/** The grammar's state in one collection that is open. */
interface Open {
  readonly node: YamlNode;
  readonly form: "block list" | "indentless list" | "block map" | "flow list" | "flow map" | "flow pair";
  readonly startLine: number;
  /** Of a map: a key waits for its value. */
  hasKey: boolean;
  isFirst: boolean;
}

const nothing: YamlNode[] = [];

const scalar = (line: number, text: string, tag: string | undefined, isPlain: boolean): YamlNode => ({
  is: "scalar",
  line,
  text,
  tag,
  isPlain,
  children: nothing,
  target: undefined,
});

/** Undefined for a text without any; stops now and then. Throws `YamlSyntaxError`, and `YamlTagError` for anchors. */
export function firstDocument(text: string): Generator<void, YamlNode | undefined> {
  return new Composer(new YamlScanner(text)).document();
}

/** Nodes between two stops. */
export const nodesPerStop = 8_000;

class Composer {
  private readonly scanner: YamlScanner;
  private readonly anchors = new Map<string, YamlNode>();
  private readonly handles = new Map([
    ["!", "!"],
    ["!!", "tag:yaml.org,2002:"],
  ]);
  private readonly open: Open[] = [];
  private root: YamlNode | undefined;

  constructor(scanner: YamlScanner) {
    this.scanner = scanner;
  }

  *document(): Generator<void, YamlNode | undefined> {
    while (this.scanner.peek().kind === "document end") this.scanner.skip();
    let hasDirective = false;
    for (let token = this.scanner.peek(); token.kind === "directive"; token = this.scanner.peek()) {
      const [, handle, prefix] = /^TAG[ \t]+(\S+)[ \t]+(\S+)/.exec(token.text) ?? [];
      if (handle !== undefined && prefix !== undefined) this.handles.set(handle, prefix);
      hasDirective = true;
      this.scanner.skip();
    }
    const first = this.scanner.peek();
    if (first.kind === "document start") this.scanner.skip();
    else if (hasDirective) throw problem("did not find expected <document start>", first.line);
    else if (first.kind === "stream end") return undefined;
    const token = this.scanner.peek();
    const isEmpty = token.kind === "document start" || token.kind === "document end" || token.kind === "stream end";
    if (isEmpty || token.kind === "directive") return this.empty(token.line);
    this.node(true, false);
    let count = 0;
    for (let top = this.open.at(-1); top !== undefined; top = this.open.at(-1)) {
      this.steps[top.form](top);
      if (++count % nodesPerStop === 0) yield;
    }
    this.scanner.peek(); // what follows must at least be readable
    return this.root;
  }

  /** Puts a node where one is awaited. */
  private put(node: YamlNode): void {
    const top = this.open.at(-1);
    if (top === undefined) this.root = node;
    else top.node.children.push(node);
  }

  private empty(line: number): YamlNode {
    return scalar(line, "", undefined, true);
  }

  private putEmpty(line: number): void {
    this.put(this.empty(line));
  }

  /** A node with its anchor and tag: a scalar or an alias whole, a collection from now on the innermost. */
  private node(isBlock: boolean, isIndentless: boolean): void {
    let token = this.scanner.peek();
    if (token.kind === "alias") {
      this.scanner.skip();
      const target = this.anchors.get(token.text);
      if (target === undefined) throw new YamlTagError(`unknown anchor '${token.text}' referenced`);
      this.put({
        is: "alias",
        line: token.line,
        text: token.text,
        tag: undefined,
        isPlain: false,
        children: nothing,
        target,
      });
      return;
    }
    if (token.kind === "scalar") {
      // The way of nearly every node.
      this.scanner.skip();
      this.put(scalar(token.line, token.text, undefined, token.isPlain));
      return;
    }
    const { line } = token;
    let anchor: string | undefined;
    let tagToken: Token | undefined;
    for (; ; token = this.scanner.peek()) {
      if (token.kind === "anchor" && anchor === undefined) anchor = token.text;
      else if (token.kind === "tag" && tagToken === undefined) tagToken = token;
      else break;
      this.scanner.skip();
    }
    const tag = tagToken === undefined ? undefined : this.tagOf(tagToken, line);
    const begin = (is: YamlNode["is"], more: Partial<YamlNode> = {}): YamlNode => {
      const children = is === "scalar" ? nothing : [];
      const node: YamlNode = { is, line, text: "", tag, isPlain: false, children, target: undefined, ...more };
      if (anchor !== undefined) this.anchors.set(anchor, node);
      this.put(node);
      return node;
    };
    const enter = (form: Open["form"], is: "list" | "map"): void => {
      const node = begin(is);
      this.open.push({ node, form, startLine: token.line, hasKey: false, isFirst: true });
    };
    if (isIndentless && token.kind === "-") enter("indentless list", "list");
    else if (token.kind === "scalar") {
      this.scanner.skip();
      const isPlain = (tag === undefined && token.isPlain) || tag === "!";
      begin("scalar", { text: token.text, isPlain, tag: tag === "!" ? undefined : tag });
    } else if (token.kind === "[" || token.kind === "{") {
      this.scanner.skip();
      enter(token.kind === "[" ? "flow list" : "flow map", token.kind === "[" ? "list" : "map");
    } else if (isBlock && token.kind === "block sequence start") {
      this.scanner.skip();
      enter("block list", "list");
    } else if (isBlock && token.kind === "block mapping start") {
      this.scanner.skip();
      enter("block map", "map");
    } else if (anchor !== undefined || tag !== undefined) {
      begin("scalar", { isPlain: tag === undefined || tag === "!", tag: tag === "!" ? undefined : tag });
    } else throw problem("did not find expected node content", token.line, line);
  }

  private tagOf({ handle, text }: Token, line: number): string {
    if (handle === "") return text;
    const prefix = this.handles.get(handle);
    if (prefix === undefined) throw problem("found undefined tag handle", line);
    return prefix + text;
  }

  private leave(): void {
    this.open.pop();
  }

  /** What comes next in the innermost collection, by its form. */
  private readonly steps: Readonly<Record<Open["form"], (top: Open) => void>> = {
    "block list": (top) => {
      const token = this.scanner.peek();
      if (token.kind === "-") {
        this.scanner.skip();
        const next = this.scanner.peek().kind;
        if (next === "-" || next === "block end") this.putEmpty(token.endLine);
        else this.node(true, false);
      } else if (token.kind === "block end") {
        this.scanner.skip();
        this.leave();
      } else throw problem("did not find expected '-' indicator", token.line, top.startLine);
    },
    "indentless list": () => {
      const token = this.scanner.peek();
      if (token.kind !== "-") {
        this.leave();
        return;
      }
      this.scanner.skip();
      const next = this.scanner.peek().kind;
      if (next === "-" || next === "?" || next === ":" || next === "block end") this.putEmpty(token.endLine);
      else this.node(true, false);
    },
    "block map": (top) => {
      const token = this.scanner.peek();
      if (top.hasKey) {
        top.hasKey = false;
        if (token.kind !== ":") {
          this.putEmpty(token.line);
          return;
        }
        this.scanner.skip();
        const next = this.scanner.peek().kind;
        if (next === "?" || next === ":" || next === "block end") this.putEmpty(token.endLine);
        else this.node(true, true);
      } else if (token.kind === "?") {
        this.scanner.skip();
        top.hasKey = true;
        const next = this.scanner.peek().kind;
        if (next === "?" || next === ":" || next === "block end") this.putEmpty(token.endLine);
        else this.node(true, true);
      } else if (token.kind === "block end") {
        this.scanner.skip();
        this.leave();
      } else throw problem("did not find expected key", token.line, top.startLine);
    },
    "flow list": (top) => {
      let token = this.scanner.peek();
      if (token.kind !== "]" && !top.isFirst) {
        if (token.kind !== ",") throw problem("did not find expected ',' or ']'", token.line, top.startLine);
        this.scanner.skip();
        token = this.scanner.peek();
      }
      top.isFirst = false;
      if (token.kind === "]") {
        this.scanner.skip();
        this.leave();
      } else if (token.kind === "?") {
        this.scanner.skip();
        const { line } = token;
        const node: YamlNode = { ...this.empty(line), is: "map", isPlain: false, children: [] };
        this.put(node);
        this.open.push({ node, form: "flow pair", startLine: line, hasKey: false, isFirst: true });
      } else this.node(false, false);
    },
    "flow pair": (top) => {
      const token = this.scanner.peek();
      if (top.isFirst) {
        top.isFirst = false;
        if (token.kind === ":" || token.kind === "," || token.kind === "]") this.putEmpty(token.line);
        else this.node(false, false);
      } else if (top.node.children.length === 1) {
        if (token.kind === ":") {
          this.scanner.skip();
          const next = this.scanner.peek();
          if (next.kind !== "," && next.kind !== "]") {
            this.node(false, false);
            return;
          }
        }
        this.putEmpty(token.line);
      } else this.leave();
    },
    "flow map": (top) => {
      let token = this.scanner.peek();
      if (top.hasKey) {
        top.hasKey = false;
        if (token.kind === ":") {
          this.scanner.skip();
          const next = this.scanner.peek();
          if (next.kind !== "," && next.kind !== "}") {
            this.node(false, false);
            return;
          }
        }
        this.putEmpty(token.line);
        return;
      }
      if (token.kind !== "}" && !top.isFirst) {
        if (token.kind !== ",") throw problem("did not find expected ',' or '}'", token.line, top.startLine);
        this.scanner.skip();
        token = this.scanner.peek();
      }
      top.isFirst = false;
      if (token.kind === "}") {
        this.scanner.skip();
        this.leave();
        return;
      }
      if (token.kind === "?") {
        this.scanner.skip();
        top.hasKey = true;
        const next = this.scanner.peek();
        if (next.kind === ":" || next.kind === "," || next.kind === "}") this.putEmpty(next.line);
        else this.node(false, false);
        return;
      }
      // A key alone, as in a set.
      this.node(false, false);
      top.hasKey = true;
    },
  };
}

/** The parser tells lines from 0, and for the first the one of what the trouble began with. */
const problem = (text: string, line: number, contextLine = 0): YamlSyntaxError =>
  new YamlSyntaxError(text, line !== 0 ? line : contextLine);
