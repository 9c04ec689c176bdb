/**
 * The spec of a pod, where it stands by itself and inside a template: defaults and validation.
 * Source: recorded bodies of pods and deployments; the published defaults and validation. What its parts must be is
 * judged in `pods/`.
 */
import { dns1123LabelErrors, dns1123SubdomainErrors, type NameErrors } from "../../../wire/names.ts";
import type { Cause } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import {
  duplicateValue,
  forbiddenField,
  invalidText,
  invalidValue,
  pushInvalid,
  requiredValue,
} from "../../objects/causes.ts";
import { annotationCauses, labelCauses } from "../../objects/metadata.ts";
import { type Draft, isObject, metadataOf, ownChild, ownItem, ownList } from "../../contract/objects.ts";
import { enumCauses, fill, listOf } from "../shared/fields.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import { containersCauses, type PodScope } from "./pods/containers.ts";
import { dnsCauses, hostAliasCauses } from "./pods/dns.ts";
import { ephemeralCauses } from "./pods/ephemeral.ts";
import { systemCauses } from "./pods/operating-system.ts";
import { hostNetworkCauses } from "./pods/ports.ts";
import { probeFields } from "./pods/probes.ts";
import { resourcesCauses } from "./pods/resources.ts";
import {
  affinityCauses,
  nodeSelectorCauses,
  readinessGateCauses,
  schedulingGateCauses,
  spreadCauses,
  tolerationCauses,
} from "./pods/scheduling.ts";
import { hostUsersCauses, podContextCauses } from "./pods/security.ts";
import { hiddenVariablesAt } from "./pods/hidden-variables.ts";
import { volumesCauses } from "./pods/volumes.ts";
import { printer, nameColumn, type FilledColumn, column, orNone, mapAt } from "../shared/printer.ts";
import { templateColumns } from "../shared/columns.ts";
import { selectorText } from "../../objects/selector-text.ts";
import type { KindRow } from "../kind-row.ts";
import type { Rule } from "../../objects/place.ts";

const podTemplateRules: KindRules = {
  warnings: hiddenVariablesAt("template", "spec"),
  defaults(draft) {
    templateDefaults(draft, "template");
  },
  validate(object, causes) {
    templateCauses((object["template"] ?? {}) as JsonObject, "template", causes);
  },
};

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

const restartPolicies = ["Always", "OnFailure", "Never"];
const dnsPolicies = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
const preemptionPolicies = ["PreemptLowerPriority", "Never"];

/** Causes of the template at `path`: of the labels and annotations that its pods get, and of their spec. */
function templateCauses(template: JsonObject, path: string, causes: Cause[]): void {
  const metadata = metadataOf(template);
  if (metadata.labels !== undefined) labelCauses(metadata.labels, `${path}.labels`, causes);
  if (metadata.annotations !== undefined) annotationCauses(metadata.annotations, `${path}.annotations`, causes);
  const spec = (template["spec"] ?? {}) as JsonObject;
  podSpecCauses(spec, `${path}.spec`, causes);
  if (listOf(spec, "ephemeralContainers").length > 0) {
    const detail = "ephemeral containers not allowed in pod template";
    causes.push(forbiddenField(`${path}.spec.ephemeralContainers`, detail));
  }
}

/** The same as a row of a table. */
export const podTemplate: Rule = {
  zero: {},
  judge: (template: JsonObject, at) => templateCauses(template, at.path, at.causes),
};

/** Causes of a pod spec at `path` (`spec`, `spec.template.spec`), in the real server's order; `pod` is a pod's name. */
export function podSpecCauses(spec: JsonObject, path: string, causes: Cause[], pod?: string): void {
  const volumes = volumesCauses(listOf(spec, "volumes"), pod ?? "", `${path}.volumes`, causes);
  const claims =
    spec["resourceClaims"] === undefined
      ? noNames
      : resourceClaimCauses(listOf(spec, "resourceClaims"), `${path}.resourceClaims`, causes);
  const scope: PodScope = {
    volumes,
    claims,
    graceSeconds: (spec["terminationGracePeriodSeconds"] ?? 30) as number,
    restartPolicy: (spec["restartPolicy"] ?? "") as string,
    hostUsers: spec["hostUsers"] !== false,
  };
  containersCauses(spec, scope, path, causes);
  if (spec["ephemeralContainers"] !== undefined) ephemeralCauses(spec, scope, path, causes);
  if (spec["hostNetwork"] === true) {
    hostNetworkCauses(listOf(spec, "containers"), `${path}.containers`, pod !== undefined, causes);
  }
  enumCauses(spec["restartPolicy"], restartPolicies, `${path}.restartPolicy`, causes);
  enumCauses(spec["dnsPolicy"], dnsPolicies, `${path}.dnsPolicy`, causes);
  if (isObject(spec["nodeSelector"])) nodeSelectorCauses(spec["nodeSelector"], `${path}.nodeSelector`, causes);
  podContextCauses(spec, path, causes);
  if (isObject(spec["affinity"])) affinityCauses(spec["affinity"], `${path}.affinity`, causes);
  dnsCauses(spec, path, causes);
  listCauses(spec, "readinessGates", readinessGateCauses, path, causes);
  listCauses(spec, "schedulingGates", schedulingGateCauses, path, causes);
  listCauses(spec, "topologySpreadConstraints", spreadCauses, path, causes);
  hostUsersCauses(spec, path, causes);
  nameCauses(spec, ["serviceAccountName", "nodeName"], dns1123SubdomainErrors, path, causes);
  const deadline = spec["activeDeadlineSeconds"] as number | undefined;
  if (deadline !== undefined && (deadline < 1 || deadline > secondsMax)) {
    const detail = `must be between 1 and ${secondsMax}, inclusive`;
    causes.push(invalidValue(`${path}.activeDeadlineSeconds`, deadline, detail));
  }
  nameCauses(spec, ["hostname", "subdomain"], dns1123LabelErrors, path, causes);
  listCauses(spec, "tolerations", tolerationCauses, path, causes);
  listCauses(spec, "hostAliases", hostAliasCauses, path, causes);
  nameCauses(spec, ["priorityClassName", "runtimeClassName"], dns1123SubdomainErrors, path, causes);
  const policy = spec["preemptionPolicy"];
  if (policy !== undefined) enumCauses(policy, preemptionPolicies, `${path}.preemptionPolicy`, causes);
  if (isObject(spec["overhead"])) resourcesCauses({ limits: spec["overhead"] }, claims, `${path}.overhead`, causes);
  systemCauses(spec, path, causes);
}

const secondsMax = 2_147_483_647;

/** Most lists are absent: their paths are not made. */
function listCauses(
  spec: JsonObject,
  field: string,
  judge: (list: readonly JsonObject[], path: string, causes: Cause[]) => void,
  path: string,
  causes: Cause[],
): void {
  if (spec[field] !== undefined) judge(listOf(spec, field), `${path}.${field}`, causes);
}

function nameCauses(
  spec: JsonObject,
  fields: readonly string[],
  errors: (text: string) => NameErrors,
  path: string,
  causes: Cause[],
): void {
  for (const field of fields) {
    const name = (spec[field] ?? "") as string;
    if (name !== "") pushInvalid(`${path}.${field}`, name, errors(name), causes);
  }
}

/** The names that containers may use. */
function resourceClaimCauses(claims: readonly JsonObject[], path: string, causes: Cause[]): ReadonlySet<string> {
  const names = new Set<string>();
  claims.forEach((claim, at) => {
    const here = `${path}[${at}]`;
    const name = (claim["name"] ?? "") as string;
    if (name === "") causes.push(requiredValue(`${here}.name`));
    else if (names.has(name)) causes.push(duplicateValue(`${here}.name`, name));
    else pushInvalid(`${here}.name`, name, dns1123LabelErrors(name), causes);
    if (name !== "") names.add(name);
    const given = claimSources.filter((field) => claim[field] !== undefined);
    if (given.length !== 1) {
      const detail =
        given.length === 0
          ? "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
          : "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified";
      // Simplification: the real server prints the whole claim, with the addresses of its pointers.
      causes.push(invalidText(here, "core.PodResourceClaim{}", detail));
    }
    for (const field of given) {
      pushInvalid(`${here}.${field}`, claim[field], dns1123SubdomainErrors(claim[field] as string), causes);
    }
  });
  return names;
}

const noNames: ReadonlySet<string> = new Set();
const claimSources = ["resourceClaimName", "resourceClaimTemplateName"];

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
