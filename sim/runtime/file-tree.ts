/**
 * Files without a disk: names, sizes, and as much content as somebody may want to read again. A file's content is a list
 * of pieces: text with one character a byte, or a number, which stands for that many zero bytes and holds nothing.
 * Blocks count as `du` counts them, 4 KiB each; directories and files are one inode each.
 */
import type { Micros } from "../kernel/types.ts";

/** Text of bytes, or so many zeros. */
export type Piece = string | number;

export interface FileNode {
  readonly is: "file";
  /** Of its tree; it stays when the file is renamed. */
  number: number;
  pieces: Piece[];
  sizeBytes: number;
  /** What `pieces` take of this process's memory, about. */
  heldBytes: number;
  modifiedMicros: Micros;
  /** It has no name any more; whoever has it open may go on. Charged to nobody. */
  isRemoved?: true;
}

export interface DirectoryNode {
  readonly is: "directory";
  readonly entries: Map<string, TreeNode>;
  modifiedMicros: Micros;
  /** Its files are in memory and not on the disk, up to so many bytes (0: no limit of its own). */
  inMemory?: { readonly limitBytes: number };
}

export type TreeNode = FileNode | DirectoryNode;

/** Why a file operation failed, in the words of the C library. */
export type FileError =
  | "No such file or directory"
  | "Is a directory"
  | "Not a directory"
  | "File exists"
  | "Directory not empty"
  | "Device or resource busy"
  | "Invalid argument"
  | "No space left on device"
  | "Read-only file system"
  | "File name too long";

export interface TreeUse {
  readonly bytes: number;
  readonly inodes: number;
}

/** Where what a tree holds is charged. False: there is no room, and nothing was charged. */
export interface TreeCharge {
  disk(bytes: number, inodes: number): boolean;
  memory(bytes: number): boolean;
  /** Of the memory of this process: names and contents that can be read again. */
  held(bytes: number): boolean;
}

const BLOCK_BYTES = 4096;
const HELD_BYTES_MAX = 16 << 20;
/** What a file or a directory takes of this process's memory, and what a piece does beside its characters. */
const NODE_BYTES = 512;
const PIECE_BYTES = 64;
/** Texts shorter than the first are added to the last; what is added to is put together each time that it has grown by the second. */
const JOINED_LENGTH = 4096;
const FLAT_LENGTH = 32;
const DEPTH_MAX = 256;
const NAME_BYTES_MAX = 255;

const blocksOf = (bytes: number): number => Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES;

/** The parts of an absolute path, `.` and `..` resolved. */
export function pathParts(path: string): string[] {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return parts;
}

export class FileTree {
  readonly root: DirectoryNode = { is: "directory", entries: new Map(), modifiedMicros: 0 };
  /** Grows with every change of a name, a size or a content. */
  version = 0;
  private readonly charge: TreeCharge;
  filesMade = 0;

  constructor(charge: TreeCharge) {
    this.charge = charge;
  }

  find(path: string): TreeNode | undefined {
    const hasDots = path.startsWith(".") || path.includes("/.");
    return hasDots ? this.followed(pathParts(path)) : this.followedInPlace(path);
  }

  private followed(parts: readonly string[]): TreeNode | undefined {
    let node: TreeNode | undefined = this.root;
    for (const part of parts) node = node?.is === "directory" ? node.entries.get(part) : undefined;
    return node;
  }

  /** A path whose parts begin with no dot, without a list of them: looking for files is much of what a start costs. */
  private followedInPlace(path: string): TreeNode | undefined {
    let node: TreeNode | undefined = this.root;
    for (let at = 0; at < path.length; ) {
      const slash = path.indexOf("/", at);
      const end = slash < 0 ? path.length : slash;
      if (end > at) node = node?.is === "directory" ? node.entries.get(path.slice(at, end)) : undefined;
      if (node === undefined) return undefined;
      at = end + 1;
    }
    return node;
  }

  /** Makes the directory and those above it. */
  makeDirectories(path: string, nowMicros: Micros): DirectoryNode | FileError {
    const parts = pathParts(path);
    if (parts.length > DEPTH_MAX) return "File name too long";
    let node: DirectoryNode = this.root;
    let medium = node.inMemory;
    for (const part of parts) {
      let next = node.entries.get(part);
      if (next === undefined) {
        if (part.length > NAME_BYTES_MAX) return "File name too long";
        if (!this.chargeNode(medium !== undefined, BLOCK_BYTES)) return "No space left on device";
        next = { is: "directory", entries: new Map(), modifiedMicros: nowMicros };
        this.version++;
        node.entries.set(part, next);
        node.modifiedMicros = nowMicros;
      }
      if (next.is !== "directory") return "Not a directory";
      medium = next.inMemory ?? medium;
      node = next;
    }
    return node;
  }

  /** Opens a file for writing, made when missing (its directory must be there), emptied unless `append`. */
  open(path: string, append: boolean, nowMicros: Micros): FileNode | FileError {
    const parts = pathParts(path);
    const name = parts.pop();
    if (name === undefined) return "Is a directory";
    const directory = this.followed(parts);
    if (directory === undefined) return "No such file or directory";
    if (directory.is !== "directory") return "Not a directory";
    const known = directory.entries.get(name);
    if (known?.is === "directory") return "Is a directory";
    if (known !== undefined) {
      if (!append) this.truncate(path, known, nowMicros);
      return known;
    }
    if (name.length > NAME_BYTES_MAX) return "File name too long";
    if (!this.chargeNode(this.mediumOf(path) !== undefined, 0)) return "No space left on device";
    const number = ++this.filesMade;
    this.version++;
    const file: FileNode = { is: "file", number, pieces: [], sizeBytes: 0, heldBytes: 0, modifiedMicros: nowMicros };
    directory.entries.set(name, file);
    directory.modifiedMicros = nowMicros;
    return file;
  }

  /** Adds to the end of a file that `path` names. */
  append(path: string, file: FileNode, piece: Piece, nowMicros: Micros): FileError | undefined {
    const bytes = typeof piece === "number" ? piece : piece.length;
    if (bytes === 0) return undefined;
    const last = file.pieces.length - 1;
    const end = file.pieces[last];
    const isSame = typeof piece === typeof end && (typeof end === "number" || (end as string).length < JOINED_LENGTH);
    const held = (isSame ? 0 : PIECE_BYTES) + (typeof piece === "string" ? bytes : 0);
    const growth = blocksOf(file.sizeBytes + bytes) - blocksOf(file.sizeBytes);
    if (!this.chargePiece(path, file, held, growth)) return "No space left on device";
    this.version++;
    if (isSame) file.pieces[last] = joined(end as Piece, piece);
    else file.pieces.push(piece);
    file.sizeBytes += bytes;
    file.modifiedMicros = nowMicros;
    file.heldBytes += held;
    if (file.heldBytes > HELD_BYTES_MAX) {
      const freed = forgetOldest(file);
      if (file.isRemoved !== true) this.charge.held(-freed);
    }
    return undefined;
  }

  private chargePiece(path: string, file: FileNode, held: number, growth: number): boolean {
    if (file.isRemoved === true) return true;
    if (!this.charge.held(held)) return false;
    if (growth === 0 || this.chargeAt(path, growth, 0)) return true;
    this.charge.held(-held);
    return false;
  }

  /** For a new file or directory; those in memory take nothing of a disk. */
  private chargeNode(isInMemory: boolean, bytes: number): boolean {
    if (!this.charge.held(NODE_BYTES)) return false;
    if (isInMemory || this.charge.disk(bytes, 1)) return true;
    this.charge.held(-NODE_BYTES);
    return false;
  }

  truncate(path: string, file: FileNode, nowMicros: Micros): void {
    if (file.isRemoved !== true) {
      this.chargeAt(path, -blocksOf(file.sizeBytes), 0);
      this.charge.held(-file.heldBytes);
    }
    this.version++;
    file.pieces = [];
    file.sizeBytes = 0;
    file.heldBytes = 0;
    file.modifiedMicros = nowMicros;
  }

  /** Removes a file, or a directory with all that is in it. */
  remove(path: string, nowMicros: Micros): FileError | undefined {
    const parts = pathParts(path);
    const name = parts.pop();
    const directory = this.followed(parts);
    const node = name === undefined || directory?.is !== "directory" ? undefined : directory.entries.get(name);
    if (node === undefined) return "No such file or directory";
    this.release(path, node);
    this.version++;
    (directory as DirectoryNode).entries.delete(name as string);
    (directory as DirectoryNode).modifiedMicros = nowMicros;
    return undefined;
  }

  rename(from: string, to: string, nowMicros: Micros): FileError | undefined {
    const node = this.find(from);
    if (node === undefined) return "No such file or directory";
    const source = pathParts(from);
    const target = pathParts(to);
    if (source.join("/") === target.join("/")) return undefined;
    if (source.length === 0 || target.length === 0) return "Device or resource busy";
    if (liesIn(target, source)) return "Invalid argument";
    if (target.length > DEPTH_MAX || (target.at(-1) as string).length > NAME_BYTES_MAX) return "File name too long";
    const name = target.pop();
    const directory = this.followed(target);
    if (directory === undefined || name === undefined) return "No such file or directory";
    if (directory.is !== "directory") return "Not a directory";
    const old = directory.entries.get(name);
    if (old?.is === "directory" && (node.is === "file" || old.entries.size > 0)) {
      return node.is === "file" ? "Is a directory" : "Directory not empty";
    }
    if (old !== undefined) this.remove(to, nowMicros);
    this.version++;
    const base = source.pop() as string;
    (this.followed(source) as DirectoryNode).entries.delete(base);
    directory.entries.set(name, node);
    directory.modifiedMicros = nowMicros;
    return undefined;
  }

  /** Both names change places in one step; where the other is not there, it is a change of name. Neither lies in the other. */
  exchange(from: string, to: string, nowMicros: Micros): FileError | undefined {
    const [one, other] = [this.find(from), this.find(to)];
    if (other === undefined) return this.rename(from, to, nowMicros);
    if (one === undefined) return "No such file or directory";
    const paths = [pathParts(from), pathParts(to)] as const;
    if (liesIn(paths[0], paths[1]) || liesIn(paths[1], paths[0])) return "Invalid argument";
    const placeOf = (parts: readonly string[]) => ({
      name: parts.at(-1) as string,
      directory: this.followed(parts.slice(0, -1)) as DirectoryNode,
    });
    const [source, target] = [placeOf(paths[0]), placeOf(paths[1])];
    this.version++;
    source.directory.entries.set(source.name, other);
    target.directory.entries.set(target.name, one);
    source.directory.modifiedMicros = target.directory.modifiedMicros = nowMicros;
    return undefined;
  }

  /** All below a path, itself included: blocks and inodes, on whatever they are. */
  use(path: string): TreeUse | undefined {
    const node = this.find(path);
    return node === undefined ? undefined : useOf(node);
  }

  private release(path: string, node: TreeNode): void {
    this.charge.held(-givenUp(node));
    const medium = this.mediumOf(path);
    if (medium !== undefined) {
      this.charge.memory(-contentOf(node));
      return;
    }
    let bytes = 0;
    let inodes = 0;
    const todo: TreeNode[] = [node];
    for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
      if (next.is === "directory" && next.inMemory !== undefined) {
        this.charge.memory(-contentOf(next));
        bytes += BLOCK_BYTES;
        inodes++;
        continue;
      }
      bytes += next.is === "file" ? blocksOf(next.sizeBytes) : BLOCK_BYTES;
      inodes++;
      if (next.is === "directory") for (const entry of next.entries.values()) todo.push(entry);
    }
    this.charge.disk(-bytes, -inodes);
  }

  private chargeAt(path: string, bytes: number, inodes: number): boolean {
    const medium = this.mediumOf(path);
    if (medium === undefined) return this.charge.disk(bytes, inodes);
    if (bytes > 0 && medium.limitBytes > 0 && contentOf(medium.node) + bytes > medium.limitBytes) return false;
    return this.charge.memory(bytes);
  }

  /** The directory in memory that a path lies below. */
  private mediumOf(path: string): { readonly node: DirectoryNode; readonly limitBytes: number } | undefined {
    let node: TreeNode = this.root;
    let found: { readonly node: DirectoryNode; readonly limitBytes: number } | undefined;
    for (const part of pathParts(path)) {
      if (node.is !== "directory") break;
      const next = node.entries.get(part);
      if (next === undefined) break;
      node = next;
      if (node.is === "directory" && node.inMemory !== undefined)
        found = { node, limitBytes: node.inMemory.limitBytes };
    }
    return found;
  }
}

/** Whether a path is the directory or below it: a tree that held itself would have no end. */
const liesIn = (path: readonly string[], directory: readonly string[]): boolean =>
  directory.length <= path.length && directory.every((part, at) => part === path[at]);

function useOf(node: TreeNode): TreeUse {
  let bytes = 0;
  let inodes = 0;
  const todo: TreeNode[] = [node];
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    bytes += next.is === "file" ? blocksOf(next.sizeBytes) : BLOCK_BYTES;
    inodes++;
    if (next.is === "directory") for (const entry of next.entries.values()) todo.push(entry);
  }
  return { bytes, inodes };
}

/** Blocks of the files alone: what a file system in memory holds. */
function contentOf(node: TreeNode): number {
  let bytes = 0;
  const todo: TreeNode[] = [node];
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    if (next.is === "file") bytes += blocksOf(next.sizeBytes);
    else for (const entry of next.entries.values()) todo.push(entry);
  }
  return bytes;
}

/** A node and all that is in it have no name any more. Returns what they took of this process's memory. */
function givenUp(node: TreeNode): number {
  let bytes = 0;
  const todo: TreeNode[] = [node];
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    bytes += NODE_BYTES;
    if (next.is === "file") {
      bytes += next.heldBytes;
      next.isRemoved = true;
    } else for (const entry of next.entries.values()) todo.push(entry);
  }
  return bytes;
}

/** Of the same kind. A text that grows by characters would otherwise keep each sum of it, which is thirty times as much. */
function joined(end: Piece, piece: Piece): Piece {
  if (typeof end === "number") return end + (piece as number);
  const text = end + (piece as string);
  return text.length % FLAT_LENGTH < (piece as string).length ? [end, piece].join("") : text;
}

/** A file that grows without end keeps its later half; what stood before reads as zeros. Returns what that frees. */
function forgetOldest(file: FileNode): number {
  const before = file.heldBytes;
  let kept = PIECE_BYTES;
  let index = file.pieces.length;
  while (index > 0 && kept < HELD_BYTES_MAX / 2) {
    const piece = file.pieces[--index] as Piece;
    kept += PIECE_BYTES + (typeof piece === "string" ? piece.length : 0);
  }
  let zeros = 0;
  for (const piece of file.pieces.slice(0, index)) zeros += typeof piece === "number" ? piece : piece.length;
  file.pieces = [zeros, ...file.pieces.slice(index)];
  file.heldBytes = kept;
  return before - kept;
}

/** Bytes [offset, offset + limit) of a file. */
export function readFile(file: FileNode, offset: number, limit: number): Uint8Array {
  const end = Math.min(file.sizeBytes, offset + limit);
  const bytes = new Uint8Array(Math.max(0, end - offset));
  let at = 0;
  for (const piece of file.pieces) {
    const length = typeof piece === "number" ? piece : piece.length;
    if (typeof piece === "string" && at < end && at + length > offset) {
      const from = Math.max(0, offset - at);
      const to = Math.min(length, end - at);
      for (let index = from; index < to; index++) bytes[at + index - offset] = piece.charCodeAt(index);
    }
    at += length;
    if (at >= end) break;
  }
  return bytes;
}

/** A call takes only so many arguments. */
const charactersPerCall = 8_192;

/** One character a byte. Whole parts are put together: a text that grew by characters would take thirty times the memory. */
export function bytesText(bytes: Uint8Array): string {
  const parts: string[] = [];
  let isPlain = bytes.length > charactersPerCall;
  for (let at = 0; at < bytes.length; at += charactersPerCall) {
    const part = bytes.subarray(at, at + charactersPerCall);
    // As UTF-8 a long text of ASCII is read several times as fast; one that is something else is tried once.
    const plain = isPlain ? decoder.decode(part) : "";
    isPlain = isPlain && plain.length === part.length && isAscii(plain);
    parts.push(isPlain ? plain : Reflect.apply(String.fromCharCode, undefined, part));
  }
  return parts.join("");
}

export function textBytes(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** UTF-8 of a text, one character a byte. */
export const toByteText = (text: string): string => (isAscii(text) ? text : bytesText(encoder.encode(text)));

// eslint-disable-next-line no-control-regex
const isAscii = (text: string): boolean => !/[^\u0000-\u007f]/.test(text);
