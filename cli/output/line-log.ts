/**
 * Lines for stderr of commands that stay: a server's, an agent's, a runtime's. Whoever reads them may be slow, or have stopped (a
 * pager, a pipe that is full): what is not read waits in memory, so much and no more, and nobody is kept waiting by it.
 */
import process from "node:process";

/** A stream, as far as it is needed. */
export interface LogStream {
  /** Of what has been written and is not read yet. */
  readonly writableLength: number;
  write(text: string): unknown;
}

/** What may wait to be read. */
export const unreadBytesMax = 8 * 1024 * 1024;

/** Writes texts of whole lines. Those that nobody reads in time are counted, and that is said when there is room again. */
export function lineLog(stream: LogStream): (text: string) => void {
  let lostCount = 0;
  return (text) => {
    if (stream.writableLength + text.length > unreadBytesMax) {
      lostCount += text.split("\n").length - 1;
      return;
    }
    if (lostCount > 0)
      stream.write(`(${lostCount} lines are missing here: what was before them was not read in time)\n`);
    lostCount = 0;
    stream.write(text);
  };
}

/** The log of this process: all of it goes through one, so that what is missing is counted once. */
export const logText: (text: string) => void = lineLog({
  get writableLength() {
    return process.stderr.writableLength;
  },
  write: (text) => process.stderr.write(text),
});
