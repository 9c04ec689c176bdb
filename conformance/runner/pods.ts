import type { Collection } from "../client/collection.ts";
import { objectOf } from "../client/collection.ts";
import type { ApiObject, JsonObject } from "../client/types.ts";
import type { Attempt } from "./attempt.ts";

/** A pod that seems to be placed on a node which does not exist: its deletion is graceful, and nobody runs it. */
export function createPlacedPod(
  attempt: Attempt,
  pods: Collection,
  name: string,
  graceSeconds: number,
  labels: Readonly<Record<string, string>> = {},
): Promise<ApiObject> {
  const placed = { nodeName: "touchstone-no-such-node", terminationGracePeriodSeconds: graceSeconds };
  return createPod(attempt, pods, name, placed, labels);
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
