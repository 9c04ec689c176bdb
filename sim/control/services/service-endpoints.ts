/** Which pods serve a Service, and at which ports. Source: the published endpoint and endpoint slice controllers. */
import type { JsonObject } from "../../contract/http-message.ts";
import { isReady, isSidecar } from "../shared/pods.ts";
import { selectorOf } from "../shared/selecting.ts";
import type { Pod, Stored } from "../shared/stored.ts";

export interface ServicePort {
  readonly name?: string;
  readonly protocol?: string;
  readonly port: number;
  readonly targetPort?: number | string;
  readonly appProtocol?: string;
}

export interface Service extends Stored {
  readonly spec: {
    readonly type?: string;
    readonly clusterIP?: string;
    readonly ipFamilies?: readonly string[];
    readonly selector?: Readonly<Record<string, string>>;
    readonly ports?: readonly ServicePort[];
    readonly publishNotReadyAddresses?: boolean;
  };
}

/** As it stands in a slice and in Endpoints alike. */
export interface EndpointPort {
  readonly name?: string;
  readonly port: number;
  readonly protocol: string;
  readonly appProtocol?: string;
}

export interface ServingPod {
  readonly pod: Pod;
  readonly ports: readonly EndpointPort[];
  readonly isReady: boolean;
  readonly isServing: boolean;
  readonly isTerminating: boolean;
}

/** Somebody else says where it is, if anybody does. */
export const hasSelector = ({ spec }: Service): boolean => spec.selector !== undefined && spec.type !== "ExternalName";

export const isHeadless = ({ spec }: Service): boolean => spec.clusterIP === "None";

export function selects(service: Service, pod: Pod): boolean {
  return (
    hasSelector(service) && selectorOf(service.spec.selector as unknown as JsonObject).matches(pod.metadata.labels)
  );
}

/** Pods that have the same ports have one list of them. */
export function servingPods(service: Service, pods: readonly Pod[]): readonly ServingPod[] {
  const portsOf = portsOfPods(service);
  return pods.flatMap((pod) => {
    const { podIP = "", phase } = pod.status ?? {};
    if (!selects(service, pod) || podIP === "" || phase === "Failed" || phase === "Succeeded") return [];
    const isTerminating = pod.metadata.deletionTimestamp !== undefined;
    const isServing = isReady(pod);
    const ready = service.spec.publishNotReadyAddresses === true || (isServing && !isTerminating);
    return [{ pod, ports: portsOf(pod), isReady: ready, isServing, isTerminating }];
  });
}

/** Pods differ by the ports that are given by name alone, and there may be thousands of both: each list is made once. */
function portsOfPods(service: Service): (pod: Pod) => readonly EndpointPort[] {
  const named = (service.spec.ports ?? []).flatMap(({ protocol = "TCP", targetPort }) =>
    typeof targetPort === "string" ? [{ protocol, name: targetPort }] : [],
  );
  const known = new Map<string, readonly EndpointPort[]>();
  return (pod) => {
    const numbers = named.map(({ protocol, name }) => namedPort(pod, name, protocol));
    const id = numbers.join();
    let ports = known.get(id);
    if (ports === undefined) known.set(id, (ports = portsOf(service, numbers)));
    return ports;
  };
}

/** `numbers`: of the ports that are given by name, in order. A port that the pod has no name for is left out. */
function portsOf({ spec }: Service, numbers: readonly (number | undefined)[]): readonly EndpointPort[] {
  let at = 0;
  return (spec.ports ?? []).flatMap(({ name = "", protocol = "TCP", port, targetPort = port, appProtocol }) => {
    const number = typeof targetPort === "number" ? targetPort : numbers[at++];
    if (number === undefined) return [];
    return [
      { name, port: number === 0 ? port : number, protocol, ...(appProtocol === undefined ? {} : { appProtocol }) },
    ];
  });
}

function namedPort({ spec }: Pod, name: string, protocol: string): number | undefined {
  const containers = [...spec.containers, ...(spec.initContainers ?? []).filter(isSidecar)];
  for (const { ports = [] } of containers) {
    const found = ports.find((port) => port.name === name && (port.protocol ?? "TCP") === protocol);
    if (found !== undefined) return found.containerPort;
  }
  return undefined;
}

/** What a DNS server calls the pod below its service's name. */
export function hostnameOf({ metadata }: Service, { spec, metadata: { namespace } }: Pod): string | undefined {
  const isBelow = spec.subdomain === metadata.name && namespace === metadata.namespace;
  return isBelow && (spec.hostname ?? "") !== "" ? spec.hostname : undefined;
}

export function targetOf({ metadata: { name, namespace = "", uid } }: Pod) {
  return { kind: "Pod", namespace, name, uid };
}
