/** Environment variables of containers, and where their values come from. Source: the published validation of them. */
import type { Cause } from "../../../contract/errors.ts";
import type { JsonObject } from "../../../contract/http-message.ts";
import { invalidValue, pushInvalid, requiredValue, unsupportedValue } from "../../../objects/causes.ts";
import { isObject } from "../../../contract/objects.ts";
import { dns1123SubdomainErrors, maskTrailingDash, qualifiedNameErrors } from "../../../../wire/names.ts";
import { formatQuantity, parseQuantity } from "../../../../wire/quantity.ts";
import { dataKeyErrors } from "../config-map.ts";
import { listOf } from "../../shared/fields.ts";

export function environmentCauses(container: JsonObject, path: string, causes: Cause[]): void {
  listOf(container, "env").forEach((variable, at) => {
    const here = `${path}.env[${at}]`;
    const name = (variable["name"] ?? "") as string;
    if (name === "") causes.push(requiredValue(`${here}.name`));
    else variableNameCauses(name, `${here}.name`, causes);
    if (isObject(variable["valueFrom"])) sourceCauses(variable, variable["valueFrom"], `${here}.valueFrom`, causes);
  });
  listOf(container, "envFrom").forEach((source, at) => wholeSourceCauses(source, `${path}.envFrom`, at, causes));
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
    if (name === "fieldRef") fieldRefCauses(reference, variableFields, `${path}.${name}`, causes);
    else if (name === "resourceFieldRef") resourceRefCauses(reference, false, `${path}.${name}`, causes);
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
/** Fields of a pod that can be named at all. */
const knownFields = [
  ...variableFields,
  "metadata.annotations",
  "metadata.labels",
  "spec.restartPolicy",
  "spec.schedulerName",
  "status.phase",
];
const subscripted = /^(.*)\['([^']*)'\]$/;

/** A field of the pod as a value; `fields` are those that can be one here. */
export function fieldRefCauses(reference: JsonObject, fields: readonly string[], path: string, causes: Cause[]): void {
  const field = (reference["fieldPath"] ?? "") as string;
  if ((reference["apiVersion"] ?? "") === "") {
    causes.push(requiredValue(`${path}.apiVersion`));
    return;
  }
  if (field === "") {
    causes.push(requiredValue(`${path}.fieldPath`));
    return;
  }
  const [, map, key = ""] = subscripted.exec(field) ?? [];
  if (map === "metadata.annotations" || map === "metadata.labels") {
    const name = map === "metadata.annotations" ? key.toLowerCase() : key;
    pushInvalid(path, name, qualifiedNameErrors(name), causes);
  } else if (map !== undefined || !knownFields.includes(field)) {
    const detail =
      map === undefined ? `field label not supported: ${field}` : `field label does not support subscript: ${field}`;
    causes.push(invalidValue(`${path}.fieldPath`, field, `error converting fieldPath: ${detail}`));
  } else if (!fields.includes(field)) causes.push(unsupportedValue(`${path}.fieldPath`, field, fields));
}

const amounts = [
  "limits.cpu",
  "limits.ephemeral-storage",
  "limits.memory",
  "requests.cpu",
  "requests.ephemeral-storage",
  "requests.memory",
];

/** An amount of a container as a value: of this one, or of the one that is named, as it must be `byName`. */
export function resourceRefCauses(reference: JsonObject, byName: boolean, path: string, causes: Cause[]): void {
  const resource = (reference["resource"] ?? "") as string;
  if (byName && (reference["containerName"] ?? "") === "") causes.push(requiredValue(`${path}.containerName`));
  else if (resource === "") causes.push(requiredValue(`${path}.resource`));
  else if (!amounts.includes(resource) && !isHugePages(resource)) {
    causes.push(unsupportedValue(`${path}.resource`, resource, amounts));
  }
  const divisor = parseQuantity(String(reference["divisor"] ?? "0"));
  if (!("error" in divisor) && divisor.digits !== 0n) {
    divisorCauses(resource, formatQuantity(divisor), `${path}.divisor`, causes);
  }
}

const isHugePages = (resource: string): boolean => /^(?:limits|requests)\.hugepages-/.test(resource);

const parts = ["1m", "1"];
const units = ["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"];

function divisorCauses(resource: string, divisor: string, path: string, causes: Cause[]): void {
  const kind = resource.slice(resource.indexOf(".") + 1);
  const refuse = (values: string, what: string): number =>
    causes.push(
      invalidValue(path, resource, `only divisor's values ${values} are supported with the ${what} resource`),
    );
  if (kind === "cpu" && amounts.includes(resource)) {
    if (!parts.includes(divisor)) refuse("1m and 1", "cpu");
    return;
  }
  if (units.includes(divisor)) return;
  if (isHugePages(resource)) refuse(units.join(", "), "hugepages");
  else if (amounts.includes(resource)) {
    refuse(units.join(", "), kind === "memory" ? "memory" : "local ephemeral storage");
  }
}

function keyRefCauses(reference: JsonObject, path: string, causes: Cause[]): void {
  const name = (reference["name"] ?? "") as string;
  pushInvalid(`${path}.name`, name, dns1123SubdomainErrors(name), causes);
  const key = (reference["key"] ?? "") as string;
  if (key === "") causes.push(requiredValue(`${path}.key`));
  else pushInvalid(`${path}.key`, key, dataKeyErrors(key), causes);
}

/** What is wrong with the choice of a source is told of the whole list. */
function wholeSourceCauses(source: JsonObject, path: string, at: number, causes: Cause[]): void {
  const here = `${path}[${at}]`;
  const prefix = (source["prefix"] ?? "") as string;
  if (prefix !== "") variableNameCauses(prefix, `${here}.prefix`, causes);
  const given = ["configMapRef", "secretRef"].filter((kind) => isObject(source[kind]));
  for (const kind of given) {
    const name = ((source[kind] as JsonObject)["name"] ?? "") as string;
    if (name === "") causes.push(requiredValue(`${here}.${kind}.name`));
    else {
      pushInvalid(`${here}.${kind}.name`, name, dns1123SubdomainErrors(maskTrailingDash(name)), causes);
    }
  }
  if (given.length === 0) causes.push(invalidValue(path, "", "must specify one of: `configMapRef` or `secretRef`"));
  if (given.length > 1) causes.push(invalidValue(path, "", "may not have more than one field specified at a time"));
}
