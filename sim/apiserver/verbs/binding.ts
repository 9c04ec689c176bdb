/**
 * `pods/x/binding`, and `bindings` for a pod that the body names: a scheduler says on which node a pod runs.
 * Source: recorded answers; the facts, section 4.
 */
import type { SubresourceRow } from "../../../wire/resources.ts";
import { badRequest, conflict, invalid, notFound } from "../../contract/errors.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { orderMetadata } from "../../objects/system-fields.ts";
import { type Draft, metadataOf, ownChild, ownMetadata, type Target } from "../../contract/objects.ts";
import { offerOf } from "../answers/negotiate.ts";
import type { Run } from "../requests/run.ts";
import { respondObject } from "../answers/respond.ts";
import type { ServedResource } from "../catalogue/served-resource.ts";
import { decodeBody } from "./body.ts";
import { requireBodySize } from "../requests/body-size.ts";
import { writeOptions } from "./options.ts";
import { admitted, settleNamespace } from "./steps.ts";
import type { SubresourceCall, VirtualCall } from "./resource-calls.ts";
import type { Live, Writer } from "./writer.ts";

/** What a subresource without an object of its own answers. */
export const createdStatus: JsonObject = {
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Success",
  code: 201,
};

export function bind({ run, resource, writer }: SubresourceCall): void {
  assign(run, writer, resource, subresourceTarget(run, resource));
}

export function bindNamed({ run, resource, writer }: VirtualCall): void {
  assign(run, writer, writer.resources.named("", "v1", "pods"), resource.target);
}

/** `target` is the type of the body. */
function assign(run: Run, writer: Writer, resource: ServedResource, target: Target): void {
  const { context } = writer;
  const { namespace, name: nameOfPath } = run.resourcePlace;
  context.negotiator.negotiate(run.request.headers["accept"], offerOf(run));
  requireBodySize(run);
  const options = writeOptions(context, "CreateOptions", run.query);
  const body = decodeBody(context, run, { target }, options.fieldValidation);
  settleNamespace(body, namespace);
  if (nameOfPath !== "") requireNameOfPath(body, nameOfPath);
  const { name = "" } = metadataOf(body);
  if (name === "") throw badRequest("Name parameter required.");
  const admission = { operation: "CREATE", namespace, name, object: body, oldObject: undefined, options } as const;
  admitted(writer, run, admission, (binding) => {
    const { uid = "", resourceVersion = "" } = metadataOf(binding);
    const node = nodeOf(binding, name);
    for (;;) {
      const live = writer.live(resource, namespace, name);
      if (live === undefined) throw notFound(resource.name, name);
      requireSame(live, { UID: uid, ResourceVersion: resourceVersion }, resource);
      const draft = boundPod(live.object, node, binding, resource, writer.times.now());
      if (writer.replace(resource, live, draft, options.dryRun) !== undefined) break;
    }
    respondObject(context, run, 201, createdStatus);
  });
}

/** A body that is posted to a path below an object names that object. Throws 400. */
export function requireNameOfPath(body: Draft, name: string): void {
  if ((metadataOf(body).name ?? "") === name) return;
  throw badRequest(`name in URL does not match name in ${String(body["kind"])} object`);
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

/** The type that the body of a request for a subresource has. */
export function subresourceTarget(run: SubresourceCall["run"], resource: ServedResource): Target {
  const { subresource } = run.resourcePlace;
  return bodyTarget(subresource as NonNullable<typeof subresource>, resource);
}

export function bodyTarget({ kind, group, version, type }: SubresourceRow, { target }: ServedResource): Target {
  return { kind, group, version, type: type as NonNullable<typeof type>, dialect: target.dialect };
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
  const { nodeName: present = "", schedulingGates = [] } = (pod["spec"] ?? {}) as JsonObject;
  if (present !== "") throw conflict(subject, name, `pod ${name} is already assigned to node "${String(present)}"`);
  if ((schedulingGates as readonly Json[]).length > 0) {
    throw conflict(subject, name, `pod ${name} has non-empty .spec.schedulingGates`);
  }
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
  const list = (conditions ?? []) as readonly JsonObject[];
  const scheduled = { type: "PodScheduled", status: "True", lastProbeTime: null, lastTransitionTime: now };
  const at = list.findIndex(({ type }) => type === scheduled.type);
  if (at < 0) return [...list, scheduled];
  const { status, lastTransitionTime = now } = list[at] as JsonObject;
  const since = status === scheduled.status ? lastTransitionTime : now;
  return list.map((each, index) => (index === at ? { ...scheduled, lastTransitionTime: since } : each));
}
