/** `pods/x/binding`: a scheduler says on which node a pod runs. Source: recorded answers; the facts, section 4. */
import { conflict, invalid, notFound } from "../errors.ts";
import type { Json, JsonObject } from "../http-message.ts";
import { orderMetadata } from "../objects/system-fields.ts";
import { type Draft, isObject, metadataOf, ownChild, ownMetadata, type Target } from "../objects/types.ts";
import { offerOf } from "../pipeline/negotiate.ts";
import { respondObject } from "../pipeline/respond.ts";
import type { ServedResource } from "../served-resources.ts";
import { decodeBody, requireBodySize } from "./body.ts";
import { writeOptions } from "./options.ts";
import { requireName, settleNamespace } from "./steps.ts";
import type { SubresourceCall } from "./subresources.ts";
import type { Live } from "./writer.ts";

/** What a subresource without an object of its own answers. */
export const createdStatus: JsonObject = {
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Success",
  code: 201,
};

export function bind({ run, resource, writer }: SubresourceCall): void {
  const { context } = writer;
  const { namespace, name } = run.resourcePlace;
  context.negotiator.negotiate(run.request.headers["accept"], offerOf(run));
  requireBodySize(run);
  const options = writeOptions(context, "CreateOptions", run.query);
  const body = decodeBody(context, run, { target: subresourceTarget(run, resource) }, options.fieldValidation);
  settleNamespace(body, namespace);
  requireName(body, name);
  const { uid = "", resourceVersion = "" } = context.faults["binding-wipes-uid-precondition"] ? {} : metadataOf(body);
  const node = nodeOf(body, name);
  for (;;) {
    const live = writer.live(resource, namespace, name);
    if (live === undefined) throw notFound(resource.name, name);
    requireSame(live, { UID: uid, ResourceVersion: resourceVersion }, resource);
    const draft = boundPod(live.object, node, body, resource, writer.times.now());
    if (writer.replace(resource, live, draft, options.dryRun) !== undefined) break;
  }
  respondObject(context, run, 201, createdStatus);
}

/** A binding may say which pod it is for. Source: the published registry of pods. */
function requireSame(
  { key, object }: Live,
  wanted: { readonly UID: string; readonly ResourceVersion: string },
  resource: ServedResource,
): void {
  const { uid, resourceVersion, name = "" } = metadataOf(object);
  const found = { UID: uid, ResourceVersion: resourceVersion };
  for (const label of ["UID", "ResourceVersion"] as const) {
    if (wanted[label] === "" || wanted[label] === found[label]) continue;
    const why = `Precondition failed: ${label} in precondition: ${wanted[label]}, ${label} in object meta: ${found[label]}`;
    const detail = `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${why}`;
    throw conflict(resource.name, name, detail);
  }
}

/** The type that a subresource's own body has. */
export function subresourceTarget(run: SubresourceCall["run"], resource: ServedResource): Target {
  const { subresource } = run.resourcePlace;
  const { dialect } = resource.target;
  const { kind, group, version, type } = subresource as NonNullable<typeof subresource>;
  return { kind, group, version, type: type as NonNullable<typeof type>, dialect };
}

function nodeOf(binding: Draft, name: string): string {
  const target = (binding["target"] ?? {}) as JsonObject;
  const kind = (target["kind"] ?? "") as string;
  const node = (target["name"] ?? "") as string;
  const causes = [];
  if (kind !== "" && kind !== "Node") {
    const message = `Unsupported value: ${JSON.stringify(kind)}: supported values: "Node", "<empty>"`;
    causes.push({ reason: "FieldValueNotSupported", message, field: "target.kind" });
  }
  if (node === "") causes.push({ reason: "FieldValueRequired", message: "Required value", field: "target.name" });
  if (causes.length > 0) throw invalid("Binding", "", name, causes);
  return node;
}

function boundPod(pod: JsonObject, node: string, binding: Draft, resource: ServedResource, now: string): Draft {
  const { name = "", deletionTimestamp } = metadataOf(pod);
  const subject = { group: resource.group, resource: "pods/binding" };
  if (deletionTimestamp !== undefined) {
    throw conflict(subject, name, `pod ${name} is being deleted, cannot be assigned to a host`);
  }
  const present = (pod["spec"] as JsonObject | undefined)?.["nodeName"] ?? "";
  if (present !== "") throw conflict(subject, name, `pod ${name} is already assigned to node "${String(present)}"`);
  const draft: Draft = { ...pod };
  ownChild(draft, "spec")["nodeName"] = node;
  const { annotations } = metadataOf(binding);
  if (annotations !== undefined) {
    const metadata = ownMetadata(draft);
    metadata.annotations = { ...metadata.annotations, ...annotations };
    orderMetadata(draft);
  }
  const status = ownChild(draft, "status");
  status["conditions"] = withCondition(status["conditions"], now);
  return draft;
}

/** The pod is scheduled from now on. */
function withCondition(conditions: Json | undefined, now: string): Json {
  const others = Array.isArray(conditions)
    ? (conditions as readonly Json[]).filter((each) => !isObject(each) || each["type"] !== "PodScheduled")
    : [];
  return [...others, { type: "PodScheduled", status: "True", lastProbeTime: null, lastTransitionTime: now }];
}
