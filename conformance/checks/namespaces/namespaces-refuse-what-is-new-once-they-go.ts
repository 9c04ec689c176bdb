import fc from "fast-check";
import { configMap } from "../../arbitraries/config-maps.ts";
import { type Collection, objectOf, succeeded } from "../../client/collection.ts";
import { causesOf, reasonOf } from "../../client/status-document.ts";
import { isJsonObject, type JsonObject } from "../../client/types.ts";
import { judgeInside, type NamespacePhase, type RequestInside } from "../../model/namespace-life.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { pollUntil } from "../../runner/poll.ts";

type Verb = RequestInside["verb"];
const anyVerbs = (maxLength: number) =>
  fc.array(fc.constantFrom<Verb>("create", "apply", "put", "patch", "delete", "get", "list"), {
    minLength: 1,
    maxLength,
  });

/**
 * Property: from the moment its deletion is asked for, a namespace takes nothing new, while what is in it can be changed
 * and deleted; before, and where no namespace is, requests are answered as everywhere.
 * Method: an object with a finalizer keeps the namespace half gone for as long as the program runs.
 */
export const namespacesRefuseWhatIsNewOnceTheyGo = defineCheck<{
  readonly before: readonly Verb[];
  readonly after: readonly Verb[];
}>({
  id: "namespaces-refuse-what-is-new-once-they-go",
  area: "namespaces",
  property: "A namespace that is being deleted takes nothing new, and says that it is going.",
  requirements: ["namespaces.terminating", "namespaces.phase", "namespaces.absent-create", "namespaces.absent-list"],
  features: ["configmaps", "leases", "namespaces"],
  input: fc.record({ before: anyVerbs(3), after: anyVerbs(6) }),
  examples: [{ before: ["create"], after: ["create", "apply", "put", "patch", "delete", "get", "list", "create"] }],
  async run(attempt, { before, after }) {
    const inside = await attempt.target.collection("configmaps", "-going");
    const namespace = await attempt.target.namespace("-going");
    const path = `/api/v1/namespaces/${namespace}`;
    for (let index = 0; index < before.length + after.length; index++) {
      objectOf(await inside.create(configMap(`kept-${index}`, { finalizers: ["example.com/hold"] })));
    }
    // Of a type that a PUT creates.
    const leases = await attempt.target.collection(
      "leases",
      "-going",
      `/apis/coordination.${attempt.profile.dialect.groupSuffix}/v1`,
    );
    const places = { inside, leases };
    attempt.holds("namespaces.terminating", judgeInside(await sendAll(places, "Active", before, 0)));
    await judgePhase(attempt, path, "Active");

    succeeded(await attempt.client.request("DELETE", path), "deletion.namespace");
    await judgePhase(attempt, path, "Terminating");
    // Of several servers one may hear of it a moment later.
    await pollUntil(attempt, attempt.clock.nowMillis() + 10_000, async () => {
      const probe = await inside.create(configMap("probe"), { query: { dryRun: "All" } });
      return probe.status === 403 ? true : undefined;
    });
    const requests = await sendAll(places, "Terminating", after, before.length);
    // A namespace that has gone in the meantime refuses for another reason, which is then what is wrong.
    await judgePhase(attempt, path, "Terminating");
    attempt.holds("namespaces.terminating", judgeInside(requests));
    // Whoever empties the namespace comes to what is held, sooner or later; it stays then, and the namespace with it.
    await pollUntil(attempt, attempt.clock.nowMillis() + 10_000, async () => {
      const held = await inside.get("kept-0");
      return held.status !== 200 || objectOf(held).metadata.deletionTimestamp != null ? true : undefined;
    });
    await judgePhase(attempt, path, "Terminating");

    const absent = `${namespace}-absent`;
    const nowhere = await attempt.client.request("POST", `/api/v1/namespaces/${absent}/configmaps`, {
      body: configMap("a"),
    });
    attempt.holds("namespaces.absent-create", judgeInside([seen("create", "absent", nowhere)]));
    const list = await attempt.client.request("GET", `/api/v1/namespaces/${absent}/configmaps`);
    attempt.holds("namespaces.absent-list", judgeInside([seen("list", "absent", list)]));
    const items = isJsonObject(list.json) ? list.json["items"] : undefined;
    attempt.expect(
      "namespaces.absent-list",
      Array.isArray(items) && items.length === 0,
      "items: []",
      `items: ${JSON.stringify(items)}`,
    );
  },
});

interface Places {
  readonly inside: Collection;
  readonly leases: Collection;
}

async function sendAll(
  places: Places,
  phase: NamespacePhase,
  verbs: readonly Verb[],
  first: number,
): Promise<readonly RequestInside[]> {
  const requests: RequestInside[] = [];
  for (const [index, verb] of verbs.entries()) {
    requests.push(seen(verb, phase, await send(places, verb, `kept-${first + index}`, `new-${first + index}`)));
  }
  return requests;
}

function send({ inside, leases }: Places, verb: Verb, kept: string, fresh: string): ReturnType<Collection["get"]> {
  switch (verb) {
    case "create":
      return inside.create(configMap(fresh));
    case "apply":
      return inside.patch(fresh, "apply", configMap(fresh), { query: { fieldManager: "alpha" } });
    case "put": {
      const apiVersion = leases.path.split("/").slice(2, 4).join("/");
      return leases.put(fresh, { apiVersion, kind: "Lease", metadata: { name: fresh }, spec: { holderIdentity: "a" } });
    }
    case "patch":
      return inside.patch(kept, "merge", { data: { changed: "yes" } } satisfies JsonObject);
    case "delete":
      return inside.delete(kept);
    case "get":
      return inside.get(kept);
    case "list":
      return inside.list();
  }
}

function seen(verb: Verb, phase: NamespacePhase, answer: Awaited<ReturnType<Collection["get"]>>): RequestInside {
  // Some servers repeat the reason of the answer alone; the cause is what tells this refusal from another.
  const causes = causesOf(answer).map(({ reason }) => reason);
  return { verb, phase, status: answer.status, causes: causes.length > 0 ? causes : [reasonOf(answer)] };
}

async function judgePhase(attempt: Attempt, path: string, phase: NamespacePhase): Promise<void> {
  const answer = await attempt.client.request("GET", path);
  const namespace = objectOf(answer, "namespaces.phase");
  const status = namespace["status"];
  const shown = isJsonObject(status) ? String(status["phase"]) : "none";
  const { deletionTimestamp } = namespace.metadata;
  attempt.expect(
    "namespaces.phase",
    shown === phase && (deletionTimestamp == null) === (phase === "Active"),
    `phase ${phase}, ${phase === "Active" ? "no" : "a"} deletionTimestamp`,
    `phase ${shown}, deletionTimestamp ${String(deletionTimestamp)}`,
  );
}
