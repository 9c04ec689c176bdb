/**
 * YAML, and so JSON, of files that people give: what is wrong is told in one line, and what is nested so deeply that nobody
 * could walk over it is refused, not tried.
 */
import {
  type Document,
  type DocumentOptions,
  isScalar,
  LineCounter,
  parseAllDocuments,
  parseDocument,
  Parser,
  type ParseOptions,
  type SchemaOptions,
  visit,
  YAMLParseError,
} from "yaml";

/** Lists and maps in one another: far more than any file here means. */
const depthMax = 200;

const tooDeep = `lists and maps stand in one another more than ${depthMax} deep`;

/** One line. */
export class YamlTextError extends Error {
  override readonly name = "YamlTextError";
}

type Options = ParseOptions & DocumentOptions & SchemaOptions;

/** What people write by hand; throws `YamlTextError` for what is too deep or too much to be read. Its mistakes are in `errors`. */
export function yamlDocument(text: string, options: Options = {}): Document.Parsed {
  requireFewMarks(text, marksMax);
  const document = readWith(
    text,
    options,
    (given) => parseDocument(text, given),
    (one) => [one],
  );
  requireWhole(document);
  bounded(() => tellDoubleKeys(document, text, options));
  return document;
}

/** As `yamlDocument`, of each document of a stream, which a program may have written. */
export function yamlDocuments(text: string, options: Options = {}): readonly Document.Parsed[] {
  requireFewMarks(text, Math.max(marksMax, text.length / lettersPerMark));
  const documents = readWith(
    text,
    options,
    (given) => [...parseAllDocuments(text, given)],
    (all) => all,
  );
  documents.forEach((document) => {
    requireWhole(document);
    bounded(() => tellDoubleKeys(document, text, options));
  });
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
export function parseYaml(text: string, options: Options = {}): unknown {
  const document = yamlDocument(text, options);
  const [broken] = document.errors;
  // Without the excerpt that stands below.
  if (broken !== undefined) throw new YamlTextError((broken.message.split("\n", 1)[0] ?? "").replace(/:$/, ""));
  return yamlValue(document);
}

/** Lines, items, brackets and properties of what people write by hand: the reader takes some seconds for so many. */
const marksMax = 200_000;
/** Where a program has written it, there are no more than one in so many letters, in JSON on one line at most. */
const lettersPerMark = 5;
const marks = new Set([..."\n\r,[]{}?!&*"].map((mark) => mark.charCodeAt(0)));

/** The reader of YAML takes ten seconds and more for megabytes of what has no other letters. */
function requireFewMarks(text: string, max: number): void {
  if (text.length <= max) return;
  let count = 0;
  for (let at = 0; at < text.length; at++) if (marks.has(text.charCodeAt(at))) count++;
  if (count <= max) return;
  throw new YamlTextError(
    `it has more than ${Math.floor(max)} lines, commas and brackets, which is more than anybody means`,
  );
}

/** Shorter texts are read whole at once. */
const longText = 16 * 1024;
const mistakesMax = 100;

/** Excerpts of the text are only made for few mistakes: each takes as long as its line is. */
function readWith<Read>(
  text: string,
  options: Options,
  read: (options: Options) => Read,
  documentsOf: (read: Read) => readonly Document.Parsed[],
): Read {
  requireFewMistakes(text);
  const given = { ...options, uniqueKeys: false };
  if (text.length <= longText) return bounded(() => read(given));
  const plain = bounded(() => read({ ...given, prettyErrors: false }));
  const mistakes = documentsOf(plain).flatMap(({ errors, warnings }) => [...errors, ...warnings]);
  const [first] = mistakes;
  if (first === undefined) return plain;
  documentsOf(plain).forEach(requireWhole);
  if (mistakes.length > mistakesMax) throw new YamlTextError(tooManyMistakes(first.message));
  options.lineCounter?.lineStarts.splice(0); // it counts the lines of one reading
  return bounded(() => read(given));
}

const tooManyMistakes = (first: string): string =>
  `this is no YAML: it has more than ${mistakesMax} mistakes, the first: ${first}`;

/** What is no YAML at all is not read to its end: the reader takes time that grows with the square of the mistakes. */
function requireFewMistakes(text: string): void {
  if (text.length <= longText) return;
  let count = 0;
  let first = "";
  bounded(() => {
    const lines = new LineCounter();
    for (const token of new Parser(lines.addNewLine).parse(text)) {
      if (token.type !== "error") continue;
      if (count++ === 0) first = `${token.message} at line ${lines.linePos(token.offset).line}`;
      if (count > mistakesMax) return;
    }
  });
  if (count > mistakesMax) throw new YamlTextError(tooManyMistakes(first));
}

/** The reader of YAML descends by recursion, which ends where the stack does. It may call that a mistake of the document. */
function requireWhole({ errors }: Document.Parsed): void {
  if (errors.some(({ message }) => message.startsWith("Maximum call stack"))) throw new YamlTextError(tooDeep);
}

/**
 * Adds a mistake for each key that its map has already. The reader of YAML would compare each key with all before it: it is
 * told to leave that, and here each is looked up once.
 */
function tellDoubleKeys(document: Document.Parsed, text: string, { prettyErrors = true }: Options): void {
  const doubles: number[] = [];
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) doubles.push(key.range?.[0] ?? 0);
        seen.add(key.value);
      }
    },
  });
  if (doubles.length === 0) return;
  const lines = new LineCounter();
  if (prettyErrors) {
    lines.addNewLine(0);
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines.addNewLine(at + 1);
  }
  for (const at of doubles) {
    const { line, col } = lines.linePos(at);
    const where = prettyErrors ? ` at line ${line}, column ${col}` : "";
    document.errors.push(new YAMLParseError([at, at + 1], "DUPLICATE_KEY", `Map keys must be unique${where}`));
  }
  document.errors.sort((one, other) => one.pos[0] - other.pos[0]);
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
