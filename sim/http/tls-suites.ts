/** Cipher suites by the names of the standard, as OpenSSL calls them. Those of TLS 1.3 are not chosen: all of them may be used. */
import { getCiphers } from "node:tls";

export function opensslSuites(names: readonly string[]): {
  readonly ciphers: string | undefined;
  readonly missing: readonly string[];
} {
  const known = new Set(getCiphers());
  const older = names.filter((name) => name.includes("_WITH_"));
  const pairs = older.map((name) => [name, opensslName(name)] as const);
  const usable = pairs.filter(([, theirs]) => known.has(theirs.toLowerCase()));
  return {
    ciphers: usable.length === 0 ? undefined : usable.map(([, theirs]) => theirs).join(":"),
    missing: pairs.filter((pair) => !usable.includes(pair)).map(([name]) => name),
  };
}

/** `TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256` is `ECDHE-RSA-AES128-GCM-SHA256`. */
function opensslName(name: string): string {
  const [exchange = "", cipher = ""] = name.replace(/^TLS_/, "").split("_WITH_");
  const short = cipher
    .replace(/^AES_(\d+)_CBC/, "AES$1")
    .replace(/^AES_(\d+)_GCM/, "AES$1-GCM")
    .replace(/^3DES_EDE_CBC/, "DES-CBC3")
    .replace(/^RC4_128/, "RC4")
    .replace(/^CHACHA20_POLY1305.*/, "CHACHA20-POLY1305")
    .replaceAll("_", "-");
  return exchange === "RSA" ? short : `${exchange.replaceAll("_", "-")}-${short}`;
}
