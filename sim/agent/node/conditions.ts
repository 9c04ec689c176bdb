/**
 * The conditions of a node: pressure, then Ready, always in this order.
 * Source: the fact sheet of the 1.33 agent, registration and node status; the published texts of conditions.
 */
import type { PressureCondition } from "../../../wire/eviction-thresholds.ts";
import type { JsonObject } from "../../contract/http-message.ts";

interface Wording {
  readonly reason: string;
  readonly message: string;
  /** Of the node's event when the condition comes to this. */
  readonly event: string;
}

const wordings: Readonly<Record<PressureCondition, Readonly<Record<"True" | "False", Wording>>>> = {
  MemoryPressure: {
    True: {
      reason: "KubeletHasInsufficientMemory",
      message: "kubelet has insufficient memory available",
      event: "NodeHasInsufficientMemory",
    },
    False: {
      reason: "KubeletHasSufficientMemory",
      message: "kubelet has sufficient memory available",
      event: "NodeHasSufficientMemory",
    },
  },
  DiskPressure: {
    True: { reason: "KubeletHasDiskPressure", message: "kubelet has disk pressure", event: "NodeHasDiskPressure" },
    False: {
      reason: "KubeletHasNoDiskPressure",
      message: "kubelet has no disk pressure",
      event: "NodeHasNoDiskPressure",
    },
  },
  PIDPressure: {
    True: {
      reason: "KubeletHasInsufficientPID",
      message: "kubelet has insufficient PID available",
      event: "NodeHasInsufficientPID",
    },
    False: {
      reason: "KubeletHasSufficientPID",
      message: "kubelet has sufficient PID available",
      event: "NodeHasSufficientPID",
    },
  },
};

export interface ConditionInputs {
  /** Conditions of pressure that are true. */
  readonly pressures: readonly PressureCondition[];
  /** Why the node is not ready; empty: it is. */
  readonly errors: readonly string[];
  readonly now: string;
}

export interface Conditions {
  readonly conditions: readonly JsonObject[];
  /** Reasons of the events that the changes are worth. */
  readonly events: readonly string[];
}

/** `before` are those that the API has: times of transition are kept where the status stays. */
export function conditionsOf(before: readonly JsonObject[], { pressures, errors, now }: ConditionInputs): Conditions {
  const events: string[] = [];
  const conditions = Object.entries(wordings).map(([type, wording]) => {
    const status = pressures.includes(type as PressureCondition) ? "True" : "False";
    const { reason, message, event } = wording[status];
    const last = lastOf(before, type);
    if (last?.["status"] === status) return { ...last, lastHeartbeatTime: now };
    events.push(event);
    return { type, status, lastHeartbeatTime: now, lastTransitionTime: now, reason, message };
  });
  const last = lastOf(before, "Ready");
  const isReady = errors.length === 0;
  const status = isReady ? "True" : "False";
  // A node that never said whether it is ready comes to be so without an event.
  if (last !== undefined && last["status"] !== status) events.push(isReady ? "NodeReady" : "NodeNotReady");
  const ready = {
    type: "Ready",
    status,
    lastHeartbeatTime: now,
    lastTransitionTime: last?.["status"] === status ? (last["lastTransitionTime"] ?? now) : now,
    reason: isReady ? "KubeletReady" : "KubeletNotReady",
    message: isReady ? "kubelet is posting ready status" : together(errors),
  };
  const own = [...conditions, ready];
  const others = before.filter(({ type }) => !own.some((each) => each["type"] === type));
  return { conditions: [...others, ...own], events };
}

function lastOf(conditions: readonly JsonObject[], type: string): JsonObject | undefined {
  return conditions.find((condition) => condition["type"] === type);
}

/** Several errors as one; what is said twice is said once. */
function together(errors: readonly string[]): string {
  const once = [...new Set(errors)];
  return once.length === 1 ? (once[0] as string) : `[${once.join(", ")}]`;
}
