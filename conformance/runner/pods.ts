import type { Collection } from "../client/collection.ts";
import { objectOf } from "../client/collection.ts";
import type { ApiObject, JsonObject } from "../client/types.ts";
import type { Attempt } from "./attempt.ts";
import { ownNode } from "./own-node.ts";

/** A pod on a node of the suite's own, where no agent is: its deletion is graceful, and nobody runs it. */
export async function createPlacedPod(
  attempt: Attempt,
  pods: Collection,
  name: string,
  graceSeconds: number,
  labels: Readonly<Record<string, string>> = {},
): Promise<ApiObject> {
  const placed = { nodeName: await ownNode(attempt), terminationGracePeriodSeconds: graceSeconds };
  return createPod(attempt, pods, name, placed, labels);
}

/** A pod that no scheduler places: it goes at once when it is deleted, and nobody writes to it. */
export function createIdlePod(attempt: Attempt, pods: Collection, name: string): Promise<ApiObject> {
  return createPod(attempt, pods, name, { schedulerName: "touchstone-nobody", terminationGracePeriodSeconds: 0 });
}

/** A server that makes a service account for each namespace may need a moment before it takes pods. */
export async function createPod(
  attempt: Attempt,
  pods: Collection,
  name: string,
  spec: JsonObject,
  labels: Readonly<Record<string, string>> = {},
): Promise<ApiObject> {
  const pod: JsonObject = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, labels },
    spec: {
      ...spec,
      automountServiceAccountToken: false,
      containers: [{ name: "main", image: "example.com/none:1" }],
    },
  };
  const deadlineMillis = attempt.clock.nowMillis() + 10_000;
  for (;;) {
    const answer = await pods.create(pod);
    const early = answer.status === 403 && /service account/i.test(answer.text);
    if (!early || attempt.clock.nowMillis() >= deadlineMillis) return objectOf(answer);
    await attempt.client.pause(250);
  }
}
