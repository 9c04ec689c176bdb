/** Ingresses: which hosts and paths lead to which services. Source: the published validation, defaults and columns. */
import { dns1123SubdomainErrors } from "../../../wire/names.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { metadataOf } from "../../contract/objects.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import type { KindRow } from "../kind-row.ts";
import { readIp } from "../shared/ip-fields.ts";
import { ageColumn, column, listAt, nameColumn, orNone, printer, textAt } from "../shared/printer.ts";
import type { Place } from "../../objects/place.ts";
import {
  struct,
  unlessEmpty,
  required,
  textThat,
  all,
  present,
  oneOf,
  caseOf,
  always,
  fieldRules,
  each,
} from "../../objects/rules.ts";
import { portName, portNumber } from "../core/pods/ports.ts";
import { label1035, subdomain } from "../shared/formats.ts";
import { reference } from "../shared/references.ts";

/** The older way to name a class is an annotation. */
function classTwice(ingress: JsonObject, at: Place): void {
  const annotation = `${at.dialect.labelSuffix}/ingress.class`;
  const named = metadataOf(ingress).annotations?.[annotation];
  const className = (ingress["spec"] as JsonObject | undefined)?.["ingressClassName"];
  if (at.live !== undefined || named === undefined || className === undefined) return;
  at.of("annotations", annotation).invalid(named, "can not be set when the class field is also set");
}

const dns1123WildcardText =
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

function host(name: string, at: Place): void {
  if (!name.includes("*")) at.invalidFor(name, dns1123SubdomainErrors(name));
  else if (!name.startsWith("*.") || dns1123SubdomainErrors(name.slice(2)).length > 0 || name.length > 253) {
    at.invalid(name, dns1123WildcardText);
  }
}

const servicePort = struct({ name: unlessEmpty(portName), number: unlessEmpty(portNumber) });

const service = struct({ name: required(label1035) }, ({ port: given }: JsonObject, at) => {
  const { name = "", number = 0 } = (given ?? {}) as JsonObject;
  if (name !== "" && number !== 0) at.invalid("", "cannot set both port name & port number");
  else if (name === "" && number === 0) at.required("port name or number is required");
  else at.judge("port", given, servicePort);
});

const backend = struct(({ resource, service: given }: JsonObject, at) => {
  if (resource !== undefined && given !== undefined) at.invalid("", "cannot set both resource and service backends");
  else if (resource !== undefined) at.judge("resource", resource, reference);
  else if (given !== undefined) at.judge("service", given, service);
  else at.invalid("", "resource or service backend is required");
});

const absolute = textThat((path) => path.startsWith("/"), "must be an absolute path");
const exactPath = all(
  absolute,
  ...["//", "/./", "/../", "%2f", "%2F"].map((part) =>
    textThat((path) => !path.includes(part), `must not contain '${part}'`),
  ),
  ...["/..", "/."].map((end) => textThat((path) => !path.endsWith(end), `cannot end with '${end}'`)),
);

const httpPath = struct(
  { pathType: present(oneOf(["Exact", "ImplementationSpecific", "Prefix"]), "pathType must be specified") },
  caseOf("pathType", {
    Exact: { path: always(exactPath) },
    ImplementationSpecific: { path: unlessEmpty(absolute) },
    Prefix: { path: always(exactPath) },
  }),
  { backend: always(backend) },
);

const ingressRules: KindRules = {
  validate: fieldRules(classTwice, {
    spec: always(
      struct(
        ({ rules = [], defaultBackend }: JsonObject, at) => {
          if ((rules as readonly Json[]).length > 0 || defaultBackend !== undefined) return;
          at.invalidText("[]networking.IngressRule(nil)", "either `defaultBackend` or `rules` must be specified");
        },
        {
          defaultBackend: backend,
          rules: each(
            struct({
              host: unlessEmpty(
                all(
                  textThat((name) => readIp(name) === undefined, "must be a DNS name, not an IP address"),
                  host,
                ),
              ),
              http: struct({ paths: required(each(httpPath)) }),
            }),
          ),
          tls: each(struct({ hosts: each(host), secretName: unlessEmpty(subdomain) })),
          ingressClassName: subdomain,
        },
      ),
    ),
  }),
};

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
