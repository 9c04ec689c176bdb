/**
 * The scale subresource: how many replicas a workload wants and has, in a shape that all workloads share. A write goes
 * to the scale, with owners of its own for `spec.replicas`, and from there into the workload.
 */
import { structOfKind } from "../../../wire/schema.ts";
import { invariant } from "../../kernel/invariant.ts";
import { valueOf } from "../catalogue/custom-resource.ts";
import type { ScalePaths } from "../../kinds/custom/definition.ts";
import { fieldNames } from "../../kinds/custom/json-path.ts";
import { ApiError, badRequest, conflict, invalid, notFound } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { scaleEntries, workloadEntries } from "../../objects/apply/scale-fields.ts";
import { invalidValue } from "../../objects/causes.ts";
import { decodePatched } from "../../objects/decode-patch.ts";
import { managerName, type Tracked, trackManagedFields } from "../../objects/managed-fields.ts";
import { seal } from "../../objects/seal.ts";
import { type Draft, metadataOf, ownChild, ownMetadata, type Target } from "../../contract/objects.ts";
import { offerOf } from "../answers/negotiate.ts";
import { respondObject } from "../answers/respond.ts";
import type { ServedResource } from "../catalogue/served-resource.ts";
import { selectorText } from "../../objects/selector-text.ts";
import { applied, isApply, lateConfiguration } from "./apply.ts";
import { decodeBody, warn } from "./body.ts";
import { requireBodySize } from "../requests/body-size.ts";
import { applyPatchOptions, writeOptions, type WriteOptions } from "./options.ts";
import { patchReader } from "./patch.ts";
import { admitted, requireName, settleNamespace } from "./steps.ts";
import type { SubresourceCall } from "./resource-calls.ts";
import { change } from "./update.ts";
import type { Live } from "./writer.ts";

const apiVersion = "autoscaling/v1";
const subresource = "scale";

const scaleType = structOfKind(apiVersion, "Scale");
invariant(scaleType !== undefined, "the type table has Scale");
const type = scaleType;

const trackedFields: Tracked = { type, hasStatus: false, statusLocks: [] };

const scaleTarget = ({ dialect }: Target): Target => ({
  kind: "Scale",
  group: "autoscaling",
  version: "v1",
  type,
  dialect,
});

export function scale(call: SubresourceCall): void {
  if (call.verb === "get") {
    call.reads.get(call.run, call.resource, (object) => scaleOf(object, call.resource));
    return;
  }
  const { writer, run, resource } = call;
  const { context } = writer;
  context.negotiator.negotiate(run.request.headers["accept"], offerOf(run));
  requireBodySize(run);
  const { options, wanted } = request(call);
  const { namespace, name } = run.resourcePlace;

  const attempt = (): void => {
    const live = writer.live(resource, namespace, name);
    if (live === undefined) throw notFound(resource.name, name);
    const asked = wanted(live, trackedScale(live, resource));
    settleNamespace(asked, namespace);
    requireName(asked, name);
    const oldObject = scaleOf(live.object, resource, unset);
    const admission = { operation: "UPDATE", namespace, name, object: asked, oldObject, options } as const;
    admitted(writer, run, admission, (object) => store(live, object));
  };
  const store = (live: Live, asked: Draft): void => {
    requireValid(resource, live, asked);
    const draft = scaled(resource, live, asked);
    const conditional = (metadataOf(asked).resourceVersion ?? "") !== "";
    const write = { resource, subresource, live, draft, options, conditional, owned: true, isAdmitted: true };
    change(writer, run, write, (stored) => {
      if (stored === undefined) attempt();
      else respondObject(context, run, 200, scaleOf(stored, resource));
    });
  };
  attempt();
}

interface ScaleRequest {
  readonly options: WriteOptions;
  /** What the request makes of the present scale, owners included. */
  readonly wanted: (live: Live, scale: JsonObject) => Draft;
}

function request(call: SubresourceCall): ScaleRequest {
  if (call.verb !== "patch") return sent(call);
  return isApply(call.run) ? appliedScale(call) : patched(call);
}

function sent(call: SubresourceCall): ScaleRequest {
  const { writer, run, resource } = call;
  const options = writeOptions(writer.context, "UpdateOptions", run.query);
  const target = scaleTarget(resource.target);
  const body = seal(decodeBody(writer.context, run, { target }, options.fieldValidation));
  return { options, wanted: (_, scale) => track(call, { ...body }, scale, options) };
}

function patched(call: SubresourceCall): ScaleRequest {
  const { writer, run, resource } = call;
  const options = writeOptions(writer.context, "PatchOptions", run.query);
  const target = scaleTarget(resource.target);
  const read = patchReader(run, type, writer.context);
  const decoding = { level: options.fieldValidation, strictStatus: writer.context.profile.strictPatchStatus };
  const wanted = (_: Live, scale: JsonObject): Draft => {
    const { draft, warnings } = decodePatched(read(), scale, target, decoding);
    warn(run, warnings);
    return track(call, draft, scale, options);
  };
  return { options, wanted };
}

function appliedScale({ writer, run, resource }: SubresourceCall): ScaleRequest {
  const options = applyPatchOptions(writer.context, run.query);
  const configuration = lateConfiguration(run);
  const target = scaleTarget(resource.target);
  const place = { target, strategy: trackedFields, apiVersion, subresource, options };
  return { options, wanted: (_, scale) => applied(writer, run, scale, configuration(), place) };
}

function track({ writer, run }: SubresourceCall, draft: Draft, scale: JsonObject, options: WriteOptions): Draft {
  trackManagedFields(draft, scale, trackedFields, {
    manager: managerName(options.fieldManager, run.request.headers["user-agent"]),
    apiVersion,
    subresource,
    now: writer.times.now(),
  });
  return draft;
}

/** The present scale with the owners of its replicas, as the writes to it see it. */
function trackedScale(live: Live, resource: ServedResource): JsonObject {
  const scale = scaleOf(live.object, resource, unset);
  const managedFields = scaleEntries(metadataOf(live.object).managedFields ?? [], apiVersion);
  return seal({ ...scale, metadata: { ...(scale["metadata"] as JsonObject), managedFields } } as unknown as JsonObject);
}

/** Replicas of a custom resource that has none yet, as a write to its scale sees it: nobody asks for as many. */
const unset = -2_147_483_648;

/** Throws 400 for no count, 409 for another object's uid and 422 for a negative count. */
function requireValid(resource: ServedResource, live: Live, asked: Draft): void {
  const { name = "", uid = "" } = metadataOf(live.object);
  const { uid: sent = "" } = metadataOf(asked);
  const replicas = replicasOf(asked);
  const path = resource.custom?.scale?.specReplicasPath;
  if (path !== undefined && replicas === unset) throw badRequest(`the spec replicas field "${path}" cannot be empty`);
  if (replicas < 0) {
    const cause = invalidValue("spec.replicas", replicas, "must be greater than or equal to 0");
    throw invalid("Scale", "autoscaling", name, [cause]);
  }
  if (sent !== "" && sent !== uid) {
    throw conflict(
      resource.name,
      name,
      `Precondition failed: UID in precondition: ${sent}, UID in object meta: ${uid}`,
    );
  }
}

/** The workload as its scale wants it. */
function scaled(resource: ServedResource, live: Live, asked: Draft): Draft {
  const draft: Draft = { ...live.object };
  const path = fieldNames(resource.custom?.scale?.specReplicasPath ?? ".spec.replicas") as readonly string[];
  const holder = path.slice(0, -1).reduce<Draft>((parent, field) => ownChild(parent, field), draft);
  holder[path.at(-1) as string] = replicasOf(asked);
  const metadata = ownMetadata(draft);
  const { resourceVersion, managedFields = [] } = metadataOf(asked);
  if (resourceVersion !== undefined) metadata.resourceVersion = resourceVersion;
  const owners = workloadEntries(metadata.managedFields ?? [], managedFields, resource.apiVersion);
  if (owners.length === 0) delete metadata.managedFields;
  else metadata.managedFields = owners;
  return draft;
}

const replicasOf = (scale: Draft): number =>
  ((scale["spec"] as JsonObject | undefined)?.["replicas"] as number | undefined) ?? 0;

/**
 * The scale of a workload. A custom resource that does not say how many it wants has `absent`; without that, the
 * observed 500 is thrown.
 */
function scaleOf(workload: JsonObject, resource: ServedResource, absent?: number): JsonObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadataOf(workload);
  const { wanted, found, selector } =
    resource.custom?.scale === undefined ? countsOf(workload) : customCounts(workload, resource.custom.scale, absent);
  const metadata = { name, namespace, uid, resourceVersion, creationTimestamp };
  return seal({
    kind: "Scale",
    apiVersion,
    metadata: Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== undefined)) as JsonObject,
    spec: wanted === 0 ? {} : { replicas: wanted },
    status: { replicas: found, ...(selector === "" ? {} : { selector }) },
  });
}

interface Counts {
  readonly wanted: number;
  readonly found: number;
  readonly selector: string;
}

function countsOf(workload: JsonObject): Counts {
  const spec = (workload["spec"] ?? {}) as JsonObject;
  const status = (workload["status"] ?? {}) as JsonObject;
  return {
    wanted: (spec["replicas"] ?? 1) as number,
    found: (status["replicas"] ?? 0) as number,
    selector: selectorText((spec["selector"] ?? {}) as JsonObject),
  };
}

function customCounts(object: JsonObject, paths: ScalePaths, absent: number | undefined): Counts {
  const { specReplicasPath, statusReplicasPath, labelSelectorPath } = paths;
  const wanted = valueOf(object, specReplicasPath) ?? absent;
  if (typeof wanted !== "number") {
    const text = `the spec replicas field "${specReplicasPath}" does not exist`;
    throw new ApiError(500, "InternalError", `Internal error occurred: ${text}`, { causes: [{ message: text }] });
  }
  const found = valueOf(object, statusReplicasPath);
  const selector = labelSelectorPath === "" ? "" : valueOf(object, labelSelectorPath);
  return {
    wanted,
    found: typeof found === "number" ? found : 0,
    selector: typeof selector === "string" ? selector : "",
  };
}
