/**
 * `/healthz`, `/livez` and `/readyz`, with `?verbose`, `?exclude=name` and a path a check.
 * Source: the facts, section 5; recorded: a ready check has no `etcd`.
 */
import type { Query } from "../pipeline/url.ts";

/** The checks this server makes, in order. Each holds as long as it answers at all: what it stands on lives in the same process. */
const checks: Readonly<Record<string, readonly string[]>> = {
  healthz: ["ping", "log", "etcd"],
  livez: ["ping", "log", "etcd"],
  readyz: ["ping", "log", "informer-sync"],
};

/** Paths under `/` that these checks answer. */
export const healthPaths: readonly string[] = Object.entries(checks).flatMap(([endpoint, names]) => [
  `/${endpoint}`,
  ...names.map((name) => `/${endpoint}/${name}`),
]);

/** The text of a 200, or undefined when the path names no check. */
export function healthText(segments: readonly string[], query: Query): string | undefined {
  const [endpoint = "", check, ...deeper] = segments;
  const names = Object.hasOwn(checks, endpoint) ? (checks[endpoint] as readonly string[]) : undefined;
  if (names === undefined || deeper.length > 0) return undefined;
  if (check !== undefined) return names.includes(check) ? "ok" : undefined;
  if (!query.has("verbose")) return "ok";
  const excluded = query.all("exclude");
  const unknown = excluded.filter((name) => !names.includes(name));
  const lines = names.map((name) => (excluded.includes(name) ? `[+]${name} excluded: ok` : `[+]${name} ok`));
  if (unknown.length > 0) {
    const list = unknown.map((name) => JSON.stringify(name)).join(",");
    lines.push(`warn: some health checks cannot be excluded: no matches for ${list}`);
  }
  return `${lines.join("\n")}\n${endpoint} check passed\n`;
}
