import { LostAnswer } from "../client/client.ts";
import type { Answer } from "../client/exchange.ts";
import { objectOf } from "../client/collection.ts";
import type { JsonObject } from "../client/types.ts";
import { Unsupported } from "../client/findings.ts";
import type { Attempt } from "./attempt.ts";
import { runLabel } from "./sandbox.ts";

const made = new WeakMap<Attempt, Promise<string>>();

/**
 * The name of a Node object of this attempt. A cluster may remove pods whose node is not there, so pods are only ever
 * put on this one; no scheduler may use it, and no agent is behind it. Where the suite may not make one, what needs
 * one is unsupported. It goes when the attempt is over.
 */
export function ownNode(attempt: Attempt): Promise<string> {
  const known = made.get(attempt) ?? makeNode(attempt);
  made.set(attempt, known);
  return known;
}

async function makeNode(attempt: Attempt): Promise<string> {
  const { client, target } = attempt;
  const name = `${target.name}-node`;
  const answer = await client.request("POST", "/api/v1/nodes", { body: nodeOf(attempt, name) });
  if (!mayMake(answer)) {
    throw new Unsupported(`nodes of the suite: it may not make one, ${answer.status} to POST /api/v1/nodes`);
  }
  target.onCleanUp(async (cleaner) => {
    for (let tries = 0; tries < 3; tries += 1) {
      const gone = await cleaner.attempt("DELETE", `/api/v1/nodes/${name}`);
      if (!(gone instanceof LostAnswer)) return;
    }
  });
  objectOf(answer);
  return name;
}

const mayMake = ({ status }: Answer): boolean => ![401, 403, 404, 405].includes(status);

/** It says of itself that it is ready, so that nobody who looks after nodes takes it for one that has failed. */
function nodeOf(attempt: Attempt, name: string): JsonObject {
  const now = new Date(attempt.clock.nowMillis()).toISOString().replace(/\.\d+Z$/, "Z");
  const ready = { type: "Ready", status: "True", reason: "Touchstone", message: "a node of a conformance run" };
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name, labels: { [runLabel]: attempt.target.label } },
    spec: { unschedulable: true, taints: [{ key: "touchstone", effect: "NoSchedule" }] },
    status: { conditions: [{ ...ready, lastHeartbeatTime: now, lastTransitionTime: now }] },
  };
}
