/** Ingresses: which hosts and paths lead to which services. Source: the published validation, defaults and columns. */
import { dns1035LabelErrors, dns1123SubdomainErrors } from "../../../wire/names.ts";
import type { Cause } from "../../contract/errors.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { isObject, metadataOf } from "../../contract/objects.ts";
import { invalidText, invalidValue, pushInvalid, requiredValue, unsupportedValue } from "../../objects/causes.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import { portCauses, portNameCauses } from "../core/pods/ports.ts";
import type { KindRow } from "../kind-row.ts";
import { listOf } from "../shared/fields.ts";
import { readIp } from "../shared/ip-fields.ts";
import { referenceCauses } from "../shared/references.ts";
import { ageColumn, column, listAt, nameColumn, orNone, printer, textAt } from "../shared/printer.ts";

const ingressRules: KindRules = {
  validate(ingress, causes, dialect, live) {
    const spec = (ingress["spec"] ?? {}) as JsonObject;
    const { ingressClassName: className, defaultBackend } = spec;
    if (live === undefined) classCauses(ingress, className, `${dialect.labelSuffix}/ingress.class`, causes);
    const rules = listOf(spec, "rules");
    if (rules.length === 0 && defaultBackend === undefined) {
      const text = "[]networking.IngressRule(nil)";
      causes.push(invalidText("spec", text, "either `defaultBackend` or `rules` must be specified"));
    }
    if (isObject(defaultBackend)) backendCauses(defaultBackend, "spec.defaultBackend", causes);
    rules.forEach((rule, at) => ruleCauses(rule, `spec.rules[${at}]`, causes));
    listOf(spec, "tls").forEach((tls, at) => tlsCauses(tls, `spec.tls[${at}]`, causes));
    if (typeof className === "string") {
      pushInvalid("spec.ingressClassName", className, dns1123SubdomainErrors(className), causes);
    }
  },
};

/** The older way to name a class is an annotation. */
function classCauses(ingress: JsonObject, className: Json | undefined, annotation: string, causes: Cause[]): void {
  const named = metadataOf(ingress).annotations?.[annotation];
  if (named === undefined || className === undefined) return;
  const detail = "can not be set when the class field is also set";
  causes.push(invalidValue(`annotations.${annotation}`, named, detail));
}

const dns1123WildcardText =
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

function hostCauses(host: string, path: string, causes: Cause[]): void {
  if (!host.includes("*")) pushInvalid(path, host, dns1123SubdomainErrors(host), causes);
  else if (!host.startsWith("*.") || dns1123SubdomainErrors(host.slice(2)).length > 0 || host.length > 253) {
    causes.push(invalidValue(path, host, dns1123WildcardText));
  }
}

function tlsCauses(tls: JsonObject, path: string, causes: Cause[]): void {
  ((tls["hosts"] ?? []) as readonly string[]).forEach((host, at) => hostCauses(host, `${path}.hosts[${at}]`, causes));
  const secret = (tls["secretName"] ?? "") as string;
  if (secret !== "") pushInvalid(`${path}.secretName`, secret, dns1123SubdomainErrors(secret), causes);
}

function ruleCauses(rule: JsonObject, path: string, causes: Cause[]): void {
  const host = (rule["host"] ?? "") as string;
  if (host !== "") {
    if (readIp(host) !== undefined) {
      causes.push(invalidValue(`${path}.host`, host, "must be a DNS name, not an IP address"));
    }
    hostCauses(host, `${path}.host`, causes);
  }
  const { http } = rule;
  if (!isObject(http)) return;
  const paths = listOf(http, "paths");
  if (paths.length === 0) causes.push(requiredValue(`${path}.http.paths`));
  paths.forEach((one, at) => pathCauses(one, `${path}.http.paths[${at}]`, causes));
}

const pathTypes = ["Exact", "ImplementationSpecific", "Prefix"];
const neverWithin = ["//", "/./", "/../", "%2f", "%2F"];
const neverAtEnd = ["/..", "/."];

function pathCauses(one: JsonObject, path: string, causes: Cause[]): void {
  const { pathType, backend } = one;
  const text = (one["path"] ?? "") as string;
  const here = `${path}.path`;
  const isAbsolute = text.startsWith("/");
  if (pathType === undefined) causes.push(requiredValue(`${path}.pathType`, "pathType must be specified"));
  else if (!pathTypes.includes(pathType as string)) {
    causes.push(unsupportedValue(`${path}.pathType`, pathType, pathTypes));
  } else if (pathType === "ImplementationSpecific") {
    if (text !== "" && !isAbsolute) causes.push(invalidValue(here, text, "must be an absolute path"));
  } else {
    if (!isAbsolute) causes.push(invalidValue(here, text, "must be an absolute path"));
    for (const part of neverWithin) {
      if (text.includes(part)) causes.push(invalidValue(here, text, `must not contain '${part}'`));
    }
    for (const end of neverAtEnd) {
      if (text.endsWith(end)) causes.push(invalidValue(here, text, `cannot end with '${end}'`));
    }
  }
  backendCauses((backend ?? {}) as JsonObject, `${path}.backend`, causes);
}

function backendCauses(backend: JsonObject, path: string, causes: Cause[]): void {
  const { resource, service } = backend;
  if (isObject(resource) && isObject(service)) {
    causes.push(invalidValue(path, "", "cannot set both resource and service backends"));
  } else if (isObject(resource)) referenceCauses(resource, `${path}.resource`, causes);
  else if (isObject(service)) serviceCauses(service, `${path}.service`, causes);
  else causes.push(invalidValue(path, "", "resource or service backend is required"));
}

function serviceCauses(service: JsonObject, path: string, causes: Cause[]): void {
  const name = (service["name"] ?? "") as string;
  if (name === "") causes.push(requiredValue(`${path}.name`));
  else pushInvalid(`${path}.name`, name, dns1035LabelErrors(name), causes);
  const port = (service["port"] ?? {}) as JsonObject;
  const portName = (port["name"] ?? "") as string;
  const number = (port["number"] ?? 0) as number;
  if (portName !== "" && number !== 0) {
    causes.push(invalidValue(path, "", "cannot set both port name & port number"));
  } else if (portName !== "") portNameCauses(portName, `${path}.port.name`, causes);
  else if (number !== 0) portCauses(number, `${path}.port.number`, causes);
  else causes.push(requiredValue(path, "port name or number is required"));
}

export const ingressKind: KindRow = {
  resource: "networking.svc.io/ingresses",
  usesGeneration: true,
  rules: ingressRules,
  columns: printer(
    nameColumn,
    column("Class", "Who serves it.", (it) => orNone(textAt(it, "spec.ingressClassName"))),
    column("Hosts", "Names that it is about.", hosts),
    column("Address", "Where it is served.", addresses),
    column("Ports", "Ports that it is served on.", (it) => (listAt(it, "spec.tls").length > 0 ? "80, 443" : "80")),
    ageColumn,
  ),
};

const hostsShown = 3;

function hosts(ingress: JsonObject): string {
  const named = listAt(ingress, "spec.rules")
    .map((rule) => textAt(rule, "host"))
    .filter((host) => host !== "");
  if (named.length === 0) return "*";
  const shown = named.slice(0, hostsShown).join(",");
  return named.length > hostsShown ? `${shown} + ${named.length - hostsShown} more...` : shown;
}

function addresses(ingress: JsonObject): string {
  return listAt(ingress, "status.loadBalancer.ingress")
    .map((point) => textAt(point, "ip") || textAt(point, "hostname"))
    .filter((address) => address !== "")
    .join(",");
}
