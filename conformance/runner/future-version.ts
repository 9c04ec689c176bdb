import { Unsupported } from "../client/findings.ts";

/**
 * A version that the server will not reach during the run. Versions are opaque, and this is the one place that looks
 * into them: known servers count. One that does not cannot be asked for the future, and need not: it is `Unsupported`.
 */
export function futureVersion(version: string): string {
  if (!/^[1-9][0-9]{0,17}$/.test(version)) {
    throw new Unsupported("versions that count, so that one still to come can be made up");
  }
  return String(BigInt(version) + 1_000_000_000n);
}
