/**
 * YAML, and so JSON, of files that people give: what is wrong is told in one line, and what is nested so deeply that nobody
 * could walk over it is refused, not tried.
 */
import {
  type Document,
  type DocumentOptions,
  parseAllDocuments,
  parseDocument,
  type ParseOptions,
  type SchemaOptions,
} from "yaml";

/** Lists and maps in one another: far more than any file here means. */
const depthMax = 200;

const tooDeep = `lists and maps stand in one another more than ${depthMax} deep`;

/** One line. */
export class YamlTextError extends Error {
  override readonly name = "YamlTextError";
}

type Options = ParseOptions & DocumentOptions & SchemaOptions;

/** With its mistakes in `errors`; throws `YamlTextError` for what is too deep to be read. */
export function yamlDocument(text: string, options: Options = {}): Document.Parsed {
  const document = bounded(() => parseDocument(text, options));
  requireWhole(document);
  return document;
}

/** As `yamlDocument`, of each document of a stream. */
export function yamlDocuments(text: string, options: Options = {}): readonly Document.Parsed[] {
  const documents = bounded(() => [...parseAllDocuments(text, options)]);
  documents.forEach(requireWhole);
  return documents;
}

/** What a document says. Throws `YamlTextError`, also for aliases that would unfold without end. */
export function yamlValue(document: Document): unknown {
  let value: unknown;
  try {
    value = bounded(() => document.toJS({ maxAliasCount: 1000 }) as unknown);
  } catch (error) {
    throw new YamlTextError((error as Error).message);
  }
  if (isTooDeep(value)) throw new YamlTextError(tooDeep);
  return value;
}

/** What a text of one document says. Throws `YamlTextError`, with the place where there is one. */
export function parseYaml(text: string): unknown {
  const document = yamlDocument(text);
  const [broken] = document.errors;
  // Without the excerpt that stands below.
  if (broken !== undefined) throw new YamlTextError((broken.message.split("\n", 1)[0] ?? "").replace(/:$/, ""));
  return yamlValue(document);
}

/** The reader of YAML descends by recursion, which ends where the stack does. It may call that a mistake of the document. */
function requireWhole({ errors }: Document.Parsed): void {
  if (errors.some(({ message }) => message.startsWith("Maximum call stack"))) throw new YamlTextError(tooDeep);
}

function bounded<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError) throw new YamlTextError(tooDeep);
    throw error;
  }
}

function isTooDeep(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > depthMax) return true;
    const next: unknown[] = [];
    for (const each of level) {
      if (typeof each === "object" && each !== null) for (const child of Object.values(each)) next.push(child);
    }
    level = next;
  }
  return false;
}
