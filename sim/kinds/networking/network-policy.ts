/** Network policies: who may talk to pods. Source: the published defaults, validation and columns. */
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { goStrings } from "../../objects/causes.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import { selectorText } from "../../objects/selector-text.ts";
import { eachItem } from "../core/pod-template.ts";
import { protocols, portOrName, portNumber } from "../core/pods/ports.ts";
import type { KindRow } from "../kind-row.ts";
import { fill, specToDefault } from "../shared/fields.ts";
import { isWithin, cidrBlock } from "../shared/ip-fields.ts";
import { ageColumn, column, mapAt, nameColumn, orNone, printer } from "../shared/printer.ts";
import type { Place } from "../../objects/place.ts";
import { oneOf, struct, required, textThat, each, firstOf, fieldRules } from "../../objects/rules.ts";
import { labelSelector } from "../shared/label-selector.ts";

function policyTypes(types: readonly string[], at: Place): void {
  if (types.length > 2) at.invalidText(goStrings(types), "may not specify more than two policyTypes");
  else at.eachItem(types, oneOf(["Egress", "Ingress"]).judge);
}

const rulePort = struct({ protocol: oneOf(protocols) }, ({ port, endPort }: JsonObject, at) => {
  const end = at.of("endPort");
  if (port === undefined) {
    if (endPort !== undefined) end.invalid(endPort, "may not be specified when `port` is not specified");
    return;
  }
  at.judge("port", port, portOrName);
  if (endPort === undefined) return;
  if (typeof port === "string") end.invalid(endPort, "may not be specified when `port` is non-numeric");
  else {
    if ((endPort as number) < (port as number)) end.invalid(endPort, "must be greater than or equal to `port`");
    at.judge("endPort", endPort, portNumber);
  }
});

const peer = struct(
  { podSelector: labelSelector, namespaceSelector: labelSelector, ipBlock: block },
  ({ podSelector, namespaceSelector, ipBlock }: JsonObject, at) => {
    const selects = podSelector !== undefined || namespaceSelector !== undefined;
    if (!selects && ipBlock === undefined) at.required("must specify a peer");
    else if (selects && ipBlock !== undefined) at.forbidden("may not specify both ipBlock and another peer");
  },
);

function block({ cidr: whole = "", except }: JsonObject, at: Place): void {
  if (!at.judge("cidr", whole, required(cidrBlock))) return;
  const isPart = textThat((part) => isWithin(part, whole as string), "must be a strict subset of `cidr`");
  at.judge("except", except, each(firstOf(cidrBlock, isPart)));
}

const networkPolicyRules: KindRules = {
  defaults(draft) {
    const spec = specToDefault(draft, "policyTypes");
    if (spec === undefined) return;
    for (const direction of ["ingress", "egress"]) {
      eachItem(spec, direction, (rule) => eachItem(rule, "ports", (port) => fill(port, "protocol", "TCP")));
    }
    if (((spec["policyTypes"] ?? []) as readonly string[]).length > 0) return;
    const hasEgress = ((spec["egress"] ?? []) as readonly Json[]).length > 0;
    spec["policyTypes"] = hasEgress ? ["Ingress", "Egress"] : ["Ingress"];
  },
  validate: fieldRules({
    "spec.podSelector": labelSelector,
    "spec.ingress": each(struct({ ports: each(rulePort), from: each(peer) })),
    "spec.egress": each(struct({ ports: each(rulePort), to: each(peer) })),
    "spec.policyTypes": policyTypes,
  }),
};

export const networkPolicyKind: KindRow = {
  resource: "networking.svc.io/networkpolicies",
  usesGeneration: true,
  rules: networkPolicyRules,
  columns: printer(
    nameColumn,
    column("Pod-Selector", "Pods that it is about.", (it) => orNone(selectorText(mapAt(it, "spec.podSelector")))),
    ageColumn,
  ),
};
