/**
 * Settings of the kernel that a pod asks for: safe ones every pod may have, others where the agent allows them, and none
 * that the whole machine would see through a namespace that the pod shares with it.
 * Source: document 3, --allowed-unsafe-sysctls; the published agent's list of safe ones, and its text.
 */
import { goQuote } from "../../../wire/go-strings.ts";
import type { ActivePod, Rejection } from "../ports.ts";
import { podOf } from "./pod-types.ts";

const safe = [
  "kernel.shm_rmid_forced",
  "net.ipv4.ip_local_port_range",
  "net.ipv4.tcp_syncookies",
  "net.ipv4.ping_group_range",
  "net.ipv4.ip_unprivileged_port_start",
  "net.ipv4.ip_local_reserved_ports",
  "net.ipv4.tcp_keepalive_time",
  "net.ipv4.tcp_fin_timeout",
  "net.ipv4.tcp_keepalive_intvl",
  "net.ipv4.tcp_keepalive_probes",
  "net.ipv4.tcp_rmem",
  "net.ipv4.tcp_wmem",
];

/** `allowed`: names, or patterns that end with `*`. */
export function forbiddenSysctl({ object }: ActivePod, allowed: readonly string[]): Rejection | undefined {
  const { securityContext, hostNetwork, hostIPC } = podOf(object).spec;
  const listed = (securityContext?.["sysctls"] ?? []) as readonly { readonly name: string }[];
  const known = [...safe, ...allowed.map(dotted)];
  for (const { name } of listed) {
    const plain = dotted(name);
    const isKnown = known.some((each) => (each.endsWith("*") ? plain.startsWith(each.slice(0, -1)) : plain === each));
    if (!isKnown) return forbidden(name, "not allowlisted");
    if (hostNetwork === true && plain.startsWith("net.")) return forbidden(name, "not allowed with host net enabled");
    if (hostIPC === true && /^(?:kernel\.(?:shm|msg|sem)|fs\.mqueue\.)/.test(plain))
      return forbidden(name, "not allowed with host ipc enabled");
  }
  return undefined;
}

const forbidden = (name: string, why: string): Rejection => ({
  reason: "SysctlForbidden",
  message: `forbidden sysctl: ${goQuote(name)} ${why}`,
});

/** The parts of a name may be apart by slashes too: the first of both says how. */
function dotted(name: string): string {
  const at = name.search(/[./]/);
  if (at < 0 || name[at] === ".") return name;
  return name.replace(/[./]/g, (each) => (each === "/" ? "." : "/"));
}
