/**
 * What two lawful servers may answer differently, taken out of an answer. Identities are renamed by the place where the
 * program met them first, so that what is equal on one server must be equal on the other; what has no identity that a
 * program could hold a server to becomes one word.
 */
import { isJsonObject, type Json, type JsonObject } from "../client/types.ts";

interface Mask {
  readonly name: string;
  readonly why: string;
  /** Within any string. */
  readonly pattern?: RegExp;
  /** Values of these fields, whole. */
  readonly field?: (key: string, parent: JsonObject) => boolean;
  /** Equal values stay equal, others stay apart. Otherwise all become the same word. */
  readonly consistent: boolean;
}

/** In this order: the first that applies to a field takes it; then every pattern is looked for in what is left. */
const masks: readonly Mask[] = [
  {
    name: "version",
    why: "of a whole collection, or in a bookmark: others may write meanwhile",
    field: (key, parent) => key === "resourceVersion" && !("name" in parent),
    consistent: false,
  },
  {
    name: "object-version",
    why: "versions are opaque; whether they change is not",
    field: (key) => key === "resourceVersion",
    consistent: true,
  },
  { name: "token", why: "continue tokens are opaque", field: (key) => key === "continue", consistent: false },
  {
    name: "hash",
    why: "it is made of a group's name too, which may be a program's own",
    field: (key) => key === "storageVersionHash",
    consistent: false,
  },
  { name: "port", why: "node ports are drawn", field: (key) => /nodeport$/i.test(key), consistent: true },
  {
    name: "port",
    why: "node ports are drawn; a table shows them behind a colon",
    pattern: /(?<=:)\d+(?=\/(?:TCP|UDP|SCTP)\b)/g,
    consistent: true,
  },
  {
    name: "uid",
    why: "uids are drawn",
    pattern: /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g,
    consistent: true,
  },
  {
    name: "time",
    why: "clocks differ",
    pattern: /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g,
    consistent: false,
  },
  { name: "address", why: "addresses are drawn", pattern: /\b\d{1,3}(\.\d{1,3}){3}(:\d+)?\b/g, consistent: true },
  { name: "age", why: "clocks differ", pattern: /^(\d+[smhdy])+$/g, consistent: false },
];

/** In sentences about versions, numbers are versions. */
const aboutVersions = /resource ?version|revision/i;

/** Times are told in whole seconds, and two servers do not take the same time for the same program. */
const slackMillis = 2000;

/** Of one server in one program. */
export class Masking {
  /** Where a value of a mask was met first. */
  private readonly places = new Map<string, string>();
  /** Words of this side alone, such as its namespace, and what stands for them. */
  private readonly words = new Map<string, string>();
  /** Times of deletion, as they were told last: by uid. */
  private readonly deletions = new Map<string, number>();

  /** From now on `word` is shown as `<shown>`. */
  rename(word: string, shown: string): void {
    if (!this.words.has(word)) this.words.set(word, `<${shown}>`);
  }

  /** Fields are visited in the order of their names, so that a server's own order changes nothing. */
  masked(value: Json, step: number, path = ""): Json {
    if (typeof value === "string") return this.text(value, `${step} ${path}`);
    if (Array.isArray(value)) return value.map((item: Json, index) => this.masked(item, step, `${path}[${index}]`));
    if (!isJsonObject(value)) return value;
    const entries = Object.keys(value)
      .sort()
      .map((key): [string, Json] => {
        const place = path === "" ? key : `${path}.${key}`;
        return [key, this.field(key, value[key] as Json, place, value, step)];
      });
    return Object.fromEntries(entries);
  }

  private field(key: string, value: Json, path: string, parent: JsonObject, step: number): Json {
    if (key === "deletionTimestamp" && typeof value === "string") return this.deletionTime(value, parent);
    if (key === "managedFields" && Array.isArray(value)) return byOperation(this.masked(value, step, path) as Json[]);
    const mask = masks.find(({ field }) => field?.(key, parent) === true);
    if (mask === undefined || value === null || typeof value === "object") return this.masked(value, step, path);
    // Nothing is not something: that a server leaves a version out, or empty, or says that there is none, must show.
    return value === "" || value === 0 || value === "0" ? value : this.shown(mask, String(value), `${step} ${path}`);
  }

  /** Clocks differ, but on which side of what was told before a time is does not. */
  private deletionTime(value: string, { uid, creationTimestamp }: JsonObject): string {
    const millis = Date.parse(value);
    const before = this.deletions.get(String(uid));
    this.deletions.set(String(uid), millis);
    if (millis < Date.parse(String(creationTimestamp)) - slackMillis) return "<time before the creation>";
    if (before === undefined || Math.abs(millis - before) <= slackMillis) return "<time>";
    return millis < before ? "<earlier time>" : "<later time>";
  }

  private text(text: string, place: string): string {
    let shown = text;
    for (const [word, instead] of this.words) shown = shown.replaceAll(word, instead);
    for (const mask of masks) {
      const { pattern } = mask;
      if (pattern !== undefined) shown = shown.replaceAll(pattern, (match) => this.shown(mask, match, place));
    }
    return aboutVersions.test(shown) ? shown.replaceAll(/\b\d+\b/g, "<version>") : shown;
  }

  private shown({ name, consistent }: Mask, value: string, place: string): string {
    if (!consistent) return `<${name}>`;
    const key = `${name} ${value}`;
    const met = this.places.get(key) ?? place;
    this.places.set(key, met);
    return `<${name} of ${met}>`;
  }
}

/**
 * Entries of one operation stand in the order of their times, told in whole seconds, and those of one second in that of
 * their managers: so it depends on the clock which of two comes first.
 */
function byOperation(entries: readonly Json[]): Json[] {
  const runs: { operation: Json | undefined; texts: string[] }[] = [];
  for (const entry of entries) {
    const operation = isJsonObject(entry) ? entry["operation"] : undefined;
    const last = runs.at(-1);
    if (last !== undefined && last.operation === operation) last.texts.push(JSON.stringify(entry));
    else runs.push({ operation, texts: [JSON.stringify(entry)] });
  }
  return runs.flatMap(({ texts }) => texts.sort().map((text) => JSON.parse(text) as Json));
}
