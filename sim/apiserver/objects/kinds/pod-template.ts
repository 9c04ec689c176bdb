/**
 * The spec of a pod, where it stands by itself and inside a template: defaults and validation.
 * Source: recorded bodies of pods and deployments; the published defaults. Only rules that a recording or a published
 * text names are judged.
 */
import { dns1123LabelErrors } from "../../../../wire/names.ts";
import type { Cause } from "../../errors.ts";
import type { Json, JsonObject } from "../../http-message.ts";
import { duplicateValue, invalidValue, requiredValue, unsupportedValue } from "../causes.ts";
import { type Draft, isObject, ownChild, ownItem, ownList } from "../types.ts";
import type { KindRules } from "./kind-rules.ts";

export const podTemplateRules: KindRules = {
  defaults(draft) {
    templateDefaults(draft, "template");
  },
};

/** Defaults of the pod template under `key`. */
export function templateDefaults(draft: Draft, key: string): void {
  if (isObject(draft[key])) podSpecDefaults(ownChild(ownChild(draft, key), "spec"));
}

export function podSpecDefaults(spec: Draft): void {
  spec["restartPolicy"] ??= "Always";
  spec["terminationGracePeriodSeconds"] ??= 30;
  spec["dnsPolicy"] ??= "ClusterFirst";
  spec["securityContext"] ??= {};
  spec["schedulerName"] ??= "default-scheduler";
  if (spec["serviceAccountName"] !== undefined) spec["serviceAccount"] = spec["serviceAccountName"];
  else if (spec["serviceAccount"] !== undefined) spec["serviceAccountName"] = spec["serviceAccount"];
  for (const field of containerLists)
    eachItem(spec, field, (item) => containerDefaults(item, spec["hostNetwork"] === true));
  eachItem(spec, "volumes", volumeDefaults);
}

export const containerLists = ["initContainers", "containers", "ephemeralContainers"] as const;

/** Calls `visit` with each element, ready for writing; frozen lists hold defaulted elements and are passed over. */
export function eachItem(parent: Draft, field: string, visit: (item: Draft) => void): void {
  if (parent[field] === undefined || Object.isFrozen(parent[field])) return;
  const list = ownList(parent, field);
  if (list === undefined) return;
  for (let at = 0; at < list.length; at++) if (!Object.isFrozen(list[at])) visit(ownItem(list, at));
}

function containerDefaults(container: Draft, hostNetwork: boolean): void {
  container["terminationMessagePath"] ??= "/dev/termination-log";
  container["terminationMessagePolicy"] ??= "File";
  container["imagePullPolicy"] ??= pullPolicy((container["image"] as string | undefined) ?? "");
  if (hostNetwork) eachItem(container, "ports", (port) => (port["hostPort"] ??= port["containerPort"]));
  for (const probe of probes) if (isObject(container[probe])) probeDefaults(container, probe);
  const { lifecycle } = container;
  if (isObject(lifecycle)) {
    for (const hook of ["postStart", "preStop"])
      if (isObject(lifecycle[hook])) httpGetDefaults(ownChild(container, "lifecycle"), hook);
  }
  eachItem(container, "env", envDefaults);
}

const probes = ["livenessProbe", "readinessProbe", "startupProbe"] as const;

/** A tag that may move is pulled each time. */
function pullPolicy(image: string): string {
  if (image.includes("@")) return "IfNotPresent";
  const tag = image.slice(image.lastIndexOf("/") + 1).split(":")[1];
  return tag === undefined || tag === "" || tag === "latest" ? "Always" : "IfNotPresent";
}

function probeDefaults(container: Draft, field: string): void {
  const probe = ownChild(container, field);
  probe["timeoutSeconds"] ??= 1;
  probe["periodSeconds"] ??= 10;
  probe["successThreshold"] ??= 1;
  probe["failureThreshold"] ??= 3;
  if (isObject(probe["grpc"])) ownChild(probe, "grpc")["service"] ??= "";
  httpGetDefaults(container, field);
}

function httpGetDefaults(parent: Draft, field: string): void {
  const action = ownChild(parent, field);
  if (!isObject(action["httpGet"])) return;
  const httpGet = ownChild(action, "httpGet");
  httpGet["path"] ??= "/";
  httpGet["scheme"] ??= "HTTP";
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
const pullPolicies = ["Always", "IfNotPresent", "Never"];
const protocols = ["SCTP", "TCP", "UDP"];

/** Causes of a pod spec at `path` (`spec`, `spec.template.spec`). */
export function podSpecCauses(spec: JsonObject, path: string, causes: Cause[]): void {
  const volumes = namedItems(spec["volumes"], `${path}.volumes`, causes);
  const containers = (spec["containers"] ?? []) as readonly JsonObject[];
  if (containers.length === 0) causes.push(requiredValue(`${path}.containers`));
  const names = new Set<string>();
  for (const field of ["containers", "initContainers"] as const) {
    ((spec[field] ?? []) as readonly JsonObject[]).forEach((container, at) => {
      containerCauses(container, `${path}.${field}[${at}]`, names, volumes, causes);
    });
  }
  enumCauses(spec["restartPolicy"], restartPolicies, `${path}.restartPolicy`, causes);
  enumCauses(spec["dnsPolicy"], dnsPolicies, `${path}.dnsPolicy`, causes);
}

function namedItems(list: Json | undefined, path: string, causes: Cause[]): ReadonlySet<string> {
  const names = new Set<string>();
  ((list ?? []) as readonly JsonObject[]).forEach((item, at) =>
    nameCauses(item["name"], `${path}[${at}].name`, names, causes),
  );
  return names;
}

function nameCauses(value: Json | undefined, path: string, names: Set<string>, causes: Cause[]): void {
  const name = (value ?? "") as string;
  if (name === "") {
    causes.push(requiredValue(path));
    return;
  }
  for (const text of dns1123LabelErrors(name)) causes.push(invalidValue(path, name, text));
  if (names.has(name)) causes.push(duplicateValue(path, name));
  names.add(name);
}

function containerCauses(
  container: JsonObject,
  path: string,
  names: Set<string>,
  volumes: ReadonlySet<string>,
  causes: Cause[],
): void {
  nameCauses(container["name"], `${path}.name`, names, causes);
  const image = (container["image"] ?? "") as string;
  if (image === "") causes.push(requiredValue(`${path}.image`));
  else if (image.trim() !== image)
    causes.push(invalidValue(`${path}.image`, image, "must not have leading or trailing whitespace"));
  enumCauses(container["imagePullPolicy"], pullPolicies, `${path}.imagePullPolicy`, causes);
  ((container["ports"] ?? []) as readonly JsonObject[]).forEach((port, at) => {
    portCauses(port["containerPort"] as number, `${path}.ports[${at}].containerPort`, causes);
    enumCauses(port["protocol"], protocols, `${path}.ports[${at}].protocol`, causes);
  });
  ((container["env"] ?? []) as readonly JsonObject[]).forEach((variable, at) => {
    if ((variable["name"] ?? "") === "") causes.push(requiredValue(`${path}.env[${at}].name`));
  });
  ((container["volumeMounts"] ?? []) as readonly JsonObject[]).forEach((mount, at) => {
    const at_ = `${path}.volumeMounts[${at}]`;
    const name = (mount["name"] ?? "") as string;
    if (name === "") causes.push(requiredValue(`${at_}.name`));
    else if (!volumes.has(name))
      causes.push({ reason: "FieldValueNotFound", message: `Not found: "${name}"`, field: `${at_}.name` });
    if ((mount["mountPath"] ?? "") === "") causes.push(requiredValue(`${at_}.mountPath`));
  });
}

export function portCauses(port: number, path: string, causes: Cause[]): void {
  if (port < 1 || port > 65_535) causes.push(invalidValue(path, port, "must be between 1 and 65535, inclusive"));
}

export function enumCauses(value: Json | undefined, supported: readonly string[], path: string, causes: Cause[]): void {
  if (value === undefined || value === "") causes.push(requiredValue(path));
  else if (!supported.includes(value as string)) causes.push(unsupportedValue(path, value, supported));
}
