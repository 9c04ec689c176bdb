/**
 * Keeps EndpointSlices: for each service with a selector, its pods by family of address and by ports, a hundred a slice
 * at most. A slice that can be kept is kept. Source: the published endpoint slice controller and its reconciler.
 *
 * Simplification: hints for topology are not given.
 */
import { compareBytes } from "../../../wire/go-strings.ts";
import { groupInDialect } from "../../../wire/dialect.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { jsonEqual } from "../../objects/equality.ts";
import type { ClientRequest } from "../../client/api-client.ts";
import type { Outcome, WorkQueue } from "../../client/work-queue.ts";
import {
  collectionOf,
  type ControlParts,
  controllerReference,
  type KindRow,
  kindRow,
  nodeRow,
  partsOf,
  pathTo,
  queueOf,
} from "../shared/controller.ts";
import { bodyOf, type Informer } from "../shared/informers.ts";
import { callAll, isGood, type Steps } from "../shared/steps.ts";
import type { NodeObject, Stored } from "../shared/stored.ts";
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
import { followed, type Followed, followServices, serviceRow } from "./service-followers.ts";

interface Slice extends Stored {
  readonly addressType: string;
  readonly endpoints?: readonly JsonObject[] | null;
  readonly ports?: readonly EndpointPort[] | null;
}

/** What slices of one kind are to hold. */
interface Wanted {
  readonly addressType: string;
  readonly ports: readonly EndpointPort[];
  readonly endpoints: Map<string, JsonObject>;
}

const endpointsMax = 100;

export class EndpointSliceController {
  private readonly row: KindRow;
  private readonly followed: Followed;
  private readonly nodes: Informer<NodeObject>;
  private readonly slicesOf: (service: string) => readonly Slice[];
  private readonly queue: WorkQueue<string>;
  private readonly names: {
    readonly service: string;
    readonly managedBy: string;
    readonly headless: string;
    readonly zone: string;
  };
  private readonly manager: string;

  constructor(parts: ControlParts) {
    const { dialect, informers } = parts;
    const { labelSuffix } = dialect;
    this.row = kindRow(`${groupInDialect(dialect, "discovery.svc.io")}/v1`, "EndpointSlice", "endpointslices");
    this.names = {
      service: `${labelSuffix}/service-name`,
      managedBy: `endpointslice.${labelSuffix}/managed-by`,
      headless: `service.${labelSuffix}/headless`,
      zone: `topology.${labelSuffix}/zone`,
    };
    this.manager = `endpointslice-controller.${dialect.groupSuffix}`;
    this.followed = followed(parts);
    this.nodes = informers.of<NodeObject>(collectionOf(nodeRow));
    const slices = informers.of<Slice>(collectionOf(this.row));
    this.slicesOf = slices.indexed((slice) => this.serviceOf(slice));
    this.queue = queueOf(parts, "endpoint_slice", (key) => this.sync(key));
    const look = (slice: Slice): void => {
      const service = this.serviceOf(slice);
      if (service !== undefined) this.queue.add(service);
    };
    slices.hear({ changed: look, gone: look });
  }

  start(): void {
    followServices(this.followed, this.queue);
  }

  private serviceOf({ metadata: { labels = {}, namespace = "" } }: Slice): string | undefined {
    if (labels[this.names.managedBy] !== this.manager) return undefined;
    const service = labels[this.names.service];
    return service === undefined ? undefined : `${namespace}/${service}`;
  }

  /** What belongs to a service that is gone, the garbage collector takes. */
  private *sync(key: string): Steps<Outcome> {
    const service = this.followed.services.get(key);
    if (service === undefined || !hasSelector(service)) return "done";
    const [namespace] = partsOf(key);
    const wanted = this.wantedOf(service, servingPods(service, this.followed.pods.inNamespace(namespace)));
    const slices = this.slicesOf(key).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    const requests: ClientRequest[] = [];
    const spare = new Set(slices);
    for (const group of wanted) this.reconcile(service, group, spare, requests);
    for (const slice of spare) requests.push({ method: "DELETE", path: pathTo(this.row, slice) });
    const answers = yield* callAll(requests);
    return answers.every((answer) => isGood(answer) || answer.status === 404) ? "done" : "again";
  }

  /** One group an address type and list of ports; without pods one that is empty. */
  private wantedOf(service: Service, pods: readonly ServingPod[]): readonly Wanted[] {
    const wanted: Wanted[] = [];
    for (const family of service.spec.ipFamilies ?? ["IPv4"]) {
      const groups = new Map<readonly EndpointPort[], Wanted>();
      const groupOf = (ports: readonly EndpointPort[]): Wanted => {
        let group = groups.get(ports);
        if (group === undefined) {
          groups.set(ports, (group = { addressType: family, ports, endpoints: new Map() }));
          wanted.push(group);
        }
        return group;
      };
      let isEmpty = true;
      for (const serving of pods) {
        const endpoint = this.endpointOf(service, serving, family);
        if (endpoint === undefined) continue;
        isEmpty = false;
        groupOf(serving.ports).endpoints.set(serving.pod.metadata.uid, endpoint);
      }
      if (isEmpty) groupOf([]);
    }
    return wanted;
  }

  private endpointOf(service: Service, serving: ServingPod, family: string): JsonObject | undefined {
    const { pod, isReady, isServing, isTerminating } = serving;
    const address = addressOf(serving, family);
    if (address === undefined) return undefined;
    const { nodeName = "" } = pod.spec;
    const zone = this.nodes.get(nodeName)?.metadata.labels?.[this.names.zone];
    const hostname = hostnameOf(service, pod);
    return {
      addresses: [address],
      conditions: { ready: isReady, serving: isServing, terminating: isTerminating },
      ...(hostname === undefined ? {} : { hostname }),
      targetRef: targetOf(pod),
      ...(nodeName === "" ? {} : { nodeName }),
      ...(zone === undefined ? {} : { zone }),
    };
  }

  /** 1. What is there stays where it is. 2. What is new goes where there is room. 3. The rest gets slices of its own. */
  private reconcile(service: Service, group: Wanted, spare: Set<Slice>, requests: ClientRequest[]): void {
    const kept: { readonly slice: Slice; readonly endpoints: JsonObject[] }[] = [];
    const left = new Map(group.endpoints);
    for (const slice of [...spare].filter((each) => isOfGroup(each, group))) {
      const endpoints: JsonObject[] = [];
      for (const endpoint of slice.endpoints ?? []) {
        const uid = (endpoint["targetRef"] as JsonObject | undefined)?.["uid"] as string | undefined;
        const wanted = left.get(uid ?? "");
        if (wanted === undefined) continue;
        endpoints.push(wanted);
        left.delete(uid ?? "");
      }
      kept.push({ slice, endpoints });
    }
    for (const { endpoints } of kept) {
      if (endpoints.length > 0) fill(endpoints, left);
    }
    for (const { endpoints } of kept) fill(endpoints, left);
    const isPlaceholder = group.endpoints.size === 0;
    for (const [at, { slice, endpoints }] of kept.entries()) {
      if (endpoints.length === 0 && !(isPlaceholder && at === 0)) continue;
      spare.delete(slice);
      const body = this.bodyOf(service, group, endpoints, slice);
      if (!sameSlice(slice, body)) requests.push({ method: "PUT", path: pathTo(this.row, slice), body });
    }
    if (isPlaceholder && kept.length === 0) requests.push(this.creation(service, group, []));
    while (left.size > 0) {
      const endpoints: JsonObject[] = [];
      fill(endpoints, left);
      requests.push(this.creation(service, group, endpoints));
    }
  }

  private creation(service: Service, group: Wanted, endpoints: readonly JsonObject[]): ClientRequest {
    const path = collectionOf(this.row, service.metadata.namespace);
    return { method: "POST", path, body: this.bodyOf(service, group, endpoints, undefined) };
  }

  private bodyOf(
    service: Service,
    group: Wanted,
    endpoints: readonly JsonObject[],
    slice: Slice | undefined,
  ): JsonObject {
    const { name, namespace, labels } = service.metadata;
    const own = {
      [this.names.service]: name,
      [this.names.managedBy]: this.manager,
      ...(isHeadless(service) ? { [this.names.headless]: "" } : {}),
    };
    const metadata = slice?.metadata ?? {
      generateName: `${name}-`,
      namespace,
      ownerReferences: [controllerReference(serviceRow, service)],
    };
    const { apiVersion, kind } = this.row;
    const { addressType, ports } = group;
    return bodyOf({
      apiVersion,
      kind,
      metadata: { ...metadata, labels: { ...labels, ...own } },
      addressType,
      endpoints,
      ports,
    });
  }
}

function fill(endpoints: JsonObject[], left: Map<string, JsonObject>): void {
  for (const [uid, endpoint] of left) {
    if (endpoints.length >= endpointsMax) return;
    endpoints.push(endpoint);
    left.delete(uid);
  }
}

function addressOf({ pod }: ServingPod, family: string): string | undefined {
  const addresses = pod.status?.podIPs?.map(({ ip }) => ip) ?? [pod.status?.podIP ?? ""];
  return addresses.find((ip) => ip !== "" && ip.includes(":") === (family === "IPv6"));
}

function isOfGroup({ addressType, ports }: Slice, group: Wanted): boolean {
  return addressType === group.addressType && sortedPorts(ports ?? []) === sortedPorts(group.ports);
}

const sortedPorts = (ports: readonly EndpointPort[]): string =>
  ports
    .map(({ name = "", port, protocol, appProtocol = "" }) => `${name} ${port} ${protocol} ${appProtocol}`)
    .sort(compareBytes)
    .join();

function sameSlice(slice: Slice, body: JsonObject): boolean {
  const labels = (body["metadata"] as JsonObject)["labels"];
  return (
    jsonEqual(bodyOf(slice.metadata.labels ?? {}), labels) &&
    jsonEqual((slice.endpoints ?? []) as JsonObject[], body["endpoints"])
  );
}
