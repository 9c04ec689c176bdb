import fc from "fast-check";
import type { Answer } from "../../client/exchange.ts";
import { type Collection, objectOf } from "../../client/collection.ts";
import { type ApiObject, isJsonObject, versionOf } from "../../client/types.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { ownNode } from "../../runner/own-node.ts";
import { createPod } from "../../runner/pods.ts";

/**
 * Property: a binding that says for which pod it was made, by uid or version, binds that one and no other.
 * Method: a pod is made, and made again under its name: a late binding is one for the first.
 */
export const bindingsAreOfOnePod = defineCheck({
  id: "bindings-are-of-one-pod",
  area: "writes",
  property: "A binding made for another pod of the same name is refused.",
  requirements: ["writes.binding-precondition"],
  features: ["pods"],
  input: fc.record({ by: fc.constantFrom("uid", "resourceVersion"), late: fc.boolean() }),
  examples: [
    { by: "uid", late: true },
    { by: "uid", late: false },
  ],
  async run(attempt, { by, late }) {
    const pods = await attempt.target.collection("pods");
    const first = await createPod(attempt, pods, "p", unplaced);
    await pods.delete("p", { gracePeriodSeconds: 0 });
    const second = await createPod(attempt, pods, "p", unplaced);
    const node = await ownNode(attempt);
    const meant = late ? first : second;
    const metadata = by === "uid" ? { uid: meant.metadata.uid } : { resourceVersion: versionOf(meant) };
    const answer = await bind(pods, node, { name: "p", ...metadata });
    const placed = nodeOf(objectOf(await pods.get("p")));
    const actual = `${answer.status} ${answer.text.slice(0, 300)}, and the pod is on node "${placed}"`;
    const kept = late ? answer.status === 409 && placed === "" : answer.status === 201 && placed === node;
    const expected = late ? "409, and the pod on no node" : `201, and the pod on node "${node}"`;
    attempt.expect("writes.binding-precondition", kept, `a binding by ${by}: ${expected}`, actual);
  },
});

/** No scheduler is in the way. */
const unplaced = { schedulerName: "touchstone-nobody", terminationGracePeriodSeconds: 0 };

function bind(pods: Collection, node: string, metadata: Record<string, string | undefined>): Promise<Answer> {
  const body = { apiVersion: "v1", kind: "Binding", metadata, target: { apiVersion: "v1", kind: "Node", name: node } };
  return pods.client.request("POST", pods.pathOf("p/binding"), { body });
}

function nodeOf(pod: ApiObject): string {
  const spec = pod["spec"];
  return isJsonObject(spec) ? String(spec["nodeName"] ?? "") : "";
}
