import fc from "fast-check";
import { configMap } from "../../arbitraries/config-maps.ts";
import { objectOf } from "../../client/collection.ts";
import { Unsupported } from "../../client/findings.ts";
import { type ApiObject, isApiObject } from "../../client/types.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { pollUntil } from "../../runner/poll.ts";

const owner = (object: ApiObject, blocks: boolean) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  name: object.metadata.name,
  uid: object.metadata.uid as string,
  ...(blocks ? { blockOwnerDeletion: true } : {}),
});

/**
 * Property: where somebody collects what has lost its owners, an object stays as long as one of its owners is there.
 * Method: an object without any living owner shows whether anybody collects here: it is made last, so that by its end
 * the others have been looked at. The objects have several owners, of which some are deleted.
 */
export const objectsGoWithTheirLastOwner = defineCheck({
  id: "objects-go-with-their-last-owner",
  area: "deletion",
  property: "An object stays while one of its owners is there.",
  requirements: ["deletion.owners"],
  features: ["configmaps"],
  cost: "slow",
  input: fc.record({
    owners: fc.integer({ min: 2, max: 4 }),
    deleted: fc.integer({ min: 1, max: 3 }),
    policy: fc.constantFrom("Background", "Foreground"),
    blocks: fc.boolean(),
  }),
  examples: [{ owners: 2, deleted: 1, policy: "Background", blocks: false }],
  async run(attempt, { owners: count, deleted, policy, blocks }) {
    const collection = await attempt.target.collection("configmaps");
    const owners: ApiObject[] = [];
    for (let index = 0; index < count; index += 1) {
      owners.push(objectOf(await collection.create(configMap(`owner-${index}`))));
    }
    const owned = (name: string, of: readonly ApiObject[]) => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name, ownerReferences: of.map((each) => owner(each, blocks)) },
    });
    objectOf(await collection.create(owned("shared", owners)));
    const going = owners.slice(0, Math.min(deleted, count - 1));
    for (const { metadata } of going) await collection.delete(metadata.name, { propagationPolicy: policy });
    objectOf(await collection.create(owned("orphaned", going)));
    const isGone = async (name: string) => ((await collection.get(name)).status === 404 ? true : undefined);
    const deadlineMillis = attempt.clock.nowMillis() + patienceMillis;
    const collected = await pollUntil(attempt, deadlineMillis, () => isGone("orphaned"));
    if (collected === undefined) throw new Unsupported("collection of what has lost its owners");
    // Whoever lets go of the owners that are gone has looked at it; nobody has to, so that its silence proves nothing.
    await pollUntil(attempt, deadlineMillis, async () => {
      const { status, json } = await collection.get("shared");
      const left = isApiObject(json) ? ((json.metadata["ownerReferences"] as readonly unknown[]) ?? []) : [];
      return status === 404 || left.length < count ? true : undefined;
    });
    const read = await collection.get("shared");
    const expected = `what has ${count} owners stays when ${going.length} of them went`;
    attempt.expect("deletion.owners", read.status === 200, expected, `${read.status} ${read.text.slice(0, 300)}`);
  },
});

const patienceMillis = 10_000;
