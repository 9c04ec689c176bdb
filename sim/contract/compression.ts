/** When an HTTP adapter compresses a body. Source: document 1, Media types 4; the facts, D23 and section 2. */
import type { ApiRequest } from "./http-message.ts";
import type { Profile } from "./profile.ts";

/** Whether a body is packed; a planted bug packs it twice and says so once. */
export type Packing = boolean | "twice";

/**
 * True when a complete body of `bodyBytes` to this request leaves gzipped. Watches never are. The header must
 * name `gzip` bare: `gzip;q=1` does not match.
 */
export function shouldCompress(profile: Profile, request: ApiRequest, status: number, bodyBytes: number): boolean {
  if (!profile.featureGates.APIResponseCompression || bodyBytes < profile.gzipMinimumBytes) return false;
  if (profile.gzipAnswers === "reads" && (request.method !== "GET" || status !== 200)) return false;
  const accepted = request.headers["accept-encoding"] ?? "";
  return accepted.split(",").some((coding) => coding.trim() === "gzip");
}
