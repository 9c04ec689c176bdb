/** Environment variables of containers, and where their values come from. Source: the published validation of them. */
import type { Cause } from "../../../errors.ts";
import type { JsonObject } from "../../../http-message.ts";
import { invalidValue, requiredValue, unsupportedValue } from "../../causes.ts";
import { isObject } from "../../types.ts";
import { dns1123SubdomainErrors } from "../../../../../wire/names.ts";
import { dataKeyErrors } from "../config-map.ts";
import { listOf } from "../fields.ts";

export function environmentCauses(container: JsonObject, path: string, causes: Cause[]): void {
  listOf(container, "env").forEach((variable, at) => {
    const here = `${path}.env[${at}]`;
    const name = (variable["name"] ?? "") as string;
    if (name === "") causes.push(requiredValue(`${here}.name`));
    else variableNameCauses(name, `${here}.name`, causes);
    if (isObject(variable["valueFrom"])) sourceCauses(variable, variable["valueFrom"], `${here}.valueFrom`, causes);
  });
  listOf(container, "envFrom").forEach((source, at) => wholeSourceCauses(source, `${path}.envFrom[${at}]`, causes));
}

const nameText = "a valid environment variable name must consist only of printable ASCII characters other than '='";

function variableNameCauses(name: string, path: string, causes: Cause[]): void {
  if (!/^[ -<>-~]+$/.test(name)) causes.push(invalidValue(path, name, nameText));
}

const sources = ["fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef"];

function sourceCauses(variable: JsonObject, source: JsonObject, path: string, causes: Cause[]): void {
  const given = sources.filter((name) => isObject(source[name]));
  for (const name of given) {
    const reference = source[name] as JsonObject;
    if (name === "fieldRef") fieldRefCauses(reference, `${path}.${name}`, causes);
    else if (name === "resourceFieldRef") resourceRefCauses(reference, `${path}.${name}`, causes);
    else keyRefCauses(reference, `${path}.${name}`, causes);
  }
  const refuse = (detail: string): number => causes.push(invalidValue(path, "", detail));
  if (given.length === 0) {
    refuse("must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`");
  } else if ((variable["value"] ?? "") !== "") refuse("may not be specified when `value` is not empty");
  else if (given.length > 1) refuse("may not have more than one field specified at a time");
}

const variableFields = [
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
  "spec.nodeName",
  "spec.serviceAccountName",
  "status.hostIP",
  "status.hostIPs",
  "status.podIP",
  "status.podIPs",
];
/** Fields of a pod that selectors know and variables do not. */
const otherFields = [
  "metadata.annotations",
  "metadata.labels",
  "spec.restartPolicy",
  "spec.schedulerName",
  "status.phase",
];
const keyed = /^metadata\.(?:annotations|labels)\['[^']*'\]$/;

function fieldRefCauses(reference: JsonObject, path: string, causes: Cause[]): void {
  const field = (reference["fieldPath"] ?? "") as string;
  if ((reference["apiVersion"] ?? "") === "") causes.push(requiredValue(`${path}.apiVersion`));
  else if (field === "") causes.push(requiredValue(`${path}.fieldPath`));
  else if (keyed.test(field) || variableFields.includes(field)) return;
  else if (otherFields.includes(field)) causes.push(unsupportedValue(`${path}.fieldPath`, field, variableFields));
  else {
    const detail = `error converting fieldPath: field label not supported: ${field}`;
    causes.push(invalidValue(`${path}.fieldPath`, field, detail));
  }
}

const resourceFields = ["limits.cpu", "limits.ephemeral-storage", "limits.memory"];
const requestFields = ["requests.cpu", "requests.ephemeral-storage", "requests.memory"];

/** Amounts of a container as a value: of this one, or of the one that is named. */
export function resourceRefCauses(reference: JsonObject, path: string, causes: Cause[]): void {
  const resource = (reference["resource"] ?? "") as string;
  const supported = [...resourceFields, ...requestFields];
  if (resource === "") causes.push(requiredValue(`${path}.resource`));
  else if (!supported.includes(resource) && !/^(?:limits|requests)\.hugepages-/.test(resource)) {
    causes.push(unsupportedValue(`${path}.resource`, resource, supported));
  }
}

function keyRefCauses(reference: JsonObject, path: string, causes: Cause[]): void {
  const name = (reference["name"] ?? "") as string;
  for (const text of dns1123SubdomainErrors(name)) causes.push(invalidValue(`${path}.name`, name, text));
  const key = (reference["key"] ?? "") as string;
  if (key === "") causes.push(requiredValue(`${path}.key`));
  else for (const text of dataKeyErrors(key)) causes.push(invalidValue(`${path}.key`, key, text));
}

function wholeSourceCauses(source: JsonObject, path: string, causes: Cause[]): void {
  const prefix = (source["prefix"] ?? "") as string;
  if (prefix !== "") variableNameCauses(prefix, `${path}.prefix`, causes);
  const given = ["configMapRef", "secretRef"].filter((name) => isObject(source[name]));
  for (const name of given) {
    if (((source[name] as JsonObject)["name"] ?? "") === "") causes.push(requiredValue(`${path}.${name}.name`));
  }
  if (given.length === 0) causes.push(invalidValue(path, "", "must specify one of: `configMapRef` or `secretRef`"));
  if (given.length > 1) causes.push(invalidValue(path, "", "may not have more than one field specified at a time"));
}
