/** What a request asks for, as its path and query say it. Only requests about resources are read; any other is undefined. */

export interface Asked {
  readonly method: string;
  /** Of the group and version: `/api/v1`, `/apis/batch/v1`. */
  readonly prefix: string;
  /** `v1`, `batch/v1`. */
  readonly groupVersion: string;
  /** Undefined: a cluster-scoped type, or all namespaces. */
  readonly namespace: string | undefined;
  readonly plural: string;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  readonly query: URLSearchParams;
  readonly isWatch: boolean;
  /** In a shape that is not the object's own: a Table, or metadata alone. */
  readonly isOtherShape: boolean;
}

interface Request {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

export function askedOf({ method, path, headers }: Request): Asked | undefined {
  const mark = path.indexOf("?");
  const bare = mark < 0 ? path : path.slice(0, mark);
  const words = bare.split("/").slice(1);
  const depth = words[0] === "api" ? 2 : words[0] === "apis" ? 3 : 0;
  if (depth === 0 || words.length <= depth || words.some((word) => word === "")) return undefined;
  const decoded: string[] = [];
  for (const word of words) {
    const text = decodedWord(word);
    if (text === undefined) return undefined;
    decoded.push(text);
  }
  const place = placeOf(decoded.slice(depth));
  if (place === undefined) return undefined;
  const query = new URLSearchParams(mark < 0 ? "" : path.slice(mark + 1));
  return {
    method,
    prefix: `/${decoded.slice(0, depth).join("/")}`,
    groupVersion: decoded.slice(1, depth).join("/"),
    ...place,
    query,
    isWatch: method === "GET" && place.name === undefined && isTrue(query.get("watch")),
    isOtherShape: /;\s*as=/.test(headers["accept"] ?? ""),
  };
}

type Place = Pick<Asked, "namespace" | "plural" | "name" | "subresource">;

/** `namespaces/a` is an object of its own, `namespaces/a/pods` a collection in it, `namespaces/a/status` a subresource. */
function placeOf(words: readonly string[]): Place | undefined {
  const [first, second, third] = words;
  if (first === "watch" || first === "proxy") return undefined; // old spellings, which mean something else
  const inNamespace = first === "namespaces" && third !== undefined && third !== "status" && third !== "finalize";
  const [plural, name, subresource] = inNamespace ? words.slice(2) : words;
  if (plural === undefined) return undefined;
  return { namespace: inNamespace ? second : undefined, plural, name, subresource };
}

/** Absent, `0` and `false` are false, and anything else is true. */
const isTrue = (value: string | null): boolean => value !== null && value !== "0" && value !== "false";

function decodedWord(word: string): string | undefined {
  try {
    return decodeURIComponent(word);
  } catch {
    return undefined;
  }
}
