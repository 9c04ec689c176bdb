/**
 * What a write of a pod's status may say: what has ended has ended, and addresses are addresses.
 * Source: the published validation of status updates.
 */
import { dns1123SubdomainErrors, qualifiedNameErrors } from "../../../../wire/names.ts";
import type { Cause } from "../../../contract/errors.ts";
import type { JsonObject } from "../../../contract/http-message.ts";
import { duplicateText, forbiddenField, invalidText, invalidValue, pushInvalid } from "../../../objects/causes.ts";
import { listOf, repetition } from "../../shared/fields.ts";
import { ipCauses, isDualStack } from "../../shared/ip-fields.ts";

const ownConditions = ["PodScheduled", "Ready", "Initialized"];

export function podStatusCauses(pod: JsonObject, live: JsonObject, causes: Cause[]): void {
  const status = (pod["status"] ?? {}) as JsonObject;
  const before = (live["status"] ?? {}) as JsonObject;
  const spec = (live["spec"] ?? {}) as JsonObject;
  listOf(status, "conditions").forEach(({ type = "" }, at) => {
    if (ownConditions.includes(type as string)) return;
    for (const text of qualifiedNameErrors(type as string)) {
      causes.push(invalidValue(`metadata.conditions[${at}].Type`, type, text)); // as the real server names it
    }
  });
  const nominated = (status["nominatedNodeName"] ?? "") as string;
  if (nominated !== "" && nominated !== before["nominatedNodeName"]) {
    pushInvalid("status.nominatedNodeName", nominated, dns1123SubdomainErrors(nominated), causes);
  }
  if ((status["qosClass"] ?? "") !== (before["qosClass"] ?? "")) {
    causes.push(invalidValue("status.qosClass", status["qosClass"] ?? "", "field is immutable"));
  }
  for (const { list, restarts } of containerLists(spec)) {
    transitionCauses(listOf(status, list), listOf(before, list), restarts, `status.${list}`, causes);
  }
  addressCauses(listOf(status, "podIPs"), "status.podIPs", "PodIP", causes);
  hostAddressCauses(status, causes);
}

interface ContainerList {
  readonly list: string;
  /** Whether a container that ended so may run again. */
  readonly restarts: (name: unknown, exitCode: number) => boolean;
}

function containerLists(spec: JsonObject): readonly ContainerList[] {
  const policy = spec["restartPolicy"];
  const byPolicy = (exitCode: number): boolean => policy === "Always" || (policy === "OnFailure" && exitCode !== 0);
  const sidecars = listOf(spec, "initContainers").filter((container) => container["restartPolicy"] === "Always");
  return [
    { list: "containerStatuses", restarts: (_, exitCode) => byPolicy(exitCode) },
    {
      list: "initContainerStatuses",
      restarts: (name, exitCode) => byPolicy(exitCode) || sidecars.some((container) => container["name"] === name),
    },
    { list: "ephemeralContainerStatuses", restarts: () => false },
  ];
}

const terminated = (status: JsonObject): JsonObject | undefined =>
  (status["state"] as JsonObject | undefined)?.["terminated"] as JsonObject | undefined;

function transitionCauses(
  after: readonly JsonObject[],
  before: readonly JsonObject[],
  restarts: ContainerList["restarts"],
  path: string,
  causes: Cause[],
): void {
  const running = new Map<unknown, number>();
  for (const { name, ...now } of after) {
    if (terminated(now as JsonObject) === undefined) running.set(name, (running.get(name) ?? 0) + 1);
  }
  before.forEach((old, at) => {
    const end = terminated(old);
    if (end === undefined || restarts(old["name"], (end["exitCode"] ?? 0) as number)) return;
    for (let count = running.get(old["name"]) ?? 0; count > 0; count--) {
      causes.push(forbiddenField(`${path}[${at}].state`, "may not be transitioned to non-terminated state"));
    }
  });
}

const ipOf = (address: JsonObject): string => (address["ip"] ?? "") as string;

/** One of each family at most. */
function addressCauses(addresses: readonly JsonObject[], path: string, type: string, causes: Cause[]): void {
  addresses.forEach((address, at) => ipCauses(ipOf(address), `${path}[${at}]`, causes));
  const texts = addresses.map(ipOf);
  if (texts.length < 2) return;
  const shown = (text: string): string => `core.${type}{IP:${JSON.stringify(text)}}`;
  if (!isDualStack(texts) || texts.length > 2) {
    const all = `[]core.${type}{${texts.map((text) => shown(text).slice(`core.${type}`.length)).join(", ")}}`;
    causes.push(invalidText(path, all, "may specify no more than one IP for each IP family"));
  }
  const isAgain = repetition();
  texts.forEach((text, at) => {
    if (isAgain(text)) causes.push(duplicateText(`${path}[${at}]`, shown(text)));
  });
}

function hostAddressCauses(status: JsonObject, causes: Cause[]): void {
  const addresses = listOf(status, "hostIPs");
  const [first] = addresses;
  if (first !== undefined && ipOf(first) !== (status["hostIP"] ?? "")) {
    causes.push(invalidValue("status.hostIPs[0].ip", ipOf(first), "must be equal to `hostIP`"));
  }
  addressCauses(addresses, "status.hostIPs", "HostIP", causes);
}
