/** What a pod asks of the managers of processors and memory. */
import { qosClass } from "../../kinds/core/pods/qos.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { type Container, isSidecar, podOf } from "../pods/pod-types.ts";
import { amount } from "../runtime/container-config.ts";

export interface ContainerAsk {
  readonly name: string;
  readonly kind: "init" | "sidecar" | "regular";
  readonly milliCpu: number;
  /** Bytes by resource: `memory`, and huge pages by their names. */
  readonly memory: Readonly<Record<string, number>>;
}

export interface PodAsk {
  readonly uid: string;
  readonly isGuaranteed: boolean;
  /** Init containers first, in the order in which they start. */
  readonly containers: readonly ContainerAsk[];
}

export function podAsk(object: JsonObject): PodAsk {
  const { metadata, spec, status } = podOf(object);
  const qos = status?.qosClass ?? qosClass(spec as unknown as JsonObject);
  const inits = (spec.initContainers ?? []).map((each) => containerAsk(each, isSidecar(each) ? "sidecar" : "init"));
  const regular = spec.containers.map((each) => containerAsk(each, "regular"));
  return { uid: metadata.uid, isGuaranteed: qos === "Guaranteed", containers: [...inits, ...regular] };
}

function containerAsk({ name, resources = {} }: Container, kind: ContainerAsk["kind"]): ContainerAsk {
  const wanted = { ...resources.limits, ...resources.requests };
  const memory = Object.entries(wanted)
    .filter(([resource]) => resource === "memory" || resource.startsWith("hugepages-"))
    .map(([resource, text]) => [resource, amount(text, 0) ?? 0] as const);
  return { name, kind, milliCpu: amount(wanted["cpu"], -3) ?? 0, memory: Object.fromEntries(memory) };
}
