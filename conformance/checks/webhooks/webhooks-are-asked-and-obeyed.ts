import fc from "fast-check";
import type { WebhookHost } from "../../../wire/ports.ts";
import { anyAdmittedWrites, anyOperations, webhookTeams } from "../../arbitraries/admitted-writes.ts";
import { configMap } from "../../arbitraries/config-maps.ts";
import type { Answer } from "../../client/exchange.ts";
import { objectOf } from "../../client/collection.ts";
import { messageOf, shownAnswer } from "../../client/status-document.ts";
import { isApiObject, isJsonObject, type Json, type JsonObject } from "../../client/types.ts";
import { Inconclusive, Unsupported } from "../../client/findings.ts";
import { warningTexts } from "../../model/field-warnings.ts";
import {
  type AdmittedWrite,
  concerns,
  judgeReinvocation,
  judgeReviews,
  judgeWebhookWarnings,
  type ModelWebhook,
  refusing,
  type ToldReview,
  warningOf,
  writeVerbs,
} from "../../model/webhook-law.ts";
import { furnish, hasHappened, send } from "../../runner/admitted-writes.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { pollUntil } from "../../runner/poll.ts";
import { configurationPath, configure, webhookOf } from "../../runner/webhook-configuration.ts";

const mark: ModelWebhook = { name: "mark", operations: ["CREATE"], team: "mark", does: "allow", failurePolicy: "Fail" };

const watching = {
  operations: ["CREATE", "UPDATE"],
  unless: undefined,
  team: "red",
  does: "allow",
  sideEffects: "None",
  failurePolicy: "Fail",
  again: false,
} as const;

/**
 * Property: webhooks are asked about what their rules and selectors name and nothing else, told what it is and whether it is
 * dry; what one denies fails with its message, what one changes is answered and kept, and what one warns of is told.
 * Method: the suite answers the webhooks itself and notes what it is told. Needs a target that can reach the suite.
 */
export const webhooksAreAskedAndObeyed = defineCheck({
  id: "webhooks-are-asked-and-obeyed",
  area: "webhooks",
  property: "Webhooks are asked about what concerns them, and what they say is done.",
  requirements: [
    "webhooks.rules",
    "webhooks.denies",
    "webhooks.mutates",
    "webhooks.dry-run-told",
    "webhooks.review",
    "webhooks.warnings",
    "webhooks.reinvoked",
  ],
  features: ["webhook-calls", "webhooks", "configmaps", "podtemplates", "namespaces"],
  cost: "slow",
  input: fc.record({
    mutating: fc.boolean(),
    webhooks: fc.array(
      fc.record({
        operations: anyOperations,
        unless: fc.option(fc.constantFrom("CREATE", "UPDATE", "DELETE"), { nil: undefined, freq: 2 }),
        team: fc.constantFrom<string>(...webhookTeams),
        does: fc.constantFrom("allow", "deny", "stamp"),
        sideEffects: fc.constantFrom("None", "NoneOnDryRun"),
        failurePolicy: fc.constantFrom("Fail", "Ignore"),
        again: fc.boolean(),
      }),
      { minLength: 1, maxLength: 2 },
    ),
    writes: anyAdmittedWrites(4),
  }),
  examples: [
    {
      mutating: true,
      webhooks: [
        { ...watching, again: true },
        { ...watching, does: "stamp" },
      ],
      writes: writeVerbs.map(
        (verb): AdmittedWrite => ({
          operation: verb === "put" ? "CREATE" : "UPDATE",
          resource: "configmaps",
          name: verb,
          teams: verb === "put" ? ["red"] : ["red", "red"],
          dryRun: false,
          verb,
        }),
      ),
    },
    // By URL few programs are run: the first says something of every requirement.
    {
      mutating: true,
      webhooks: [
        {
          operations: ["CREATE", "UPDATE"],
          unless: undefined,
          team: "red",
          does: "stamp",
          sideEffects: "None",
          failurePolicy: "Fail",
          again: false,
        },
        {
          operations: ["CREATE", "DELETE"],
          unless: "DELETE",
          team: "blue",
          does: "deny",
          sideEffects: "NoneOnDryRun",
          failurePolicy: "Ignore",
          again: true,
        },
      ],
      writes: [
        { operation: "CREATE", resource: "configmaps", name: "create-0", teams: ["red"], dryRun: true, verb: "apply" },
        { operation: "UPDATE", resource: "configmaps", name: "update-1", teams: ["red", "blue"], dryRun: false },
        { operation: "CREATE", resource: "configmaps", name: "create-2", teams: ["blue"], dryRun: false },
        { operation: "DELETE", resource: "configmaps", name: "delete-3", teams: ["blue"], dryRun: false },
      ],
    },
  ],
  async run(attempt, { mutating, webhooks: drawn, writes }) {
    const host = attempt.webhooks;
    if (host === undefined) throw new Unsupported("webhook-calls");
    const models = [
      ...drawn.map((each, index): ModelWebhook & { sideEffects: string } => ({
        ...each,
        name: `w${index}`,
        does: !mutating && each.does === "stamp" ? "allow" : each.does,
        again: each.again && each.does === "allow", // who stamps again would have the last word
      })),
      { ...mark, sideEffects: "None" },
    ];
    await furnish(attempt, writes);
    const namespace = await attempt.target.namespace();
    const told: ToldReview[] = [];
    const stops = models.map((model) =>
      host.answer(`/${namespace}/${model.name}`, (document) => answerReview(model, document as Json, told)),
    );
    attempt.target.onCleanUp(async () => stops.forEach((stop) => stop()));
    const kind = mutating ? "mutating" : "validating";
    const auditor = mutating ? await audit(attempt, host, attempt.target.name) : undefined;
    await configurationPath(attempt, kind);
    const sent = models.map((model) => configuredAt(attempt, host, model, namespace, mutating));
    objectOf(await configure(attempt, kind, await Promise.all(sent)), "webhooks.configured");
    await awaitCalls(attempt, told, auditor);
    for (const write of writes) {
      told.length = 0;
      if (auditor !== undefined) auditor.length = 0;
      const answer = await send(attempt, write);
      const violation = judgeReviews(models, write, namespace, told);
      const requirement = requirementOf(write, violation?.expected ?? "");
      attempt.holds(requirement, violation);
      if (mutating) attempt.holds("webhooks.reinvoked", judgeReinvocation(models, write, told));
      await judgeOutcome(attempt, models, write, answer);
      if (auditor !== undefined && write.operation !== "DELETE" && write.resource === "configmaps")
        judgeAudit(attempt, stamperOf(models, write), refusing(models, write), auditor);
    }
    for (const requirement of ["webhooks.rules", "webhooks.review"]) attempt.holds(requirement, undefined);
    if (writes.some(({ dryRun }) => dryRun)) attempt.holds("webhooks.dry-run-told", undefined);
  },
});

/**
 * A validating webhook beside those that change, which notes the stamp of each object that it is shown. Its place is the program's own: one
 * that was there before may be asked for a moment longer.
 */
async function audit(attempt: Attempt, host: WebhookHost, place: string): Promise<string[]> {
  const shown: string[] = [];
  const stop = host.answer(`/${place}/auditor`, (document) => {
    const review = isJsonObject(document as Json) ? (document as JsonObject) : {};
    const request = isJsonObject(review["request"]) ? review["request"] : {};
    shown.push(isApiObject(request["object"]) ? String(stampOf(request["object"])) : "no object");
    const response = { uid: request["uid"], allowed: true };
    return { apiVersion: review["apiVersion"], kind: "AdmissionReview", response };
  });
  attempt.target.onCleanUp(async () => stop());
  await configurationPath(attempt, "validating");
  const { url, certificate } = host;
  const webhook = await webhookOf(attempt, "auditor", {
    clientConfig: {
      url: `${url}/${place}/auditor`,
      ...(certificate === undefined ? {} : { caBundle: btoa(certificate) }),
    },
    rules: [{ apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations: ["CREATE", "UPDATE"] }],
    objectSelector: { matchExpressions: [{ key: "team", operator: "Exists" }] }, // others write config maps, too
  });
  objectOf(await configure(attempt, "validating", [webhook]), "webhooks.configured");
  return shown;
}

/** Who only judges is shown what all that change have made of the object. */
function judgeAudit(
  attempt: Attempt,
  stamper: ModelWebhook | undefined,
  refuser: ModelWebhook | undefined,
  shown: readonly string[],
): void {
  if (refuser !== undefined) return;
  const expected = String(stamper?.name);
  const isRight = shown.length > 0 && shown.every((stamp) => stamp === expected);
  attempt.expect("webhooks.mutates", isRight, `a validating webhook is shown the stamp ${expected}`, shown.join());
}

const stamperOf = (models: readonly ModelWebhook[], write: AdmittedWrite): ModelWebhook | undefined =>
  models.findLast((model) => model.does === "stamp" && concerns(model, write));

function requirementOf({ dryRun }: AdmittedWrite, expected: string): string {
  if (!expected.includes("in the review of")) return "webhooks.rules";
  return dryRun && expected.startsWith("dryRun") ? "webhooks.dry-run-told" : "webhooks.review";
}

async function configuredAt(
  attempt: Attempt,
  { url, certificate }: WebhookHost,
  model: ModelWebhook & { readonly sideEffects: string },
  namespace: string,
  mutating: boolean,
): Promise<JsonObject> {
  const { name, operations, team, unless, sideEffects, failurePolicy, again = false } = model;
  return webhookOf(attempt, name, {
    ...(mutating ? { reinvocationPolicy: again ? "IfNeeded" : "Never" } : {}),
    clientConfig: {
      url: `${url}/${namespace}/${name}`,
      ...(certificate === undefined ? {} : { caBundle: btoa(certificate) }),
    },
    rules: [{ apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations: [...operations] }],
    objectSelector: { matchLabels: { team } },
    ...(unless === undefined
      ? {}
      : { matchConditions: [{ name: "unless", expression: `request.operation != '${unless}'` }] }),
    failurePolicy,
    sideEffects,
  });
}

/** What the webhook says, in the words of AdmissionReview v1. */
function answerReview(model: ModelWebhook, document: Json, told: ToldReview[]): JsonObject {
  const review = isJsonObject(document) ? document : {};
  const request = isJsonObject(review["request"]) ? review["request"] : {};
  const resource = isJsonObject(request["resource"]) ? request["resource"] : {};
  told.push({
    webhook: model.name,
    operation: String(request["operation"]),
    resource: String(resource["resource"]),
    namespace: String(request["namespace"]),
    name: String(request["name"]),
    dryRun: request["dryRun"] === true,
    team: teamOf(request["object"]),
    oldTeam: teamOf(request["oldObject"]),
  });
  const object = request["object"];
  const patch = [{ op: "add", path: "/data/stamped", value: model.name }];
  const stamps = model.does === "stamp" && isJsonObject(object);
  return {
    apiVersion: review["apiVersion"],
    kind: "AdmissionReview",
    response: {
      uid: request["uid"],
      allowed: model.does !== "deny",
      warnings: [warningOf(model)],
      ...(model.does === "deny" ? { status: { code: 418, message: `no, says ${model.name}` } } : {}),
      ...(stamps ? { patchType: "JSONPatch", patch: btoa(JSON.stringify(patch)) } : {}),
    },
  };
}

const teamOf = (object: Json | undefined): string | undefined =>
  isApiObject(object) ? object.metadata.labels?.["team"] : undefined;

async function judgeOutcome(
  attempt: Attempt,
  models: readonly ModelWebhook[],
  write: AdmittedWrite,
  answer: Answer,
): Promise<void> {
  const refuser = refusing(models, write);
  if (refuser !== undefined) {
    // Validating webhooks are asked at once: of several that deny, any may be the first.
    const denying = models.filter((model) => model.does === "deny" && concerns(model, write));
    const isDenied =
      answer.status === 418 && denying.some(({ name }) => messageOf(answer).includes(`no, says ${name}`));
    attempt.expect("webhooks.denies", isDenied, `418 with the message of ${refuser.name}`, shownAnswer(answer));
  } else {
    attempt.expect("webhooks.rules", answer.status < 300, "let through by every webhook", shownAnswer(answer));
    attempt.holds("webhooks.warnings", judgeWebhookWarnings(models, write, warningTexts(answer.headers)));
  }
  const happened = await hasHappened(attempt, write);
  const should = refuser === undefined && !write.dryRun;
  const requirement = refuser === undefined ? "webhooks.rules" : "webhooks.denies";
  attempt.expect(requirement, happened === should, should ? "done" : "not done", happened ? "done" : "not done");
  const stamper = stamperOf(models, write);
  if (refuser !== undefined || stamper === undefined || write.operation === "DELETE") return;
  const answered = isApiObject(answer.json) ? stampOf(answer.json) : undefined;
  attempt.expect("webhooks.mutates", answered === stamper.name, `stamped ${stamper.name}`, String(answered));
  if (write.dryRun) return;
  const kept = stampOf(objectOf(await (await attempt.target.collection(write.resource)).get(write.name)));
  attempt.expect("webhooks.mutates", kept === stamper.name, `kept as stamped ${stamper.name}`, String(kept));
}

function stampOf(object: JsonObject): Json | undefined {
  return isJsonObject(object["data"]) ? object["data"]["stamped"] : undefined;
}

/** A configuration takes effect within moments; a target that cannot reach the suite at all says so. */
async function awaitCalls(
  attempt: Attempt,
  told: readonly ToldReview[],
  auditor: readonly string[] | undefined,
): Promise<void> {
  const configMaps = await attempt.target.collection("configmaps");
  let last: Answer | undefined;
  let markCount = 0;
  const called = await pollUntil(attempt, attempt.clock.nowMillis() + 30_000, async () => {
    // Of several front-ends each has to hear of it.
    for (let count = 0; count < calledCountMin; count += 1) {
      if (count > 0) await attempt.client.pause(100);
      const [toldBefore, auditedBefore] = [told.length, auditor?.length];
      markCount += 1; // each is made: whether webhooks are asked about dry runs is what is judged later
      last = await configMaps.create(configMap(`mark-${markCount}`, { labels: { team: "mark" } }));
      if (told.length === toldBefore || (auditor !== undefined && auditor.length === auditedBefore)) return undefined;
    }
    return true;
  });
  if (called === undefined) {
    const why = last === undefined ? "" : `: a write that concerns it was answered ${shownAnswer(last)}`;
    throw new Inconclusive(`no webhook of the suite was called within 30000 ms${why}`);
  }
}

const calledCountMin = 3;
