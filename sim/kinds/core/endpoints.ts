/** Where services are found: Endpoints and EndpointSlices. Source: the published defaults and validation of both. */
import { dns1123SubdomainErrors } from "../../../wire/names.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { listOf } from "../shared/fields.ts";
import { ordinaryIp, readIp, ipAddress } from "../shared/ip-fields.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import { eachItem } from "./pod-template.ts";
import { protocols, portNumber } from "./pods/ports.ts";
import {
  printer,
  nameColumn,
  column,
  ageColumn,
  listAt,
  none,
  textAt,
  numberAt,
  at,
  unset,
} from "../shared/printer.ts";
import { text } from "../shared/columns.ts";
import type { KindRow } from "../kind-row.ts";
import type { Place, Check, Rule } from "../../objects/place.ts";
import {
  struct,
  always,
  unlessEmpty,
  each,
  required,
  oneOf,
  fieldRules,
  firstOf,
  atMostItems,
  all,
  fine,
  distinct,
  orNil,
  stepRules,
  immutable,
} from "../../objects/rules.ts";
import { label, labelAmongSeveral, subdomain, qualifiedName, labels, labelValue } from "../shared/formats.ts";

const address = struct({
  ip: always(ipAddress),
  hostname: unlessEmpty(label),
  nodeName: subdomain,
});
const addressList = each(struct(address.judge, { ip: always({ judge: ordinaryIp, zero: "" }) }));

const subset = struct(
  (it: JsonObject, at) => {
    if (listOf(it, "addresses").length + listOf(it, "notReadyAddresses").length > 0) return;
    at.required("must specify `addresses` or `notReadyAddresses`");
  },
  {
    addresses: addressList,
    notReadyAddresses: addressList,
    ports: each(
      struct({
        name: always(labelAmongSeveral),
        port: always(portNumber),
        protocol: required(oneOf(protocols)),
        appProtocol: qualifiedName,
      }),
    ),
  },
);

const endpointsRules: KindRules = {
  defaults(draft) {
    eachItem(draft, "subsets", (it) => eachItem(it, "ports", (port) => (port["protocol"] ??= "TCP")));
  },
  validate: fieldRules({ subsets: each(subset) }),
};

/** By the type of addresses of a slice. */
const addressRules: Readonly<Record<string, Check>> = {
  FQDN(name: string, at: Place) {
    const errors = dns1123SubdomainErrors(name);
    at.invalidFor(name, errors);
    if (errors.length > 0 || name.includes(".")) return;
    at.invalid(name, "should be a domain with at least two segments separated by dots");
  },
  IPv4: ofFamily(4),
  IPv6: ofFamily(6),
};

function ofFamily(family: 4 | 6): Check {
  return (text: string, at: Place) => {
    if (readIp(text)?.family !== family) at.invalid(text, `must be a valid IPv${family} address`);
    ordinaryIp(text as never, at);
  };
}

/** Of a list that is too long no item is judged. */
const fewEnough = (max: number, item: Rule): Rule => firstOf(atMostItems(max), each(item));

/** Each with the address type of its slice. */
const endpoint = (type: string): Rule =>
  struct({
    addresses: required(
      all(atMostItems(100), each(Object.hasOwn(addressRules, type) ? (addressRules[type] as Check) : fine)),
      "must contain at least 1 address",
    ),
    nodeName: subdomain,
    deprecatedTopology: all(atMostItems(16), labels),
    hostname: label,
    "hints.forZones": fewEnough(8, struct({ name: always(all(distinct, required(labelValue))) })),
  });

const addressTypes = ["FQDN", "IPv4", "IPv6"];
const endpointLists = new Map([...addressTypes, ""].map((type) => [type, fewEnough(1000, endpoint(type))]));

const endpointSliceRules: KindRules = {
  defaults(draft) {
    eachItem(draft, "ports", (port) => {
      port["name"] ??= "";
      port["protocol"] ??= "TCP";
    });
  },
  validate: fieldRules(
    { addressType: required(oneOf(addressTypes)) },
    ({ addressType = "", endpoints: list }: JsonObject, at) => {
      at.judge("endpoints", list, endpointLists.get(addressType as string) ?? (endpointLists.get("") as Rule));
    },
    {
      ports: fewEnough(
        20_000,
        struct({
          name: always(all(unlessEmpty(label), distinct)),
          protocol: orNil(oneOf(protocols)),
          appProtocol: qualifiedName,
        }),
      ),
    },
  ),
  validateUpdate: stepRules({ addressType: immutable("") }),
};

export const endpointsKind: KindRow = {
  resource: "/endpoints",
  createOnUpdate: true,
  rules: endpointsRules,
  columns: printer(nameColumn, column("Endpoints", "Addresses and ports.", endpoints), ageColumn),
};

export const endpointSliceKind: KindRow = {
  resource: "discovery.svc.io/endpointslices",
  usesGeneration: true,
  rules: endpointSliceRules,
  columns: printer(
    nameColumn,
    column("AddressType", "What the addresses are.", text("addressType")),
    column("Ports", "Ports of each endpoint.", slicePorts),
    column("Endpoints", "Addresses.", (it) => sliceEndpoints(it)),
    ageColumn,
  ),
};

function endpoints(object: JsonObject): string {
  const subsets = listAt(object, "subsets");
  if (subsets.length === 0) return none;
  const all = subsets.flatMap((subset) => {
    const addresses = listAt(subset, "addresses").map((address) => textAt(address, "ip"));
    const ports = listAt(subset, "ports");
    if (ports.length === 0) return addresses;
    return ports.flatMap((port) => addresses.map((ip) => hostAndPort(ip, numberAt(port, "port"))));
  });
  return firstFew(all);
}

const hostAndPort = (host: string, port: number): string =>
  host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;

/** The first few, and how many more there are. */
function firstFew(list: readonly string[]): string {
  const more = list.length - shownMax;
  return list.slice(0, shownMax).join(",") + (more > 0 ? ` + ${more} more...` : "");
}

const shownMax = 3;

function slicePorts(slice: JsonObject): string {
  const all = listAt(slice, "ports").map((port) => {
    const number = at(port, "port");
    return number === undefined ? "*" : String(number as number);
  });
  return all.length === 0 ? unset : firstFew(all);
}

function sliceEndpoints(slice: JsonObject): string {
  const all = listAt(slice, "endpoints").flatMap((one) => (at(one, "addresses") ?? []) as readonly string[]);
  return all.length === 0 ? unset : firstFew(all);
}
