import { type Client, LostAnswer } from "../client/client.ts";
import { isApiObject, type JsonObject } from "../client/types.ts";

/** A plain deletion; what is held by finalizers loses them, what is graceful loses its grace. */
export async function remove(cleaner: Client, path: string): Promise<void> {
  const options: JsonObject = { kind: "DeleteOptions", apiVersion: "v1", gracePeriodSeconds: 0 };
  const answer = await cleaner.attempt("DELETE", path, { body: options });
  if (answer instanceof LostAnswer || answer.status === 404) return;
  // A Status says that it is gone, or, on some servers, only that the deletion was accepted.
  const left = isApiObject(answer.json) ? answer : await cleaner.attempt("GET", path);
  if (left instanceof LostAnswer || !isApiObject(left.json) || (left.json.metadata.finalizers ?? []).length === 0)
    return;
  const body = { metadata: { finalizers: null } };
  const patched = await cleaner.attempt("PATCH", path, { body, contentType: "application/merge-patch+json" });
  if (!(patched instanceof LostAnswer) && patched.status < 300) return;
  // Not every server patches; whoever changes the object meanwhile is met again when the namespace is awaited.
  await cleaner.attempt("PUT", path, { body: { ...left.json, metadata: { ...left.json.metadata, finalizers: [] } } });
}
