/** Planted bugs of which pods a node takes. */
import type { JsonObject } from "../../contract/http-message.ts";
import { metadataOf } from "../../contract/objects.ts";
import type { AgentBugName, AgentBugs } from "../../planted/agent-bugs.ts";
import { type DecisionBugs, decisionsWith } from "../../planted/planting.ts";
import { type AdmissionLaw, admissionLaw } from "../pods/admission.ts";
import { podOf } from "../pods/pod-types.ts";
import type { ActivePod } from "../ports.ts";
import { amount } from "../runtime/container-config.ts";

type Terms = readonly { readonly matchExpressions?: readonly JsonObject[] }[];

export const admissionLawWith: (bugs: AgentBugs) => () => AdmissionLaw = decisionsWith(admissionLaw, {
  "admits-by-sum-of-init": asPod((pod) => {
    const { initContainers = [] } = podOf(pod.object).spec;
    const ofInits = initContainers.reduce(
      (sum, { resources }) => sum + (amount(resources?.requests?.["cpu"], -3) ?? 0),
      0,
    );
    return { ...taken(pod), requests: { ...pod.requests, milliCpu: pod.requests.milliCpu + ofInits } };
  }),
  "admits-what-lacks-memory": asPod((pod) => ({ ...taken(pod), requests: { ...pod.requests, memoryBytes: 0 } })),
  "admits-no-two-of-a-port": ({ admissionOf }) => ({
    admissionOf: (node, pod, others, preempt) => admissionOf(node, anyPort(pod), others.map(anyPort), preempt),
  }),
  "admits-by-soft-taints": ({ admissionOf }) => ({
    admissionOf(node, pod, others, preempt) {
      const spec = (node.object["spec"] ?? {}) as JsonObject;
      const taints = ((spec["taints"] ?? []) as readonly JsonObject[]).map((taint) => ({
        ...taint,
        effect: taint["effect"] === "NoSchedule" ? "NoExecute" : (taint["effect"] ?? ""),
      }));
      const object = { ...node.object, spec: { ...spec, taints } };
      return admissionOf({ ...node, object }, pod, others, preempt);
    },
  }),
  "admits-by-all-terms": asPod((pod) => withSpec(pod, (spec) => ({ ...spec, affinity: inOneTerm(spec["affinity"]) }))),
  "admits-by-label-names": ({ admissionOf }) => ({
    admissionOf(node, pod, others, preempt) {
      const { labels = {} } = metadataOf(node.object);
      const own = withSpec(pod, (spec) => ({
        ...spec,
        nodeSelector: Object.fromEntries(
          Object.entries((spec["nodeSelector"] ?? {}) as JsonObject).map(([key, value]) => [key, labels[key] ?? value]),
        ),
      }));
      return admissionOf(node, own, others, preempt);
    },
  }),
} satisfies DecisionBugs<AgentBugName, AdmissionLaw>);

function asPod(reading: (pod: ActivePod) => ActivePod): (law: AdmissionLaw) => AdmissionLaw {
  return ({ admissionOf }) => ({
    admissionOf: (node, pod, others, preempt) => admissionOf(node, reading(pod), others, preempt),
  });
}

/** Its plain fields: some of a pod that is held are computed. */
function taken({
  uid,
  namespace,
  name,
  object,
  qos,
  priority,
  isCritical,
  isTerminating,
  requests,
}: ActivePod): ActivePod {
  return { uid, namespace, name, object, qos, priority, isCritical, isTerminating, requests };
}

function withSpec(pod: ActivePod, change: (spec: JsonObject) => JsonObject): ActivePod {
  return { ...taken(pod), object: { ...pod.object, spec: change(pod.object["spec"] as JsonObject) } };
}

const anyPort = (pod: ActivePod): ActivePod =>
  withSpec(pod, (spec) => ({
    ...spec,
    containers: ((spec["containers"] ?? []) as readonly JsonObject[]).map((container) => ({
      ...container,
      ports: ((container["ports"] ?? []) as readonly JsonObject[]).map((port) => ({
        ...port,
        protocol: "TCP",
        hostIP: "0.0.0.0",
      })),
    })),
  }));

function inOneTerm(affinity: unknown): JsonObject {
  const field = "requiredDuringSchedulingIgnoredDuringExecution";
  const { nodeAffinity = {}, ...others } = (affinity ?? {}) as Readonly<Record<string, JsonObject>>;
  const required = nodeAffinity[field] as { readonly nodeSelectorTerms?: Terms } | undefined;
  if (required === undefined) return (affinity ?? {}) as JsonObject;
  const matchExpressions = (required.nodeSelectorTerms ?? []).flatMap((term) => term.matchExpressions ?? []);
  return { ...others, nodeAffinity: { ...nodeAffinity, [field]: { nodeSelectorTerms: [{ matchExpressions }] } } };
}
