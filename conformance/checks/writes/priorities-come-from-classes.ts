import fc from "fast-check";
import type { Answer } from "../../client/exchange.ts";
import { type Collection, objectOf } from "../../client/collection.ts";
import { Inconclusive, Unsupported } from "../../client/findings.ts";
import { isApiObject, type JsonObject, objectsIn } from "../../client/types.ts";
import { type AskedPriority, judgePriority, type PriorityClass } from "../../model/priority-law.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { createIdlePod } from "../../runner/pods.ts";
import { pollUntil } from "../../runner/poll.ts";
import { runLabel } from "../../runner/sandbox.ts";

interface Step {
  readonly className: "high" | "low" | "absent" | undefined;
  readonly priority: number | undefined;
  readonly verb: "post" | "apply";
  readonly dry: boolean;
}

const values = { high: 1000, low: -10 } as const;

/**
 * Property: a pod's priority is that of the class that it names, and nothing that it says itself; whoever names a class that is not
 * there is refused, whichever verb makes the pod, dry or not.
 * Method: two classes of the suite's own, and pods that nobody places.
 */
export const prioritiesComeFromClasses = defineCheck<{ readonly never: boolean; readonly steps: readonly Step[] }>({
  id: "priorities-come-from-classes",
  area: "writes",
  property: "A pod has the priority of the class that it names.",
  requirements: ["writes.priority"],
  features: ["pods", "namespaces"],
  cost: "slow",
  input: fc.record({
    never: fc.boolean(),
    steps: fc.array(
      fc.record({
        className: fc.constantFrom("high", "low", "absent", undefined),
        priority: fc.constantFrom(undefined, undefined, 0, 1000, -10),
        verb: fc.constantFrom("post", "apply"),
        dry: fc.boolean(),
      }),
      { minLength: 2, maxLength: 6 },
    ),
  }),
  examples: [
    {
      never: true,
      steps: (["high", "low", "absent", undefined] as const).flatMap((className) =>
        (["post", "apply"] as const).map((verb) => ({ className, priority: undefined, verb, dry: verb === "apply" })),
      ),
    },
  ],
  async run(attempt, { never, steps }) {
    const pods = await attempt.target.collection("pods");
    const classes = await makeClasses(attempt, pods, never ? "Never" : "PreemptLowerPriority");
    const hasDefault = await someDefault(attempt);
    for (const [index, { className, priority, verb, dry }] of steps.entries()) {
      if (className === undefined && hasDefault) continue; // then it is the cluster's own affair
      const asked: AskedPriority = {
        className: className === undefined ? undefined : `${attempt.target.name}-${className}`,
        priority,
      };
      const answer = await send(pods, `pod-${index}`, asked, verb, dry);
      const pod = isApiObject(answer.json) ? answer.json : undefined;
      const violation = judgePriority(classes, asked, answer.status, pod);
      const shown = `${dry ? "a dry " : "a "}${verb} of a pod that asks for ${JSON.stringify(asked)}`;
      attempt.holds("writes.priority", violation && { ...violation, expected: `${violation.expected} for ${shown}` });
    }
    attempt.holds("writes.priority", undefined);
  },
});

const pathOf = ({ profile }: Attempt): string => `/apis/scheduling.${profile.dialect.groupSuffix}/v1/priorityclasses`;

async function makeClasses(
  attempt: Attempt,
  pods: Collection,
  preemptionPolicy: PriorityClass["preemptionPolicy"],
): Promise<readonly PriorityClass[]> {
  const { client, target } = attempt;
  const path = pathOf(attempt);
  if ((await client.request("GET", path)).status === 404) throw new Unsupported("priorityclasses");
  const classes = Object.entries(values).map(
    ([word, value]): PriorityClass => ({ name: `${target.name}-${word}`, value, preemptionPolicy }),
  );
  for (const { name, value } of classes) {
    target.onCleanUp((cleaner) => cleaner.attempt("DELETE", `${path}/${name}`));
    const metadata = { name, labels: { [runLabel]: target.label } };
    const apiVersion = path.split("/").slice(2, 4).join("/");
    const body = { apiVersion, kind: "PriorityClass", metadata, value, preemptionPolicy };
    objectOf(await client.request("POST", path, { body }));
  }
  await createIdlePod(attempt, pods, "first"); // from then on pods are taken
  const last = classes.at(-1)?.name;
  const isKnown = await pollUntil(attempt, attempt.clock.nowMillis() + 10_000, async () => {
    // Of several front-ends each has to hear of it.
    for (let count = 0; count < knownCountMin; count += 1) {
      if (count > 0) await client.pause(100);
      const answer = await send(pods, "known", { className: last, priority: undefined }, "post", true);
      if (answer.status === 403 && answer.text.includes("no PriorityClass")) return undefined;
    }
    return true;
  });
  if (isKnown === undefined) throw new Inconclusive("a priority class is not known within 10000 ms");
  return classes;
}

const knownCountMin = 4;

async function someDefault(attempt: Attempt): Promise<boolean> {
  const { json } = await attempt.client.request("GET", pathOf(attempt));
  return objectsIn(json, "items").some(({ globalDefault }) => globalDefault === true);
}

function send(
  pods: Collection,
  name: string,
  { className, priority }: AskedPriority,
  verb: Step["verb"],
  dry: boolean,
): Promise<Answer> {
  const query = dry ? { dryRun: "All" } : {};
  const pod: JsonObject = {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: {
      schedulerName: "touchstone-nobody",
      terminationGracePeriodSeconds: 0,
      automountServiceAccountToken: false,
      containers: [{ name: "main", image: "example.com/none:1" }],
      ...(className === undefined ? {} : { priorityClassName: className }),
      ...(priority === undefined ? {} : { priority }),
    },
  };
  if (verb === "post") return pods.create(pod, { query });
  return pods.patch(name, "apply", pod, { query: { ...query, fieldManager: "applier" } });
}
