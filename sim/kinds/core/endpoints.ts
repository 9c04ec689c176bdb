/** Where services are found: Endpoints and EndpointSlices. Source: the published defaults and validation of both. */
import {
  dns1123LabelErrors,
  dns1123SubdomainErrors,
  labelValueErrors,
  qualifiedNameErrors,
} from "../../../wire/names.ts";
import type { Cause } from "../../contract/errors.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import {
  duplicateValue,
  invalidValue,
  pushInvalid,
  requiredValue,
  tooManyItems,
  unsupportedValue,
} from "../../objects/causes.ts";
import { labelCauses } from "../../objects/metadata.ts";
import { isObject } from "../../contract/objects.ts";
import { enumCauses, listOf } from "../shared/fields.ts";
import { ipCauses, ordinaryIpCauses, readIp } from "../shared/ip-fields.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import { eachItem } from "./pod-template.ts";
import { portCauses, protocols } from "./pods/ports.ts";
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

const endpointsRules: KindRules = {
  defaults(draft) {
    eachItem(draft, "subsets", (subset) => eachItem(subset, "ports", (port) => (port["protocol"] ??= "TCP")));
  },
  validate(endpoints, causes) {
    listOf(endpoints, "subsets").forEach((subset, at) => subsetCauses(subset, `subsets[${at}]`, causes));
  },
};

function subsetCauses(subset: JsonObject, path: string, causes: Cause[]): void {
  const lists = ["addresses", "notReadyAddresses"];
  if (lists.every((field) => listOf(subset, field).length === 0)) {
    causes.push(requiredValue(path, "must specify `addresses` or `notReadyAddresses`"));
  }
  for (const field of lists) {
    listOf(subset, field).forEach((address, at) => {
      const here = `${path}.${field}[${at}]`;
      const ip = (address["ip"] ?? "") as string;
      ipCauses(ip, `${here}.ip`, causes);
      if ((address["hostname"] ?? "") !== "")
        textCauses(address["hostname"], dns1123LabelErrors, `${here}.hostname`, causes);
      textCauses(address["nodeName"], dns1123SubdomainErrors, `${here}.nodeName`, causes);
      ordinaryIpCauses(ip, `${here}.ip`, causes);
    });
  }
  const ports = listOf(subset, "ports");
  ports.forEach((port, at) => {
    const here = `${path}.ports[${at}]`;
    const name = (port["name"] ?? "") as string;
    if (name !== "") textCauses(name, dns1123LabelErrors, `${here}.name`, causes);
    else if (ports.length > 1) causes.push(requiredValue(`${here}.name`));
    portCauses((port["port"] ?? 0) as number, `${here}.port`, causes);
    enumCauses(port["protocol"], protocols, `${here}.protocol`, causes);
    textCauses(port["appProtocol"], qualifiedNameErrors, `${here}.appProtocol`, causes);
  });
}

function textCauses(
  value: Json | undefined,
  errors: (text: string) => readonly string[],
  path: string,
  causes: Cause[],
): void {
  if (value === undefined) return;
  pushInvalid(path, value, errors(value as string), causes);
}

const addressTypes = ["FQDN", "IPv4", "IPv6"];
const most = { endpoints: 1000, addresses: 100, ports: 20_000, labels: 16, zones: 8 };

const endpointSliceRules: KindRules = {
  defaults(draft) {
    eachItem(draft, "ports", (port) => {
      port["name"] ??= "";
      port["protocol"] ??= "TCP";
    });
  },
  validate(slice, causes) {
    const type = (slice["addressType"] ?? "") as string;
    enumCauses(type, addressTypes, "addressType", causes);
    const endpoints = listOf(slice, "endpoints");
    if (endpoints.length > most.endpoints) causes.push(tooManyItems("endpoints", endpoints.length, most.endpoints));
    else endpoints.forEach((endpoint, at) => endpointCauses(endpoint, type, `endpoints[${at}]`, causes));
    slicePortsCauses(listOf(slice, "ports"), causes);
  },
  validateUpdate(slice, live, causes) {
    if (slice["addressType"] === live["addressType"]) return;
    causes.push(invalidValue("addressType", slice["addressType"] ?? "", "field is immutable"));
  },
};

function endpointCauses(endpoint: JsonObject, type: string, path: string, causes: Cause[]): void {
  const addresses = (endpoint["addresses"] ?? []) as readonly string[];
  const list = `${path}.addresses`;
  if (addresses.length === 0) causes.push(requiredValue(list, "must contain at least 1 address"));
  else if (addresses.length > most.addresses) causes.push(tooManyItems(list, addresses.length, most.addresses));
  addresses.forEach((address, at) => addressCauses(address, type, `${list}[${at}]`, causes));
  textCauses(endpoint["nodeName"], dns1123SubdomainErrors, `${path}.nodeName`, causes);
  const topology = (endpoint["deprecatedTopology"] ?? {}) as Readonly<Record<string, string>>;
  const keys = Object.keys(topology).length;
  if (keys > most.labels) causes.push(tooManyItems(`${path}.deprecatedTopology`, keys, most.labels));
  labelCauses(topology, `${path}.deprecatedTopology`, causes);
  textCauses(endpoint["hostname"], dns1123LabelErrors, `${path}.hostname`, causes);
  if (isObject(endpoint["hints"])) zoneCauses(listOf(endpoint["hints"], "forZones"), `${path}.hints.forZones`, causes);
}

function addressCauses(address: string, type: string, path: string, causes: Cause[]): void {
  if (type === "IPv4" || type === "IPv6") {
    if (readIp(address)?.family !== Number(type.slice(-1))) {
      causes.push(invalidValue(path, address, `must be a valid ${type} address`));
    }
    ordinaryIpCauses(address, path, causes);
  } else if (type === "FQDN") {
    textCauses(address, dns1123SubdomainErrors, path, causes);
    if (dns1123SubdomainErrors(address).length > 0 || address.includes(".")) return;
    causes.push(invalidValue(path, address, "should be a domain with at least two segments separated by dots"));
  }
}

function zoneCauses(zones: readonly JsonObject[], path: string, causes: Cause[]): void {
  if (zones.length > most.zones) {
    causes.push(tooManyItems(path, zones.length, most.zones));
    return;
  }
  const seen = new Set<string>();
  zones.forEach(({ name = "" }, at) => {
    const here = `${path}[${at}].name`;
    if (seen.has(name as string)) causes.push(duplicateValue(here, name));
    seen.add(name as string);
    if (name === "") causes.push(requiredValue(here));
    else textCauses(name, labelValueErrors, here, causes);
  });
}

function slicePortsCauses(ports: readonly JsonObject[], causes: Cause[]): void {
  if (ports.length > most.ports) {
    causes.push(tooManyItems("ports", ports.length, most.ports));
    return;
  }
  const names = new Set<string>();
  ports.forEach((port, at) => {
    const here = `ports[${at}]`;
    const name = (port["name"] ?? "") as string;
    if (name !== "") textCauses(name, dns1123LabelErrors, `${here}.name`, causes);
    if (names.has(name)) causes.push(duplicateValue(`${here}.name`, name));
    names.add(name);
    const { protocol } = port;
    if (!protocols.includes(protocol as string)) causes.push(unsupportedValue(`${here}.protocol`, protocol, protocols));
    textCauses(port["appProtocol"], qualifiedNameErrors, `${here}.appProtocol`, causes);
  });
}

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
