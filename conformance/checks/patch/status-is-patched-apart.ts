import { objectOf, type PatchKind } from "../../client/collection.ts";
import type { ApiObject, Json } from "../../client/types.ts";
import { valueAt } from "../../model/json-values.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { createIdlePod } from "../../runner/pods.ts";

/**
 * Property: a patch of the status subresource changes status alone, and one of the object leaves status as it is.
 * Method: patches of each kind that name both spec and status.
 */
export const statusIsPatchedApart = defineCheck({
  id: "status-is-patched-apart",
  area: "patch",
  property: "A patch changes status through the status subresource, and spec only elsewhere.",
  requirements: ["patch.subresource"],
  features: ["pods"],
  async run(attempt) {
    const pods = await attempt.target.collection("pods");
    await createIdlePod(attempt, pods, "a");
    const both = (value: number): Record<"merge" | "strategic" | "json", Json> => {
      const document = { spec: { activeDeadlineSeconds: value }, status: { message: `m${value}` } };
      return {
        merge: document,
        strategic: document,
        json: [
          { op: "add", path: "/spec/activeDeadlineSeconds", value },
          { op: "add", path: "/status/message", value: `m${value}` },
        ],
      };
    };
    let seconds = 900;
    for (const kind of ["merge", "strategic", "json"] as const satisfies readonly PatchKind[]) {
      seconds -= 100; // a pod's deadline can only come nearer
      const before = objectOf(await pods.get("a"));
      const status = objectOf(await pods.patch("a/status", kind, both(seconds)[kind]), "patch.subresource");
      const expected = { deadline: deadlineOf(before), message: `m${seconds}` };
      expectPod(`a ${kind} patch of a/status`, expected, status);
      const object = objectOf(await pods.patch("a", kind, both(seconds - 50)[kind]), "patch.subresource");
      expectPod(`a ${kind} patch of a`, { deadline: seconds - 50, message: `m${seconds}` }, object);
    }

    function expectPod(what: string, expected: object, pod: ApiObject): void {
      const actual = JSON.stringify({ deadline: deadlineOf(pod), message: valueAt(pod, "status", "message") });
      attempt.expect(
        "patch.subresource",
        JSON.stringify(expected) === actual,
        `${JSON.stringify(expected)} after ${what}`,
        actual,
      );
    }
  },
});

function deadlineOf(pod: ApiObject): Json | undefined {
  return valueAt(pod, "spec", "activeDeadlineSeconds");
}
