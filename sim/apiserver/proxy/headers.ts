/** What of a request's and of an answer's headers is handed on by somebody in between. Source: RFC 9110, 7.6.1; the published proxy handler. */

/** Values by lower-case name. */
export type Headers = Readonly<Record<string, string | readonly string[]>>;

/** Of one connection alone. */
const hopByHop = [
  "connection",
  "proxy-connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "http2-settings",
];

/** Meant for this server: who asks, and how much follows. */
const ownOfRequests = /^(?::.*|authorization|impersonate-.*|content-length|expect)$/;

/** Which pages may read an answer is this server's word. */
const ownOfAnswers = /^access-control-allow-(?:credentials|headers|methods|origin)$/;

/** `forwardedUri`: the path that the client asked for. */
export function forwardedHeaders(
  headers: Readonly<Record<string, string>>,
  forwardedUri: string,
): Record<string, string> {
  const { ":authority": authority } = headers;
  const handedOn = endToEnd(headers).filter(([name]) => !ownOfRequests.test(name));
  return {
    ...(authority === undefined ? {} : { host: authority }),
    ...(Object.fromEntries(handedOn) as Record<string, string>),
    "x-forwarded-uri": forwardedUri,
  };
}

export function returnedHeaders(headers: Headers): Record<string, string | readonly string[]> {
  return Object.fromEntries(endToEnd(headers).filter(([name]) => !ownOfAnswers.test(name)));
}

function endToEnd(headers: Headers): [string, string | readonly string[]][] {
  const named = [headers["connection"] ?? []].flat().flatMap((value) => value.split(","));
  const dropped = new Set([...hopByHop, ...named.map((name) => name.trim().toLowerCase())]);
  return Object.entries(headers).filter(([name]) => !dropped.has(name));
}

/**
 * Where an answer sends the client on to, as the client can reach it: a path of whoever was asked lies behind `prefix`.
 * `hosts` are the names by which it was asked; a place on any other host, and a relative path, stay as they are.
 */
export function returnedLocation(location: string, prefix: string, hosts: readonly string[]): string {
  const [, origin = "", host = "", path = ""] =
    /^((?:[A-Za-z][A-Za-z0-9+.-]*:)?\/\/([^/?#]*))?(.*)$/s.exec(location) ?? [];
  if ((origin !== "" && !hosts.includes(host)) || !path.startsWith("/")) return location;
  return path.startsWith(prefix) ? path : prefix + path;
}
