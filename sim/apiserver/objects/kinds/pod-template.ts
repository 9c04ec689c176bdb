/**
 * The spec of a pod, where it stands by itself and inside a template: defaults and validation.
 * Source: recorded bodies of pods and deployments; the published defaults and validation. What its parts must be is
 * judged in `pods/`.
 */
import { dns1123LabelErrors, dns1123SubdomainErrors, type NameErrors } from "../../../../wire/names.ts";
import type { Cause } from "../../errors.ts";
import type { JsonObject } from "../../http-message.ts";
import { invalidValue } from "../causes.ts";
import { type Draft, isObject, ownChild, ownItem, ownList } from "../types.ts";
import { enumCauses, fill, listOf } from "./fields.ts";
import type { KindRules } from "./kind-rules.ts";
import { containersCauses, idCauses } from "./pods/containers.ts";
import { hostNetworkCauses } from "./pods/ports.ts";
import { probeFields } from "./pods/probes.ts";
import {
  affinityCauses,
  nodeSelectorCauses,
  readinessGateCauses,
  schedulingGateCauses,
  spreadCauses,
  tolerationCauses,
} from "./pods/scheduling.ts";
import { volumesCauses } from "./pods/volumes.ts";

export const podTemplateRules: KindRules = {
  defaults(draft) {
    templateDefaults(draft, "template");
  },
  validate(object, causes) {
    const template = (object["template"] ?? {}) as JsonObject;
    podSpecCauses((template["spec"] ?? {}) as JsonObject, "template.spec", causes);
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
  for (const field of containerLists)
    eachItem(spec, field, (item) => containerDefaults(item, spec["hostNetwork"] === true));
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

function containerDefaults(container: Draft, hostNetwork: boolean): void {
  fill(container, "terminationMessagePath", "/dev/termination-log");
  fill(container, "terminationMessagePolicy", "File");
  fill(container, "imagePullPolicy", pullPolicy((container["image"] as string | undefined) ?? ""));
  if (hostNetwork) eachItem(container, "ports", (port) => (port["hostPort"] ??= port["containerPort"]));
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
  if (!isObject(source) || !isObject(source["fieldRef"])) return;
  ownChild(ownChild(variable, "valueFrom"), "fieldRef")["apiVersion"] ??= "v1";
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
  if (isObject(volume["projected"])) {
    eachItem(ownChild(volume, "projected"), "sources", (source) => {
      if (isObject(source["serviceAccountToken"]))
        ownChild(source, "serviceAccountToken")["expirationSeconds"] ??= 3600;
    });
  }
}

const restartPolicies = ["Always", "OnFailure", "Never"];
const dnsPolicies = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
const preemptionPolicies = ["PreemptLowerPriority", "Never"];

/** Causes of a pod spec at `path` (`spec`, `spec.template.spec`), in the real server's order. */
export function podSpecCauses(spec: JsonObject, path: string, causes: Cause[], isPod = false): void {
  const volumes = volumesCauses(listOf(spec, "volumes"), `${path}.volumes`, causes);
  const claims = new Set(listOf(spec, "resourceClaims").map(({ name }) => (name ?? "") as string));
  const graceSeconds = (spec["terminationGracePeriodSeconds"] ?? 30) as number;
  containersCauses(spec, { volumes, claims, graceSeconds }, path, causes);
  enumCauses(spec["restartPolicy"], restartPolicies, `${path}.restartPolicy`, causes);
  enumCauses(spec["dnsPolicy"], dnsPolicies, `${path}.dnsPolicy`, causes);
  if (isObject(spec["nodeSelector"])) nodeSelectorCauses(spec["nodeSelector"], `${path}.nodeSelector`, causes);
  if (spec["hostNetwork"] === true) {
    for (const field of ["containers", "initContainers"]) {
      hostNetworkCauses(listOf(spec, field), `${path}.${field}`, isPod, causes);
    }
  }
  const context = spec["securityContext"];
  if (isObject(context)) idCauses(context, ["fsGroup", "runAsUser", "runAsGroup"], `${path}.securityContext`, causes);
  if (isObject(spec["affinity"])) affinityCauses(spec["affinity"], `${path}.affinity`, causes);
  readinessGateCauses(listOf(spec, "readinessGates"), `${path}.readinessGates`, causes);
  schedulingGateCauses(listOf(spec, "schedulingGates"), `${path}.schedulingGates`, causes);
  spreadCauses(listOf(spec, "topologySpreadConstraints"), `${path}.topologySpreadConstraints`, causes);
  nameCauses(spec, ["serviceAccountName", "nodeName"], dns1123SubdomainErrors, path, causes);
  const deadline = spec["activeDeadlineSeconds"] as number | undefined;
  if (deadline !== undefined && (deadline < 1 || deadline > secondsMax)) {
    const detail = `must be between 1 and ${secondsMax}, inclusive`;
    causes.push(invalidValue(`${path}.activeDeadlineSeconds`, deadline, detail));
  }
  nameCauses(spec, ["hostname", "subdomain"], dns1123LabelErrors, path, causes);
  tolerationCauses(listOf(spec, "tolerations"), `${path}.tolerations`, causes);
  nameCauses(spec, ["priorityClassName", "runtimeClassName"], dns1123SubdomainErrors, path, causes);
  const policy = spec["preemptionPolicy"];
  if (policy !== undefined) enumCauses(policy, preemptionPolicies, `${path}.preemptionPolicy`, causes);
}

const secondsMax = 2_147_483_647;

function nameCauses(
  spec: JsonObject,
  fields: readonly string[],
  errors: (text: string) => NameErrors,
  path: string,
  causes: Cause[],
): void {
  for (const field of fields) {
    const name = (spec[field] ?? "") as string;
    if (name !== "") for (const text of errors(name)) causes.push(invalidValue(`${path}.${field}`, name, text));
  }
}
