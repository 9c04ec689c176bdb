import { isApiObject, type ApiObject, versionOf } from "../client/types.ts";
import type { Answer } from "../client/exchange.ts";
import type { Collection } from "../client/collection.ts";

const triesMax = 3;

/**
 * Sends a request that names the version of `seen`. Somebody else may have written to the object meanwhile, and then a
 * conflict is right: it is read and the request sent again for what it is now, up to three times. An object that is still
 * what was seen, or is no more, has no such excuse. Returns the last answer with the object that it was asked for.
 */
export async function atLatestVersion(
  collection: Pick<Collection, "get">,
  seen: ApiObject,
  send: (object: ApiObject) => Promise<Answer>,
): Promise<{ readonly answer: Answer; readonly object: ApiObject }> {
  let object = seen;
  let answer = await send(object);
  for (let tries = 0; answer.status === 409 && tries < triesMax; tries += 1) {
    const now = await collection.get(object.metadata.name);
    if (!isApiObject(now.json) || versionOf(now.json) === versionOf(object)) break;
    object = now.json;
    answer = await send(object);
  }
  return { answer, object };
}
