/** Files as plain data, and data made files again: in place, so that who has a file open goes on with it. */
import type { Micros } from "../kernel/types.ts";
import { type DirectoryNode, type FileTree, pathParts, type Piece, type TreeNode } from "./file-tree.ts";

export interface FileRow {
  readonly path: string;
  readonly modified: Micros;
  /** Of a file. A directory has none. */
  readonly pieces?: readonly Piece[];
  readonly number?: number;
  /** Of a directory whose files are in memory: its limit. */
  readonly memory?: number;
}

/** All below a path, itself included, directories before what is in them. Empty: there is nothing. */
export interface FileDump {
  readonly path: string;
  readonly rows: readonly FileRow[];
}

/** Undefined: there are more than `filesMax`. */
export function dumpOf(tree: FileTree, path: string, filesMax = Infinity): FileDump | undefined {
  const rows: FileRow[] = [];
  const from = tree.find(path);
  const todo: [string, TreeNode][] = from === undefined ? [] : [[`/${pathParts(path).join("/")}`, from]];
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    const [at, node] = next;
    if (rows.length >= filesMax) return undefined;
    if (node.is === "file") {
      rows.push({ path: at, modified: node.modifiedMicros, pieces: [...node.pieces], number: node.number });
      continue;
    }
    const memory = node.inMemory === undefined ? {} : { memory: node.inMemory.limitBytes };
    rows.push({ path: at, modified: node.modifiedMicros, ...memory });
    for (const [name, entry] of node.entries) todo.push([at === "/" ? `/${name}` : `${at}/${name}`, entry]);
  }
  return { path, rows };
}

/** Below the path of the dump there is then what the dump says, and nothing else. */
export function putBack(tree: FileTree, { path, rows }: FileDump): void {
  const wanted = new Map(rows.map((row) => [row.path, row]));
  for (const { path: at, pieces } of dumpOf(tree, path)?.rows ?? []) {
    const row = wanted.get(at);
    const isSame = row !== undefined && (row.pieces === undefined) === (pieces === undefined);
    if (!isSame && at !== "/" && tree.find(at) !== undefined) tree.remove(at, 0);
  }
  for (const row of rows) {
    if (row.pieces === undefined) {
      const made = tree.makeDirectories(row.path, row.modified);
      if (typeof made !== "string" && row.memory !== undefined) made.inMemory ??= { limitBytes: row.memory };
      continue;
    }
    const known = tree.find(row.path);
    const file = known?.is === "file" ? known : tree.open(row.path, true, row.modified);
    if (typeof file === "string") continue;
    tree.truncate(row.path, file, row.modified);
    for (const piece of row.pieces) tree.append(row.path, file, piece, row.modified);
    file.number = row.number ?? file.number;
  }
  // Last, since making what is in a directory changes it.
  for (const { path: at, modified } of rows) {
    const node = tree.find(at) as DirectoryNode | undefined;
    if (node !== undefined) node.modifiedMicros = modified;
  }
}
