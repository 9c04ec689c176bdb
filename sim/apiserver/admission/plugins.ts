/** A server's admission plugins, each with what it asks of the server. Source: the published default order of plugins. */
import type { Process } from "../../kernel/types.ts";
import type { Dialect } from "../../../wire/dialect.ts";
import type { Authorizer } from "../access/authorize.ts";
import type { AdmissionStep } from "./admission.ts";
import { certificateRequests } from "./certificate-requests.ts";
import { podPriority, type PriorityPorts } from "./pod-priority.ts";
import { type PolicyPorts, validatingPolicies } from "./policies.ts";
import { mutatingWebhooks, validatingWebhooks, type WebhookCaller, type WebhookPorts } from "./webhooks.ts";

/** What plugins read of what is stored. */
export interface AdmissionReads {
  readonly priorityClasses: PriorityPorts["classes"];
  readonly validatingPolicies: PolicyPorts["policies"];
  readonly validatingPolicyBindings: PolicyPorts["bindings"];
  readonly objectsOfKind: PolicyPorts["params"];
  readonly namespace: WebhookPorts["namespaceOf"];
  readonly equivalentsOf: WebhookPorts["equivalentsOf"];
  readonly decodeSteps: WebhookPorts["decodeSteps"];
}

export interface AdmissionOptions {
  readonly process: Process;
  readonly dialect: Dialect;
  readonly authorizer: Authorizer;
  readonly metrics: WebhookPorts["metrics"];
  /** Asked when a request comes: a server has its plugins before it can read. */
  readonly reads: () => AdmissionReads;
  readonly webhooks: Pick<WebhookPorts, "configurations" | "call">;
  /** Come between the webhooks that change and all that only refuse. */
  readonly refusals: readonly AdmissionStep[];
}

/** In the order in which they are asked. */
export function admissionPlugins(options: AdmissionOptions): readonly AdmissionStep[] {
  const { process, dialect, authorizer, webhooks, metrics, reads } = options;
  const webhookPorts: WebhookPorts = {
    clock: process.clock,
    prng: process.prng.stream("webhooks"),
    dialect,
    authorizer,
    ...webhooks,
    namespaceOf: (name) => reads().namespace(name),
    metrics,
    equivalentsOf: (place) => reads().equivalentsOf(place),
    decodeSteps: (place, object, isLarge) => reads().decodeSteps(place, object, isLarge),
  };
  const policyPorts: PolicyPorts = {
    clock: process.clock,
    dialect,
    authorizer,
    policies: () => reads().validatingPolicies(),
    bindings: () => reads().validatingPolicyBindings(),
    namespaceOf: (name) => reads().namespace(name),
    equivalentsOf: (place) => reads().equivalentsOf(place),
    params: (apiVersion, kind) => reads().objectsOfKind(apiVersion, kind),
  };
  return [
    podPriority({ dialect, classes: () => reads().priorityClasses() }),
    mutatingWebhooks(webhookPorts),
    ...options.refusals,
    certificateRequests({ dialect, clock: process.clock, authorize: authorizer }),
    validatingPolicies(policyPorts),
    validatingWebhooks(webhookPorts),
  ];
}

/** Where a server was given no way to call: every call fails. */
export const nobodyAnswers: WebhookCaller = (call, done) => {
  done({ error: `Post "${call.url}": this server was given no way to call webhooks` });
  return () => {};
};
