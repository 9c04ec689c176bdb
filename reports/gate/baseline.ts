/**
 * The file of expected failures: which findings a gate lets pass for now, each with a reason. YAML or JSON. This is the
 * only place that knows its grammar.
 */
import { type Document, isNode, LineCounter, stringify } from "yaml";
import { z } from "zod";
import { didYouMean } from "../../wire/near-names.ts";
import { inPlainWords } from "../../wire/plain-words.ts";
import { otherFile, withoutConsequences } from "../../wire/wrong-files.ts";
import { yamlDocument, yamlValue } from "../../wire/yaml-text.ts";

const baselineVersion = "baselines/v1";

export interface BaselineEntry {
  /**
   * A requirement, for whatever check finds it broken; or the id of one finding: `requirement/check`, or
   * `requirement/stale:deviation`.
   */
  readonly finding: string;
  /** Why it is expected; not empty. */
  readonly reason: string;
}

export interface Baseline {
  readonly apiVersion: typeof baselineVersion;
  readonly kind: "Baseline";
  readonly expected: readonly BaselineEntry[];
}

export const baselineSchema = z
  .strictObject({
    apiVersion: z.literal(baselineVersion),
    kind: z.literal("Baseline"),
    expected: z
      .array(
        z.strictObject({
          finding: z
            .string()
            .regex(
              /^[^/\s]+\.[^/\s]+(\/[^/\s]+)?$/,
              "must be a requirement, or the id of a finding, as requirement/check",
            )
            .describe("A requirement, or the id of a finding: requirement/check, or requirement/stale:deviation."),
          reason: z.string().regex(/\S/, "must say why, and is empty").describe("Why the failure is expected for now."),
        }),
      )
      .describe("Findings that do not fail the gate. One that no longer occurs does."),
  })
  .describe("Expected failures of one target.") satisfies z.ZodType<Baseline>;

/** Wrong content, told as `file:line:column: path: what is wrong`, one mistake a line. */
export class BaselineError extends Error {
  override readonly name = "BaselineError";
}

/** `name` is how errors call the file. Throws `BaselineError`. */
export function parseBaseline(text: string, name: string): Baseline {
  const lines = new LineCounter();
  const document = readable(name, () => yamlDocument(text, { lineCounter: lines, prettyErrors: false }));
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${name}:${line}:${col}`;
  };
  const [broken] = document.errors; // those behind the first mostly follow from it
  if (broken !== undefined) throw new BaselineError(`${at(broken.pos[0])}: not YAML: ${broken.message}`);
  const value = readable(name, () => yamlValue(document));
  const parsed = baselineSchema.safeParse(value, { error: inPlainWords });
  const other = parsed.success ? undefined : otherFile(value, wantedFile);
  if (other !== undefined)
    throw new BaselineError(`${at(offsetOf(document, other.field === undefined ? [] : [other.field]))}: ${other.text}`);
  const problems: readonly Problem[] = parsed.success
    ? repeated(parsed.data)
    : withoutConsequences(parsed.error.issues, value, fieldsAt).map((issue) => ({
        path: issue.path,
        message: issue.code === "unrecognized_keys" ? unknownFields(issue.keys, fieldsAt(issue.path)) : issue.message,
      }));
  if (parsed.success && problems.length === 0) return parsed.data;
  const more = problems.length - shownMistakesMax;
  const mistakes = problems.slice(0, shownMistakesMax).map(({ path, message }) => {
    const where = path.length === 0 ? "the document" : path.join(".");
    return `${at(offsetOf(document, path))}: ${where}: ${message}`;
  });
  throw new BaselineError([...mistakes, ...(more > 0 ? [`${name}: and ${more} more`] : [])].join("\n"));
}

/** Nobody reads more of them before mending the first. */
const shownMistakesMax = 20;

const wantedFile = {
  version: baselineVersion,
  fields: Object.keys(baselineSchema.shape),
  required: Object.keys(baselineSchema.shape),
};

const fieldsAt = (path: readonly PropertyKey[]): readonly string[] =>
  Object.keys((path.length === 0 ? baselineSchema : baselineSchema.shape.expected.element).shape);

const unknownFields = (names: readonly string[], fields: readonly string[]): string =>
  names
    .map((name) => {
      const hint = didYouMean(name, fields);
      return `there is no field ${JSON.stringify(name)} here${hint === "" ? `; there are ${fields.join(", ")}` : hint}`;
    })
    .join("; ");

/** Where the deepest node on the path begins: what is missing has no place of its own. */
function offsetOf(document: Document, path: readonly PropertyKey[]): number {
  const node = path.length === 0 ? document.contents : document.getIn(path, true);
  const offset = isNode(node) ? node.range?.[0] : undefined;
  return offset ?? (path.length === 0 ? 0 : offsetOf(document, path.slice(0, -1)));
}

interface Problem {
  readonly path: PropertyKey[];
  readonly message: string;
}

function repeated({ expected }: Baseline): Problem[] {
  return expected.flatMap(({ finding }, i) =>
    expected.findIndex((other) => other.finding === finding) === i
      ? []
      : [{ path: ["expected", i, "finding"], message: `${finding} is given twice: give it once` }],
  );
}

/** YAML, ending in a newline. */
export function renderBaseline(expected: readonly BaselineEntry[]): string {
  const document: Baseline = { apiVersion: baselineVersion, kind: "Baseline", expected };
  const head =
    "# Findings that are expected for now. One that no longer occurs fails the gate: remove it then.\n# `touchstone conform --baseline FILE` reads this.\n";
  return `${head}${stringify(document, { lineWidth: 118 })}`;
}

function readable<Read>(name: string, read: () => Read): Read {
  try {
    return read();
  } catch (error) {
    throw new BaselineError(`${name}: not YAML that can be read: ${(error as Error).message}`);
  }
}
