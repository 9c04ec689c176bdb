/** Ports of containers, and what names one. Source: the published validation of container ports and of port names. */
import type { Cause } from "../../../contract/errors.ts";
import type { Json, JsonObject } from "../../../contract/http-message.ts";
import { duplicateValue, invalidValue, requiredValue } from "../../../objects/causes.ts";
import { enumCauses, listOf } from "../../shared/fields.ts";
import { between, all, textThat } from "../../../objects/rules.ts";
import { type Check, type Place, judgeAt } from "../../../objects/place.ts";

export const protocols = ["SCTP", "TCP", "UDP"];

/** Ports of one container; `path` ends in `ports`. */
export function portsCauses(ports: readonly JsonObject[], path: string, causes: Cause[]): void {
  const names = new Set<string>();
  ports.forEach((port, at) => {
    const here = `${path}[${at}]`;
    const name = (port["name"] ?? "") as string;
    if (name !== "") {
      const found = causes.length;
      judgeAt(portName, name, `${here}.name`, causes);
      if (causes.length === found && names.has(name)) causes.push(duplicateValue(`${here}.name`, name));
      names.add(name);
    }
    const number = (port["containerPort"] ?? 0) as number;
    if (number === 0) causes.push(requiredValue(`${here}.containerPort`));
    else portCauses(number, `${here}.containerPort`, causes);
    const hostPort = (port["hostPort"] ?? 0) as number;
    if (hostPort !== 0) portCauses(hostPort, `${here}.hostPort`, causes);
    enumCauses(port["protocol"], protocols, `${here}.protocol`, causes);
  });
}

/** A port of the node goes to one container. `path` is that of the list of containers. */
export function hostPortCauses(containers: readonly JsonObject[], path: string, causes: Cause[]): void {
  const taken = new Set<string>();
  containers.forEach((container, index) => {
    listOf(container, "ports").forEach(({ protocol, hostIP = "", hostPort = 0 }, at) => {
      if (hostPort === 0) return;
      const key = `${String(protocol)}/${String(hostIP)}/${String(hostPort)}`;
      if (taken.has(key)) causes.push(duplicateValue(`${path}[${index}].ports[${at}].hostPort`, key));
      taken.add(key);
    });
  });
}

/** In the node's network a container's port is the node's. In a template the node's port may still be open. */
export function hostNetworkCauses(
  containers: readonly JsonObject[],
  path: string,
  isPod: boolean,
  causes: Cause[],
): void {
  containers.forEach((container, index) => {
    listOf(container, "ports").forEach(({ containerPort = 0, hostPort = 0 }, at) => {
      if (hostPort === containerPort || (hostPort === 0 && !isPod)) return;
      const detail = "must match `containerPort` when `hostNetwork` is true";
      causes.push(invalidValue(`${path}[${index}].ports[${at}].hostPort`, hostPort, detail));
    });
  });
}

export const portNumber = between(1, 65_535);

/** Short, lower case, with a letter in it. */
export const portName = all(
  textThat((name) => name.length <= 15, "must be no more than 15 characters"),
  textThat(
    (name) => /^[a-z0-9-]*$/.test(name),
    "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
  ),
  textThat((name) => /[a-z]/.test(name), "must contain at least one letter (a-z)"),
  textThat((name) => !name.includes("--"), "must not contain consecutive hyphens"),
  textThat((name) => !name.startsWith("-") && !name.endsWith("-"), "must not begin or end with a hyphen"),
);

/** A number, or the name of a container's port. */
export const portOrName: Check = (given: Json, at: Place) =>
  (typeof given === "string" ? portName : portNumber).judge(given as never, at);

export function portCauses(number: number, path: string, causes: Cause[]): void {
  if (number < 1 || number > 65_535) judgeAt(portNumber, number, path, causes);
}

export const portOrNameCauses = (given: Json | undefined, path: string, causes: Cause[]): void =>
  judgeAt(portOrName, given ?? 0, path, causes);
