import { anyGiving, eventfulGiving, variableNames } from "../../arbitraries/giving-programs.ts";
import { type Collection, objectOf } from "../../client/collection.ts";
import { LostAnswer } from "../../client/client.ts";
import { Inconclusive, Unserved } from "../../client/findings.ts";
import { shownAnswer } from "../../client/status-document.ts";
import { type ApiObject, isJsonObject, type JsonObject } from "../../client/types.ts";
import {
  type Fields,
  filesOf,
  type GivingProgram,
  variablesOf,
  expanded,
  type Variable,
} from "../../model/pods/giving.ts";
import { isTerminal } from "../../model/pods/history.ts";
import { linesOf, type LogLine, type LogQuestion, secondOf, toldOf } from "../../model/pods/logs.ts";
import { podSightingOf } from "../../model/pods/observed.ts";
import { shellImage } from "../../model/pods/specification.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { suiteNode } from "../../runner/suite-node.ts";

/**
 * Property: a container has the variables, arguments and files that its pod says, and its log is told as it is asked for.
 * Method: containers on a node of the suite write down what they have been given as their last words, and another one writes
 * a log over some seconds, of which parts are asked for and held to the whole.
 */
export const joinedNodesGiveWhatPodsSay = defineCheck({
  id: "joined-nodes-give-what-pods-say",
  area: "agent-pods",
  property: "Containers get what their pods say, and their logs are told as they are asked for.",
  requirements: [
    "agent-giving.variables",
    "agent-giving.arguments",
    "agent-giving.files",
    "agent-giving.waits",
    "agent-giving.logs",
  ],
  features: ["namespaces", "pods", "nodes", "configmaps"],
  input: anyGiving,
  examples: [eventfulGiving],
  cost: "slow",
  async run(attempt, { pods: programs, questions }) {
    const { name: nodeName } = await suiteNode(attempt);
    const pods = await attempt.target.collection("pods");
    await makeObjects(attempt, programs);
    objectOf(await pods.create(loggingPod(nodeName)));
    for (const [at, program] of programs.entries()) objectOf(await pods.create(podOf(program, `pod-${at}`, nodeName)));
    for (const [at, program] of programs.entries()) await judgeGiven(attempt, pods, program, `pod-${at}`);
    await judgeLogs(attempt, pods, questions);
  },
});

async function makeObjects(attempt: Attempt, programs: readonly GivingProgram[]): Promise<void> {
  const made = new Set<string>();
  for (const { kind, name, data } of programs.flatMap(({ objects }) => objects)) {
    if (made.has(name)) continue;
    made.add(name);
    const collection = await attempt.target.collection(kind === "Secret" ? "secrets" : "configmaps");
    const body = kind === "Secret" ? { stringData: data } : { data };
    objectOf(await collection.create({ apiVersion: "v1", kind, metadata: { name }, ...body }));
  }
}

/** Each in brackets, on a line of its own. No reference may stand in here, nor anything that looks like one. */
const script = [
  `for name in ${variableNames.join(" ")}; do eval "value=\\\${$name-nothing}"; printf '%s=[%s]\\n' "$name" "$value"; done`,
  `for word in "$@"; do printf 'argument=[%s]\\n' "$word"; done`,
  `for file in /given/*; do if [ -f "$file" ]; then printf 'file %s=[' "$file"; cat "$file"; printf ']\\n'; fi; done`,
].join("\n");

const bare = { restartPolicy: "Never", terminationGracePeriodSeconds: 1, automountServiceAccountToken: false } as const;
const tolerations = [{ operator: "Exists" }];

function podOf(program: GivingProgram, name: string, nodeName: string): JsonObject {
  const { labels, sources, variables, args, limits, volume, objects } = program;
  const refOf = (object: string): string =>
    objects.find((each) => each.name === object)?.kind === "Secret" ? "secret" : "configMap";
  const items = volume?.items?.map((key) => ({ key, path: `as-${key}` }));
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, labels },
    spec: {
      ...bare,
      nodeName,
      tolerations,
      enableServiceLinks: false,
      containers: [
        {
          name: "main",
          image: shellImage,
          command: ["sh", "-c", `{ ${script}\n} > /dev/termination-log`, "sh"],
          args,
          resources: { limits: { cpu: `${limits.milliCpu}m`, memory: `${limits.memoryMi}Mi` } },
          envFrom: sources.map(({ object, prefix, isOptional }) => ({
            ...(prefix === "" ? {} : { prefix }),
            [`${refOf(object)}Ref`]: { name: object, optional: isOptional },
          })),
          env: variables.map((variable) => envOf(variable, refOf)),
          ...(volume === undefined ? {} : { volumeMounts: [{ name: "given", mountPath: "/given" }] }),
        },
      ],
      ...(volume === undefined
        ? {}
        : {
            volumes: [{ name: "given", configMap: { name: volume.object, ...(items === undefined ? {} : { items }) } }],
          }),
    },
  } as unknown as JsonObject;
}

function envOf(variable: Variable, refOf: (object: string) => string): JsonObject {
  const { name } = variable;
  switch (variable.is) {
    case "text":
      return { name, value: variable.value };
    case "field":
      return { name, valueFrom: { fieldRef: { fieldPath: variable.path } } };
    case "resource":
      return { name, valueFrom: { resourceFieldRef: { resource: variable.resource, divisor: variable.divisor } } };
    case "key": {
      const { object, key, isOptional } = variable;
      return { name, valueFrom: { [`${refOf(object)}KeyRef`]: { name: object, key, optional: isOptional } } };
    }
  }
}

const pollMillis = 1000;
const patienceMillis = 15_000;
const ways = 8;

/** The pod once it has ended; as it is where it may wait for something and does, or never ends. Others may wait for a moment. */
async function settled(attempt: Attempt, pods: Collection, name: string, mayWait: boolean): Promise<ApiObject> {
  const beganMillis = attempt.clock.nowMillis();
  for (let slowestMillis = 0; ; ) {
    const fromMillis = attempt.clock.nowMillis();
    const pod = objectOf(await pods.get(name));
    const atMillis = attempt.clock.nowMillis();
    slowestMillis = Math.max(slowestMillis, atMillis - fromMillis);
    const { phase, containers } = podSightingOf(pod, fromMillis, atMillis);
    const { state } = containers["main"] ?? {};
    const isWaiting = mayWait && state?.is === "waiting" && state.reason.startsWith("Create");
    if (isTerminal(phase) || isWaiting || atMillis - beganMillis > patienceMillis + ways * slowestMillis) return pod;
    await attempt.client.pause(pollMillis);
  }
}

async function judgeGiven(attempt: Attempt, pods: Collection, program: GivingProgram, name: string): Promise<void> {
  const files = filesOf(program);
  const mayWait = files === "waits" || variablesOf(program, fieldsOf(objectOf(await pods.get(name)))) === "waits";
  const pod = await settled(attempt, pods, name, mayWait);
  const expectedValues = variablesOf(program, fieldsOf(pod));
  const { state } = podSightingOf(pod, 0, 0).containers["main"] ?? {};
  if (expectedValues === "waits" || files === "waits") {
    const what = `${name} waits for what is not there`;
    attempt.expect("agent-giving.waits", state?.is === "waiting", what, JSON.stringify(state));
    return;
  }
  const isEnded = state?.is === "ended";
  attempt.expect("agent-giving.waits", isEnded, `${name} has all that it needs, and runs`, JSON.stringify(state));
  if (state?.is !== "ended") return;
  const said = state.message;
  const expected = variableNames.map((each) => `${each}=[${expectedValues.get(each) ?? "nothing"}]`);
  judgeLines(attempt, "agent-giving.variables", name, linesIn(said, /^[A-Z_]+=/), expected);
  const words = program.args.map((word) => `argument=[${expanded(word, expectedValues)}]`);
  judgeLines(attempt, "agent-giving.arguments", name, linesIn(said, /^argument=/), words);
  const contents = Object.entries(files).map(([file, content]) => `file /given/${file}=[${content}]`);
  judgeLines(attempt, "agent-giving.files", name, linesIn(said, /^file /).toSorted(), contents.toSorted());
}

const linesIn = (said: string, kind: RegExp): readonly string[] => said.split("\n").filter((line) => kind.test(line));

function judgeLines(
  attempt: Attempt,
  requirement: string,
  name: string,
  actual: readonly string[],
  expected: readonly string[],
): void {
  const isSame = actual.join("\n") === expected.join("\n");
  attempt.expect(requirement, isSame, `${name} has ${expected.join(", ") || "none"}`, actual.join(", ") || "none");
}

function fieldsOf(pod: ApiObject): Fields {
  const status = isJsonObject(pod["status"]) ? pod["status"] : {};
  const spec = isJsonObject(pod["spec"]) ? pod["spec"] : {};
  const { name, namespace = "", uid = "", labels = {} } = pod.metadata;
  return {
    "metadata.name": name,
    "metadata.namespace": namespace,
    "metadata.uid": uid,
    "metadata.labels['tier']": labels["tier"] ?? "",
    "spec.nodeName": String(spec["nodeName"] ?? ""),
    "status.podIP": String(status["podIP"] ?? ""),
    "status.hostIP": String(status["hostIP"] ?? ""),
  };
}

const logging = "says-much";
const before = "the instance before";

/** Its first instance says something and fails; the second says more, and goes on. */
function loggingPod(nodeName: string): JsonObject {
  const lines = Array.from({ length: 6 }, (_, at) => `echo line-${at}; sleep 1`).join("; ");
  const course = `if [ -f /kept/was-here ]; then ${lines}; sleep 3600; fi; echo > /kept/was-here; echo ${before}; exit 1`;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: logging },
    spec: {
      ...bare,
      restartPolicy: "OnFailure",
      nodeName,
      tolerations,
      volumes: [{ name: "kept", emptyDir: {} }],
      containers: [
        {
          name: "main",
          image: shellImage,
          command: ["sh", "-c", course],
          volumeMounts: [{ name: "kept", mountPath: "/kept" }],
        },
      ],
    },
  } as unknown as JsonObject;
}

async function judgeLogs(attempt: Attempt, pods: Collection, questions: readonly LogQuestion[]): Promise<void> {
  const whole = await wholeLog(attempt, pods);
  for (const question of questions) {
    const { sinceLine, ...asked } = question;
    const since = sinceLine === undefined ? undefined : secondOf(whole, sinceLine);
    const query = { ...asked, ...(since === undefined ? {} : { sinceTime: since }) };
    const told = toldOf(whole, question);
    const text = await logAnswered(attempt, pods, query);
    attempt.expect(
      "agent-giving.logs",
      text === told,
      `the log by ${JSON.stringify(query)} is ${JSON.stringify(told)}`,
      JSON.stringify(text),
    );
  }
  const past = await logAnswered(attempt, pods, { previous: true });
  attempt.expect(
    "agent-giving.logs",
    past === `${before}\n`,
    `the log of the instance before is "${before}"`,
    JSON.stringify(past),
  );
}

/** All of it, once everything was said. */
async function wholeLog(attempt: Attempt, pods: Collection): Promise<readonly LogLine[]> {
  const deadlineMillis = attempt.clock.nowMillis() + 2 * patienceMillis;
  for (;;) {
    const text = await logOf(attempt, pods, { timestamps: true });
    const lines = text === undefined ? undefined : linesOf(text);
    if (lines?.at(-1)?.text === "line-5") return lines;
    if (attempt.clock.nowMillis() > deadlineMillis) {
      if (text === undefined) throw new Unserved("logs of pods on nodes of the suite");
      throw new Inconclusive(`${logging} has not said all that it was to say`);
    }
    await attempt.client.pause(pollMillis);
  }
}

/** Where the log was reached before. Nothing can be said of an answer that is lost, or of a way to the agent that broke. */
async function logAnswered(
  attempt: Attempt,
  pods: Collection,
  query: Readonly<Record<string, string | number | boolean>>,
): Promise<string> {
  const answer = await attempt.client.request("GET", `${pods.pathOf(logging)}/log`, { query });
  if (answer.status >= 500) throw new Inconclusive(`no log by ${JSON.stringify(query)}: ${shownAnswer(answer)}`);
  return answer.status === 200 ? answer.text : shownAnswer(answer);
}

/** Undefined: the target does not reach it. */
async function logOf(
  attempt: Attempt,
  pods: Collection,
  query: Readonly<Record<string, string | number | boolean>>,
): Promise<string | undefined> {
  const answer = await attempt.client.attempt("GET", `${pods.pathOf(logging)}/log`, { query });
  return answer instanceof LostAnswer || answer.status !== 200 ? undefined : answer.text;
}
