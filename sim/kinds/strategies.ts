/**
 * What differs between resources, as a table: who may create by PUT, what a deletion answers, how names are judged,
 * which types count generations. Rules that need code are in `kinds/`, one file a type.
 * Source: the facts, sections 4 and 6 (D13, D14, D18); recorded answers. The published server's strategies are the
 * source where neither says anything.
 */
import { type Dialect, groupInDialect } from "../../wire/dialect.ts";
import type { ResourceRow } from "../../wire/resources.ts";
import type { TypeRow } from "../../wire/schema.ts";
import type { JsonObject } from "../contract/http-message.ts";
import { typeInDialect } from "./custom/definition-type.ts";
import { kindRules } from "./all-kinds.ts";
import type { Strategy, StrategyRow } from "../objects/strategy.ts";
import { zeroStruct } from "../objects/zero-values.ts";

export const usual: StrategyRow = {
  nameRule: "subdomain",
  createOnUpdate: false,
  unconditionalUpdate: true,
  usesGeneration: false,
  resetsStatus: true,
  graceful: false,
  returnsDeleted: false,
  propagation: "Background",
  statusLocks: [],
};

const workload = { usesGeneration: true, statusLocks: ["labels"] } as const;
const rbac = { nameRule: "pathSegment", createOnUpdate: true } as const;
const conditional = { unconditionalUpdate: false } as const;
const conditionalGeneration = { unconditionalUpdate: false, usesGeneration: true } as const;
const returned = { returnsDeleted: true } as const;

/** By `group/resource` (svc dialect); only what differs from the usual. */
const rows: Readonly<Record<string, Partial<StrategyRow>>> = {
  "/events": { createOnUpdate: true, propagation: "unsupported" },
  "events.svc.io/events": { createOnUpdate: true, propagation: "unsupported" },
  "/endpoints": { createOnUpdate: true },
  "/limitranges": { createOnUpdate: true },
  "/namespaces": { nameRule: "label", ...returned },
  "/nodes": { resetsStatus: false },
  "/persistentvolumeclaims": returned,
  "/persistentvolumes": returned,
  "/pods": { usesGeneration: true, graceful: true, ...returned, statusLocks: ["ownerReferences"] },
  "/podtemplates": { usesGeneration: true, ...returned },
  "/replicationcontrollers": { usesGeneration: true, propagation: "Orphan" },
  "/resourcequotas": returned,
  "/serviceaccounts": returned,
  "/services": { nameRule: "label1035", createOnUpdate: true, ...returned },
  "admissionregistration.svc.io/mutatingwebhookconfigurations": conditionalGeneration,
  "admissionregistration.svc.io/validatingadmissionpolicies": conditionalGeneration,
  "admissionregistration.svc.io/validatingadmissionpolicybindings": conditionalGeneration,
  "admissionregistration.svc.io/validatingwebhookconfigurations": conditionalGeneration,
  "apiextensions.svc.io/customresourcedefinitions": conditionalGeneration,
  "apiregistration.svc.io/apiservices": { ...conditional, nameRule: "pathSegment" },
  "apps/daemonsets": workload,
  "apps/deployments": workload,
  "apps/replicasets": workload,
  "apps/statefulsets": { ...workload, nameRule: "label" },
  "batch/cronjobs": { usesGeneration: true },
  "batch/jobs": { usesGeneration: true, propagation: "Orphan" },
  "certificates.svc.io/certificatesigningrequests": { nameRule: "pathSegment" },
  "coordination.svc.io/leases": { createOnUpdate: true, unconditionalUpdate: false },
  "discovery.svc.io/endpointslices": { usesGeneration: true },
  "flowcontrol.apiserver.svc.io/flowschemas": conditionalGeneration,
  "flowcontrol.apiserver.svc.io/prioritylevelconfigurations": conditionalGeneration,
  "networking.svc.io/ingressclasses": { usesGeneration: true },
  "networking.svc.io/ingresses": { usesGeneration: true },
  "networking.svc.io/networkpolicies": { usesGeneration: true },
  "node.svc.io/runtimeclasses": conditional,
  "policy/poddisruptionbudgets": conditionalGeneration,
  "rbac.authorization.svc.io/clusterrolebindings": rbac,
  "rbac.authorization.svc.io/clusterroles": rbac,
  "rbac.authorization.svc.io/rolebindings": rbac,
  "rbac.authorization.svc.io/roles": rbac,
  "scheduling.svc.io/priorityclasses": { usesGeneration: true },
  "storage.svc.io/csidrivers": { unconditionalUpdate: false, ...returned },
  "storage.svc.io/csinodes": { unconditionalUpdate: false, ...returned },
  "storage.svc.io/csistoragecapacities": conditional,
  "storage.svc.io/storageclasses": returned,
  "storage.svc.io/volumeattachments": { unconditionalUpdate: false, ...returned },
};

const known = new Map<Dialect, Map<ResourceRow, Strategy>>();

/** The strategy of a built-in resource; undefined for one that has no type (query options). Made once. */
export function strategyOf(resource: ResourceRow, dialect: Dialect): Strategy | undefined {
  const { type } = resource;
  if (type === undefined) return undefined;
  let strategies = known.get(dialect);
  if (strategies === undefined) known.set(dialect, (strategies = new Map()));
  let strategy = strategies.get(resource);
  if (strategy === undefined) {
    strategies.set(resource, (strategy = makeStrategy(resource, typeInDialect(type, dialect), dialect)));
  }
  return strategy;
}

function makeStrategy(resource: ResourceRow, type: TypeRow, dialect: Dialect): Strategy {
  return {
    ...usual,
    ...rows[`${resource.group}/${resource.resource}`],
    type,
    kind: resource.kind,
    group: resource.group,
    errorGroup: resource.kind === "Event" ? "" : groupInDialect(dialect, resource.group),
    namespaced: resource.namespaced,
    dialect,
    hasStatus: resource.subresources.some(({ subresource }) => subresource === "status"),
    zeroStatus: zeroStruct(type)["status"] as JsonObject | undefined,
    knownFinalizersOnly: resource.group !== "apiextensions.svc.io", // whose own finalizer has no domain either
    rules: kindRules(resource.group, resource.version, resource.kind),
  };
}
