/** What of a log is told, given all of it. Source: the fact sheet of the 1.33 agent; the API's reference on logs. */

export interface LogLine {
  /** As it is told, with all of its digits. */
  readonly time: string;
  readonly text: string;
}

export interface LogQuestion {
  readonly tailLines?: number;
  readonly limitBytes?: number;
  /** From the second on in which the line with this number, counted from the end, was written. */
  readonly sinceLine?: number;
  readonly timestamps?: boolean;
}

/** `TIME TEXT`, line by line; undefined: that is no such log. */
export function linesOf(text: string): readonly LogLine[] | undefined {
  const lines = text.split("\n");
  if (lines.pop() !== "") return undefined;
  const read = lines.map((line) => /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)) (.*)$/.exec(line));
  if (read.some((match) => match === null)) return undefined;
  return read.map((match) => ({ time: match?.[1] ?? "", text: match?.[2] ?? "" }));
}

/** The second of a line, as it is asked from. */
export function secondOf(lines: readonly LogLine[], sinceLine: number): string | undefined {
  const line = lines.at(-sinceLine);
  return line?.time.replace(/\.\d+/, "");
}

/** The answer to a question, of lines without any but plain letters. */
export function toldOf(lines: readonly LogLine[], question: LogQuestion): string {
  const { tailLines, limitBytes, sinceLine, timestamps } = question;
  const since = sinceLine === undefined ? undefined : secondOf(lines, sinceLine);
  const last = tailLines === undefined ? lines : tailLines === 0 ? [] : lines.slice(-tailLines);
  const young = since === undefined ? last : last.filter(({ time }) => Date.parse(time) >= Date.parse(since));
  const text = young.map((line) => `${timestamps === true ? `${line.time} ` : ""}${line.text}\n`).join("");
  return limitBytes === undefined ? text : text.slice(0, limitBytes);
}
