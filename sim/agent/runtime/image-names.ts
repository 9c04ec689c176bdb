/** Names of images. Source: the published grammar of references; texts as recorded. */

export type ImageName = { readonly name: string } | { readonly error: string };

const component = /^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*$/;
const tag = /^[\w][\w.-]{0,127}$/;
const digest = /^[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}$/;
const domain =
  /^(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\[[0-9a-fA-F:]+\])(?::\d+)?$/;

/** With the tag `latest` where there is neither a tag nor a digest. */
export function withDefaultTag(image: string): ImageName {
  const wrong = (why: string): ImageName => ({
    error: `couldn't parse image name ${JSON.stringify(image)}: invalid reference format${why}`,
  });
  const [beforeDigest, digestText] = split(image, "@");
  if (digestText !== undefined && !digest.test(digestText)) return wrong("");
  const slash = beforeDigest.lastIndexOf("/");
  const colon = beforeDigest.indexOf(":", slash + 1);
  const path = colon < 0 ? beforeDigest : beforeDigest.slice(0, colon);
  const tagText = colon < 0 ? undefined : beforeDigest.slice(colon + 1);
  if (tagText !== undefined && !tag.test(tagText)) return wrong("");
  const [first, rest] = split(path, "/");
  const hasDomain =
    rest !== undefined && (/[.:]/.test(first) || first === "localhost" || first !== first.toLowerCase());
  const remote = hasDomain ? rest : path;
  if (remote !== remote.toLowerCase()) return wrong(`: repository name (${remote}) must be lowercase`);
  if (hasDomain && !domain.test(first)) return wrong("");
  if (remote === "" || !remote.split("/").every((part) => component.test(part))) return wrong("");
  return { name: tagText === undefined && digestText === undefined ? `${image}:latest` : image };
}

function split(text: string, mark: string): readonly [string, string | undefined] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

/** Parts of the host may be stars, or have them; ports are equal, and a path of the pattern begins the image's. */
export function imageMatches(pattern: string, image: string): boolean {
  const [wanted, actual] = [placeOf(pattern), placeOf(image)];
  if (wanted.port !== actual.port || wanted.parts.length !== actual.parts.length) return false;
  if (!actual.path.startsWith(wanted.path)) return false;
  return wanted.parts.every((part, at) => isLike(part, actual.parts[at] as string));
}

function placeOf(text: string): { readonly parts: readonly string[]; readonly port: string; readonly path: string } {
  const plain = text.replace(/^https?:\/\//, "");
  const slash = plain.indexOf("/");
  const place = slash < 0 ? plain : plain.slice(0, slash);
  const [host = "", port = ""] = place.split(":", 2);
  return { parts: host.split("."), port, path: slash < 0 ? "" : plain.slice(slash) };
}

/** A star is whatever there is. Goes back to the last star alone, so that many of them cost no more than few. */
function isLike(pattern: string, text: string): boolean {
  let [at, star, from] = [0, -1, 0];
  for (let to = 0; to < text.length; ) {
    if (pattern[at] === "*") {
      star = at++;
      from = to;
    } else if (pattern[at] === text[to]) {
      at++;
      to++;
    } else if (star >= 0) {
      at = star + 1;
      to = ++from;
    } else return false;
  }
  while (pattern[at] === "*") at++;
  return at === pattern.length;
}
