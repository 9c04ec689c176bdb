/**
 * Ranges that services' addresses come from, and the addresses that are taken. Simplification: the server gives out
 * addresses by itself and keeps no such objects of its own. Source: the published validation and columns.
 */
import type { JsonObject } from "../../contract/http-message.ts";
import { goStrings } from "../../objects/causes.ts";
import type { KindRow } from "../kind-row.ts";
import { isDualStack, readCidrAddress, cidrBlock, ipAddress } from "../shared/ip-fields.ts";
import { ageColumn, column, nameColumn, printer, textAt } from "../shared/printer.ts";
import {
  fieldRules,
  whenNew,
  required,
  stepRules,
  immutableAs,
  always,
  present,
  struct,
  unlessEmpty,
} from "../../objects/rules.ts";
import type { Place } from "../../objects/place.ts";
import { subdomain, pathSegment } from "../shared/formats.ts";

const cidrsOf = (object: JsonObject): readonly string[] =>
  ((object["spec"] as JsonObject | undefined)?.["cidrs"] ?? []) as readonly string[];

export const serviceCidrKind: KindRow = {
  resource: "networking.svc.io/servicecidrs",
  unconditionalUpdate: false,
  rules: {
    validate: fieldRules({ "spec.cidrs": whenNew(required(ranges, "at least one CIDR required")) }),
    validateUpdate: stepRules({ "spec.cidrs": immutableAs((cidrs) => goStrings(cidrs as readonly string[]), []) }),
  },
  columns: printer(
    nameColumn,
    column("CIDRs", "The ranges.", (it) => cidrsOf(it).join(",")),
    ageColumn,
  ),
};

function ranges(cidrs: readonly string[], at: Place): void {
  const refuse = (detail: string): void => at.invalidText(goStrings(cidrs), detail);
  const found = at.causes.length;
  if (cidrs.length > 2) refuse("may only hold up to 2 values");
  else at.eachItem(cidrs, cidrBlock.judge);
  if (at.causes.length > found || cidrs.length < 2 || isDualStack(cidrs, readCidrAddress)) return;
  refuse("may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64");
}

export const ipAddressKind: KindRow = {
  resource: "networking.svc.io/ipaddresses",
  unconditionalUpdate: false,
  nameRule: "any",
  rules: {
    validate: fieldRules({
      "metadata.name": always(ipAddress),
      "spec.parentRef": present(
        struct({
          group: unlessEmpty(subdomain),
          resource: required(pathSegment),
          name: required(pathSegment),
          namespace: unlessEmpty(pathSegment),
        }),
      ),
    }),
    validateUpdate: stepRules({ "spec.parentRef": immutableAs(() => "networking.ParentReference{}") }),
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
