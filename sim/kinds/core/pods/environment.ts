/** Environment variables of containers, and where their values come from. Source: the published validation of them. */
import { dns1123SubdomainErrors, maskTrailingDash, qualifiedNameErrors } from "../../../../wire/names.ts";
import { formatQuantity, parseQuantity } from "../../../../wire/quantity.ts";
import type { JsonObject } from "../../../contract/http-message.ts";
import { isObject } from "../../../contract/objects.ts";
import type { Check, Place, Rule } from "../../../objects/place.ts";
import {
  always,
  each,
  firstOf,
  format,
  required,
  struct,
  type Table,
  textThat,
  unlessEmpty,
} from "../../../objects/rules.ts";
import { subdomain } from "../../shared/formats.ts";
import { dataKeyErrors } from "../config-map.ts";

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
export const fieldRef = (fields: readonly string[]): Rule =>
  firstOf(struct({ apiVersion: required() }), struct({ fieldPath: required() }), namesOneOf(fields));

const namesOneOf =
  (fields: readonly string[]): Check =>
  (reference: JsonObject, at: Place) => {
    const field = reference["fieldPath"] as string;
    const [, map, key = ""] = subscripted.exec(field) ?? [];
    if (map === "metadata.annotations" || map === "metadata.labels") {
      const name = map === "metadata.annotations" ? key.toLowerCase() : key;
      at.invalidFor(name, qualifiedNameErrors(name));
    } else if (map !== undefined || !knownFields.includes(field)) {
      const what = map === undefined ? "not supported" : "does not support subscript";
      at.of("fieldPath").invalid(field, `error converting fieldPath: field label ${what}: ${field}`);
    } else if (!fields.includes(field)) at.of("fieldPath").unsupported(field, fields);
  };

const amounts = [
  "limits.cpu",
  "limits.ephemeral-storage",
  "limits.memory",
  "requests.cpu",
  "requests.ephemeral-storage",
  "requests.memory",
];

const isHugePages = (resource: string): boolean => /^(?:limits|requests)\.hugepages-/.test(resource);

const amountName = (resource: string, at: Place): void => {
  if (!amounts.includes(resource) && !isHugePages(resource)) at.unsupported(resource, amounts);
};

const parts = ["1m", "1"];
const units = ["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"];

function divisor({ resource = "", divisor: given = "0" }: JsonObject, at: Place): void {
  const quantity = parseQuantity(String(given));
  if ("error" in quantity || quantity.digits === 0n) return;
  const text = formatQuantity(quantity);
  const name = resource as string;
  const kind = name.slice(name.indexOf(".") + 1);
  const refuse = (values: string, what: string): void =>
    at.of("divisor").invalid(name, `only divisor's values ${values} are supported with the ${what} resource`);
  if (kind === "cpu" && amounts.includes(name)) {
    if (!parts.includes(text)) refuse("1m and 1", "cpu");
  } else if (units.includes(text)) return;
  else if (isHugePages(name)) refuse(units.join(", "), "hugepages");
  else if (amounts.includes(name)) refuse(units.join(", "), kind === "memory" ? "memory" : "local ephemeral storage");
}

const namedAmount = struct({ resource: required(amountName) });

/** An amount of a container as a value: of this one, or of the one that is named, as it must be in a volume. */
const resourceRef = struct(namedAmount, divisor);
export const resourceRefByName = struct(firstOf(struct({ containerName: required() }), namedAmount), divisor);

const keyRef = struct({ name: always(subdomain), key: required(format(dataKeyErrors)) });

const variableName = textThat(
  (name) => /^[ -<>-~]+$/.test(name),
  "a valid environment variable name must consist only of printable ASCII characters other than '='",
);

const sources = {
  fieldRef: fieldRef(variableFields),
  resourceFieldRef: resourceRef,
  configMapKeyRef: keyRef,
  secretKeyRef: keyRef,
};

const variable = struct(
  { name: required(variableName), valueFrom: struct(sources) },
  ({ value = "", valueFrom }: JsonObject, at) => {
    if (!isObject(valueFrom)) return;
    let count = 0;
    for (const name in valueFrom) if (Object.hasOwn(sources, name) && isObject(valueFrom[name])) count++;
    const refuse = (detail: string): void => at.of("valueFrom").invalid("", detail);
    if (count === 0) refuse("must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`");
    else if (value !== "") refuse("may not be specified when `value` is not empty");
    else if (count > 1) refuse("may not have more than one field specified at a time");
  },
);

const ofWhole = struct({ name: required(format((name) => dns1123SubdomainErrors(maskTrailingDash(name)))) });

/** What is wrong with the choice of a source is told of the whole list. */
const wholeSource = struct(
  { prefix: unlessEmpty(variableName), configMapRef: ofWhole, secretRef: ofWhole },
  ({ configMapRef, secretRef }: JsonObject, at) => {
    if (isObject(configMapRef) !== isObject(secretRef)) return;
    const none = "must specify one of: `configMapRef` or `secretRef`";
    at.above().invalid("", isObject(secretRef) ? "may not have more than one field specified at a time" : none);
  },
);

export const environment: Table = { env: each(variable), envFrom: each(wholeSource) };
