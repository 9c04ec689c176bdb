/**
 * A node as it is registered, and what an agent that comes back corrects on the one that is there.
 * Source: document 3, Options, --node-labels, --register-with-taints, --register-schedulable, --cloud-provider and
 * --provider-id; the fact sheet of the 1.33 agent, registration.
 */
import type { MachineInfoResponse } from "../../../wire/cri-messages.ts";
import type { Dialect } from "../../../wire/dialect.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { metadataOf } from "../../contract/objects.ts";
import type { NodeOptions } from "../ports.ts";

export interface NodeIdentity {
  readonly name: string;
  readonly hostname: string;
  readonly dialect: Dialect;
  readonly options: NodeOptions;
  readonly machine: Pick<MachineInfoResponse, "architecture" | "operatingSystem">;
}

export function initialNode(identity: NodeIdentity, status: JsonObject): JsonObject {
  const { name, options } = identity;
  const taints = taintsOf(identity);
  const annotations = annotationsOf(identity);
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      labels: { ...defaultLabels(identity), ...options.labels },
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
    },
    spec: {
      ...(options.providerId === "" ? {} : { providerID: options.providerId }),
      ...(taints.length === 0 ? {} : { taints }),
      ...(options.registerSchedulable ? {} : { unschedulable: true }),
    },
    status,
  };
}

/** What an agent sees to on a node that was there before it: its own labels and its annotation, but not taints. */
export function reconciliation(identity: NodeIdentity, existing: JsonObject): JsonObject | undefined {
  const { labels = {}, annotations = {} } = metadataOf(existing);
  const wanted = Object.entries(defaultLabels(identity)).filter(([key, value]) => labels[key] !== value);
  const key = attachDetachKey(identity.dialect);
  const [has, wants] = [annotations[key], annotationsOf(identity)[key]];
  if (wanted.length === 0 && has === wants) return undefined;
  return {
    metadata: {
      ...(wanted.length === 0 ? {} : { labels: Object.fromEntries(wanted) }),
      ...(has === wants ? {} : { annotations: { [key]: wants ?? null } }),
    },
  };
}

function defaultLabels({ hostname, dialect, machine }: NodeIdentity): Readonly<Record<string, string>> {
  const suffix = dialect.labelSuffix;
  const { architecture, operatingSystem } = machine;
  return {
    [`beta.${suffix}/arch`]: architecture,
    [`beta.${suffix}/os`]: operatingSystem,
    [`${suffix}/arch`]: architecture,
    [`${suffix}/hostname`]: hostname,
    [`${suffix}/os`]: operatingSystem,
  };
}

const attachDetachKey = ({ labelSuffix }: Dialect): string => `volumes.${labelSuffix}/controller-managed-attach-detach`;

function annotationsOf({ options, dialect }: NodeIdentity): Readonly<Record<string, string>> {
  return options.controllerAttachDetach ? { [attachDetachKey(dialect)]: "true" } : {};
}

function taintsOf({ options, dialect }: NodeIdentity): readonly JsonObject[] {
  const suffix = dialect.labelSuffix;
  const unschedulable = { key: `node.${suffix}/unschedulable`, effect: "NoSchedule" };
  const external = { key: `node.cloudprovider.${suffix}/uninitialized`, value: "true", effect: "NoSchedule" };
  const own = options.taints.map(({ key, value, effect }) => ({ key, ...(value ? { value } : {}), effect }));
  const isKnown = own.some(({ key, effect }) => key === unschedulable.key && effect === unschedulable.effect);
  return [
    ...own,
    ...(options.registerSchedulable || isKnown ? [] : [unschedulable]),
    ...(options.cloudProvider === "external" ? [external] : []),
  ];
}
