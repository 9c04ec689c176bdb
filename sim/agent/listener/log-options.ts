/** What is asked of a log, by the query of a request. Source: the published options and their rules. */
import { parseTime } from "../../../wire/time.ts";
import type { LogOptions } from "./container-logs.ts";
import type { QueryValues } from "./query.ts";

export type ReadLogOptions =
  | { readonly options: LogOptions; readonly previous: boolean }
  | { readonly status: 400 | 422; readonly text: string };

/** `nowUnixMicros`: what `sinceSeconds` counts from. */
export function readLogOptions(query: QueryValues, nowUnixMicros: number): ReadLogOptions {
  const numbers: Partial<Record<string, number>> = {};
  for (const name of ["tailLines", "limitBytes", "sinceSeconds"]) {
    const text = query.first(name);
    if (text === undefined || text === "" || (name === "tailLines" && text === "all")) continue;
    if (!/^-?\d{1,15}$/.test(text))
      return { status: 400, text: `strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax` };
    numbers[name] = Number(text);
  }
  const sinceTime = query.first("sinceTime") ?? "";
  const since = sinceTime === "" ? undefined : parseTime(sinceTime);
  if (since !== undefined && "error" in since) return { status: 400, text: since.error };
  const wrong: string[] = [];
  const { tailLines, limitBytes, sinceSeconds } = numbers;
  if (tailLines !== undefined && tailLines < 0) wrong.push("tailLines: must be greater than or equal to 0");
  if (limitBytes !== undefined && limitBytes < 1) wrong.push("limitBytes: must be greater than 0");
  if (sinceSeconds !== undefined && sinceSeconds < 1) wrong.push("sinceSeconds: must be greater than 0");
  if (since !== undefined && sinceSeconds !== undefined) {
    wrong.push("at most one of `sinceTime` or `sinceSeconds` may be specified");
  }
  if (wrong.length > 0) return { status: 422, text: `PodLogOptions "" is invalid: ${wrong.join(", ")}` };
  const sinceUnixMicros =
    since !== undefined
      ? since.seconds * 1_000_000
      : sinceSeconds === undefined
        ? undefined
        : nowUnixMicros - sinceSeconds * 1_000_000;
  return {
    previous: query.flag("previous"),
    options: {
      follow: query.flag("follow"),
      timestamps: query.flag("timestamps"),
      tailLines,
      limitBytes,
      sinceUnixMicros,
    },
  };
}
