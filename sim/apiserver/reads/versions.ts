/** Resource versions as requests spell them. Clients treat them as opaque; here they are revisions of the store. */
import { goQuote } from "../../../wire/go-strings.ts";
import { type ApiError, badRequest, unmapped } from "../../contract/errors.ts";
import type { Profile } from "../../contract/profile.ts";

const UINT64_MAX = 18_446_744_073_709_551_615n;

/** How long a request waits for a version that has not arrived. Source: the facts, section 1, 504. */
export const VERSION_WAIT_MICROS = 3_000_000;

/** "" is 0, as "0" is. Undefined when `text` is no unsigned 64-bit number. Beyond 2^53 the number is near enough: no store gets there. */
export function parseVersion(text: string): number | undefined {
  if (text === "" || text === "0") return 0;
  if (!/^[0-9]+$/.test(text)) return undefined;
  const digits = text.replace(/^0+/, "");
  if (digits.length > 20) return undefined;
  return digits.length < 20 || BigInt(digits) <= UINT64_MAX ? Number(digits) : undefined;
}

/** Why `parseVersion` refused `text`, in the words of the real server. */
export function versionProblem(text: string): string {
  const why = /^[0-9]+$/.test(text) ? "value out of range" : "invalid syntax";
  return `resourceVersion: Invalid value: ${goQuote(text)}: strconv.ParseUint: parsing ${goQuote(text)}: ${why}`;
}

/** The refusal of a list, and of whatever the store answers itself. */
export const badVersion = (text: string): ApiError => badRequest(`invalid resource version: ${versionProblem(text)}`);

/** The refusal of a get or a watch of a cached type: there the observed server leaves the error unmapped. */
export function badCachedVersion(profile: Profile, text: string): ApiError {
  return profile.unparsableVersionStatus === 400 ? badVersion(text) : unmapped(versionProblem(text));
}
