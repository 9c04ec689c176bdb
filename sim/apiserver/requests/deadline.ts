/**
 * How long a request may take. Source: the facts, section 8 (60 s; 34 s for writes of one object) and D9.
 */
import type { Micros } from "../../kernel/types.ts";
import { parseGoDuration } from "../../../wire/durations.ts";
import { badRequest } from "../../contract/errors.ts";
import type { Query } from "./url.ts";

/** Unless the server is told otherwise. */
export const requestMicrosMaxDefault: Micros = 60_000_000;
const singleWriteMicrosMax = 34_000_000;
const singleWrites = new Set(["create", "update", "patch", "delete"]);

/** Microseconds > 0: what `?timeout=` asks for, within the server's own limit. Throws 400. */
export function requestTimeout(query: Query, verb: string, requestMicrosMax = requestMicrosMaxDefault): Micros {
  const most = singleWrites.has(verb) ? Math.min(singleWriteMicrosMax, requestMicrosMax) : requestMicrosMax;
  const asked = query.first("timeout");
  if (asked === undefined || asked === "") return most;
  const micros = parseGoDuration(asked);
  if (micros === undefined) {
    throw badRequest(`invalid timeout specified in the request URL - time: invalid duration ${JSON.stringify(asked)}`);
  }
  return micros > 0 && micros < most ? micros : most;
}
