/** Where a target answers otherwise than it did when a failure was recorded. */
import { partings } from "../../conformance/diff/compare.ts";
import { Masking } from "../../conformance/diff/masks.ts";
import type { Json } from "../../conformance/client/types.ts";

/** What of an exchange is compared. */
export interface Exchanged {
  readonly method: string;
  readonly path: string;
  /** Undefined: no answer. */
  readonly status?: number | undefined;
  readonly responseBody: string;
}

/**
 * One sentence about the first exchange that differs, with what lawfully differs masked: uids, versions, times, names.
 * Undefined when none does, or when nothing was recorded. Requests that ran at the same time may have changed places.
 */
export function firstParting(before: readonly Exchanged[], now: readonly Exchanged[]): string | undefined {
  const [then, today] = [maskedAll(before), maskedAll(now)];
  for (const [index, old] of then.entries()) {
    const place = `request ${index + 1}`;
    const asked = `${old.method} ${old.path}`;
    const recent = today[index];
    if (recent === undefined) return now.length === 0 ? undefined : `It ended before ${place} of then, ${asked}.`;
    if (asked !== `${recent.method} ${recent.path}`) {
      return `It took another course at ${place}: ${asked} then, ${recent.method} ${recent.path} now.`;
    }
    const parting = partingOf(old, recent);
    if (parting !== undefined) return `The target answers otherwise now, first at ${place}, ${asked}: ${parting}.`;
  }
  return undefined;
}

interface Masked {
  readonly method: string;
  readonly path: string;
  readonly status: number | undefined;
  readonly body: Json;
}

function partingOf(old: Masked, recent: Masked): string | undefined {
  if (old.status === undefined || recent.status === undefined) {
    if (old.status === recent.status) return undefined;
    return `${old.status ?? "no answer"} then, ${recent.status ?? "no answer"} now`;
  }
  const [first] = partings("", side(old, old.status), side(recent, recent.status));
  if (first === undefined) return undefined;
  const what = first.cause.replace(/^: /, "").replace(/ (only in [AB]|(value|type|count) differs)$/, "");
  const where = what.startsWith("status ") ? "status" : what;
  return `${where} ${first.a ?? "nothing"} then, ${first.b ?? "nothing"} now`;
}

const side = ({ body }: Masked, status: number) => ({ status, headers: {}, body });

/** Names that runs make up are the same word in both. */
function maskedAll(exchanges: readonly Exchanged[]): Masked[] {
  const masking = new Masking();
  for (const { path } of exchanges) {
    const name = /\/namespaces\/(touchstone-[^/?]+)/.exec(path)?.[1];
    if (name !== undefined) masking.rename(name, "namespace");
  }
  return exchanges.map(({ method, path, status, responseBody }, index) => ({
    method,
    path: String(masking.masked(withoutVersions(path), index + 1, "path")),
    status,
    body: masking.masked(parsed(withoutRun(responseBody)), index + 1),
  }));
}

/** Labels by which a run knows its own. */
const withoutRun = (body: string): string => body.replace(/"(touchstone-(?:run|namespace))":\s*"[^"]*"/g, '"$1":"…"');

/** Versions and tokens in a query are what the target gave out before. */
const withoutVersions = (path: string): string => path.replace(/([?&](?:resourceVersion|continue)=)[^&]+/g, "$1…");

/** A document, the documents of a watch, or the text as it is, where it was cut or is no JSON. */
function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    try {
      return text
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as Json);
    } catch {
      return text;
    }
  }
}
