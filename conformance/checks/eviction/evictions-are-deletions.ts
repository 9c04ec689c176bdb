import fc from "fast-check";
import { objectOf } from "../../client/collection.ts";
import { shownAnswer } from "../../client/status-document.ts";
import { type ApiObject, isApiObject, isJsonObject, versionOf } from "../../client/types.ts";
import { atLatestVersion } from "../../runner/at-latest-version.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { coverPods } from "../../runner/disruption-budget.ts";

const otherUid = "00000000-0000-4000-8000-000000000000";

/**
 * Property: where no budget stands against it, an eviction does what a deletion with the same options does, and answers 201
 * with a Status; what it is told to find (a uid, the name of its own pod) must be so.
 */
export const evictionsAreDeletions = defineCheck({
  id: "evictions-are-deletions",
  area: "eviction",
  property: "An eviction deletes its pod as a deletion with the same options would.",
  requirements: [
    "eviction.creates-deletion",
    "eviction.grace",
    "eviction.answer",
    "eviction.absent",
    "eviction.name-mismatch",
  ],
  features: ["evictions", "pods", "namespaces"],
  input: fc.record({
    grace: fc.option(fc.constantFrom(1, 7, 20, 40)),
    uid: fc.constantFrom("none", "own", "other"),
    version: fc.constantFrom("none", "own", "other"),
    ready: fc.boolean(),
    named: fc.constantFrom("own", "own", "other"),
  }),
  examples: [
    { grace: null, uid: "none", version: "own", ready: true, named: "own" },
    { grace: 7, uid: "other", version: "none", ready: false, named: "own" },
    { grace: 7, uid: "own", version: "none", ready: true, named: "own" },
    { grace: null, uid: "none", version: "own", ready: true, named: "other" },
    { grace: null, uid: "own", version: "other", ready: false, named: "own" },
  ],
  async run(attempt, { grace, uid, version, ready, named }) {
    const { pods, evict } = await coverPods(attempt, [ready ? "ready" : "pending"]);
    const first = objectOf(await pods.get("pod-0"));
    const pod =
      version === "none"
        ? first
        : objectOf(await pods.patch("pod-0", "merge", { metadata: { labels: { turn: "next" } } }));
    if (named === "other") {
      const body = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "another" } };
      const answer = await attempt.client.request("POST", pods.pathOf("pod-0/eviction"), { body });
      attempt.expect(
        "eviction.name-mismatch",
        answer.status === 400,
        "400 for another pod's name",
        shownAnswer(answer),
      );
    }
    const absent = await evict("absent");
    attempt.expect("eviction.absent", absent.status === 404, "404 for a pod that is not there", shownAnswer(absent));

    const evictAs = (seen: ApiObject) => {
      const preconditions = {
        ...(uid === "none" ? {} : { uid: uid === "own" ? (seen.metadata.uid as string) : otherUid }),
        ...(version === "none" ? {} : { resourceVersion: versionOf(version === "own" ? seen : first) }),
      };
      return evict("pod-0", {
        deleteOptions: {
          ...(grace === null ? {} : { gracePeriodSeconds: grace }),
          ...(Object.keys(preconditions).length === 0 ? {} : { preconditions }),
        },
      });
    };
    const namesOwn = version === "own" && uid !== "other";
    const answer = namesOwn ? (await atLatestVersion(pods, pod, evictAs)).answer : await evictAs(pod);
    const left = await pods.get("pod-0");
    const deletionTimestamp = isApiObject(left.json) ? left.json.metadata.deletionTimestamp : undefined;
    if (uid === "other" || version === "other") {
      const what = `409: the pod has another ${uid === "other" ? "uid" : "version"}`;
      attempt.expect("eviction.grace", answer.status === 409, what, shownAnswer(answer));
      attempt.expect(
        "eviction.grace",
        deletionTimestamp == null && left.status === 200,
        "the pod as it was",
        shownAnswer(left),
      );
      return;
    }
    const { json } = answer;
    const isSuccess =
      answer.status === 201 && isJsonObject(json) && json["kind"] === "Status" && json["status"] === "Success";
    attempt.expect("eviction.answer", isSuccess, "201 and a Status of success", shownAnswer(answer));
    attempt.expect(
      "eviction.creates-deletion",
      deletionTimestamp != null,
      "a pod that is being deleted",
      shownAnswer(left),
    );
    const graceLeft = isApiObject(left.json) ? left.json.metadata.deletionGracePeriodSeconds : undefined;
    attempt.expect(
      "eviction.grace",
      graceLeft === (grace ?? 30),
      `a grace of ${grace ?? 30} s`,
      `${String(graceLeft)} s`,
    );
  },
});
