import type { Answer } from "../client/exchange.ts";
import type { JsonObject } from "../client/types.ts";
import type { Attempt } from "./attempt.ts";
import { namespaceLabel, runLabel } from "./sandbox.ts";

const admissionGroup = (attempt: Attempt): string => `admissionregistration.${attempt.profile.dialect.groupSuffix}/v1`;

export type WebhookKind = "validating" | "mutating";

/** The path of the attempt's own configuration of a kind. It belongs to no namespace; cleanup removes it. */
export async function configurationPath(attempt: Attempt, kind: WebhookKind): Promise<string> {
  const path = `${collectionPath(attempt, kind)}/${attempt.target.name}`;
  attempt.target.onCleanUp((cleaner) => cleaner.attempt("DELETE", path));
  return path;
}

const collectionPath = (attempt: Attempt, kind: WebhookKind): string =>
  `/apis/${admissionGroup(attempt)}/${kind}webhookconfigurations`;

/** Creates it. */
export async function configure(
  attempt: Attempt,
  kind: WebhookKind,
  webhooks: readonly JsonObject[],
  dryRun = false,
): Promise<Answer> {
  return attempt.client.request("POST", collectionPath(attempt, kind), {
    query: dryRun ? { dryRun: "All" } : {},
    body: {
      apiVersion: admissionGroup(attempt),
      kind: kind === "mutating" ? "MutatingWebhookConfiguration" : "ValidatingWebhookConfiguration",
      metadata: { name: attempt.target.name, labels: { [runLabel]: attempt.target.label } },
      webhooks,
    },
  });
}

/** A webhook of the attempt's namespace alone, so that it touches nobody else's writes, for config maps; `parts` go before. */
export async function webhookOf(attempt: Attempt, name: string, parts: JsonObject): Promise<JsonObject> {
  return {
    name: `${name}.touchstone.example.com`,
    namespaceSelector: { matchLabels: { [namespaceLabel]: await attempt.target.namespace() } },
    rules: [{ apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"], operations: ["CREATE"] }],
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
    timeoutSeconds: 5,
    ...parts,
  };
}

/** An address where nobody listens. */
export const unreachable: JsonObject = { url: "https://127.0.0.1:1/touchstone" };
