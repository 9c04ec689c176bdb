/**
 * Nodes. Source: recorded answers: allocatable follows capacity until it is set, and a new node is kept free of pods
 * until somebody has found it ready. The published validation of taints and of updates.
 */
import { labelValueErrors } from "../../../wire/names.ts";
import { goQuote } from "../../../wire/go-strings.ts";
import type { Cause } from "../../contract/errors.ts";
import { parseQuantity } from "../../../wire/quantity.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { duplicateText, forbiddenField, goStrings } from "../../objects/causes.ts";
import { jsonEqual } from "../../objects/equality.ts";
import { isObject, ownChild } from "../../contract/objects.ts";
import { listOf, repetition } from "../shared/fields.ts";
import { qualifiedName } from "../shared/formats.ts";
import { cidrBlock, isDualStack } from "../shared/ip-fields.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import type { Check, Place } from "../../objects/place.ts";
import { all, always, each, fieldRules, required, struct, whenNew } from "../../objects/rules.ts";
import { quantityCauses } from "./resource-quota.ts";
import { taintEffect } from "./pods/scheduling.ts";
import {
  printer,
  nameColumn,
  column,
  ageColumn,
  wide,
  conditionStatus,
  at,
  orNone,
  textAt,
  listAt,
  unknown,
} from "../shared/printer.ts";
import { text } from "../shared/columns.ts";
import { metadataOf } from "../../contract/objects.ts";
import type { KindRow } from "../kind-row.ts";
import { plainFields, flagAt } from "../shared/field-labels.ts";

const taint = struct(
  {
    key: always(qualifiedName),
    value(value: string, at: Place) {
      const errors = labelValueErrors(value);
      if (errors.length > 0) at.invalid(value, errors.join(";"));
    },
    effect: required(taintEffect),
  },
  (it: JsonObject, at) => {
    const { key = "", value = "", effect = "" } = it as Readonly<Record<string, string>>;
    if (!at.isAgain(taint, JSON.stringify([key, effect]))) return;
    // As the real server prints it. Simplification: when it was added is not printed.
    const shown = `core.Taint{Key:${goQuote(key)}, Value:${goQuote(value)}, Effect:${goQuote(effect)}, TimeAdded:<nil>}`;
    at.duplicateText(`${shown}: taints must be unique by key and effect pair`);
  },
);
const taints = each(taint);

/** What a node has, and what of it pods can have. */
const amounts: Check = (given: Readonly<Record<string, Json>>, at: Place) => {
  for (const name of Object.keys(given)) {
    const quantity = parseQuantity(String(given[name]));
    if ("error" in quantity) continue; // the decoder has refused it already
    quantityCauses(name, quantity, `${at.path}.${name}`, at.causes);
  }
};

/** The pods' networks, one of each family. */
function networks(list: readonly string[], at: Place): void {
  if (list.length < 2) return;
  if (list.length > 2 || !isDualStack(list.map((network) => network.split("/")[0] ?? ""))) {
    at.invalidText(goStrings(list), "may specify no more than one CIDR for each IP family");
  }
  const isAgain = repetition();
  list.forEach((network, index) => {
    if (isAgain(network)) at.of(index).duplicate(network);
  });
}

const nodeRules: KindRules = {
  defaults(draft) {
    const status = draft["status"];
    if (!isObject(status) || status["allocatable"] !== undefined || status["capacity"] === undefined) return;
    ownChild(draft, "status")["allocatable"] = status["capacity"];
  },
  prepareForCreate(draft, dialect) {
    const spec = ownChild(draft, "spec");
    const taints = (spec["taints"] ?? []) as readonly JsonObject[];
    const notReady = { key: `node.${dialect.labelSuffix}/not-ready`, effect: "NoSchedule" };
    const isThere = taints.some(({ key, effect }) => key === notReady.key && effect === notReady.effect);
    if (!isThere) spec["taints"] = [...taints, notReady];
  },
  validate: fieldRules(
    // Taints are named as if they were metadata, as the real server names them.
    ({ spec }: JsonObject, at) => at.judge("metadata.taints", (spec as JsonObject | undefined)?.["taints"], taints),
    { "status.capacity": amounts, "status.allocatable": amounts },
    { "spec.podCIDRs": whenNew(all(each(cidrBlock), networks as Check)) },
  ),
  stepFirst: true,
  validateUpdate(object, live, causes) {
    addressCauses(listOf((object["status"] ?? {}) as JsonObject, "addresses"), causes);
    const after = (object["spec"] ?? {}) as JsonObject;
    const before = (live["spec"] ?? {}) as JsonObject;
    for (const [field, name] of [
      ["podCIDRs", "podCIDR"],
      ["providerID", "providerID"],
    ] as const) {
      if (before[field] === undefined || before[field] === "" || jsonEqual(before[field], after[field])) continue;
      const detail = `node updates may not change ${name} except from "" to valid`;
      causes.push(forbiddenField(`spec.${field}`, detail));
    }
  },
};

function addressCauses(addresses: readonly JsonObject[], causes: Cause[]): void {
  const seen = new Set<string>();
  addresses.forEach(({ type = "", address = "" }, at) => {
    const key = JSON.stringify([type, address]);
    if (seen.has(key)) {
      const shown = `core.NodeAddress{Type:${goQuote(type as string)}, Address:${goQuote(address as string)}}`;
      causes.push(duplicateText(`status.addresses[${at}]`, shown));
    }
    seen.add(key);
  });
}

export const nodeKind: KindRow = {
  resource: "/nodes",
  resetsStatus: false,
  rules: nodeRules,
  columns: printer(
    nameColumn,
    column("Status", "Whether the node is ready, and open to new pods.", nodeStatus),
    column("Roles", "What the node's labels say it is for.", nodeRoles),
    ageColumn,
    column("Version", "The version of the node's agent.", text("status.nodeInfo.kubeletVersion")),
    wide(column("Internal-IP", "Its address inside the cluster.", (it) => nodeAddress(it, "InternalIP"))),
    wide(column("External-IP", "Its address outside the cluster.", (it) => nodeAddress(it, "ExternalIP"))),
    wide(column("OS-Image", "Its operating system.", nodeInfo("osImage"))),
    wide(column("Kernel-Version", "Its kernel.", nodeInfo("kernelVersion"))),
    wide(column("Container-Runtime", "What runs its containers.", nodeInfo("containerRuntimeVersion"))),
  ),
  fieldLabels: [["spec.unschedulable", flagAt("spec", "unschedulable")], ...plainFields("metadata.name")],
};

function nodeStatus(node: JsonObject): string {
  const ready = conditionStatus(node, "Ready");
  const state = ready === "" ? "Unknown" : ready === "True" ? "Ready" : "NotReady";
  return at(node, "spec.unschedulable") === true ? `${state},SchedulingDisabled` : state;
}

function nodeRoles(node: JsonObject): string {
  const roles = new Set<string>();
  for (const [key, value] of Object.entries(metadataOf(node).labels ?? {})) {
    const role = rolePrefix.exec(key)?.[1] ?? (roleLabel.test(key) ? value : "");
    if (role !== "") roles.add(role);
  }
  return orNone([...roles].sort().join(","));
}

/** `node-role.svc.io/<role>`, or the role as the value of `svc.io/role`; the brand is the server's. */
const rolePrefix = /^node-role\.[^/]+\/(.*)$/;

const roleLabel = /^[^./]+\.io\/role$/;

function nodeAddress(node: JsonObject, type: string): string {
  return orNone(
    textAt(
      listAt(node, "status.addresses").find((address) => address["type"] === type),
      "address",
    ),
  );
}

function nodeInfo(field: string): (it: JsonObject) => string {
  return (it) => textAt(it, `status.nodeInfo.${field}`) || unknown;
}
