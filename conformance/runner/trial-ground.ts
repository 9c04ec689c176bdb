import type { TrialType } from "../arbitraries/trial-types.ts";
import { Collection } from "../client/collection.ts";
import type { Attempt } from "./attempt.ts";
import type { Ground } from "./collection-play.ts";
import { withDefinition } from "./custom-definition.ts";

/** Runs `body` with the collections of a type in two namespaces, the name of one the beginning of the other's. */
export async function withTrialGround(
  attempt: Attempt,
  type: TrialType,
  body: (ground: Ground) => Promise<void>,
): Promise<void> {
  const { profile } = attempt;
  if (type.custom === undefined) {
    await body(await groundOf(attempt, type, type.prefix(profile.dialect)));
    return;
  }
  const { schema, version } = type.custom;
  const options = { scope: type.namespaced ? "Namespaced" : "Cluster", version } as const;
  await withDefinition(
    attempt,
    schema,
    async ({ apiVersion }) => body(await groundOf(attempt, type, `/apis/${apiVersion}`)),
    options,
  );
}

async function groundOf(attempt: Attempt, type: TrialType, prefix: string): Promise<Ground> {
  const { client, target } = attempt;
  if (!type.namespaced) {
    const here = new Collection(client, `${prefix}/${type.plural}`, target);
    return { type, prefix, here, namespace: undefined, there: undefined, thereNamespace: undefined };
  }
  return {
    type,
    prefix,
    here: await target.collection(type.plural, "", prefix),
    namespace: await target.namespace(),
    there: await target.collection(type.plural, "-b", prefix),
    thereNamespace: await target.namespace("-b"),
  };
}
