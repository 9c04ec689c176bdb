import { Inconclusive } from "../findings.ts";

/**
 * A version that the server will not reach during the run. Versions are opaque, and this is the one place that looks
 * into them: known servers count. One that does not cannot be asked for the future.
 */
export function futureVersion(version: string): string {
  if (!/^[1-9][0-9]{0,17}$/.test(version)) {
    throw new Inconclusive(`${JSON.stringify(version)} is no number, so that no version still to come can be made up`);
  }
  return String(BigInt(version) + 1_000_000_000n);
}
