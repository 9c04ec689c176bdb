/** Hears of everything that may change who serves a service, and names the services. */
import type { WorkQueue } from "../../client/work-queue.ts";
import { collectionOf, type ControlParts, kindRow, podRow } from "../shared/controller.ts";
import { type Informer, keyOf } from "../shared/informers.ts";
import type { Pod } from "../shared/stored.ts";
import { jsonEqual } from "../../objects/equality.ts";
import { bodyOf } from "../shared/informers.ts";
import { type Service, selects } from "./service-endpoints.ts";

export const serviceRow = kindRow("v1", "Service", "services");

export interface Followed {
  readonly services: Informer<Service>;
  readonly pods: Informer<Pod>;
}

export function followed({ informers }: ControlParts): Followed {
  return {
    services: informers.of<Service>(collectionOf(serviceRow)),
    pods: informers.of<Pod>(collectionOf(podRow)),
  };
}

export function followServices({ services, pods }: Followed, queue: WorkQueue<string>): void {
  const look = (service: Service): void => queue.add(keyOf(service));
  const lookAtThoseOf = (pod: Pod, before?: Pod): void => {
    for (const service of services.inNamespace(pod.metadata.namespace ?? "")) {
      if (selects(service, pod) || (before !== undefined && selects(service, before))) look(service);
    }
  };
  services.hear({ changed: look, gone: look });
  pods.hear({
    changed: (pod, before) => {
      if (before === undefined || shows(pod, before)) lookAtThoseOf(pod, before);
    },
    gone: (pod) => lookAtThoseOf(pod),
  });
}

/** Whether a change is one that endpoints show. */
function shows(pod: Pod, before: Pod): boolean {
  const seen = ({ metadata, spec, status }: Pod) => ({
    labels: metadata.labels ?? {},
    isGoing: metadata.deletionTimestamp !== undefined,
    node: spec.nodeName ?? "",
    phase: status?.phase ?? "",
    addresses: status?.podIPs ?? [],
    ready: status?.conditions?.find(({ type }) => type === "Ready")?.status ?? "",
  });
  return !jsonEqual(bodyOf(seen(pod)), bodyOf(seen(before)));
}
