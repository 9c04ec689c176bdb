/**
 * A pod's priority is its class's: looked up when the pod is made, and never the client's own number. At most one
 * class is the default of pods that name none.
 * Source: the published admission plugin Priority.
 */
import { type Dialect, groupInDialect } from "../../../wire/dialect.ts";
import { goQuote } from "../../../wire/go-strings.ts";
import { forbidden } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { metadataOf } from "../../contract/objects.ts";
import type { AdmissionReview, AdmissionStep, AdmissionVerdict } from "./admission.ts";

export interface PriorityPorts {
  readonly dialect: Dialect;
  /** All PriorityClasses, as the caches have them. */
  readonly classes: () => readonly JsonObject[];
}

export function podPriority(ports: PriorityPorts): AdmissionStep {
  const group = groupInDialect(ports.dialect, "scheduling.svc.io");
  const isPod = ({ place }: AdmissionReview): boolean => place.row.resource === "pods" && place.row.group === "";
  return {
    name: "pod priority",
    sideEffects: false,
    handles(review) {
      const { operation, place } = review;
      if (place.subresource !== undefined) return false;
      if (operation === "CREATE" && isPod(review)) return true;
      const isWrite = operation === "CREATE" || operation === "UPDATE";
      return isWrite && place.resourceName.group === group && place.resourceName.resource === "priorityclasses";
    },
    admit(review, done) {
      done(isPod(review) ? ranked(ports, review) : oneDefault(ports, review));
      return () => {};
    },
  };
}

const nameOf = (one: JsonObject): string => metadataOf(one).name ?? "";

function ranked({ classes }: PriorityPorts, { object = {}, place, name }: AdmissionReview): AdmissionVerdict {
  const spec = (object["spec"] ?? {}) as JsonObject;
  const asked = (spec["priorityClassName"] ?? "") as string;
  const found = asked === "" ? defaultOf(classes()) : classes().find((one) => nameOf(one) === asked);
  if (asked !== "" && found === undefined) {
    return forbidden(place.resourceName, name, `no PriorityClass with name ${asked} was found`);
  }
  const priority = (found?.["value"] ?? 0) as number;
  const preemptionPolicy = (found?.["preemptionPolicy"] ?? "PreemptLowerPriority") as string;
  const wrong = differs(spec, priority, preemptionPolicy);
  if (wrong !== undefined) return forbidden(place.resourceName, name, wrong);
  const priorityClassName = found === undefined ? {} : { priorityClassName: nameOf(found) };
  return { object: { ...object, spec: { ...spec, ...priorityClassName, priority, preemptionPolicy } } };
}

/** The lowest, where several were made at once. */
function defaultOf(classes: readonly JsonObject[]): JsonObject | undefined {
  const valueOf = (one: JsonObject): number => (one["value"] ?? 0) as number;
  return classes
    .filter((one) => one["globalDefault"] === true)
    .reduce<JsonObject | undefined>(
      (least, one) => (least !== undefined && valueOf(least) <= valueOf(one) ? least : one),
      undefined,
    );
}

function differs(spec: JsonObject, priority: number, policy: string): string | undefined {
  const source = "from the given PriorityClass name";
  if (spec["priority"] !== undefined && spec["priority"] !== priority) {
    const sent = String(spec["priority"]);
    return `the integer value of priority (${sent}) must not be provided in pod spec; priority admission controller computed ${priority} ${source}`;
  }
  if (spec["preemptionPolicy"] !== undefined && spec["preemptionPolicy"] !== policy) {
    const sent = String(spec["preemptionPolicy"]);
    return `the string value of PreemptionPolicy (${sent}) must not be provided in pod spec; priority admission controller computed ${policy} ${source}`;
  }
  return undefined;
}

function oneDefault({ classes }: PriorityPorts, { object = {}, place, name }: AdmissionReview): AdmissionVerdict {
  if (object["globalDefault"] !== true) return {};
  const other = classes().find((one) => one["globalDefault"] === true && nameOf(one) !== name);
  if (other === undefined) return {};
  const why = `PriorityClass ${goQuote(nameOf(other))} is already marked as default. Only one default can exist`;
  return forbidden(place.resourceName, name, why);
}
