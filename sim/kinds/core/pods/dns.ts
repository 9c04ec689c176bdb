/** How a pod resolves names. Source: the published validation of DNS settings and host aliases. */
import { utf8Length } from "../../../../wire/go-strings.ts";
import type { JsonObject } from "../../../contract/http-message.ts";
import { isObject } from "../../../contract/objects.ts";
import { goStrings } from "../../../objects/causes.ts";
import type { Place, Rule } from "../../../objects/place.ts";
import { all, always, each, fine, required, struct } from "../../../objects/rules.ts";
import { subdomain } from "../../shared/formats.ts";
import { ipAddress } from "../../shared/ip-fields.ts";

const textsThat = (holds: (texts: readonly string[]) => boolean, what: string): Rule => ({
  zero: [],
  holds,
  judge(texts: readonly string[], at) {
    if (!holds(texts)) at.invalidText(goStrings(texts), `must not have more than ${what}`);
  },
});

const searchName = (search: string, at: Place): void =>
  subdomain.judge((search.endsWith(".") ? search.slice(0, -1) : search) as never, at);

const dnsConfig = struct({
  nameservers: all(
    textsThat((servers) => servers.length <= 3, "3 nameservers"),
    each(ipAddress),
  ),
  searches: all(
    textsThat((searches) => searches.length <= 32, "32 search paths"),
    textsThat(
      (searches) => utf8Length(searches.join(" ")) <= 2048,
      "2048 characters (including spaces) in the search list",
    ),
    each(searchName),
  ),
  options: each(({ name = "" }: JsonObject, at: Place) => {
    if (name === "") at.required("must not be empty");
  }),
});

const withoutPolicy = struct({
  nameservers: required(fine, "must provide at least one DNS nameserver when `dnsPolicy` is None"),
});

/** What a pod's spec says of names: without a policy the configuration is all that there is. */
export function dnsOfPod({ dnsPolicy, dnsConfig: config }: JsonObject, at: Place): void {
  if (!isObject(config)) {
    if (dnsPolicy === "None") at.of("dnsConfig").required("must provide `dnsConfig` when `dnsPolicy` is None");
  } else if (dnsPolicy !== "None" || at.judge("dnsConfig", config, withoutPolicy)) {
    at.judge("dnsConfig", config, dnsConfig);
  }
}

/** Names that the pod knows by itself. */
export const hostAlias = struct({ ip: always(ipAddress), hostnames: each(subdomain) });
