/** Policies, access, storage, endpoint slices and admission in tables. Source: the published printers. */
import { humanDuration } from "../../../wire/human-duration.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { metadataOf } from "../../contract/objects.ts";
import { firstFew } from "./core-printers.ts";
import {
  ageColumn,
  at,
  column,
  type FilledColumn,
  integerColumn,
  listAt,
  nameColumn,
  nameOf,
  none,
  numberAt,
  orNone,
  type Printer,
  printer,
  sizeAt,
  textAt,
  unset,
  wide,
} from "./printer.ts";

const text = (path: string) => (it: JsonObject) => textAt(it, path);

function booleanColumn(name: string, description: string, path: string): FilledColumn {
  return { ...column(name, description, (it) => at(it, path) === true), type: "boolean" };
}

const webhooks = printer(
  nameColumn,
  integerColumn("Webhooks", "How many webhooks there are.", (it) => sizeAt(it, "webhooks")),
  ageColumn,
);

const binding = printer(
  nameColumn,
  column("Role", "What is given.", (it) => `${textAt(it, "roleRef.kind")}/${textAt(it, "roleRef.name")}`),
  ageColumn,
  wide(column("Users", "Users that have it.", (it) => subjects(it, "User"))),
  wide(column("Groups", "Groups that have it.", (it) => subjects(it, "Group"))),
  wide(column("ServiceAccounts", "Service accounts that have it.", (it) => subjects(it, "ServiceAccount"))),
);

export const clusterPrinters: Readonly<Record<string, Printer>> = {
  PodDisruptionBudget: printer(
    nameColumn,
    column("Min Available", "How many pods must stay.", (it) => orNotApplicable(at(it, "spec.minAvailable"))),
    column("Max Unavailable", "How many pods may go.", (it) => orNotApplicable(at(it, "spec.maxUnavailable"))),
    integerColumn("Allowed Disruptions", "How many pods may go now.", (it) =>
      numberAt(it, "status.disruptionsAllowed"),
    ),
    ageColumn,
  ),
  PriorityClass: printer(
    nameColumn,
    integerColumn("Value", "The priority; more comes first.", (it) => numberAt(it, "value")),
    booleanColumn("Global-Default", "For pods that name no class.", "globalDefault"),
    ageColumn,
    column("PreemptionPolicy", "Whether others are made to go.", text("preemptionPolicy")),
  ),
  APIService: printer(
    nameColumn,
    column("Service", "Which service hosts the API.", serviceOf),
    column("Available", "Whether the API is served.", availability),
    ageColumn,
  ),
  RuntimeClass: printer(nameColumn, column("Handler", "What runs such pods.", text("handler")), ageColumn),
  Lease: printer(nameColumn, column("Holder", "Who has the lease.", text("spec.holderIdentity")), ageColumn),
  RoleBinding: binding,
  ClusterRoleBinding: binding,
  CertificateSigningRequest: printer(
    nameColumn,
    ageColumn,
    column("SignerName", "Who is asked to sign.", text("spec.signerName")),
    column("Requestor", "Who asks.", text("spec.username")),
    column("RequestedDuration", "How long the certificate should last.", (it) => {
      const seconds = at(it, "spec.expirationSeconds");
      return seconds === undefined ? none : humanDuration(seconds as number);
    }),
    column("Condition", "What has been decided.", decision),
  ),
  StorageClass: printer(
    { ...nameColumn, cell: (it) => `${nameOf(it)}${isDefaultClass(it) ? " (default)" : ""}` },
    column("Provisioner", "Who makes the volumes.", text("provisioner")),
    column("ReclaimPolicy", "What becomes of released volumes.", (it) => textAt(it, "reclaimPolicy") || "Delete"),
    column("VolumeBindingMode", "When a volume is bound.", (it) => textAt(it, "volumeBindingMode") || "Immediate"),
    column("AllowVolumeExpansion", "Whether volumes can grow.", (it) => at(it, "allowVolumeExpansion") === true),
    ageColumn,
  ),
  CSINode: printer(
    nameColumn,
    integerColumn("Drivers", "How many drivers the node has.", (it) => sizeAt(it, "spec.drivers")),
    ageColumn,
  ),
  CSIDriver: printer(
    nameColumn,
    booleanColumn("AttachRequired", "Volumes must be attached first.", "spec.attachRequired"),
    booleanColumn("PodInfoOnMount", "The driver is told of the pod.", "spec.podInfoOnMount"),
    booleanColumn("StorageCapacity", "The driver reports capacity.", "spec.storageCapacity"),
    column("TokenRequests", "Tokens that the driver needs.", (it) => {
      const audiences = listAt(it, "spec.tokenRequests").map((request) => textAt(request, "audience"));
      return audiences.length === 0 ? unset : audiences.join(",");
    }),
    booleanColumn("RequiresRepublish", "Volumes are published again and again.", "spec.requiresRepublish"),
    column("Modes", "Kinds of volumes that it has.", (it) =>
      orNone(((at(it, "spec.volumeLifecycleModes") ?? []) as readonly string[]).join(",")),
    ),
    ageColumn,
  ),
  CSIStorageCapacity: printer(
    nameColumn,
    column("StorageClassName", "For which class.", text("storageClassName")),
    column("Capacity", "How much there is.", (it) => textAt(it, "capacity") || unset),
  ),
  VolumeAttachment: printer(
    nameColumn,
    column("Attacher", "Who attaches.", text("spec.attacher")),
    column("PV", "What is attached.", text("spec.source.persistentVolumeName")),
    column("Node", "To where.", text("spec.nodeName")),
    booleanColumn("Attached", "Whether it is done.", "status.attached"),
    ageColumn,
  ),
  EndpointSlice: printer(
    nameColumn,
    column("AddressType", "What the addresses are.", text("addressType")),
    column("Ports", "Ports of each endpoint.", slicePorts),
    column("Endpoints", "Addresses.", (it) => sliceEndpoints(it)),
    ageColumn,
  ),
  MutatingWebhookConfiguration: webhooks,
  ValidatingWebhookConfiguration: webhooks,
  ValidatingAdmissionPolicy: printer(
    nameColumn,
    integerColumn("Validations", "How many rules there are.", (it) => sizeAt(it, "spec.validations")),
    column("ParamKind", "What its parameters are.", (it) => {
      const kind = at(it, "spec.paramKind");
      if (kind === undefined) return unset;
      return `${textAt(kind, "apiVersion")}/${textAt(kind, "kind")}`;
    }),
    ageColumn,
  ),
  ValidatingAdmissionPolicyBinding: printer(
    nameColumn,
    column("PolicyName", "What it puts to use.", text("spec.policyName")),
    column("ParamRef", "Where its parameters are.", (it) => {
      const reference = at(it, "spec.paramRef");
      if (reference === undefined) return unset;
      const namespace = textAt(reference, "namespace");
      const name = textAt(reference, "name") || "*";
      return namespace === "" ? name : `${namespace}/${name}`;
    }),
    ageColumn,
  ),
  Scale: printer(
    nameColumn,
    integerColumn("Desired", "Pods that are wanted.", (it) => numberAt(it, "spec.replicas")),
    integerColumn("Available", "Pods that there are.", (it) => numberAt(it, "status.replicas")),
    ageColumn,
  ),
};

const orNotApplicable = (value: Json | undefined): string => (value === undefined ? "N/A" : String(value as string));

function subjects(object: JsonObject, kind: string): string {
  return listAt(object, "subjects")
    .filter((subject) => subject["kind"] === kind)
    .map((subject) => {
      const name = textAt(subject, "name");
      return kind === "ServiceAccount" ? `${textAt(subject, "namespace")}/${name}` : name;
    })
    .join(", ");
}

function decision(request: JsonObject): string {
  const types = listAt(request, "status.conditions").map((condition) => condition["type"]);
  const decided = types.includes("Denied") ? "Denied" : types.includes("Approved") ? "Approved" : "Pending";
  const failed = types.includes("Failed") ? ",Failed" : "";
  return decided + failed + (textAt(request, "status.certificate") === "" ? "" : ",Issued");
}

const defaultClass = /^storageclass(?:\.beta)?\.[^/]+\/is-default-class$/;

function isDefaultClass(object: JsonObject): boolean {
  return Object.entries(metadataOf(object).annotations ?? {}).some(
    ([key, value]) => defaultClass.test(key) && value === "true",
  );
}

function slicePorts(slice: JsonObject): string {
  const all = listAt(slice, "ports").map((port) => {
    const number = at(port, "port");
    return number === undefined ? "*" : String(number as number);
  });
  return all.length === 0 ? unset : firstFew(all);
}

function sliceEndpoints(slice: JsonObject): string {
  const all = listAt(slice, "endpoints").flatMap((one) => (at(one, "addresses") ?? []) as readonly string[]);
  return all.length === 0 ? unset : firstFew(all);
}

/** `namespace/name`, or that the server itself is it. */
function serviceOf(it: JsonObject): string {
  const name = textAt(it, "spec.service.name");
  return name === "" ? "Local" : `${textAt(it, "spec.service.namespace")}/${name}`;
}

function availability(it: JsonObject): string {
  const available = listAt(it, "status.conditions").find(({ type }) => type === "Available");
  if (available === undefined) return "Unknown";
  const { status, reason } = available;
  return status === "True" ? "True" : `${String(status)} (${String(reason)})`;
}
