/** Where user code is: for messages that lead a person to a line of their own. */

const framesMax = 50;

/** `function (file:line:column)` of the innermost frame that is neither this package's, a library's nor Node's. */
export function callerHere(): string {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = framesMax;
  const lines = (new Error().stack ?? "").split("\n").filter((line) => /^ +at /.test(line));
  Error.stackTraceLimit = stackTraceLimit;
  return lines.map((line) => line.trim().replace(/^at (async )?/, "")).find(isUsers) ?? "an unknown place";
}

/** In a checkout the package's files lie in no `node_modules`; tests and examples beside them are users' code. */
const isUsers = (frame: string): boolean =>
  !/node:|\/node_modules\/|<anonymous>\)?$/.test(frame) &&
  (!/\/sim\/[a-z]+\/[a-z0-9-]+\.[jt]s/.test(frame) || /\.test\.[jt]s/.test(frame));
