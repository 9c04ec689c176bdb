/** Ports of containers, and what names one. Source: the published validation of container ports and of port names. */
import type { Json, JsonObject } from "../../../contract/http-message.ts";
import type { Place, Rule } from "../../../objects/place.ts";
import {
  all,
  between,
  distinct,
  firstOf,
  oneOf,
  required,
  struct,
  textThat,
  unlessEmpty,
} from "../../../objects/rules.ts";
import { listOf } from "../../shared/fields.ts";
import { scopeOf } from "./scope.ts";

export const protocols = ["SCTP", "TCP", "UDP"];

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

const portRuleFor = (given: Json): Rule => (typeof given === "string" ? portName : portNumber);

/** A number, or the name of a container's port. */
export const portOrName: Rule = {
  zero: 0,
  holds: (given: Json) => portRuleFor(given).holds?.(given as never) === true,
  judge: (given: Json, at) => portRuleFor(given).judge(given as never, at),
};

export const containerPort = struct({
  name: unlessEmpty(firstOf(portName, distinct)),
  containerPort: required(portNumber),
  hostPort: unlessEmpty(portNumber),
  protocol: required(oneOf(protocols)),
});

/** A port of the node goes to one container of the list. */
export function hostPorts(containers: readonly JsonObject[], at: Place): void {
  const taken = new Set<string>();
  containers.forEach((container, index) => {
    listOf(container, "ports").forEach(({ protocol, hostIP = "", hostPort = 0 }, port) => {
      if (hostPort === 0) return;
      const key = `${String(protocol)}/${String(hostIP)}/${String(hostPort)}`;
      if (taken.has(key)) at.of(index, "ports", port, "hostPort").duplicate(key);
      taken.add(key);
    });
  });
}

/** In the node's network a container's port is the node's. In a template the node's port may still be open. */
export function portsOfNode(containers: readonly JsonObject[], at: Place): void {
  const isPod = scopeOf(at).pod !== undefined;
  containers.forEach((container, index) => {
    listOf(container, "ports").forEach(({ containerPort: own = 0, hostPort = 0 }, port) => {
      if (hostPort === own || (hostPort === 0 && !isPod)) return;
      const detail = "must match `containerPort` when `hostNetwork` is true";
      at.of(index, "ports", port, "hostPort").invalid(hostPort, detail);
    });
  });
}
