/** Which deletions concern so little that they are let through when no memory is left, so that a full server can be emptied. */

const urlCharactersMax = 4096;
/** Of a collection, with `limit`: it answers with what it has deleted. */
const objectsMax = 100;

/** Whether a DELETE of `url` concerns one object, or no more of a collection than a small `limit`. */
export function deletesFew(url: string): boolean {
  if (url.length > urlCharactersMax) return false;
  const [path = "", query = ""] = url.split("?", 2);
  const [root = "", ...segments] = path.split("/").filter((segment) => segment !== "");
  const resource = segments.slice(root === "apis" ? 2 : 1);
  const within = resource[0] === "namespaces" && resource.length > 2 ? resource.slice(2) : resource;
  if (within.length > 1) return true;
  const limit = new URLSearchParams(query).get("limit") ?? "";
  return /^[1-9]\d{0,8}$/.test(limit) && Number(limit) <= objectsMax;
}
