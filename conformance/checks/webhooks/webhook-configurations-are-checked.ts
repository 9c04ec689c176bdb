import fc from "fast-check";
import { configMap } from "../../arbitraries/config-maps.ts";
import { objectOf } from "../../client/collection.ts";
import { causesOf, shownAnswer } from "../../client/status-document.ts";
import type { JsonObject } from "../../client/types.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { configurationPath, configure, unreachable, webhookOf } from "../../runner/webhook-configuration.ts";

interface Part {
  readonly what: string;
  readonly parts: JsonObject;
  /** The field that a refusal names, below the webhook; undefined: it must be taken. */
  readonly wrong?: string;
}

const rule = { apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations: ["CREATE"] };

const variants: readonly Part[] = [
  { what: "complete", parts: {} },
  { what: "NoneOnDryRun", parts: { sideEffects: "NoneOnDryRun" } },
  { what: "30 s", parts: { timeoutSeconds: 30 } },
  { what: "1 s", parts: { timeoutSeconds: 1 } },
  { what: "any operation", parts: { rules: [{ ...rule, operations: ["*"] }] } },
  { what: "Ignore", parts: { failurePolicy: "Ignore", matchPolicy: "Exact" } },
  { what: "no side effects told", parts: { sideEffects: undefined }, wrong: "sideEffects" },
  { what: "0 s", parts: { timeoutSeconds: 0 }, wrong: "timeoutSeconds" },
  { what: "31 s", parts: { timeoutSeconds: 31 }, wrong: "timeoutSeconds" },
  { what: "no review versions", parts: { admissionReviewVersions: [] }, wrong: "admissionReviewVersions" },
  { what: "an unknown policy", parts: { failurePolicy: "Maybe" }, wrong: "failurePolicy" },
  { what: "an unknown match policy", parts: { matchPolicy: "Maybe" }, wrong: "matchPolicy" },
  { what: "plain http", parts: { clientConfig: { url: "http://127.0.0.1:1/touchstone" } }, wrong: "clientConfig.url" },
  { what: "no address", parts: { clientConfig: {} }, wrong: "clientConfig" },
  {
    what: "two addresses",
    parts: { clientConfig: { ...unreachable, service: { namespace: "default", name: "none" } } },
    wrong: "clientConfig",
  },
  { what: "a short name", parts: { name: "short" }, wrong: "name" },
  {
    what: "an unknown operation",
    parts: { rules: [{ ...rule, operations: ["READ"] }] },
    wrong: "rules[0].operations[0]",
  },
  { what: "no operation", parts: { rules: [{ ...rule, operations: [] }] }, wrong: "rules[0].operations" },
  {
    what: "all and one operation",
    parts: { rules: [{ ...rule, operations: ["*", "CREATE"] }] },
    wrong: "rules[0].operations",
  },
];

const effects = ["Some", "Unknown"] as const;

/**
 * Property: a configuration of webhooks is taken when it can be carried out, and refused, with the field, when not; one of a
 * webhook that has side effects on dry runs is not to be had, or makes dry runs fail without calling anybody.
 * Method: every configuration is posted dry; only one with side effects, where that is taken, is posted for good.
 */
export const webhookConfigurationsAreChecked = defineCheck({
  id: "webhook-configurations-are-checked",
  area: "webhooks",
  property: "A webhook configuration that cannot be carried out is refused.",
  requirements: ["webhooks.checked", "webhooks.dry-run-refused"],
  features: ["webhooks", "configmaps", "namespaces"],
  input: fc.record({
    kind: fc.constantFrom("validating", "mutating"),
    variant: fc.constantFrom(...variants),
    sideEffects: fc.constantFrom(...effects),
  }),
  examples: variants.map((variant, index) => ({
    kind: index % 2 === 0 ? ("validating" as const) : ("mutating" as const),
    variant,
    sideEffects: effects[index % 2] as (typeof effects)[number],
  })),
  async run(attempt, { kind, variant, sideEffects }) {
    const { what, parts, wrong } = variant;
    const webhook = await webhookOf(attempt, "one", { clientConfig: unreachable, ...parts });
    const answer = await configure(attempt, kind, [webhook], true);
    if (wrong === undefined) {
      attempt.expect("webhooks.checked", answer.status === 201, `201: ${what}`, shownAnswer(answer));
    } else {
      const fields = causesOf(answer).map(({ field }) => field);
      const isTold = answer.status === 422 && fields.some((field) => field === `webhooks[0].${wrong}`);
      attempt.expect("webhooks.checked", isTold, `422 that names webhooks[0].${wrong}: ${what}`, shownAnswer(answer));
    }
    await judgeSideEffects(attempt, sideEffects);
  },
});

async function judgeSideEffects(attempt: Attempt, sideEffects: (typeof effects)[number]): Promise<void> {
  let calls = 0; // known where the target can reach the suite
  const host = attempt.webhooks;
  const at = `/${attempt.target.name}/effects`;
  const stop = host?.answer(at, () => {
    calls += 1;
    return {};
  });
  attempt.target.onCleanUp(async () => stop?.());
  const certificate = host?.certificate;
  const caBundle = certificate === undefined ? {} : { caBundle: btoa(certificate) };
  const webhook = await webhookOf(attempt, "effects", {
    clientConfig: host === undefined ? unreachable : { url: `${host.url}${at}`, ...caBundle },
    sideEffects,
    failurePolicy: "Ignore",
    objectSelector: { matchLabels: { team: "effects" } },
  });
  const configured = await configure(attempt, "validating", [webhook], true);
  if (configured.status >= 400) {
    attempt.holds("webhooks.dry-run-refused", undefined); // there can be no such webhook
    return;
  }
  await configurationPath(attempt, "validating");
  objectOf(await configure(attempt, "validating", [webhook]), "webhooks.dry-run-refused");
  const configMaps = await attempt.target.collection("configmaps");
  const create = () =>
    configMaps.create(configMap("dry", { labels: { team: "effects" } }), { query: { dryRun: "All" } });
  let dry = await create();
  // A configuration takes effect within moments, for which no time is promised.
  const deadlineMillis = attempt.clock.nowMillis() + 10_000;
  while (dry.status < 300 && attempt.clock.nowMillis() < deadlineMillis) {
    await attempt.client.pause(500);
    dry = await create();
  }
  // A call that failed is none of the webhook's business: whom it would reach is why the request cannot be dry.
  const isRefused = dry.status >= 400 && dry.status < 500;
  attempt.expect("webhooks.dry-run-refused", isRefused, `a dry run refused, for ${sideEffects}`, shownAnswer(dry));
  const none = `no call of a webhook with ${sideEffects} for a dry run`;
  attempt.expect("webhooks.dry-run-refused", calls === 0, none, `${calls} calls`);
}
