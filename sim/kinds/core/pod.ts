/**
 * Pods. Source: recorded answers (04, 05, 06); the published rule of what an update of a pod may change.
 */
import type { Dialect } from "../../../wire/dialect.ts";
import type { Cause } from "../../contract/errors.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { askedOnce } from "../../expressions/pace.ts";
import { forbiddenField } from "../../objects/causes.ts";
import { type Draft, metadataOf, ownChild, ownMetadata } from "../../contract/objects.ts";
import { listOf, specToDefault } from "../shared/fields.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import { Recent } from "../../objects/recent.ts";
import type { Place } from "../../objects/place.ts";
import { each, fieldRules, fields, forbidden, struct, unlessEmpty, whenNew } from "../../objects/rules.ts";
import { podImage } from "./pods/containers.ts";
import { ephemeralStepCauses } from "./pods/ephemeral.ts";
import { qosClass } from "./pods/qos.ts";
import { resizeCauses } from "./pods/resize.ts";
import { podStatusRules } from "./pods/status.ts";
import { podUpdateCauses } from "./pods/update.ts";
import { eachItem, judgePodSpec, podSpecDefaults } from "./pod-template.ts";
import type { KindRow } from "../kind-row.ts";
import { plainFields, flagAt, nameAndNamespace } from "../shared/field-labels.ts";
import { setKey } from "../../objects/walker.ts";
import { isSorted } from "../../objects/sorted-steps.ts";
import { podPrinter } from "./pod-columns.ts";
import { hiddenInNewPod } from "./pods/hidden-variables.ts";
import { podQuota } from "./pods/quota.ts";

export const podRules: KindRules = {
  warnings: hiddenInNewPod,
  defaults(draft) {
    const spec = specToDefault(draft, "restartPolicy");
    if (spec === undefined) return;
    podSpecDefaults(spec);
    spec["enableServiceLinks"] ??= true;
    for (const field of ["containers", "initContainers"]) {
      eachItem(spec, field, requestDefaults);
      if (spec["hostNetwork"] === true) eachItem(spec, field, hostPortDefaults);
    }
  },
  prepareForCreate(draft, dialect) {
    admit(draft, dialect);
    draft["status"] = { phase: "Pending", qosClass: qosClass(draft["spec"] as JsonObject) };
  },
  prepareForUpdate(draft, live, subresource, dialect) {
    if (subresource === "ephemeralcontainers" || subresource === "resize") {
      keepAllBut(draft, live, subresource);
      return;
    }
    if (subresource === "status") keepQosClass(draft, live);
    if (subresource !== "") return;
    const before = (live["spec"] ?? {}) as JsonObject;
    const { priority, preemptionPolicy } = draft["spec"] as JsonObject;
    if (priority === undefined && before["priority"] !== undefined)
      ownChild(draft, "spec")["priority"] = before["priority"];
    if (preemptionPolicy === undefined && before["preemptionPolicy"] !== undefined) {
      ownChild(draft, "spec")["preemptionPolicy"] = before["preemptionPolicy"];
    }
    addTolerations(draft, dialect);
  },
  validate: (object, ...more) => judgePod(object, ...more),
  validateUpdate(object, live, causes, subresource) {
    if (subresource === "ephemeralcontainers") ephemeralStepCauses(object, live, causes);
    else if (subresource === "resize") resizeCauses(object, live, causes);
    else {
      mirrorCauses(object, live, causes);
      podUpdateCauses((object["spec"] ?? {}) as JsonObject, (live["spec"] ?? {}) as JsonObject, causes);
    }
  },
  validateStatus: podStatusRules,
};

/** Stored specs that were found fit, for a pod of any name: those of one template, and every change of a status, bring them again. */
const fitSpecs = new Recent<JsonObject, true>(8192);

function podSpecUnlessFit(pod: JsonObject, at: Place): void {
  const spec = (pod["spec"] ?? {}) as JsonObject;
  if (askedOnce(() => fitSpecs.get(spec)) === true) return;
  const countBefore = at.causes.length;
  at.enter("spec");
  judgePodSpec(spec, at, metadataOf(pod).name ?? "");
  if ((spec["serviceAccountName"] ?? "") === "") nobodysTokens.judge(spec as never, at);
  if (podImages.holds?.(spec as never) !== true) podImages.judge(spec as never, at);
  at.leave();
  const isFit = at.causes.length === countBefore;
  if (isFit && Object.isFrozen(spec) && !namesClaims(spec)) fitSpecs.set(spec, true);
}

/** Tokens are somebody's. */
const nobodysToken = forbidden("must not be specified when serviceAccountName is not set");
const tokenSource = struct({ serviceAccountToken: nobodysToken });
const nobodysTokens = struct({ volumes: each(struct({ "projected.sources": each(tokenSource) })) });

const podImages = struct(fields(["containers", "initContainers"], each(podImage)));

/** Claims that are made for a pod have its name in theirs. */
const namesClaims = (spec: JsonObject): boolean =>
  listOf(spec, "volumes").some(({ ephemeral }) => ephemeral !== undefined);

/** Whoever writes a status without the class means no other: it was given at creation, for good. */
function keepQosClass(draft: Draft, live: JsonObject): void {
  const given = (live["status"] as JsonObject | undefined)?.["qosClass"];
  const status = draft["status"] as JsonObject | undefined;
  if (given !== undefined && (status?.["qosClass"] ?? "") === "") ownChild(draft, "status")["qosClass"] = given;
}

/** Each of these two subresources writes one part of the spec, and of containers. */
function keepAllBut(draft: Draft, live: JsonObject, subresource: string): void {
  const sent = (draft["spec"] ?? {}) as JsonObject;
  const before = (live["spec"] ?? {}) as JsonObject;
  const own = ownMetadata(draft);
  const kept = metadataOf(live);
  for (const field of keptMetadata) {
    if (kept[field] === undefined) delete own[field];
    else Object.assign(own, { [field]: kept[field] });
  }
  if (subresource === "resize") draft["spec"] = resized(sent, before);
  else {
    const { ephemeralContainers: _, ...rest } = before;
    const given = sent["ephemeralContainers"];
    draft["spec"] = (given === undefined ? rest : { ...rest, ephemeralContainers: given }) as JsonObject;
  }
}

const keptMetadata = ["labels", "annotations", "finalizers", "ownerReferences"] as const;

/** The pod as it was, with what the containers of the same names ask for now. */
function resized(sent: JsonObject, before: JsonObject): JsonObject {
  const spec: Record<string, Json> = { ...before };
  for (const field of ["containers", "initContainers"]) {
    if (before[field] === undefined) continue;
    const wanted = new Map(listOf(sent, field).map((container) => [container["name"], container]));
    spec[field] = listOf(before, field).map((container) => {
      const named = wanted.get(container["name"]);
      if (named === undefined) return container;
      const { resizePolicy: _, ...rest } = container;
      const resources = named["resources"] ?? {};
      const policy = named["resizePolicy"];
      return (
        policy === undefined ? { ...rest, resources } : { ...rest, resources, resizePolicy: policy }
      ) as JsonObject;
    });
  }
  return spec;
}

/** In the node's network a container's port is the node's. */
function hostPortDefaults(container: Draft): void {
  eachItem(container, "ports", (port) => {
    if ((port["hostPort"] ?? 0) === 0 && port["containerPort"] !== undefined) port["hostPort"] = port["containerPort"];
  });
}

/** A resource that is limited but not requested is requested to its limit. */
function requestDefaults(container: Draft): void {
  const resources = container["resources"] as JsonObject | undefined;
  const limits = resources?.["limits"] as JsonObject | undefined;
  if (limits === undefined) return;
  const requests = (resources?.["requests"] ?? {}) as JsonObject;
  const added = Object.keys(limits).filter((name) => !Object.hasOwn(requests, name));
  if (added.length === 0) return;
  const names = [...Object.keys(requests), ...added];
  if (!isSorted(names)) names.sort();
  // Key by key: all at once, an object of a shape that was never seen takes ten times as long.
  const merged: Record<string, Json> = {};
  for (const name of names) setKey(merged, name, (Object.hasOwn(requests, name) ? requests : limits)[name] as Json);
  ownChild(container, "resources")["requests"] = merged;
}

/** What the observed server's admission adds to every pod, after managed fields were computed: nobody owns these. */
function admit(draft: Draft, dialect: Dialect): void {
  addTolerations(draft, dialect);
  const spec = ownChild(draft, "spec");
  spec["priority"] ??= 0;
  spec["preemptionPolicy"] ??= "PreemptLowerPriority";
}

/** A pod stays for five minutes on a node that has gone, unless it says otherwise. */
function addTolerations(draft: Draft, dialect: Dialect): void {
  const spec = (draft["spec"] ?? {}) as JsonObject;
  const tolerations = (spec["tolerations"] ?? []) as readonly JsonObject[];
  const added = usualTolerations(dialect).filter(
    ({ key }) => !tolerations.some((toleration) => tolerates(toleration, key as string)),
  );
  if (added.length > 0) ownChild(draft, "spec")["tolerations"] = [...tolerations, ...added];
}

const knownTolerations = new WeakMap<Dialect, readonly JsonObject[]>();

function usualTolerations(dialect: Dialect): readonly JsonObject[] {
  let usual = knownTolerations.get(dialect);
  if (usual === undefined) {
    usual = ["not-ready", "unreachable"].map((name) => {
      const key = `node.${dialect.labelSuffix}/${name}`;
      return Object.freeze({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 });
    });
    knownTolerations.set(dialect, usual);
  }
  return usual;
}

function tolerates(toleration: JsonObject, key: string): boolean {
  const { effect, key: own } = toleration;
  return (own === key || own === undefined) && (effect === "NoExecute" || effect === undefined);
}

const mirrors = ["svc.io/config.mirror", "kubernetes.io/config.mirror"];
const deletionCosts = ["controller.svc.io/pod-deletion-cost", "controller.kubernetes.io/pod-deletion-cost"];
const int32Form = /^(?:0|-?[1-9]\d{0,9})$/;

/** Annotations that mean something to the real server. */
function podAnnotations(pod: JsonObject, at: Place): void {
  const { annotations } = metadataOf(pod);
  if (annotations === undefined) return;
  const { nodeName = "" } = (pod["spec"] ?? {}) as JsonObject;
  const told = (name: string, detail: string): void =>
    at.of("metadata", "annotations", [name]).invalid(annotations[name], detail);
  for (const mirror of mirrors) {
    if (annotations[mirror] === undefined || nodeName !== "") continue;
    told(mirror, "must set spec.nodeName if mirror pod annotation is set");
  }
  for (const name of deletionCosts) {
    const cost = annotations[name];
    if (cost === undefined || (int32Form.test(cost) && Number(cost) === (Number(cost) | 0))) continue;
    told(name, "must be a 32bit integer");
  }
}

/** A pod that stands for one of the node's own says so from the beginning to the end. */
function mirrorCauses(object: JsonObject, live: JsonObject, causes: Cause[]): void {
  for (const mirror of mirrors) {
    const [after, before] = [metadataOf(object).annotations?.[mirror], metadataOf(live).annotations?.[mirror]];
    if (after === before) continue;
    const what = before === undefined ? "add" : "remove or update";
    causes.push(forbiddenField(`metadata.annotations[${mirror}]`, `may not ${what} mirror pod annotation`));
  }
}

/** What can only come to a pod later. */
const newPodSpec = whenNew(
  struct({ ephemeralContainers: unlessEmpty(forbidden("cannot be set on create")) }, (spec: JsonObject, at) => {
    if ((spec["nodeName"] ?? "") === "" || listOf(spec, "schedulingGates").length === 0) return;
    at.of("nodeName").forbidden("cannot be set until all schedulingGates have been cleared");
  }),
);

const judgePod = fieldRules(podAnnotations, podSpecUnlessFit, { spec: newPodSpec });

export const podKind: KindRow = {
  resource: "/pods",
  quota: podQuota,
  usesGeneration: true,
  graceful: true,
  returnsDeleted: true,
  statusLocks: ["ownerReferences"],
  rules: podRules,
  columns: podPrinter,
  fieldLabels: [
    ...plainFields("spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName"),
    ["spec.hostNetwork", flagAt("spec", "hostNetwork")],
    ...plainFields("status.phase", "status.podIP", "status.nominatedNodeName"),
    ["status.podIPs", () => ""], // may be named, but is never filled
    ...nameAndNamespace,
  ],
};
