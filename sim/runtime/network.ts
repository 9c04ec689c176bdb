/** Who answers at which address: containers with ports, as probes and small clients reach them. */
import type { RuntimeState } from "./runtime-state.ts";
import type { Connection } from "./processes/box.ts";

export function connect(
  state: RuntimeState,
  ip: string,
  port: number,
  http: { readonly path: string; readonly method: string } | undefined,
): Connection {
  if (!state.conditions.networkReady) return { outcome: "SILENT", status: 0, body: "" };
  const sandboxes = [...state.sandboxes.values()].filter(({ ready }) => ready);
  const own = sandboxes.filter((sandbox) => sandbox.ip === ip);
  // What is no pod's address is the node's, where pods on the host's network listen.
  const there = own.length > 0 ? own : sandboxes.filter((sandbox) => sandbox.ip === "");
  for (const { containers } of there) {
    for (const { box, isService, image } of containers) {
      if (box === undefined) continue;
      const ports = image.row.runs?.ports ?? [];
      if (ports === "any") return { outcome: "OPEN", status: http === undefined ? 0 : 200, body: "" };
      const row = isService ? ports.find((each) => each.port === port) : undefined;
      if (row !== undefined)
        return { outcome: "OPEN", status: http === undefined ? 0 : (row.status ?? 200), body: row.body ?? "" };
      for (const { status, program } of box.processes.values()) {
        if (status === undefined && program.listens === port) return { outcome: "OPEN", status: 0, body: "" };
      }
    }
  }
  return { outcome: own.length > 0 || isHost(ip) ? "REFUSED" : "SILENT", status: 0, body: "" };
}

const isHost = (ip: string): boolean => ip === "127.0.0.1" || ip === "localhost";
