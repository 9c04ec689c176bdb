/**
 * Ranges that services' addresses come from, and the addresses that are taken. Simplification: the server gives out
 * addresses by itself and keeps no such objects of its own. Source: the published validation and columns.
 */
import { dns1123SubdomainErrors, pathSegmentErrors } from "../../../wire/names.ts";
import type { Cause } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { isObject, metadataOf } from "../../contract/objects.ts";
import { goStrings, invalidText, invalidValue, pushInvalid, requiredValue } from "../../objects/causes.ts";
import { jsonEqual } from "../../objects/equality.ts";
import type { KindRow } from "../kind-row.ts";
import { cidrCauses, isDualStack, ipCauses, readCidrAddress } from "../shared/ip-fields.ts";
import { ageColumn, column, nameColumn, printer, textAt } from "../shared/printer.ts";

const cidrsOf = (object: JsonObject): readonly string[] =>
  ((object["spec"] as JsonObject | undefined)?.["cidrs"] ?? []) as readonly string[];

export const serviceCidrKind: KindRow = {
  resource: "networking.svc.io/servicecidrs",
  unconditionalUpdate: false,
  rules: {
    validate(object, causes, _dialect, live) {
      if (live === undefined) rangeCauses(cidrsOf(object), causes);
    },
    validateUpdate(object, live, causes) {
      const cidrs = cidrsOf(object);
      if (jsonEqual(cidrs as never, cidrsOf(live) as never)) return;
      causes.push(invalidText("spec.cidrs", goStrings(cidrs), "field is immutable"));
    },
  },
  columns: printer(
    nameColumn,
    column("CIDRs", "The ranges.", (it) => cidrsOf(it).join(",")),
    ageColumn,
  ),
};

function rangeCauses(cidrs: readonly string[], causes: Cause[]): void {
  const path = "spec.cidrs";
  if (cidrs.length === 0) {
    causes.push(requiredValue(path, "at least one CIDR required"));
    return;
  }
  if (cidrs.length > 2) {
    causes.push(invalidText(path, goStrings(cidrs), "may only hold up to 2 values"));
    return;
  }
  const found = causes.length;
  cidrs.forEach((cidr, at) => cidrCauses(cidr, `${path}[${at}]`, causes));
  if (causes.length > found || cidrs.length < 2 || isDualStack(cidrs, readCidrAddress)) return;
  const detail = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64";
  causes.push(invalidText(path, goStrings(cidrs), detail));
}

export const ipAddressKind: KindRow = {
  resource: "networking.svc.io/ipaddresses",
  unconditionalUpdate: false,
  nameRule: "any",
  rules: {
    validate(object, causes) {
      ipCauses(metadataOf(object).name ?? "", "metadata.name", causes);
      const parent = (object["spec"] as JsonObject | undefined)?.["parentRef"];
      if (isObject(parent)) parentCauses(parent, causes);
      else causes.push(requiredValue("spec.parentRef"));
    },
    validateUpdate(object, live, causes) {
      const [now, before] = [object, live].map((it) => (it["spec"] as JsonObject | undefined)?.["parentRef"]);
      if (jsonEqual(now, before)) return;
      causes.push(invalidText("spec.parentRef", "networking.ParentReference{}", "field is immutable"));
    },
  },
  columns: printer(
    nameColumn,
    column("ParentRef", "What has the address.", (it) => {
      const parts = ["resource", "namespace", "name"].map((field) => textAt(it, `spec.parentRef.${field}`));
      const group = textAt(it, "spec.parentRef.group");
      const [resource = "", ...rest] = parts;
      return [group === "" ? resource : `${resource}.${group}`, ...rest].filter((part) => part !== "").join("/");
    }),
    ageColumn,
  ),
};

function parentCauses(parent: JsonObject, causes: Cause[]): void {
  const path = "spec.parentRef";
  const group = (parent["group"] ?? "") as string;
  if (group !== "") pushInvalid(`${path}.group`, group, dns1123SubdomainErrors(group), causes);
  for (const field of ["resource", "name"]) {
    const text = (parent[field] ?? "") as string;
    if (text === "") causes.push(requiredValue(`${path}.${field}`));
    else pushInvalid(`${path}.${field}`, text, pathSegmentErrors(text), causes);
  }
  const namespace = (parent["namespace"] ?? "") as string;
  if (namespace !== "") {
    for (const why of pathSegmentErrors(namespace)) causes.push(invalidValue(`${path}.namespace`, namespace, why));
  }
}
