import type { Answer } from "../client/exchange.ts";
import { objectOf } from "../client/collection.ts";
import type { JsonObject } from "../client/types.ts";
import type { AdmittedWrite } from "../model/webhook-law.ts";
import type { Attempt } from "./attempt.ts";

/** Makes what the writes will change or delete; before any webhook is there. */
export async function furnish(attempt: Attempt, writes: readonly AdmittedWrite[]): Promise<void> {
  for (const { operation, resource, name, teams } of writes) {
    if (operation === "CREATE") continue;
    objectOf(await (await attempt.target.collection(resource)).create(sentObject(resource, name, teams[0] as string)));
  }
}

export async function send(
  attempt: Attempt,
  { operation, resource, name, teams, dryRun, verb = "merge" }: AdmittedWrite,
): Promise<Answer> {
  const collection = await attempt.target.collection(resource);
  const query = dryRun ? { dryRun: "All" } : {};
  const options = { query };
  if (operation === "DELETE") return collection.delete(name, undefined, options);
  const applying = { query: { ...query, fieldManager: "applier", force: true } };
  if (operation === "CREATE") {
    const sent = sentObject(resource, name, teams[0] as string);
    return verb === "apply" ? collection.patch(name, "apply", sent, applying) : collection.create(sent, options);
  }
  const labels = { team: teams[1] as string, changed: "yes" };
  switch (verb) {
    case "put": {
      const live = objectOf(await collection.get(name));
      return collection.put(name, { ...live, metadata: { ...live.metadata, labels } }, options);
    }
    case "json":
      return collection.patch(name, "json", [{ op: "replace", path: "/metadata/labels", value: labels }], options);
    case "apply": {
      const { apiVersion, kind } = sentObject(resource, name, "");
      return collection.patch(name, "apply", { apiVersion, kind, metadata: { name, labels } } as JsonObject, applying);
    }
    default:
      return collection.patch(name, verb, { metadata: { labels } }, options);
  }
}

/** Whether the write has had its effect. */
export async function hasHappened(attempt: Attempt, { operation, resource, name }: AdmittedWrite): Promise<boolean> {
  const answer = await (await attempt.target.collection(resource)).get(name);
  if (operation === "UPDATE") return objectOf(answer).metadata.labels?.["changed"] === "yes";
  return (answer.status === 200) === (operation === "CREATE");
}

function sentObject(resource: string, name: string, team: string): JsonObject {
  const metadata = { name, labels: { team } };
  if (resource === "configmaps") return { apiVersion: "v1", kind: "ConfigMap", metadata, data: { value: "sent" } };
  const spec = { containers: [{ name: "main", image: "example.com/none:1" }] };
  return { apiVersion: "v1", kind: "PodTemplate", metadata, template: { spec } };
}
