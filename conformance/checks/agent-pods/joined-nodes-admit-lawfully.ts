import { anyAdmission, askedCapacity, eventfulAdmission } from "../../arbitraries/asking-pods.ts";
import { type Collection, objectOf } from "../../client/collection.ts";
import type { JsonObject } from "../../client/types.ts";
import { type AskingPod, type RefusalReason, refusalRows, refusalsOf } from "../../model/pods/admission.ts";
import { isTerminal, type PodSighting } from "../../model/pods/history.ts";
import { podSightingOf } from "../../model/pods/observed.ts";
import { shellImage } from "../../model/pods/specification.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { besideOthers, othersOn, suiteNode } from "../../runner/suite-node.ts";

const refusalRow = "agent-admission.refusal";
const mebibyte = 2 ** 20;

/**
 * Property: an agent takes the pods that its node has room for and that may be there, and refuses all others.
 * Method: pods are bound to a small node of the suite, one after the other, without a scheduler in between. Which are taken
 * is told beforehand, from what was taken before and has not ended.
 */
export const joinedNodesAdmitLawfully = defineCheck({
  id: "joined-nodes-admit-lawfully",
  area: "agent-pods",
  property: "A node takes the pods that fit and that may be there, and refuses the others for a reason that there is.",
  requirements: [
    refusalRow,
    "agent-admission.resources",
    "agent-admission.affinity",
    "agent-admission.ports",
    "agent-admission.taints",
    "agent-pods.ensures",
  ],
  features: ["namespaces", "pods", "nodes"],
  input: anyAdmission,
  examples: [eventfulAdmission],
  cost: "slow",
  async run(attempt, { node, pods: asking }) {
    const { milliCpu, memoryMi } = askedCapacity;
    const { name: nodeName } = await suiteNode(attempt, {
      labels: node.labels,
      taints: node.taints,
      capacity: { ...disks, milliCpu, memoryBytes: memoryMi * mebibyte, pids: 1000 },
    });
    const pods = await attempt.target.collection("pods");
    const taken: AskingPod[] = [];
    const refused: string[] = [];
    for (const pod of asking) {
      const reasons = refusalsOf({ ...node, allocatable: askedCapacity }, pod, taken);
      objectOf(await pods.create(podOf(pod, nodeName)));
      const seen = await fateOf(attempt, pods, pod);
      if (seen === undefined) continue; // a controller of the cluster's was faster
      if (isWronglyRefused(reasons, seen)) await requireOnlyOwn(attempt, nodeName);
      judge(attempt, pod, reasons, seen);
      if (reasons.length > 0) refused.push(pod.name);
      else if (!pod.isBrief) taken.push(pod);
    }
    await judgeRefused(attempt, pods, refused);
  },
});

const disks = { nodefs: { bytes: 1024 * mebibyte, inodes: 100_000 }, imagefs: undefined };

function podOf(pod: AskingPod, nodeName: string): JsonObject {
  const { name, containers, inits, ports, selector, terms, tolerates, isBrief } = pod;
  const container = (
    own: string,
    { milliCpu, memoryMi }: AskingPod["containers"][number],
    script: string,
  ): JsonObject => ({
    name: own,
    image: shellImage,
    command: ["sh", "-c", script],
    resources: {
      requests: {
        ...(milliCpu === 0 ? {} : { cpu: `${milliCpu}m` }),
        ...(memoryMi === 0 ? {} : { memory: `${memoryMi}Mi` }),
      },
    },
  });
  const hostPorts = ports.map(({ port, protocol, address }) => ({
    containerPort: port,
    hostPort: port,
    protocol,
    ...(address === "" ? {} : { hostIP: address }),
  }));
  const nodeSelectorTerms = terms?.map((term) => ({
    matchExpressions: term.map(({ values, ...rest }) => (values.length === 0 ? rest : { ...rest, values })),
  }));
  const forAWhile = isBrief ? "exit 0" : "sleep 3600";
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: {
      nodeName,
      restartPolicy: "Never",
      terminationGracePeriodSeconds: 1,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      tolerations: tolerates.map((key) => ({ key, operator: "Exists" })),
      nodeSelector: selector,
      ...(nodeSelectorTerms === undefined
        ? {}
        : { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } }),
      initContainers: inits.map(({ isSidecar, ...own }, at) => ({
        ...container(`init-${at}`, own, isSidecar ? "sleep 3600" : "exit 0"),
        ...(isSidecar ? { restartPolicy: "Always" } : {}),
      })),
      containers: containers.map((own, at) => ({
        ...container(`main-${at}`, own, forAWhile),
        ...(at === 0 && hostPorts.length > 0 ? { ports: hostPorts } : {}),
      })),
    },
  } as unknown as JsonObject;
}

const pollMillis = 1000;
const patienceMillis = 15_000;
/** Answers of a slow way that a decision takes. */
const ways = 8;

/** What came of it, once that is decided; the last that was seen where it never was. Undefined: it is gone. */
async function fateOf(
  attempt: Attempt,
  pods: Collection,
  { name, isBrief }: AskingPod,
): Promise<PodSighting | undefined> {
  const beganMillis = attempt.clock.nowMillis();
  for (let slowestMillis = 0; ; ) {
    const fromMillis = attempt.clock.nowMillis();
    const answer = await pods.get(name);
    const atMillis = attempt.clock.nowMillis();
    slowestMillis = Math.max(slowestMillis, atMillis - fromMillis);
    if (answer.status === 404) return undefined;
    const seen = podSightingOf(objectOf(answer), fromMillis, atMillis);
    const isDecided = isTerminal(seen.phase) || (seen.phase === "Running" && !isBrief);
    if (isDecided || fromMillis - beganMillis > patienceMillis + ways * slowestMillis) return seen;
    await attempt.client.pause(pollMillis);
  }
}

const isRefusal = ({ phase, reason }: PodSighting): boolean => phase === "Failed" && reason !== "";

const isWronglyRefused = (reasons: readonly RefusalReason[], seen: PodSighting): boolean =>
  isRefusal(seen) && !reasons.includes(seen.reason as RefusalReason);

/** A cluster may put a pod on every node, whatever its taints: then there is less room than was thought. */
async function requireOnlyOwn(attempt: Attempt, node: string): Promise<void> {
  const others = await othersOn(attempt, node);
  if (others.length > 0) throw besideOthers(others.map(({ metadata }) => metadata));
}

function judge(attempt: Attempt, pod: AskingPod, reasons: readonly RefusalReason[], seen: PodSighting): void {
  const { phase, reason } = seen;
  const { name } = pod;
  const actual = `${phase} ${reason}`.trim();
  const [first] = reasons;
  if (isRefusal(seen)) {
    const isKnown = Object.hasOwn(refusalRows, reason);
    const requirement = isKnown ? refusalRows[reason as RefusalReason] : refusalRow;
    const expected =
      first === undefined ? `${name} is taken: it fits, and may be there` : `${name} is refused: ${reasons.join(", ")}`;
    attempt.expect(requirement, reasons.includes(reason as RefusalReason), expected, actual);
  } else if (first === undefined) {
    attempt.expect("agent-pods.ensures", phase === "Running" || phase === "Succeeded", `${name} is run`, actual);
    // That it was taken proves each rule by which it might have been refused.
    for (const row of stakesOf(pod)) attempt.holds(row, undefined);
  } else if (hasBegun(seen)) {
    attempt.expect(refusalRows[first], false, `${name} is refused: ${reasons.join(", ")}`, actual);
  } else attempt.expect(refusalRow, false, `${name} is Failed, for ${reasons.join(", ")}`, actual);
}

function stakesOf({ ports, selector, terms }: AskingPod): readonly string[] {
  return [
    "agent-admission.resources",
    "agent-admission.taints",
    ...(ports.length > 0 ? ["agent-admission.ports"] : []),
    ...(Object.keys(selector).length > 0 || terms !== undefined ? ["agent-admission.affinity"] : []),
  ];
}

const hasBegun = ({ containers }: PodSighting): boolean => Object.values(containers).some(({ id }) => id !== "");

/** Whoever was refused stays so, and nothing of it was ever run. */
async function judgeRefused(attempt: Attempt, pods: Collection, refused: readonly string[]): Promise<void> {
  const { items } = await pods.readList();
  for (const pod of items) {
    if (!refused.includes(pod.metadata.name)) continue;
    const seen = podSightingOf(pod, 0, 0);
    const isRefused = seen.phase === "Failed" && !hasBegun(seen);
    attempt.expect(refusalRow, isRefused, `${pod.metadata.name} stays refused, and is not run`, seen.phase);
  }
}
