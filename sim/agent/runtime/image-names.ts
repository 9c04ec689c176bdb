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
