/** From the text of a scenario file, or of a plan of chaos, to what it says, or to every mistake in it with its place. */
import { Document, isMap, isNode, isPair, isScalar, LineCounter, type Node } from "yaml";
import { z } from "zod";
import { didYouMean } from "../wire/near-names.ts";
import { otherFile, type WantedFile, withoutConsequences } from "../wire/wrong-files.ts";
import { yamlDocument, yamlValue } from "../wire/yaml-text.ts";
import { inPlainWords, wantedAsWhole } from "../wire/plain-words.ts";
import { type ChaosPlan, chaosSchema } from "./chaos.ts";
import { type Scenario, scenarioSchema } from "./schema.ts";

/** One mistake a line: `file:line:column: path: what is wrong`. */
export class ScenarioError extends Error {
  override readonly name = "ScenarioError";
  readonly mistakes: readonly string[];
  /** How many there are beside these. */
  readonly moreCount: number;

  /** Its message has each of these mistakes once, and no more than anybody reads. */
  constructor(mistakes: string | readonly string[], moreCount = 0) {
    const lines = typeof mistakes === "string" ? [mistakes] : [...new Set(mistakes)];
    const untold = moreCount + Math.max(0, lines.length - mistakesMax);
    super([...lines.slice(0, mistakesMax), ...(untold > 0 ? [`and ${untold} more`] : [])].join("\n"));
    this.mistakes = lines;
    this.moreCount = moreCount;
  }
}

/** Nobody reads more at once. */
const mistakesMax = 10;

/** Longer texts are no scenarios that a person wrote. */
const textLengthMax = 4_000_000;

/** `name` is how errors call the file. Throws `ScenarioError`. */
export const parseScenario = (text: string, name: string): Scenario => parsedAs(scenarioSchema, text, name);

/** As `parseScenario`. */
export const parseChaos = (text: string, name: string): ChaosPlan => parsedAs(chaosSchema, text, name);

/** Any file of a schema. As `parseScenario`. */
export function parsedAs<T>(schema: z.ZodType<T>, text: string, name: string, lengthMax = textLengthMax): T {
  if (text.length > lengthMax) throw new ScenarioError(`${name}: longer than ${lengthMax} characters`);
  const { document, at, spotOf } = readDocument(text, name);
  const [broken] = document.errors; // those behind the first mostly follow from it
  if (broken !== undefined) throw new ScenarioError(`${at(broken.pos[0]).text}: not YAML: ${broken.message}`);
  return judged(
    schema,
    document,
    readable(name, () => yamlValue(document)),
    spotOf,
  );
}

/** A value that was made from a file, by changes. As `parseScenario`, but that `spotOf` says where a mistake stands. */
export const judgedAs = <T>(schema: z.ZodType<T>, value: unknown, spotOf: SpotOf): T =>
  judged(schema, new Document(value), value, spotOf, variantMistakesMax);

/** Where something stands in a file, as people read it. Line and column are 0 for what stands in none. */
export interface Spot {
  /** `file:line:column`. */
  readonly text: string;
  readonly line: number;
  readonly column: number;
}

/** Of the value at this path, or of its key: where the deepest of them that is there begins. */
export type SpotOf = (path: readonly PropertyKey[], isKey: boolean) => Spot;

/** Places in the text of a file. Throws `ScenarioError` for what is no YAML at all. */
export const spotsIn = (text: string, name: string): SpotOf => readDocument(text, name).spotOf;

function readDocument(text: string, name: string) {
  const lines = new LineCounter();
  const document = readable(name, () => yamlDocument(text, { lineCounter: lines, prettyErrors: false }));
  const at = (offset: number): Spot => {
    const { line, col } = lines.linePos(offset);
    return { text: `${name}:${line}:${col}`, line, column: col };
  };
  const spotOf: SpotOf = (path, isKey) =>
    at(isKey ? keyOffsetOf(document.contents, path) : offsetOf(document.contents, path));
  return { document, at, spotOf };
}

function judged<T>(
  schema: z.ZodType<T>,
  document: Document,
  value: unknown,
  spotOf: SpotOf,
  placedMax = mistakesMax,
): T {
  const parsed = schema.safeParse(value, { error: inPlainWords });
  if (parsed.success) return parsed.data;
  /** With its line and its order there, by what is said. */
  const mistakes = new Map<string, readonly [line: number, order: number]>();
  const other = otherFile(value, wantedBy(schema));
  if (other !== undefined) {
    const path = other.field === undefined ? [] : [other.field];
    throw new ScenarioError(`${spotOf(path, false).text}: ${other.text}`);
  }
  const issues = withoutConsequences(parsed.error.issues.flatMap(flattened), value, (path) => keysAt(schema, path));
  let seen = 0;
  let moreCount = 0;
  for (const { path, message, isKey } of mistakesOf(issues, document, schema)) {
    if (mistakes.size === placedMax) {
      moreCount = countOf(issues) - seen;
      break;
    }
    seen++;
    const { text, line, column } = spotOf(path, isKey);
    const shown = pathText(isKey ? path.slice(0, -1) : path);
    mistakes.set(`${text}: ${shown === "" ? "" : `${shown}: `}${message}`, [line, isKey ? -1 : column]);
  }
  // In one line a field that is misspelt comes before what is missing for it.
  const inOrder = [...mistakes]
    .toSorted(([, one], [, other]) => one[0] - other[0] || one[1] - other[1])
    .map(([told]) => told);
  throw new ScenarioError(inOrder, moreCount);
}

function wantedBy(schema: z.ZodType): WantedFile {
  const { properties = {}, required = [] } = jsonSchemaOf(schema);
  const version = properties["apiVersion"]?.const;
  return { version: version === undefined ? undefined : String(version), fields: Object.keys(properties), required };
}

/** Of a variant: those that it has in common with others are told once, and count once. */
const variantMistakesMax = 100;

/** Without places, each of which takes a walk over the document. */
const countOf = (issues: readonly Issue[]): number =>
  issues.reduce((sum, issue) => sum + (issue.code === "unrecognized_keys" ? issue.keys.length : 1), 0);

function* mistakesOf(issues: readonly Issue[], document: Document, schema: z.ZodType): Generator<Mistake> {
  for (const issue of issues) yield* byKey(issue, document, schema);
}

function readable<Read>(name: string, read: () => Read): Read {
  try {
    return read();
  } catch (error) {
    throw new ScenarioError(`${name}: not YAML that can be read: ${(error as Error).message}`);
  }
}

type Issue = z.core.$ZodIssue;

interface Mistake {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** The path is that of a key which should not be there. */
  readonly isKey: boolean;
}

/** Each key that is not known is told where it stands, with the names that may have been meant. */
function* byKey(issue: Issue, document: Document, schema: z.ZodType): Generator<Mistake> {
  if (issue.code !== "unrecognized_keys") {
    yield { path: issue.path, message: issue.message + meant(issue, document), isKey: false };
    return;
  }
  const known = keysAt(schema, issue.path);
  for (const key of issue.keys) {
    const message = known.includes(key)
      ? `${JSON.stringify(key)} does not go with the other fields here`
      : `there is no field ${JSON.stringify(key)} here${didYouMean(key, known) || `; there are ${known.join(", ")}`}`;
    yield { path: [...issue.path, key], message, isKey: true };
  }
}

/** For a word that is none of those that are possible: which of them is near. */
function meant(issue: Issue, document: Document): string {
  const possible =
    issue.code === "invalid_value" ? issue.values : issue.code === "invalid_union" ? (possibleOf(issue) ?? []) : [];
  const given = document.getIn(issue.path);
  return typeof given === "string" && possible.length > 1 ? didYouMean(given, possible.map(String)) : "";
}

/** Of rows that are told apart by one of their fields: what it may be. */
const possibleOf = (issue: z.core.$ZodIssueInvalidUnion): readonly unknown[] | undefined =>
  "options" in issue ? issue.options : undefined;

interface JsonSchema {
  readonly const?: unknown;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
}

/** Each is made once: many mistakes ask for it. */
const jsonSchemas = new WeakMap<z.ZodType, JsonSchema>();

function jsonSchemaOf(schema: z.ZodType): JsonSchema {
  const made = jsonSchemas.get(schema) ?? (z.toJSONSchema(schema, { io: "input" }) as JsonSchema);
  jsonSchemas.set(schema, made);
  return made;
}

/** The fields that an object at this path may have, in any of its alternatives. */
function keysAt(schema: z.ZodType, path: readonly PropertyKey[]): readonly string[] {
  let schemas: readonly JsonSchema[] = [jsonSchemaOf(schema)];
  const unfold = (schema: JsonSchema): readonly JsonSchema[] => [
    schema,
    ...[...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flatMap(unfold),
  ];
  for (const key of path) {
    const steps = schemas
      .flatMap(unfold)
      .map(({ properties, items }) => (typeof key === "number" ? items : properties?.[String(key)]));
    schemas = steps.filter((schema) => schema !== undefined);
  }
  return [...new Set(schemas.flatMap(unfold).flatMap(({ properties }) => Object.keys(properties ?? {})))];
}

/** Of a union, the complaints of the alternative that was probably meant: the one with the fewest. */
function flattened(issue: Issue): Issue[] {
  if (issue.code !== "invalid_union" || issue.errors.length === 0) return [issue];
  // None was meant: all are named.
  if (issue.errors.every((errors) => wantedAsWhole(errors) !== undefined)) return [issue];
  const fewest = issue.errors.reduce((best, errors) => (weight(errors) < weight(best) ? errors : best));
  return fewest.flatMap((inner) => flattened({ ...inner, path: [...issue.path, ...inner.path] }));
}

/** An unknown or a missing key says more against an alternative than a wrong value does, and another type altogether most. */
function weight(issues: readonly Issue[]): number {
  return issues.reduce((sum, issue) => sum + weightOf(issue), 0);
}

function weightOf(issue: Issue): number {
  if (issue.code === "unrecognized_keys") return 2 * issue.keys.length;
  if (issue.code === "invalid_type" && issue.path.length === 0) return 5;
  return issue.input === undefined ? 2 : 1;
}

const pathText = (path: readonly PropertyKey[]): string =>
  path
    .map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`))
    .join("")
    .replace(/^\./, "");

/** Where the deepest node on the path begins. */
function offsetOf(contents: unknown, path: readonly PropertyKey[]): number {
  let node = contents;
  for (const key of path) {
    const next = childOf(node, key);
    if (next === undefined) break;
    node = next;
  }
  return (isNode(node) ? (node as Node).range?.[0] : undefined) ?? 0;
}

/** Where the last key of the path stands itself. */
function keyOffsetOf(contents: unknown, path: readonly PropertyKey[]): number {
  let node = contents;
  for (const key of path.slice(0, -1)) node = childOf(node, key) ?? node;
  const pair = isMap(node) ? node.items.find(({ key }) => String(key) === String(path.at(-1))) : undefined;
  return (isScalar(pair?.key) ? pair.key.range?.[0] : undefined) ?? offsetOf(contents, path);
}

function childOf(node: unknown, key: PropertyKey): Node | undefined {
  if (isMap(node)) {
    const pair = node.items.find((item) => isPair(item) && String(item.key) === String(key));
    return isNode(pair?.value) ? pair.value : undefined;
  }
  const items = (node as { items?: unknown[] } | null | undefined)?.items;
  const item = Array.isArray(items) ? items[Number(key)] : undefined;
  return isNode(item) ? item : undefined;
}
