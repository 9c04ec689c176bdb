/**
 * What services say of their addresses: one of each family, of a family that the cluster has. Here it has IPv4 alone.
 * Source: the published validation of services and the published server's families.
 */
import type { Cause } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import {
  duplicateValue,
  forbiddenField,
  goStrings,
  invalidText,
  invalidValue,
  requiredValue,
  unsupportedValue,
} from "../../objects/causes.ts";
import { jsonEqual } from "../../objects/equality.ts";
import { repetition } from "../shared/fields.ts";
import { inParts, judgeAt } from "../../objects/place.ts";
import { ipAddress, ipCauses, isDualStack, ordinaryIp, readIp } from "../shared/ip-fields.ts";

const families = ["IPv4", "IPv6"];
const familyPolicies = ["PreferDualStack", "RequireDualStack", "SingleStack"];

const textsOf = (spec: JsonObject, field: string): readonly string[] => (spec[field] ?? []) as readonly string[];
const addressesOf = (spec: JsonObject): readonly string[] => textsOf(spec, "clusterIPs");

export const isHeadless = (spec: JsonObject): boolean => {
  const [first, ...more] = addressesOf(spec);
  return first === "None" && more.length === 0;
};

export function addressFieldCauses(spec: JsonObject, causes: Cause[]): void {
  if (spec["type"] !== "ExternalName") {
    const found = causes.length;
    clusterAddressCauses(spec, causes);
    if (causes.length === found) configuredCauses(spec, causes);
  }
  const external = textsOf(spec, "externalIPs");
  inParts(causes, external.length, addressCost, (from, end) => {
    for (let at = from; at < end; at++) {
      const address = external[at] as string;
      judgeAt(readIp(address) === undefined ? ipAddress : ordinaryIp, address, `spec.externalIPs[${at}]`, causes);
    }
  });
}

/** Of one that is judged, by the measure of expressions (`pace.ts`). */
const addressCost = 12;

const listPath = "spec.clusterIPs";

function clusterAddressCauses(spec: JsonObject, causes: Cause[]): void {
  const address = (spec["clusterIP"] ?? "") as string;
  const addresses = addressesOf(spec);
  const refuse = (detail: string): number => causes.push(invalidText(listPath, goStrings(addresses), detail));
  if (address === "") {
    if (addresses.length > 0) refuse("must be empty when `clusterIP` is not specified");
  } else if (addresses.length === 0) causes.push(requiredValue(listPath));
  else if (addresses[0] !== address) refuse("first value must match `clusterIP`");
  familyCauses(spec, causes);
  const before = causes.length;
  addresses.forEach((text, at) => {
    if (at > 0 || text !== "None") ipCauses(text, `${listPath}[${at}]`, causes);
    else if (addresses.length > 1) refuse("'None' must be the first and only value");
  });
  const areWrong = causes.length > before;
  if (addresses.length > 2) refuse("may only hold up to 2 values");
  if (areWrong) return;
  if (addresses.length > 1 && !isDualStack(addresses)) refuse("may specify no more than one IP for each IP family");
  const named = textsOf(spec, "ipFamilies");
  if (isHeadless(spec)) return;
  addresses.forEach((text, at) => {
    const family = named[at];
    if (family === undefined || family === familyOf(text)) return;
    causes.push(
      invalidValue(`${listPath}[${at}]`, text, `expected an ${family} value as indicated by \`ipFamilies[${at}]\``),
    );
  });
}

const familyOf = (text: string): string => (readIp(text)?.family === 6 ? "IPv6" : "IPv4");

function familyCauses(spec: JsonObject, causes: Cause[]): void {
  const named = textsOf(spec, "ipFamilies");
  const isAgain = repetition();
  named.forEach((family, at) => {
    const path = `spec.ipFamilies[${at}]`;
    if (!families.includes(family)) causes.push(unsupportedValue(path, family, families));
    if (isAgain(family)) causes.push(duplicateValue(path, family));
  });
  const policy = spec["ipFamilyPolicy"];
  if (policy !== undefined && !familyPolicies.includes(policy as string)) {
    causes.push(unsupportedValue("spec.ipFamilyPolicy", policy, familyPolicies));
  }
}

/** What the policy and the cluster allow. Endpoints that nobody selects may be of any family. */
function configuredCauses(spec: JsonObject, causes: Cause[]): void {
  const { ipFamilyPolicy: policy } = spec;
  const named = textsOf(spec, "ipFamilies");
  const path = "spec.ipFamilyPolicy";
  if (policy === "SingleStack") {
    for (const [list, what] of [
      [addressesOf(spec), "cluster IPs"],
      [named, "IP families"],
    ] as const) {
      if (list.length < 2) continue;
      const detail = `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`;
      causes.push(invalidValue(path, policy, detail));
    }
  }
  const isOpen = spec["clusterIP"] === "None" && Object.keys((spec["selector"] ?? {}) as JsonObject).length === 0;
  if (isOpen) return;
  if (policy === "RequireDualStack") {
    causes.push(invalidValue(path, policy, "this cluster is not configured for dual-stack services"));
  }
  named.forEach((family, at) => {
    if (family === "IPv6")
      causes.push(invalidValue(`spec.ipFamilies[${at}]`, family, "not configured on this cluster"));
  });
}

/** Causes of the step between two services that have addresses: the first one stays. */
export function serviceStepCauses(after: JsonObject, before: JsonObject, causes: Cause[]): void {
  if (after["type"] !== "ExternalName" && before["type"] !== "ExternalName") {
    const [now, old] = [isHeadless(after), isHeadless(before)];
    if (!now || !old) addressStepCauses(addressesOf(after), addressesOf(before), causes);
    if (!now && !old) familyStepCauses(textsOf(after, "ipFamilies"), textsOf(before, "ipFamilies"), causes);
  }
  const isBalanced = after["type"] === "LoadBalancer" && before["type"] === "LoadBalancer";
  if (isBalanced && !jsonEqual(after["loadBalancerClass"], before["loadBalancerClass"])) {
    causes.push(invalidValue("spec.loadBalancerClass", after["loadBalancerClass"], "may not change once set"));
  }
  const isLocal = isBalanced && [after, before].every((spec) => spec["externalTrafficPolicy"] === "Local");
  if (isLocal && (after["healthCheckNodePort"] ?? 0) !== (before["healthCheckNodePort"] ?? 0)) {
    causes.push(forbiddenField("spec.healthCheckNodePort", "field is immutable"));
  }
}

function addressStepCauses(after: readonly string[], before: readonly string[], causes: Cause[]): void {
  const refuse = (at: number, detail: string): number =>
    causes.push(invalidText(`${listPath}[${at}]`, goStrings(after), detail));
  if (after.length === before.length) {
    before.forEach((address, at) => {
      if (after[at] !== address) refuse(at, "may not change once set");
    });
  } else if (before.length > 0 && after.length === 0) refuse(0, "primary clusterIP can not be unset");
  else if (before.length > 0 && after[0] !== before[0]) refuse(0, "may not change once set");
}

function familyStepCauses(after: readonly string[], before: readonly string[], causes: Cause[]): void {
  if (before.length === 0 || after[0] === before[0]) return;
  const list = `[]core.IPFamily{${after.map((family) => JSON.stringify(family)).join(", ")}}`;
  causes.push(invalidText("spec.ipFamilies[0]", list, "may not change once set"));
}
