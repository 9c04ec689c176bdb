/** The headers in which a caller says to which trace its request belongs. Source: W3C Trace Context, 3.2, 3.3. */
import type { ApiRequest } from "../../contract/http-message.ts";

export interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
  readonly traceState: string;
}

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const stateCharactersMax = 512;

/** Undefined where there is none, or it is not as it must be: a trace then begins here. */
export function traceParentOf(headers: ApiRequest["headers"]): TraceParent | undefined {
  const found = form.exec((headers["traceparent"] ?? "").trim());
  if (found === null) return undefined;
  const [, version = "", traceId = "", spanId = "", flags = "", more] = found;
  // Later versions may say more after the flags; this one may not.
  if (version === "ff" || (version === "00" && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  const state = headers["tracestate"] ?? "";
  return {
    traceId,
    spanId,
    isSampled: (Number.parseInt(flags, 16) & 1) === 1,
    traceState: state.length > stateCharactersMax ? "" : state,
  };
}

export function traceHeaders({
  traceId,
  spanId,
  isSampled,
  traceState,
}: TraceParent): Readonly<Record<string, string>> {
  const traceparent = `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`;
  return traceState === "" ? { traceparent } : { traceparent, tracestate: traceState };
}
