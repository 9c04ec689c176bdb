/**
 * What a write of a pod's status may say: what has ended has ended, and addresses are addresses.
 * Source: the published validation of status updates.
 */
import type { JsonObject } from "../../../contract/http-message.ts";
import type { Check, Place, Rule } from "../../../objects/place.ts";
import { all, always, called, each, statusFieldRules, struct } from "../../../objects/rules.ts";
import { listOf, repetition } from "../../shared/fields.ts";
import { qualifiedName, subdomain } from "../../shared/formats.ts";
import { ipAddress, isDualStack } from "../../shared/ip-fields.ts";

const ownConditions = ["PodScheduled", "Ready", "Initialized"];

/** Conditions that others have are named by qualified names; the real server names their place so. */
function condition({ type = "" }: JsonObject, at: Place): void {
  if (!ownConditions.includes(type as string)) at.judge("Type", type, qualifiedName);
}
const conditions = each(condition);

export const podStatusRules = statusFieldRules(
  ({ status }: JsonObject, at) => {
    at.judge("metadata.conditions", (status as JsonObject | undefined)?.["conditions"], conditions);
  },
  { status: { zero: {}, absent: {}, judge: statusStep as Check } },
);

function statusStep(status: JsonObject, at: Place): void {
  const live = at.live as JsonObject;
  const before = (live["status"] ?? {}) as JsonObject;
  const { nominatedNodeName: nominated = "", qosClass = "" } = status;
  if (nominated !== "" && nominated !== before["nominatedNodeName"])
    at.judge("nominatedNodeName", nominated, subdomain);
  if (qosClass !== (before["qosClass"] ?? "")) at.of("qosClass").invalid(qosClass, "field is immutable");
  for (const list of containerLists((live["spec"] ?? {}) as JsonObject)) ended(status, before, list, at);
  at.judge("podIPs", status["podIPs"], podAddresses);
  const [first] = listOf(status, "hostIPs");
  if (first !== undefined && ipOf(first) !== (status["hostIP"] ?? "")) {
    at.of("hostIPs", 0, "ip").invalid(ipOf(first), "must be equal to `hostIP`");
  }
  at.judge("hostIPs", status["hostIPs"], hostAddresses);
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

function ended(status: JsonObject, live: JsonObject, { list, restarts }: ContainerList, at: Place): void {
  const before = listOf(live, list);
  if (before.every((old) => terminated(old) === undefined)) return;
  const running = new Map<unknown, number>();
  for (const one of listOf(status, list)) {
    const { name } = one;
    if (terminated(one) === undefined) running.set(name, (running.get(name) ?? 0) + 1);
  }
  before.forEach((old, index) => {
    const end = terminated(old);
    if (end === undefined || restarts(old["name"], (end["exitCode"] ?? 0) as number)) return;
    for (let count = running.get(old["name"]) ?? 0; count > 0; count--) {
      at.of(list, index, "state").forbidden("may not be transitioned to non-terminated state");
    }
  });
}

const ipOf = (address: JsonObject): string => (address["ip"] ?? "") as string;

const address = struct({ ip: called("", always(ipAddress)) });

/** One of each family at most. */
const addresses = (type: string): Rule =>
  all(each(address), (list: readonly JsonObject[], at: Place) => {
    const texts = list.map(ipOf);
    if (texts.length < 2) return;
    const fields = (text: string): string => `{IP:${JSON.stringify(text)}}`;
    if (!isDualStack(texts) || texts.length > 2) {
      const shown = `[]core.${type}{${texts.map(fields).join(", ")}}`;
      at.invalidText(shown, "may specify no more than one IP for each IP family");
    }
    const isAgain = repetition();
    texts.forEach((text, index) => {
      if (isAgain(text)) at.of(index).duplicateText(`core.${type}${fields(text)}`);
    });
  });

const podAddresses = addresses("PodIP");
const hostAddresses = addresses("HostIP");
