/**
 * URLs as Go's parser takes them apart: configuration files are judged by it, and it differs from the one of browsers,
 * which mends what it can. Source: RFC 3986; Go's net/url, whose error texts are kept.
 */
import { goQuote } from "./go-strings.ts";

export interface Url {
  /** Lower case; empty when there is none. */
  readonly scheme: string;
  /** What stands before the `@`. */
  readonly user: string | undefined;
  /** With its port. */
  readonly host: string;
  readonly path: string;
  /** Undefined: there is no `?`. */
  readonly query: string | undefined;
  readonly fragment: string | undefined;
}

export interface UrlError {
  /** For example `parse "http://::bad": invalid port ":bad" after host`. */
  readonly error: string;
}

export function parseUrl(text: string): Url | UrlError {
  const wrong = (why: string): UrlError => ({ error: `parse ${goQuote(text)}: ${why}` });
  if (/[\x00-\x1f\x7f]/.test(text)) return wrong("net/url: invalid control character in URL");
  const [beforeFragment, fragment] = cut(text, "#");
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(beforeFragment)?.[1];
  if (scheme === undefined && /^(?::|[^/?]*:)/.test(beforeFragment)) {
    return wrong(
      beforeFragment.startsWith(":") ? "missing protocol scheme" : "first path segment in URL cannot contain colon",
    );
  }
  const afterScheme = scheme === undefined ? beforeFragment : beforeFragment.slice(scheme.length + 1);
  const [rest, query] = cut(afterScheme, "?");
  const badEscape = [rest, fragment ?? ""].map((part) => /%(?![0-9A-Fa-f]{2}).{0,2}/.exec(part)?.[0]).find(Boolean);
  if (badEscape !== undefined) return wrong(`invalid URL escape ${goQuote(badEscape)}`);
  const parts = { scheme: scheme?.toLowerCase() ?? "", query, fragment };
  if (!rest.startsWith("//") || rest.startsWith("///")) {
    return { ...parts, user: undefined, host: "", path: rest.replace(/^\/\/(?=\/)/, "") };
  }
  const slash = rest.indexOf("/", 2);
  const authority = slash < 0 ? rest.slice(2) : rest.slice(2, slash);
  const at = authority.lastIndexOf("@");
  const host = authority.slice(at + 1);
  const hostProblem = hostError(host);
  if (hostProblem !== undefined) return wrong(hostProblem);
  const user = at < 0 ? undefined : authority.slice(0, at);
  if (user !== undefined && !/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user)) return wrong("net/url: invalid userinfo");
  return { ...parts, user, host, path: slash < 0 ? "" : rest.slice(slash) };
}

function hostError(host: string): string | undefined {
  if (host.startsWith("[")) {
    const end = host.lastIndexOf("]");
    if (end < 0) return "missing ']' in host";
    return portError(host.slice(end + 1));
  }
  const foreign = /[ "<>\\^`{|}]/.exec(host)?.[0];
  if (foreign !== undefined) return `invalid character ${goQuote(foreign)} in host name`;
  const colon = host.lastIndexOf(":");
  return colon < 0 ? undefined : portError(host.slice(colon));
}

const portError = (port: string): string | undefined =>
  port === "" || /^:\d*$/.test(port) ? undefined : `invalid port ${goQuote(port)} after host`;

function cut(text: string, mark: string): readonly [before: string, after: string | undefined] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}
