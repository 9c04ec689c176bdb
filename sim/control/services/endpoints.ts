/**
 * Keeps the Endpoints of each service with a selector: older than slices, and still read by many.
 * Source: the published endpoints controller.
 */
import { jsonEqual } from "../../objects/equality.ts";
import { compareBytes } from "../../../wire/go-strings.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import type { Outcome, WorkQueue } from "../../client/work-queue.ts";
import { collectionOf, type ControlParts, kindRow, partsOf, pathTo, queueOf } from "../shared/controller.ts";
import { bodyOf, type Informer, keyOf } from "../shared/informers.ts";
import { call, isGood, type Steps } from "../shared/steps.ts";
import type { Stored } from "../shared/stored.ts";
import {
  type EndpointPort,
  hasSelector,
  hostnameOf,
  isHeadless,
  type Service,
  type ServingPod,
  servingPods,
  targetOf,
} from "./service-endpoints.ts";
import { followed, type Followed, followServices } from "./service-followers.ts";

interface Endpoints extends Stored {
  readonly subsets?: readonly JsonObject[] | null;
}

const row = kindRow("v1", "Endpoints", "endpoints");
/** Addresses beyond these are left out, and an annotation says so. */
const addressesMax = 1000;

export class EndpointsController {
  private readonly followed: Followed;
  private readonly endpoints: Informer<Endpoints>;
  private readonly queue: WorkQueue<string>;
  private readonly names: { readonly headless: string; readonly managedBy: string; readonly overCapacity: string };

  constructor(parts: ControlParts) {
    const { labelSuffix } = parts.dialect;
    this.names = {
      headless: `service.${labelSuffix}/headless`,
      managedBy: `endpoints.${labelSuffix}/managed-by`,
      overCapacity: `endpoints.${labelSuffix}/over-capacity`,
    };
    this.followed = followed(parts);
    this.endpoints = parts.informers.of<Endpoints>(collectionOf(row));
    this.queue = queueOf(parts, "endpoint", (key) => this.sync(key));
  }

  start(): void {
    followServices(this.followed, this.queue);
    this.endpoints.hear({ changed: () => {}, gone: (endpoints) => this.queue.add(keyOf(endpoints)) });
  }

  private *sync(key: string): Steps<Outcome> {
    const service = this.followed.services.get(key);
    const present = this.endpoints.get(key);
    const [namespace, name] = partsOf(key);
    if (service === undefined) {
      if (present === undefined) return "done";
      const answer = yield* call({ method: "DELETE", path: pathTo(row, present) });
      return isGood(answer) || answer.status === 404 ? "done" : "again";
    }
    if (!hasSelector(service)) return "done";
    const pods = servingPods(service, this.followed.pods.inNamespace(namespace)).filter(
      ({ isTerminating }) => !isTerminating,
    );
    const subsets = subsetsOf(service, pods.slice(0, addressesMax));
    const labels = {
      ...service.metadata.labels,
      [this.names.managedBy]: "endpoint-controller",
      ...(isHeadless(service) ? { [this.names.headless]: "" } : {}),
    };
    const annotations = pods.length > addressesMax ? { [this.names.overCapacity]: "truncated" } : {};
    if (
      present !== undefined &&
      jsonEqual((present.subsets ?? []) as JsonObject[], subsets as JsonObject[]) &&
      jsonEqual(bodyOf(present.metadata.labels ?? {}), labels)
    ) {
      return "done";
    }
    const metadata = { ...(present?.metadata ?? { name, namespace }), labels, annotations };
    const body = bodyOf({ apiVersion: row.apiVersion, kind: row.kind, metadata, subsets });
    const answer = yield* call(
      present === undefined
        ? { method: "POST", path: collectionOf(row, namespace), body }
        : { method: "PUT", path: pathTo(row, present), body },
    );
    return isGood(answer) ? "done" : "again";
  }
}

/** One a list of ports, addresses in order. */
function subsetsOf(service: Service, pods: readonly ServingPod[]): readonly JsonObject[] {
  const groups = new Map<readonly EndpointPort[], ServingPod[]>();
  for (const serving of pods) {
    const group = groups.get(serving.ports);
    if (group === undefined) groups.set(serving.ports, [serving]);
    else group.push(serving);
  }
  return [...groups]
    .map(([ports, group]) => ({ text: JSON.stringify(ports), group }))
    .sort((left, right) => compareBytes(left.text, right.text))
    .map(({ group }) => subsetOf(service, group));
}

function subsetOf(service: Service, group: readonly ServingPod[]): JsonObject {
  const entries = group
    .map(({ pod, isReady }) => ({ isReady, address: addressOf(service, pod) }))
    .sort((left, right) => compareBytes(String(left.address["ip"]), String(right.address["ip"])));
  const of = (isReady: boolean): readonly JsonObject[] =>
    entries.filter((entry) => entry.isReady === isReady).map(({ address }) => address);
  const ports = (group[0] as ServingPod).ports.map((port) => {
    const { name = "", ...others } = port;
    return name === "" ? others : { name, ...others };
  });
  const addresses = of(true);
  const notReadyAddresses = of(false);
  return bodyOf({
    ...(addresses.length === 0 ? {} : { addresses }),
    ...(notReadyAddresses.length === 0 ? {} : { notReadyAddresses }),
    ...(ports.length === 0 ? {} : { ports }),
  });
}

function addressOf(service: Service, pod: ServingPod["pod"]): JsonObject {
  const hostname = hostnameOf(service, pod);
  const { nodeName = "" } = pod.spec;
  return {
    ip: pod.status?.podIP ?? "",
    ...(hostname === undefined ? {} : { hostname }),
    ...(nodeName === "" ? {} : { nodeName }),
    targetRef: targetOf(pod),
  };
}
