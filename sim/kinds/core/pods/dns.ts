/** How a pod resolves names. Source: the published validation of DNS settings and host aliases. */
import { dns1123SubdomainErrors } from "../../../../wire/names.ts";
import { utf8Length } from "../../../../wire/go-strings.ts";
import type { Cause } from "../../../contract/errors.ts";
import type { JsonObject } from "../../../contract/http-message.ts";
import { goStrings, invalidText, pushInvalid, requiredValue } from "../../../objects/causes.ts";
import { isObject } from "../../../contract/objects.ts";
import { listOf } from "../../shared/fields.ts";
import { ipCauses } from "../../shared/ip-fields.ts";

const serversMax = 3;
const searchesMax = 32;
const searchCharsMax = 2048;

/** `path` is that of the pod's spec. */
export function dnsCauses(spec: JsonObject, path: string, causes: Cause[]): void {
  const here = `${path}.dnsConfig`;
  const config = spec["dnsConfig"];
  if (!isObject(config)) {
    if (spec["dnsPolicy"] === "None") {
      causes.push(requiredValue(here, "must provide `dnsConfig` when `dnsPolicy` is None"));
    }
    return;
  }
  const servers = (config["nameservers"] ?? []) as readonly string[];
  if (spec["dnsPolicy"] === "None" && servers.length === 0) {
    const detail = "must provide at least one DNS nameserver when `dnsPolicy` is None";
    causes.push(requiredValue(`${here}.nameservers`, detail));
    return;
  }
  const tooMany = (field: string, values: readonly string[], what: string): number =>
    causes.push(invalidText(`${here}.${field}`, goStrings(values), `must not have more than ${what}`));
  if (servers.length > serversMax) tooMany("nameservers", servers, `${serversMax} nameservers`);
  servers.forEach((server, at) => ipCauses(server, `${here}.nameservers[${at}]`, causes));
  const searches = (config["searches"] ?? []) as readonly string[];
  if (searches.length > searchesMax) tooMany("searches", searches, `${searchesMax} search paths`);
  if (utf8Length(searches.join(" ")) > searchCharsMax) {
    tooMany("searches", searches, `${searchCharsMax} characters (including spaces) in the search list`);
  }
  searches.forEach((search, at) => {
    const name = search.endsWith(".") ? search.slice(0, -1) : search;
    pushInvalid(`${here}.searches[${at}]`, name, dns1123SubdomainErrors(name), causes);
  });
  listOf(config, "options").forEach(({ name = "" }, at) => {
    if (name === "") causes.push(requiredValue(`${here}.options[${at}]`, "must not be empty"));
  });
}

/** Names that the pod knows by itself. */
export function hostAliasCauses(aliases: readonly JsonObject[], path: string, causes: Cause[]): void {
  aliases.forEach((alias, at) => {
    ipCauses((alias["ip"] ?? "") as string, `${path}[${at}].ip`, causes);
    ((alias["hostnames"] ?? []) as readonly string[]).forEach((name, index) => {
      pushInvalid(`${path}[${at}].hostnames[${index}]`, name, dns1123SubdomainErrors(name), causes);
    });
  });
}
