/**
 * What is to go wrong with calls, as people write it: `PullImage fails no route to host`, `StartContainer takes 5s`,
 * `StopContainer of default/web hangs`, `* hangs`.
 */
import { criMethod, type CriMethod } from "../../wire/cri.ts";
import { parseGoDuration } from "../../wire/durations.ts";
import type { CallFault } from "./call-faults.ts";
import { UsageTextError } from "./usage-text.ts";

const FORMS =
  'write METHOD hangs, METHOD takes 5s or METHOD fails TEXT; "*" is every method, METHOD of NAMESPACE/NAME one pod\'s';

/** Throws `UsageTextError`. */
export function parseCallFault(text: string): CallFault {
  const [, method = "", about, what = "", rest = ""] =
    /^(\S+)(?: of (\S+))? (hangs|takes|fails)(?: (.+))?$/.exec(text.trim()) ?? [];
  if (method === "" || (what === "hangs") !== (rest === ""))
    throw new UsageTextError(`"${text}" is nothing that a call can do: ${FORMS}`);
  const row = method === "*" ? undefined : criMethod(method);
  if (method !== "*" && (row === undefined || row.streams))
    throw new UsageTextError(`"${text}": the interface has no call ${method}, such as PullImage or StartContainer`);
  return {
    ...(row === undefined ? {} : { method: method as CriMethod }),
    ...(about === undefined ? {} : { about }),
    ...effectOf(what, rest),
  };
}

function effectOf(what: string, rest: string): CallFault {
  if (what === "hangs") return { hangs: true };
  if (what === "fails") return { error: { text: rest } };
  const delayMicros = parseGoDuration(rest) ?? 0;
  if (!(delayMicros >= 1) || !Number.isSafeInteger(delayMicros))
    throw new UsageTextError(`"${rest}" is no duration above zero, such as 500ms or 5s`);
  return { delayMicros };
}
