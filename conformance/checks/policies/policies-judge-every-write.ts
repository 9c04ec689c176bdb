import fc from "fast-check";
import { configMap } from "../../arbitraries/config-maps.ts";
import { Inconclusive, Unsupported } from "../../client/findings.ts";
import type { Answer } from "../../client/exchange.ts";
import { type Collection, objectOf } from "../../client/collection.ts";
import { messageOf, shownAnswer } from "../../client/status-document.ts";
import { type ApiObject, isJsonObject, type JsonObject, objectsIn, versionOf } from "../../client/types.ts";
import { warningTexts } from "../../model/field-warnings.ts";
import {
  failedBy,
  judgeDenial,
  type JudgedState,
  type JudgedWrite,
  judgePolicyWarnings,
  messageOfValidation,
  type ModelPolicy,
  type ValidationName,
  validations,
} from "../../model/policy-law.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { pollUntil } from "../../runner/poll.ts";
import { namespaceLabel, runLabel } from "../../runner/sandbox.ts";

const verbs = ["post", "create by apply", "put", "merge", "json", "strategic", "apply", "delete"] as const;
const values = ["good", "bad", "plain"] as const;
const teams = ["red", "blue"] as const;
const operations = ["CREATE", "UPDATE", "DELETE"] as const;
const validationNames = Object.keys(validations) as ValidationName[];

interface Step {
  readonly verb: (typeof verbs)[number];
  readonly before: JudgedState;
  readonly after: JudgedState;
  readonly dry: boolean;
}
interface Program {
  readonly policy: ModelPolicy;
  readonly action: "Deny" | "Warn";
  readonly steps: readonly Step[];
}

const anyState = fc.record({ value: fc.constantFrom(...values), team: fc.constantFrom(...teams) });

/**
 * Property: a policy that a binding puts in force judges each write that it is for, by whichever verb, dry or not: what
 * fails one of its validations is refused, or let in with a warning, as the binding says; anything else is let in.
 * Method: random policies of expressions whose meaning the suite knows, and a write by each verb between random states.
 */
export const policiesJudgeEveryWrite = defineCheck<Program>({
  id: "policies-judge-every-write",
  area: "policies",
  property: "A policy in force judges every write that it is for, by whichever verb it is written.",
  requirements: ["policies.denies", "policies.warns", "policies.scope"],
  features: ["webhooks", "configmaps", "namespaces"],
  cost: "slow",
  input: fc.record({
    policy: fc.record({
      operations: fc.uniqueArray(fc.constantFrom(...operations), { minLength: 1, maxLength: 3 }),
      unless: fc.option(fc.constantFrom(...operations), { nil: undefined, freq: 3 }),
      team: fc.option(fc.constantFrom<string>(...teams), { nil: undefined, freq: 3 }),
      validations: fc.uniqueArray(fc.constantFrom(...validationNames), { minLength: 1, maxLength: 4 }),
    }),
    action: fc.constantFrom("Deny", "Deny", "Warn"),
    steps: fc.array(
      fc.record({ verb: fc.constantFrom(...verbs), before: anyState, after: anyState, dry: fc.boolean() }),
      { minLength: 2, maxLength: 6 },
    ),
  }),
  examples: (["Deny", "Warn"] as const).map((action) => ({
    policy: { operations, unless: undefined, team: undefined, validations: validationNames },
    action,
    steps: verbs.map((verb) => ({
      verb,
      before: { value: "good", team: "red" },
      after: { value: "bad", team: "blue" },
      dry: false,
    })),
  })),
  async run(attempt, { policy, action, steps }) {
    const configMaps = await attempt.target.collection("configmaps");
    const made: ApiObject[] = [];
    for (const [index, { before }] of steps.entries())
      made.push(objectOf(await configMaps.create(mapOf(`m-${index}`, before))));
    const takeBack = await putInForce(attempt, configMaps, policy, action);
    for (const [index, step] of steps.entries()) {
      const live = made[index] as ApiObject;
      const isNew = step.verb === "post" || step.verb === "create by apply";
      const name = isNew ? `new-${index}` : live.metadata.name;
      const write: JudgedWrite = {
        before: isNew ? undefined : step.before,
        after: step.verb === "delete" ? undefined : step.after,
      };
      const failed = failedBy(policy, write);
      const answer = await send(configMaps, name, step, live);
      const what = `${step.dry ? "a dry " : "a "}${step.verb} from ${JSON.stringify(write)} under ${JSON.stringify(policy)}`;
      const isDenied = action === "Deny" && failed.length > 0;
      const told = isDenied ? judgeDenial(failed, answer.status, messageOf(answer)) : undefined;
      attempt.holds("policies.denies", told && { ...told, expected: `${told.expected} to ${what}` });
      if (!isDenied) {
        const requirement = failed.length > 0 ? "policies.warns" : "policies.scope";
        attempt.expect(requirement, answer.status < 300, `let in: ${what}`, shownAnswer(answer));
        const warned = judgePolicyWarnings(failed, warningTexts(answer.headers));
        attempt.holds("policies.warns", warned && { ...warned, expected: `${warned.expected} for ${what}` });
      }
      const should = !isDenied && !step.dry;
      const happened = await hasHappened(configMaps, name, step.verb, isNew, live);
      const requirement = isDenied ? "policies.denies" : "policies.scope";
      const unchanged = isSame(write) && step.verb !== "delete";
      attempt.expect(
        requirement,
        happened === should || unchanged,
        `${should ? "done" : "not done"}: ${what}`,
        happened ? "done" : "not done",
      );
    }
    for (const requirement of ["policies.denies", "policies.warns", "policies.scope"])
      attempt.holds(requirement, undefined);
    await takeBack();
  },
});

const isSame = ({ before, after }: JudgedWrite): boolean =>
  before?.value === after?.value && before?.team === after?.team;

const mapOf = (name: string, { value, team }: JudgedState): JsonObject =>
  configMap(name, { labels: { team }, data: { value } });

function send(configMaps: Collection, name: string, step: Step, live: ApiObject): Promise<Answer> {
  const { verb, after, dry } = step;
  const { value, team } = after;
  const query = dry ? { dryRun: "All" } : {};
  const patch: JsonObject = { metadata: { labels: { team } }, data: { value } };
  switch (verb) {
    case "post":
      return configMaps.create(mapOf(name, after), { query });
    case "put":
      return configMaps.put(
        name,
        { ...live, metadata: { ...live.metadata, labels: { team } }, data: { value } },
        { query },
      );
    case "merge":
    case "strategic":
      return configMaps.patch(name, verb, patch, { query });
    case "json": {
      const changes = [
        { op: "replace", path: "/metadata/labels/team", value: team },
        { op: "replace", path: "/data/value", value },
      ];
      return configMaps.patch(name, "json", changes, { query });
    }
    case "delete":
      return configMaps.delete(name, undefined, { query });
    default:
      return configMaps.patch(name, "apply", mapOf(name, after), {
        query: { ...query, fieldManager: "applier", force: true },
      });
  }
}

async function hasHappened(
  configMaps: Collection,
  name: string,
  verb: Step["verb"],
  isNew: boolean,
  live: ApiObject,
): Promise<boolean> {
  const answer = await configMaps.get(name);
  if (isNew) return answer.status === 200;
  if (verb === "delete") return answer.status === 404;
  return versionOf(objectOf(answer)) !== versionOf(live);
}

/**
 * The policy and its binding, and after them a second of each, which says when both are in force. No time is promised for that, nor for
 * their end, which what is returned asks for and waits for: the next program may live in the same namespace.
 */
async function putInForce(
  attempt: Attempt,
  configMaps: Collection,
  policy: ModelPolicy,
  action: Program["action"],
): Promise<() => Promise<void>> {
  const { client, profile, target } = attempt;
  const markMessage = `marked, says ${target.name}`;
  const paths: string[] = [];
  const apiVersion = `admissionregistration.${profile.dialect.groupSuffix}/v1`;
  const served = objectsIn((await client.request("GET", `/apis/${apiVersion}`)).json, "resources");
  if (!served.some(({ name }) => name === "validatingadmissionpolicies"))
    throw new Unsupported("validatingadmissionpolicies");
  const namespaceSelector = { matchLabels: { [namespaceLabel]: await target.namespace() } };
  // Others write config maps there, too.
  const ours = { matchExpressions: [{ key: "team", operator: "Exists" }] };
  const make = async (plural: string, kind: string, name: string, spec: JsonObject): Promise<void> => {
    const collection = `/apis/${apiVersion}/${plural}`;
    paths.push(`${collection}/${name}`);
    target.onCleanUp((cleaner) => cleaner.attempt("DELETE", `${collection}/${name}`));
    const metadata = { name, labels: { [runLabel]: target.label } };
    objectOf(
      await client.request("POST", collection, { body: { apiVersion, kind, metadata, spec } }),
      "policies.scope",
    );
  };
  const put = async (name: string, spec: JsonObject, validationActions: readonly string[]): Promise<void> => {
    await make("validatingadmissionpolicies", "ValidatingAdmissionPolicy", name, { failurePolicy: "Fail", ...spec });
    await make("validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding", name, {
      policyName: name,
      validationActions: [...validationActions],
      matchResources: { namespaceSelector, objectSelector: ours },
    });
  };
  const rules = (of: readonly string[]): JsonObject => ({
    resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations: [...of] }],
  });
  await put(
    target.name,
    {
      matchConstraints: {
        ...rules(policy.operations),
        ...(policy.team === undefined ? {} : { objectSelector: { matchLabels: { team: policy.team } } }),
      },
      ...(policy.unless === undefined
        ? {}
        : { matchConditions: [{ name: "unless", expression: `request.operation != '${policy.unless}'` }] }),
      validations: policy.validations.map((name) => ({
        expression: validations[name].expression,
        message: messageOfValidation(name),
      })),
    },
    [action],
  );
  await put(
    `${target.name}-mark`,
    {
      matchConstraints: rules(["CREATE"]),
      validations: [{ expression: "!object.metadata.name.startsWith('mark')", message: markMessage }],
    },
    ["Deny"],
  );
  let markCount = 0;
  const awaitMarks = async (isSeen: (answer: Answer) => boolean, what: string): Promise<void> => {
    const areSeen = await pollUntil(attempt, attempt.clock.nowMillis() + inForceMillisMax, async () => {
      // Of several front-ends each has to hear of it.
      for (let count = 0; count < marksMin; count += 1) {
        if (count > 0) await client.pause(100);
        const mark = configMap(`mark-${(markCount += 1)}`, { labels: { team: "red" }, data: { value: "plain" } });
        if (!isSeen(await configMaps.create(mark))) return undefined; // whether dry runs are judged is what is asked later
      }
      return true;
    });
    if (areSeen === undefined) throw new Inconclusive(`a policy ${what} within ${inForceMillisMax} ms`);
  };
  const isRefused = ({ status, json }: Answer): boolean =>
    status >= 400 && isJsonObject(json) && String(json["message"]).includes(markMessage);
  await awaitMarks(isRefused, "has no effect");
  return async () => {
    for (const path of paths.toReversed()) await client.request("DELETE", path);
    await awaitMarks(({ status }) => status < 300, "that is gone has an effect still");
  };
}

const inForceMillisMax = 30_000;
const marksMin = 3;
