/** Requests to the API server out of a task. */
import type { JsonObject } from "../../contract/http-message.ts";
import type { ApiAnswer, ApiCall, ApiCaller } from "../ports.ts";
import { type Task, wait } from "../task.ts";

export function* ask(api: ApiCaller, request: ApiCall): Task<ApiAnswer> {
  return yield* wait<ApiAnswer>((resume) => {
    api.call(request, resume);
    return () => {};
  });
}

export type Found = { readonly object: JsonObject } | { readonly error: string; readonly isMissing: boolean };

/** `kind` is said in words where the object is missing: `configmap "late" not found`. */
export function* getObject(
  api: ApiCaller | undefined,
  kind: "configmap" | "secret",
  namespace: string,
  name: string,
): Task<Found> {
  if (api === undefined) {
    return { error: `${kind} ${JSON.stringify(name)} cannot be read without an API server`, isMissing: false };
  }
  const { status, object } = yield* ask(api, {
    method: "GET",
    path: `/api/v1/namespaces/${namespace}/${kind}s/${name}`,
  });
  if (status === 200 && object !== undefined) return { object };
  if (status === 404) return { error: `${kind} ${JSON.stringify(name)} not found`, isMissing: true };
  const message = object?.["message"];
  return {
    error: typeof message === "string" ? message : `${kind} ${JSON.stringify(name)}: no answer`,
    isMissing: false,
  };
}
