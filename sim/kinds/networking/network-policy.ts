/** Network policies: who may talk to pods. Source: the published defaults, validation and columns. */
import type { Cause } from "../../contract/errors.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { isObject } from "../../contract/objects.ts";
import {
  forbiddenField,
  goStrings,
  invalidText,
  invalidValue,
  requiredValue,
  unsupportedValue,
} from "../../objects/causes.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import { selectorText } from "../../objects/selector-text.ts";
import { eachItem } from "../core/pod-template.ts";
import { portCauses, portOrNameCauses, protocols } from "../core/pods/ports.ts";
import type { KindRow } from "../kind-row.ts";
import { fill, listOf, specToDefault } from "../shared/fields.ts";
import { cidrCauses, isWithin } from "../shared/ip-fields.ts";
import { selectorCauses } from "../shared/label-selector.ts";
import { ageColumn, column, mapAt, nameColumn, orNone, printer } from "../shared/printer.ts";

const directions = [
  ["ingress", "from"],
  ["egress", "to"],
] as const;

const networkPolicyRules: KindRules = {
  defaults(draft) {
    const spec = specToDefault(draft, "policyTypes");
    if (spec === undefined) return;
    for (const [direction] of directions) {
      eachItem(spec, direction, (rule) => eachItem(rule, "ports", (port) => fill(port, "protocol", "TCP")));
    }
    if (((spec["policyTypes"] ?? []) as readonly string[]).length > 0) return;
    const hasEgress = ((spec["egress"] ?? []) as readonly Json[]).length > 0;
    spec["policyTypes"] = hasEgress ? ["Ingress", "Egress"] : ["Ingress"];
  },
  validate(policy, causes) {
    const spec = (policy["spec"] ?? {}) as JsonObject;
    if (isObject(spec["podSelector"])) selectorCauses(spec["podSelector"], "spec.podSelector", causes);
    for (const [direction, peers] of directions) {
      listOf(spec, direction).forEach((rule, at) => {
        const path = `spec.${direction}[${at}]`;
        listOf(rule, "ports").forEach((port, index) => rulePortCauses(port, `${path}.ports[${index}]`, causes));
        listOf(rule, peers).forEach((peer, index) => peerCauses(peer, `${path}.${peers}[${index}]`, causes));
      });
    }
    typeCauses((spec["policyTypes"] ?? []) as readonly string[], causes);
  },
};

function typeCauses(types: readonly string[], causes: Cause[]): void {
  const path = "spec.policyTypes";
  if (types.length > 2) {
    causes.push(invalidText(path, goStrings(types), "may not specify more than two policyTypes"));
    return;
  }
  types.forEach((type, at) => {
    if (type !== "Ingress" && type !== "Egress") {
      causes.push(unsupportedValue(`${path}[${at}]`, type, ["Egress", "Ingress"]));
    }
  });
}

function rulePortCauses({ protocol, port, endPort }: JsonObject, path: string, causes: Cause[]): void {
  if (protocol !== undefined && !protocols.includes(protocol as string)) {
    causes.push(unsupportedValue(`${path}.protocol`, protocol, protocols));
  }
  const end = `${path}.endPort`;
  if (port === undefined) {
    if (endPort !== undefined) {
      causes.push(invalidValue(end, endPort, "may not be specified when `port` is not specified"));
    }
    return;
  }
  portOrNameCauses(port, `${path}.port`, causes);
  if (endPort === undefined) return;
  if (typeof port === "string") {
    causes.push(invalidValue(end, endPort, "may not be specified when `port` is non-numeric"));
    return;
  }
  if ((endPort as number) < (port as number)) {
    causes.push(invalidValue(end, endPort, "must be greater than or equal to `port`"));
  }
  portCauses(endPort as number, end, causes);
}

function peerCauses({ podSelector, namespaceSelector, ipBlock }: JsonObject, path: string, causes: Cause[]): void {
  if (isObject(podSelector)) selectorCauses(podSelector, `${path}.podSelector`, causes);
  if (isObject(namespaceSelector)) selectorCauses(namespaceSelector, `${path}.namespaceSelector`, causes);
  if (isObject(ipBlock)) blockCauses(ipBlock, `${path}.ipBlock`, causes);
  const others = [podSelector, namespaceSelector].filter(isObject).length;
  if (others === 0 && !isObject(ipBlock)) causes.push(requiredValue(path, "must specify a peer"));
  else if (others > 0 && isObject(ipBlock)) {
    causes.push(forbiddenField(path, "may not specify both ipBlock and another peer"));
  }
}

function blockCauses(block: JsonObject, path: string, causes: Cause[]): void {
  const cidr = (block["cidr"] ?? "") as string;
  if (cidr === "") {
    causes.push(requiredValue(`${path}.cidr`));
    return;
  }
  const found = causes.length;
  cidrCauses(cidr, `${path}.cidr`, causes);
  if (causes.length > found) return;
  ((block["except"] ?? []) as readonly string[]).forEach((except, at) => {
    const here = `${path}.except[${at}]`;
    const before = causes.length;
    cidrCauses(except, here, causes);
    if (causes.length === before && !isWithin(except, cidr)) {
      causes.push(invalidValue(here, except, "must be a strict subset of `cidr`"));
    }
  });
}

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
