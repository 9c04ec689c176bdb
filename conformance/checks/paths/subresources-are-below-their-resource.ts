import { servedTypes } from "../../client/discovery.ts";
import { isApiObject } from "../../client/types.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { createIdlePod } from "../../runner/pods.ts";

/**
 * The status of an object is read below the object: of a namespace, which has none around it, and of a pod in one. Both
 * are the object itself. Judged where discovery names them with the verb get.
 */
export const subresourcesAreBelowTheirResource = defineCheck({
  id: "subresources-are-below-their-resource",
  area: "paths",
  property: "A subresource is below its resource, in a namespace or without one.",
  requirements: ["paths.cluster-subresource", "paths.subresource"],
  features: ["namespaces", "pods"],
  async run(attempt) {
    const types = await servedTypes(attempt.client);
    const isRead = (name: string) =>
      types.some((type) => type.prefix === "/api/v1" && type.name === name && type.verbs.has("get"));
    const namespace = await attempt.target.namespace();
    const below = `/api/v1/namespaces/${namespace}`;
    if (isRead("namespaces/status")) await judge(attempt, "paths.cluster-subresource", below, "Namespace");
    if (!isRead("pods/status")) return;
    await createIdlePod(attempt, await attempt.target.collection("pods"), "a");
    await judge(attempt, "paths.subresource", `${below}/pods/a`, "Pod");
  },
});

async function judge(attempt: Attempt, requirement: string, path: string, kind: string): Promise<void> {
  const [object, status] = [
    await attempt.client.request("GET", path),
    await attempt.client.request("GET", `${path}/status`),
  ];
  const uidOf = (json: typeof object.json) => (isApiObject(json) ? json.metadata.uid : undefined);
  const same = status.status === 200 && isApiObject(status.json) && status.json.kind === kind;
  attempt.expect(
    requirement,
    same && uidOf(object.json) !== undefined && uidOf(status.json) === uidOf(object.json),
    `${path}/status: 200 and the ${kind} with the uid ${String(uidOf(object.json))}`,
    `${status.status} ${status.text.slice(0, 200)}`,
  );
}
