/** Which hosts the simulated server answers for. A request for any other was meant for somebody else. */

/** What in-cluster configurations call the server. */
const inCluster = ["kubernetes.default.svc", "kubernetes.default.svc.cluster.local"];

/** Throws a `TypeError` for a URL of another host; `origin` is the cluster's own. */
export type HostCheck = (url: URL) => void;

/** @param hosts names (without a port) that the code under test has for the server, beside the cluster's own. */
export function ownHosts(origin: string, hosts: readonly string[]): HostCheck {
  const own = new Set([new URL(origin).hostname, ...inCluster, ...hosts.map((host) => host.toLowerCase())]);
  return ({ hostname, href }) => {
    if (own.has(hostname)) return;
    throw new TypeError(
      `${href} is not the simulated cluster, which is at ${origin}. Use cluster.url, or name the host: createCluster({ hosts: ["${hostname}"] }).`,
    );
  };
}
