import { objectOf } from "../../client/collection.ts";
import { type JsonObject, objectsIn } from "../../client/types.ts";
import { judgeOwners, ownersOf } from "../../model/managed-fields.ts";
import { judgeConflicts } from "../../model/ownership.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { createIdlePod } from "../../runner/pods.ts";

/**
 * Property: one manager's fields of the object and of its status are recorded apart, and conflicts go by field.
 * Method: a manager applies a condition through status and a label to the pod itself; another meets both.
 */
export const subresourcesHaveOwnOwners = defineCheck({
  id: "subresources-have-own-owners",
  area: "apply",
  property: "What is applied through a subresource is owned apart from what is applied to the object.",
  requirements: ["apply.subresource"],
  features: ["pods"],
  async run(attempt) {
    const pods = await attempt.target.collection("pods");
    await createIdlePod(attempt, pods, "a");
    const type = "example.com/ready";
    const condition = (status: string): JsonObject => ({ status: { conditions: [{ type, status }] } });
    const apply = (manager: string, path: string, parts: JsonObject) =>
      pods.patch(
        path,
        "apply",
        { apiVersion: "v1", kind: "Pod", metadata: { name: "a" }, ...parts },
        {
          query: { fieldManager: manager },
        },
      );
    objectOf(await apply("alpha", "a/status", condition("True")), "apply.subresource");
    const labelled = await apply("alpha", "a", { metadata: { name: "a", labels: { team: "red" } } });
    const object = objectOf(labelled, "apply.subresource");
    const path = `.status.conditions[type="${type}"]`;
    const expected = new Map([
      ["alpha Apply status", new Set([path, `${path}.type`, `${path}.status`])],
      ["alpha Apply", new Set([".metadata.labels.team"])],
    ]);
    attempt.holds("apply.subresource", judgeOwners(expected, ownersOf(object, [path, ".metadata.labels.team"])));

    const refused = await apply("beta", "a/status", condition("False"));
    attempt.expect("apply.subresource", refused.status === 409, "409, a conflict", `${refused.status} ${refused.text}`);
    const causes = objectsIn((refused.json as JsonObject | undefined)?.["details"], "causes");
    const conflict = { owner: "alpha Apply status", path: `${path}.status` };
    attempt.holds("apply.subresource", judgeConflicts([conflict], causes));

    // Leaving all of status out through status removes what status owns, and nothing of the object.
    const emptied = objectOf(await apply("alpha", "a/status", {}), "apply.subresource");
    const left = objectsIn(emptied["status"], "conditions").some((one) => one["type"] === type);
    const kept = emptied.metadata.labels?.["team"] === "red";
    const actual = JSON.stringify({ labels: emptied.metadata.labels, status: emptied["status"] });
    attempt.expect("apply.subresource", !left && kept, `the label kept and no condition ${type}`, actual);
  },
});
