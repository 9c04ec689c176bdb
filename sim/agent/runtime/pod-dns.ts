/**
 * Which resolver the containers of a pod are given. Source: document 3, --cluster-dns, --cluster-domain, --resolv-conf; the
 * published agent's rules: three servers, 32 searched domains of 2048 characters together.
 */
import type { DNSConfig } from "../../../wire/cri-messages.ts";
import type { Pod } from "../pods/pod-types.ts";

/** What a file such as /etc/resolv.conf says. */
export interface HostDns {
  readonly servers: readonly string[];
  readonly searches: readonly string[];
  readonly options: readonly string[];
}

export interface DnsFacts {
  readonly clusterDns: readonly string[];
  readonly clusterDomain: string;
  /** Undefined: there is none to go by. */
  readonly hostDns?: HostDns | undefined;
}

const serversMax = 3;
const searchesMax = 32;
const searchCharactersMax = 2048;

/** What a pod that is to have the host's gets where nobody says what that is. */
const nowhere: HostDns = { servers: ["127.0.0.1"], searches: ["."], options: [] };

/** DNS of `ClusterFirst` pods is the cluster's where the agent knows it; of others, the host's. */
export function podDns(facts: DnsFacts, { spec, metadata: { namespace } }: Pod): DNSConfig {
  const { dnsPolicy = "ClusterFirst", dnsConfig } = spec;
  const base = dnsPolicy === "None" ? none : baseOf(facts, namespace, dnsPolicy, spec.hostNetwork === true);
  const own = (dnsConfig?.options ?? []).map(({ name, value }) =>
    value === undefined || value === "" ? name : `${name}:${value}`,
  );
  const options = merged(base.options, own);
  return {
    servers: unique([...base.servers, ...(dnsConfig?.nameservers ?? [])]).slice(0, serversMax),
    searches: fitting(unique([...base.searches, ...(dnsConfig?.searches ?? [])])),
    ...(options.length === 0 ? {} : { options }),
  };
}

const none: HostDns = { servers: [], searches: [], options: [] };

function baseOf(
  { clusterDns, clusterDomain, hostDns }: DnsFacts,
  namespace: string,
  policy: string,
  isOnHostNetwork: boolean,
): HostDns {
  const isCluster =
    clusterDns.length > 0 && (policy === "ClusterFirstWithHostNet" || (policy === "ClusterFirst" && !isOnHostNetwork));
  if (!isCluster) return hostDns ?? nowhere;
  const own = clusterDomain === "" ? [] : [`${namespace}.svc.${clusterDomain}`, `svc.${clusterDomain}`, clusterDomain];
  return {
    servers: clusterDns,
    searches: [...own, ...(hostDns?.searches ?? [])],
    // What a host's file says of options is not for the cluster's servers.
    options: hostDns === undefined ? [] : ["ndots:5"],
  };
}

const unique = (texts: readonly string[]): readonly string[] => [...new Set(texts)];

function fitting(searches: readonly string[]): readonly string[] {
  const kept: string[] = [];
  let length = 0;
  for (const search of searches.slice(0, searchesMax)) {
    length += search.length + (kept.length === 0 ? 0 : 1);
    if (length > searchCharactersMax) break;
    kept.push(search);
  }
  return kept;
}

/** By their names, the later ones instead of the earlier. */
function merged(base: readonly string[], own: readonly string[]): readonly string[] {
  const nameOf = (option: string): string => option.split(":", 1)[0] as string;
  const names = new Set(own.map(nameOf));
  return [...base.filter((option) => !names.has(nameOf(option))), ...own];
}

/** A resolver's file. Of domains the last line counts. Source: resolv.conf(5). */
export function parseResolverFile(text: string): HostDns {
  const servers: string[] = [];
  let searches: readonly string[] = [];
  let options: readonly string[] = [];
  for (const line of text.split("\n")) {
    const [word = "", ...values] = line.trim().split(/\s+/);
    if (word === "nameserver" && values[0] !== undefined) servers.push(values[0]);
    else if (word === "search")
      searches = values.map((domain) => (domain === "." ? domain : domain.replace(/\.$/, "")));
    else if (word === "options") options = merged(options, values);
  }
  return { servers, searches, options };
}
