/**
 * The spec of a pod, where it stands by itself and inside a template: defaults and validation.
 * Source: recorded bodies of pods and deployments; the published defaults and validation. What its parts must be is
 * judged in `pods/`.
 */
import { askedOnce } from "../../expressions/pace.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { type Draft, isObject, ownChild, ownItem, ownList } from "../../contract/objects.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import type { Check, Place } from "../../objects/place.ts";
import {
  always,
  between,
  called,
  distinct,
  each,
  fieldRules,
  fields,
  firstOf,
  oneOf,
  required,
  struct,
  unlessEmpty,
  whenGiven,
} from "../../objects/rules.ts";
import { selectorText } from "../../objects/selector-text.ts";
import type { KindRow } from "../kind-row.ts";
import { templateColumns } from "../shared/columns.ts";
import { fill } from "../shared/fields.ts";
import { annotations, label, labels, subdomain } from "../shared/formats.ts";
import { printer, nameColumn, type FilledColumn, column, orNone, mapAt } from "../shared/printer.ts";
import { containers } from "./pods/containers.ts";
import { dnsOfPod, hostAlias } from "./pods/dns.ts";
import { ephemeralContainers } from "./pods/ephemeral.ts";
import { hiddenVariablesAt } from "./pods/hidden-variables.ts";
import { operatingSystem } from "./pods/operating-system.ts";
import { portsOfNode } from "./pods/ports.ts";
import { probeFields } from "./pods/probes.ts";
import { resources } from "./pods/resources.ts";
import { affinity, readinessGate, schedulingGate, spreadConstraints, toleration } from "./pods/scheduling.ts";
import { type PodScope, scopeOf } from "./pods/scope.ts";
import { ownUsers, podContext } from "./pods/security.ts";
import { volumes } from "./pods/volumes.ts";

/** Defaults of the pod template under `key`. */
export function templateDefaults(draft: Draft, key: string): void {
  if (isObject(draft[key])) podSpecDefaults(ownChild(ownChild(draft, key), "spec"));
}

export function podSpecDefaults(spec: Draft): void {
  fill(spec, "restartPolicy", "Always");
  spec["terminationGracePeriodSeconds"] ??= 30;
  fill(spec, "dnsPolicy", "ClusterFirst");
  spec["securityContext"] ??= {};
  fill(spec, "schedulerName", "default-scheduler");
  if (spec["serviceAccountName"] !== undefined) spec["serviceAccount"] = spec["serviceAccountName"];
  else if (spec["serviceAccount"] !== undefined) spec["serviceAccountName"] = spec["serviceAccount"];
  for (const field of containerLists) eachItem(spec, field, containerDefaults);
  eachItem(spec, "volumes", volumeDefaults);
}

const containerLists = ["initContainers", "containers", "ephemeralContainers"] as const;

/** Calls `visit` with each element, ready for writing; frozen lists hold defaulted elements and are passed over. */
export function eachItem(parent: Draft, field: string, visit: (item: Draft) => void): void {
  if (parent[field] === undefined || Object.isFrozen(parent[field])) return;
  const list = ownList(parent, field);
  if (list === undefined) return;
  for (let at = 0; at < list.length; at++) if (!Object.isFrozen(list[at])) visit(ownItem(list, at));
}

function containerDefaults(container: Draft): void {
  fill(container, "terminationMessagePath", "/dev/termination-log");
  fill(container, "terminationMessagePolicy", "File");
  fill(container, "imagePullPolicy", pullPolicy((container["image"] as string | undefined) ?? ""));
  for (const probe of probeFields) if (isObject(container[probe])) probeDefaults(container, probe);
  const { lifecycle } = container;
  if (isObject(lifecycle)) {
    for (const hook of ["postStart", "preStop"])
      if (isObject(lifecycle[hook])) httpGetDefaults(ownChild(container, "lifecycle"), hook);
  }
  eachItem(container, "env", envDefaults);
}

/** A tag that may move is pulled each time. */
function pullPolicy(image: string): string {
  if (image.includes("@")) return "IfNotPresent";
  const tag = image.slice(image.lastIndexOf("/") + 1).split(":")[1];
  return tag === undefined || tag === "" || tag === "latest" ? "Always" : "IfNotPresent";
}

function probeDefaults(container: Draft, field: string): void {
  const probe = ownChild(container, field);
  fill(probe, "timeoutSeconds", 1);
  fill(probe, "periodSeconds", 10);
  fill(probe, "successThreshold", 1);
  fill(probe, "failureThreshold", 3);
  if (isObject(probe["grpc"])) ownChild(probe, "grpc")["service"] ??= "";
  httpGetDefaults(container, field);
}

function httpGetDefaults(parent: Draft, field: string): void {
  const action = ownChild(parent, field);
  if (!isObject(action["httpGet"])) return;
  const httpGet = ownChild(action, "httpGet");
  fill(httpGet, "path", "/");
  fill(httpGet, "scheme", "HTTP");
}

function envDefaults(variable: Draft): void {
  const source = variable["valueFrom"];
  if (isObject(source) && isObject(source["fieldRef"])) fieldRefDefaults(ownChild(variable, "valueFrom"));
}

function fieldRefDefaults(parent: Draft): void {
  if (isObject(parent["fieldRef"])) fill(ownChild(parent, "fieldRef"), "apiVersion", "v1");
}

const fileMode = 0o644;

function volumeDefaults(volume: Draft): void {
  let sourceCount = 0;
  for (const key of Object.keys(volume)) if (key !== "name") sourceCount++;
  if (sourceCount === 0) volume["emptyDir"] = {};
  for (const source of ["secret", "configMap", "downwardAPI", "projected"]) {
    if (isObject(volume[source])) ownChild(volume, source)["defaultMode"] ??= fileMode;
  }
  if (isObject(volume["hostPath"])) ownChild(volume, "hostPath")["type"] ??= "";
  if (isObject(volume["downwardAPI"])) eachItem(ownChild(volume, "downwardAPI"), "items", fieldRefDefaults);
  const claim = isObject(volume["ephemeral"]) ? volume["ephemeral"]["volumeClaimTemplate"] : undefined;
  if (isObject(claim) && isObject(claim["spec"])) {
    const template = ownChild(ownChild(volume, "ephemeral"), "volumeClaimTemplate");
    ownChild(template, "spec")["volumeMode"] ??= "Filesystem";
  }
  if (isObject(volume["projected"])) {
    eachItem(ownChild(volume, "projected"), "sources", (source) => {
      if (isObject(source["downwardAPI"])) eachItem(ownChild(source, "downwardAPI"), "items", fieldRefDefaults);
      if (isObject(source["serviceAccountToken"]))
        ownChild(source, "serviceAccountToken")["expirationSeconds"] ??= 3600;
    });
  }
}

/** The names that containers may use. */
function resourceClaims(claims: readonly JsonObject[], at: Place): void {
  at.eachInParts(claims, resourceClaim);
  scopeOf(at).claims = new Set(claims.flatMap(({ name = "" }) => (name === "" ? [] : [name as string])));
}

const claimName = required(firstOf(distinct, label));
const claimSources = ["resourceClaimName", "resourceClaimTemplateName"];
const claimFields = struct(fields(claimSources, subdomain));

function resourceClaim(claim: JsonObject, at: Place): void {
  at.judge("name", claim["name"], claimName);
  const count = claimSources.filter((field) => claim[field] !== undefined).length;
  if (count !== 1) {
    const detail =
      count === 0
        ? "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
        : "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified";
    // Simplification: the real server prints the whole claim, with the addresses of its pointers.
    at.invalidText("core.PodResourceClaim{}", detail);
  }
  claimFields.judge(claim as never, at);
}

const podSpec = struct(
  { volumes: volumes as Check, resourceClaims: resourceClaims as Check },
  containers,
  { ephemeralContainers: ephemeralContainers as Check },
  (spec: JsonObject, at) => {
    if (spec["hostNetwork"] === true) at.judge("containers", spec["containers"], portsOfNode as Check);
  },
  {
    restartPolicy: required(oneOf(["Always", "OnFailure", "Never"])),
    dnsPolicy: required(oneOf(["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"])),
    nodeSelector: labels,
    securityContext: podContext,
    affinity,
  },
  dnsOfPod,
  {
    readinessGates: each(readinessGate),
    schedulingGates: each(schedulingGate),
    topologySpreadConstraints: spreadConstraints as Check,
  },
  ownUsers,
  {
    ...fields(["serviceAccountName", "nodeName"], unlessEmpty(subdomain)),
    activeDeadlineSeconds: between(1, 2_147_483_647),
    ...fields(["hostname", "subdomain"], unlessEmpty(label)),
    tolerations: each(toleration),
    hostAliases: each(hostAlias),
    ...fields(["priorityClassName", "runtimeClassName"], unlessEmpty(subdomain)),
    preemptionPolicy: whenGiven(required(oneOf(["PreemptLowerPriority", "Never"]))),
    overhead: (limits: JsonObject, at: Place) => resources({ limits }, at),
  },
  operatingSystem,
);

/** A pod's spec; `pod` is the pod's name. */
export function judgePodSpec(spec: JsonObject, at: Place, pod?: string): void {
  const outer = at.scope;
  const containerNames = askedOnce(() => new Map<string, string>());
  const scope: PodScope = { spec, pod, volumes: noVolumes, volumeName: "", claims: noNames, containerNames };
  at.scope = scope;
  podSpec.judge(spec as never, at);
  at.scope = outer;
}

const noNames: ReadonlySet<string> = new Set();
const noVolumes: PodScope["volumes"] = new Map();

/** Labels and annotations that pods of a template get, and their spec. */
export const podTemplate = struct(
  { metadata: called("", struct({ labels, annotations })) },
  { spec: { zero: {}, absent: {}, judge: (spec: JsonObject, at) => judgePodSpec(spec, at) } },
  {
    "spec.ephemeralContainers": (list: readonly Json[], at: Place) => {
      if (list.length > 0) at.forbidden("ephemeral containers not allowed in pod template");
    },
  },
);

const podTemplateRules: KindRules = {
  warnings: hiddenVariablesAt("template", "spec"),
  defaults(draft) {
    templateDefaults(draft, "template");
  },
  validate: fieldRules({ template: always(podTemplate) }),
};

export const podTemplateKind: KindRow = {
  resource: "/podtemplates",
  usesGeneration: true,
  returnsDeleted: true,
  rules: podTemplateRules,
  columns: printer(
    nameColumn,
    ...templateColumns("template.spec").map((one): FilledColumn => ({ ...one, priority: 0 })),
    column("Pod Labels", "Labels of the pods made of it.", (it) =>
      orNone(selectorText(mapAt(it, "template.metadata.labels"))),
    ),
  ),
};
