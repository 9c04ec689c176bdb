/**
 * A kept state as lines of a journal, none of them long: whatever a machine's files and containers hold, a line is made and
 * written in a moment, and no line is longer than a text can be.
 *
 * The first line is the state without its containers, sandboxes and files. After it come lists of rows of files, which are the
 * host's until a line `{"container": …}` has said whose they are, and lines for one sandbox or container each. A row without a
 * path goes on with the file of the row before it.
 */
import type { FileDump, FileRow } from "../runtime/file-dump.ts";
import type { Piece } from "../runtime/file-tree.ts";
import type { KeptContainer, KeptSandbox, KeptState } from "../runtime/kept-state.ts";

/** What a journal that was written anew begins with. */
export interface KeptJournal extends KeptState {
  /** The number of the next call. */
  readonly next: number;
  /** Entries that are from before. */
  readonly neededCount: number;
}

/** Goes on with a file: the first of its pieces belongs to the last piece of the row before it when that was cut. */
interface MoreOfFile {
  readonly more: readonly Piece[];
  readonly cut?: true;
}

type Rows = readonly (FileRow | MoreOfFile)[];

type Line =
  | KeptJournal
  | Rows
  | { readonly sandbox: KeptSandbox }
  | { readonly container: KeptContainer }
  /** The rows that follow are those of a dump that the last container's mounts began with. */
  | { readonly began: string };

const rowsInLine = 100;
const charsInLine = 1 << 16;
const piecesInLine = 1000;

/** Lines of which none has more than some 64 KiB of files, or one sandbox or container. */
export function* linesOf(kept: KeptJournal): Generator<Line> {
  const { sandboxes, containers, host } = kept;
  yield { ...kept, sandboxes: [], containers: [], host: { ...host, dump: withoutRows(host.dump) } };
  yield* rowLines(host.dump.rows);
  for (const sandbox of sandboxes) yield { sandbox };
  for (const container of containers) {
    const { layer, began } = container;
    yield {
      container: {
        ...container,
        ...(layer === undefined ? {} : { layer: { ...layer, dump: withoutRows(layer.dump) } }),
        ...(began === undefined ? {} : { began: [] }),
      },
    };
    if (layer !== undefined) yield* rowLines(layer.dump.rows);
    for (const { path, rows } of began ?? []) {
      yield { began: path };
      yield* rowLines(rows);
    }
  }
}

const withoutRows = ({ path }: FileDump): FileDump => ({ path, rows: [] });

function* rowLines(rows: readonly FileRow[]): Generator<Rows> {
  let line: (FileRow | MoreOfFile)[] = [];
  let chars = 0;
  for (const row of rows) {
    for (const part of partsOf(row)) {
      const size = sizeOf("more" in part ? part.more : (part.pieces ?? [])) + ("path" in part ? part.path.length : 0);
      if (line.length >= rowsInLine || (chars + size > charsInLine && line.length > 0)) {
        yield line;
        [line, chars] = [[], 0];
      }
      line.push(part);
      chars += size;
    }
  }
  if (line.length > 0) yield line;
}

const sizeOf = (pieces: readonly Piece[]): number =>
  pieces.reduce<number>((sum, piece) => sum + (typeof piece === "string" ? piece.length : 0), 0);

/** The row, in parts of which none holds more than a line may. */
function* partsOf(row: FileRow): Generator<FileRow | MoreOfFile> {
  const { pieces } = row;
  if (pieces === undefined || (pieces.length <= piecesInLine && sizeOf(pieces) <= charsInLine)) {
    yield row;
    return;
  }
  let isFirst = true;
  let isCut = false;
  const part = (some: readonly Piece[]): FileRow | MoreOfFile => {
    const made = isFirst ? { ...row, pieces: some } : { more: some, ...(isCut ? { cut: true as const } : {}) };
    isFirst = false;
    return made;
  };
  let some: Piece[] = [];
  let left = charsInLine;
  for (const piece of pieces) {
    let rest = piece;
    while (typeof rest === "string" && rest.length > left) {
      some.push(rest.slice(0, left));
      rest = rest.slice(left);
      yield part(some);
      [some, left, isCut] = [[], charsInLine, true];
    }
    some.push(rest);
    left -= typeof rest === "string" ? rest.length : 0;
    if (some.length < piecesInLine) continue;
    yield part(some);
    [some, left, isCut] = [[], charsInLine, false];
  }
  if (some.length > 0) yield part(some);
}

/** What `linesOf` made these lines of; undefined: there are none. Throws `SyntaxError` for lines in no such order. */
export function keptOf(lines: readonly unknown[]): KeptJournal | undefined {
  const [first, ...rest] = lines as readonly [KeptJournal | undefined, ...Line[]];
  if (first === undefined) return undefined;
  const sandboxes = [...first.sandboxes];
  const containers = [...first.containers];
  const hostRows: FileRow[] = [];
  let rows: RowsRead = new RowsRead(hostRows);
  for (const line of rest) {
    if (Array.isArray(line)) rows.take(line as Rows);
    else if ("sandbox" in line) sandboxes.push(line.sandbox);
    else if ("container" in line) {
      rows.end();
      const { layer } = line.container;
      const layerRows: FileRow[] = [];
      rows = new RowsRead(layerRows);
      containers.push({
        ...line.container,
        ...(layer === undefined ? {} : { layer: { ...layer, dump: { ...layer.dump, rows: layerRows } } }),
      });
    } else if ("began" in line) {
      rows.end();
      const began = containers.at(-1)?.began as FileDump[] | undefined;
      if (began === undefined) throw new SyntaxError("files stand where no container is");
      const begunRows: FileRow[] = [];
      rows = new RowsRead(begunRows);
      began.push({ path: line.began, rows: begunRows });
    } else throw new SyntaxError("a line is no part of a state");
  }
  rows.end();
  return { ...first, sandboxes, containers, host: { ...first.host, dump: { ...first.host.dump, rows: hostRows } } };
}

/** Puts rows together again. */
class RowsRead {
  private readonly rows: FileRow[];
  /** Of the last row; texts that belong to one piece stand in one list. */
  private pieces: (number | string[])[] = [];
  private last: FileRow | undefined;

  constructor(rows: FileRow[]) {
    this.rows = rows;
  }

  take(line: Rows): void {
    for (const row of line) {
      if ("path" in row) {
        this.end();
        this.last = row;
        this.add(row.pieces ?? [], false);
      } else this.add(row.more, row.cut === true);
    }
  }

  end(): void {
    if (this.last === undefined) return;
    const pieces = this.pieces.map((piece) => (typeof piece === "number" ? piece : piece.join("")));
    this.rows.push(this.last.pieces === undefined ? this.last : { ...this.last, pieces });
    this.last = undefined;
    this.pieces = [];
  }

  private add(pieces: readonly Piece[], isCut: boolean): void {
    for (const [at, piece] of pieces.entries()) {
      const before = this.pieces.at(-1);
      if (at === 0 && isCut && typeof before === "object" && typeof piece === "string") before.push(piece);
      else this.pieces.push(typeof piece === "string" ? [piece] : piece);
    }
  }
}
