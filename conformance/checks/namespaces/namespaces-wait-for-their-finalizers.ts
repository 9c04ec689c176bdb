import { configMap } from "../../arbitraries/config-maps.ts";
import type { Answer } from "../../client/exchange.ts";
import type { Client } from "../../client/client.ts";
import { Collection, objectOf, succeeded } from "../../client/collection.ts";
import { shownAnswer } from "../../client/status-document.ts";
import { type ApiObject, isApiObject, isJsonObject, type JsonObject } from "../../client/types.ts";
import { Inconclusive } from "../../client/findings.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { atLatestVersion } from "../../runner/at-latest-version.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { pollUntil } from "../../runner/poll.ts";
import { runLabel } from "../../runner/sandbox.ts";

const finalizer = "example.com/touchstone";
const patienceMillis = 60_000;

/**
 * Property: a namespace stays until the last of its own finalizers is taken away through `finalize`, and a namespace that is
 * made again under the name holds nothing of the old one.
 * Method: a finalizer of the suite's own beside the server's; no time is promised for the server's, so waiting for it is bounded.
 */
export const namespacesWaitForTheirFinalizers = defineCheck({
  id: "namespaces-wait-for-their-finalizers",
  area: "namespaces",
  property: "A namespace goes when its own finalizers are gone, and its name then holds nothing.",
  requirements: ["namespaces.finalize", "namespaces.fresh", "namespaces.paths"],
  features: ["configmaps", "namespaces"],
  cost: "slow",
  async run(attempt) {
    const { client } = attempt;
    const name = `${attempt.target.name}-held`;
    const path = `/api/v1/namespaces/${name}`;
    attempt.target.onCleanUp(async (cleaner) => {
      await cleaner.attempt("DELETE", path);
      await finalize(cleaner, path);
    });
    const labels = { [runLabel]: attempt.target.label };
    const create = (finalizers: readonly string[]): Promise<Answer> =>
      client.request("POST", "/api/v1/namespaces", {
        body: { apiVersion: "v1", kind: "Namespace", metadata: { name, labels }, spec: { finalizers } },
      });
    const first = objectOf(await create([finalizer]), "namespaces.paths");
    await judgePaths(attempt, name);
    const inside = new Collection(client, `${path}/configmaps`, attempt.target);
    objectOf(await inside.create(configMap("old")));

    succeeded(await client.request("DELETE", path), "namespaces.paths");
    const alone = await pollUntil(attempt, attempt.clock.nowMillis() + patienceMillis, async () => {
      const answer = await client.request("GET", path);
      const goneEarly = answer.status === 404;
      attempt.expect("namespaces.finalize", !goneEarly, `the namespace kept by ${finalizer}`, "404 for it");
      return finalizersOf(answer).join() === finalizer ? true : undefined;
    });
    if (alone === undefined) {
      throw new Inconclusive(`the server's own finalizer is still on ${path} ${patienceMillis} ms after its deletion`);
    }
    const namespaces = new Collection(client, "/api/v1/namespaces", attempt.target);
    const { answer: emptied } = await atLatestVersion(namespaces, objectOf(await namespaces.get(name)), (seen) =>
      client.request("PUT", `${path}/finalize`, { body: withFinalizers(seen, []) }),
    );
    attempt.expect("namespaces.finalize", emptied.status < 300, "finalize taken", shownAnswer(emptied));
    const after = await pollUntil(attempt, attempt.clock.nowMillis() + 10_000, async () => {
      const answer = await client.request("GET", path);
      return answer.status === 404 ? answer : undefined;
    });
    attempt.expect(
      "namespaces.finalize",
      after !== undefined,
      "the namespace gone once its last finalizer is",
      "still there",
    );

    const second = objectOf(await create([]), "namespaces.fresh");
    attempt.expect("namespaces.fresh", second.metadata.uid !== first.metadata.uid, "a new uid", "the old uid");
    const old = await inside.get("old");
    attempt.expect("namespaces.fresh", old.status === 404, "404 for what was in the old one", shownAnswer(old));
  },
});

/** The namespaces of this run as a list, and each by its name. */
async function judgePaths(attempt: Attempt, name: string): Promise<void> {
  const query = { labelSelector: `${runLabel}=${attempt.target.label}` };
  const list = await attempt.client.request("GET", "/api/v1/namespaces", { query });
  const items = isJsonObject(list.json) ? list.json["items"] : undefined;
  const listed = Array.isArray(items) && items.some((item) => isApiObject(item) && item.metadata.name === name);
  const kind = isJsonObject(list.json) ? list.json["kind"] : undefined;
  attempt.expect(
    "namespaces.paths",
    list.status === 200 && kind === "NamespaceList" && listed,
    `a NamespaceList with ${name}`,
    `${list.status} ${String(kind)}`,
  );
  const got = objectOf(await attempt.client.request("GET", `/api/v1/namespaces/${name}`), "namespaces.paths");
  attempt.expect("namespaces.paths", got["kind"] === "Namespace", "kind Namespace", String(got["kind"]));
}

function finalizersOf({ json }: Answer): readonly string[] {
  const spec = isApiObject(json) ? json["spec"] : undefined;
  const finalizers = isJsonObject(spec) ? spec["finalizers"] : undefined;
  return Array.isArray(finalizers) ? (finalizers as string[]) : [];
}

const withFinalizers = (namespace: ApiObject, finalizers: readonly string[]): JsonObject => ({
  ...namespace,
  spec: { ...(namespace["spec"] as JsonObject), finalizers },
});

/** Whatever there is to finalize, as far as it goes. */
async function finalize(cleaner: Client, path: string): Promise<void> {
  const live = await cleaner.attempt("GET", path);
  if (!("json" in live) || !isApiObject(live.json)) return;
  await cleaner.attempt("PUT", `${path}/finalize`, { body: withFinalizers(live.json, []) });
}
