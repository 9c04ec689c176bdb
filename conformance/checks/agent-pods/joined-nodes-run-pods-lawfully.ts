import { anyPods, eventfulPods, type PodsProgram } from "../../arbitraries/pod-programs.ts";
import { type Collection, objectOf } from "../../client/collection.ts";
import type { PodHistory, PodSighting } from "../../model/pods/history.ts";
import { judgePod, podLaws } from "../../model/pods/judge.ts";
import { podSightingOf } from "../../model/pods/observed.ts";
import { gateType } from "../../model/pods/phases.ts";
import type { PodProgram } from "../../model/pods/program.ts";
import { specificationOf } from "../../model/pods/specification.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { suiteNode } from "../../runner/suite-node.ts";

const [first, ...others] = [...new Set(podLaws.map(([requirement]) => requirement))] as [string, ...string[]];

/**
 * Property: an agent runs the containers of its pods in their order, again when they are to run again, as their probes and
 * hooks want it, and says what came of them.
 * Method: pods on a node of the suite, whose containers end, fail, and answer probes at times that are known beforehand.
 * Each is looked at every second, and its history is judged at the end.
 */
export const joinedNodesRunPodsLawfully = defineCheck({
  id: "joined-nodes-run-pods-lawfully",
  area: "agent-pods",
  property: "Containers run in their order, are started again as they should be, and their pods say what came of them.",
  requirements: [first, ...others],
  features: ["namespaces", "pods", "nodes"],
  input: anyPods,
  examples: [eventfulPods],
  cost: "slow",
  async run(attempt, program) {
    for (const history of await play(attempt, program)) {
      for (const { requirement, violation } of judgePod(history)) attempt.holds(requirement, violation);
    }
  },
});

const pollMillis = 1000;
/** A pod shows what has happened so late at most, beside what the way to the server takes. */
const patienceMillis = 6000;
/** What one look takes: a status takes a few such ways until it is there. */
const waysOfAStatus = 6;

/** Keeps a pod that was deleted until its last word was heard. */
const finalizer = "example.com/last-word";

interface Played {
  readonly program: PodProgram;
  readonly madeMillis: number;
  readonly sightings: PodSighting[];
  deletion?: NonNullable<PodHistory["deletion"]>;
}

async function play(attempt: Attempt, { pods: programs, untilSeconds }: PodsProgram): Promise<PodHistory[]> {
  const { name: nodeName } = await suiteNode(attempt);
  const pods = await attempt.target.collection("pods");
  const startMillis = attempt.clock.nowMillis();
  const played = new Map<string, Played>();
  for (const program of programs) played.set(program.name, await made(attempt, pods, program, nodeName));
  const due = programs.flatMap((program) => eventsOf(attempt, pods, program, played));
  let slowestMillis = 0;
  for (let passedMillis = 0; passedMillis <= untilSeconds * 1000; ) {
    for (const event of due.filter(({ atSeconds, isOver }) => !isOver && atSeconds * 1000 <= passedMillis)) {
      event.isOver = true;
      await event.happen();
    }
    const fromMillis = attempt.clock.nowMillis();
    const { items } = await pods.readList();
    const atMillis = attempt.clock.nowMillis();
    for (const pod of items) played.get(pod.metadata.name)?.sightings.push(podSightingOf(pod, fromMillis, atMillis));
    slowestMillis = Math.max(slowestMillis, atMillis - fromMillis);
    await attempt.client.pause(pollMillis);
    passedMillis = attempt.clock.nowMillis() - startMillis;
  }
  return [...played.values()].map((each) => ({
    ...each,
    patienceMillis: patienceMillis + waysOfAStatus * slowestMillis,
  }));
}

async function made(attempt: Attempt, pods: Collection, program: PodProgram, nodeName: string): Promise<Played> {
  const { name, deletion } = program;
  const madeMillis = attempt.clock.nowMillis();
  const metadata = deletion === undefined ? { name } : { name, finalizers: [finalizer] };
  objectOf(await pods.create({ apiVersion: "v1", kind: "Pod", metadata, spec: specificationOf(program, nodeName) }));
  return { program, madeMillis, sightings: [] };
}

interface Due {
  readonly atSeconds: number;
  isOver: boolean;
  happen(): Promise<void>;
}

function eventsOf(attempt: Attempt, pods: Collection, program: PodProgram, played: Map<string, Played>): Due[] {
  const { name, gate, deletion, graceSeconds: own } = program;
  const path = pods.pathOf(name);
  const events: Due[] = [];
  if (gate?.atSeconds !== undefined) {
    const happen = async (): Promise<void> => {
      const body = { status: { conditions: [{ type: gateType, status: "True" }] } };
      const contentType = "application/strategic-merge-patch+json";
      objectOf(await attempt.client.request("PATCH", `${path}/status`, { body, contentType }));
    };
    events.push({ atSeconds: gate.atSeconds, isOver: false, happen });
  }
  if (deletion !== undefined) {
    const happen = async (): Promise<void> => {
      const fromMillis = attempt.clock.nowMillis();
      const gracePeriodSeconds = deletion.graceSeconds;
      const options = gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds };
      objectOf(await pods.delete(name, { apiVersion: "v1", kind: "DeleteOptions", ...options }));
      const each = played.get(name);
      const graceSeconds = gracePeriodSeconds ?? own;
      if (each !== undefined) each.deletion = { fromMillis, byMillis: attempt.clock.nowMillis(), graceSeconds };
    };
    events.push({ atSeconds: deletion.atSeconds, isOver: false, happen });
  }
  return events;
}
