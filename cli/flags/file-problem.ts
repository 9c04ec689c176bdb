/** Why a file cannot be read or written, in words for whoever named it: those of node are codes and system calls. */

const reading: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  ENOTDIR: "there is no such file",
  EISDIR: "it is a folder",
  EACCES: "this user may not read it",
  EPERM: "this user may not read it",
  ELOOP: "its links lead in a circle",
  ENAMETOOLONG: "its name is too long",
};

const writing: Readonly<Record<string, string>> = {
  ...reading,
  ENOENT: "the folder that it would be in is not there",
  ENOTDIR: "what it would be in is a file",
  EACCES: "this user may not write it",
  EPERM: "this user may not write it",
  EROFS: "its file system can only be read",
  ENOSPC: "its file system is full",
  EDQUOT: "this user's share of its file system is full",
  EFBIG: "it would be longer than this process's files may be",
  EIO: "its disk has refused it",
};

/** Calls of the system by which nothing but a write can have failed; `open` may be either. */
const writingCalls: ReadonlySet<string> = new Set([
  "write",
  "mkdir",
  "rename",
  "unlink",
  "rmdir",
  "ftruncate",
  "fsync",
]);

/** `cannot be read: there is no such file`. */
export const unreadable = (error: unknown): string => `cannot be read: ${problemOf(error, reading)}`;

/** `cannot be written: its file system is full`. */
export const unwritable = (error: unknown): string => `cannot be written: ${problemOf(error, writing)}`;

/** Whether it is one of the system, met while a file was written: neither a mistake of the caller nor one of this program. */
export function isUnwritten(error: unknown): error is NodeJS.ErrnoException {
  if (!(error instanceof Error)) return false;
  const { code = "", syscall = "", path } = error as NodeJS.ErrnoException;
  return isWithoutRoom(error) || (writingCalls.has(syscall) && path !== undefined && code in writing);
}

/** A disk is full, or somebody's share of it. */
export const isWithoutRoom = ({ code = "" }: NodeJS.ErrnoException): boolean => noRoom.has(code);

const noRoom: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

function problemOf(error: unknown, words: Readonly<Record<string, string>>): string {
  const { code = "", message } = error as NodeJS.ErrnoException;
  return words[code] ?? message;
}
