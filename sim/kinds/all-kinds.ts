/** Every kind of which more is to be said than the tables in `wire/tables` have, one row each. */
import type { KindRow } from "./kind-row.ts";
import { configMapKind } from "./core/config-map.ts";
import { endpointsKind, endpointSliceKind } from "./core/endpoints.ts";
import { eventKind, groupEventKind } from "./core/event.ts";
import { limitRangeKind } from "./core/limit-range.ts";
import { namespaceKind } from "./core/namespace.ts";
import { nodeKind } from "./core/node.ts";
import { persistentVolumeKind, persistentVolumeClaimKind } from "./core/volume-claim.ts";
import { podKind } from "./core/pod.ts";
import { podTemplateKind } from "./core/pod-template.ts";
import {
  replicationControllerKind,
  daemonSetKind,
  deploymentKind,
  replicaSetKind,
  statefulSetKind,
} from "./apps/workloads.ts";
import { resourceQuotaKind } from "./core/resource-quota.ts";
import { secretKind } from "./core/secret.ts";
import { serviceKind } from "./core/service.ts";
import { serviceAccountKind } from "./core/service-account.ts";
import { componentStatusKind } from "./core/component-status.ts";
import {
  mutatingWebhookConfigurationKind,
  validatingWebhookConfigurationKind,
} from "./admission/webhook-configuration.ts";
import { validatingAdmissionPolicyKind, validatingAdmissionPolicyBindingKind } from "./admission/admission-policy.ts";
import { customResourceDefinitionKind } from "./custom/definition-rules.ts";
import { apiServiceKind } from "./apiregistration/api-service.ts";
import { controllerRevisionKind } from "./apps/controller-revision.ts";
import { horizontalPodAutoscalerKind } from "./autoscaling/autoscaler.ts";
import { horizontalPodAutoscalerV2Kind } from "./autoscaling/autoscaler-v2.ts";
import { cronJobKind } from "./batch/cron-job.ts";
import { jobKind } from "./batch/job.ts";
import { certificateSigningRequestKind } from "./certificates/certificate-request.ts";
import { leaseKind } from "./coordination/lease.ts";
import { flowSchemaKind } from "./flowcontrol/flow-schema.ts";
import { priorityLevelKind } from "./flowcontrol/priority-level.ts";
import { ingressClassKind } from "./networking/ingress-class.ts";
import { ingressKind } from "./networking/ingress.ts";
import { networkPolicyKind } from "./networking/network-policy.ts";
import { ipAddressKind, serviceCidrKind } from "./networking/service-cidr.ts";
import { runtimeClassKind } from "./node/runtime-class.ts";
import { podDisruptionBudgetKind } from "./policy/disruption-budget.ts";
import { clusterRoleKind, clusterRoleBindingKind, roleKind, roleBindingKind } from "./rbac/rbac.ts";
import { priorityClassKind } from "./scheduling/priority-class.ts";
import { csiDriverKind, csiNodeKind, csiStorageCapacityKind } from "./storage/container-storage.ts";
import { storageClassKind } from "./storage/storage-class.ts";
import { volumeAttachmentKind } from "./storage/volume-attachment.ts";

export const allKinds: readonly KindRow[] = [
  configMapKind,
  endpointsKind,
  endpointSliceKind,
  eventKind,
  groupEventKind,
  limitRangeKind,
  namespaceKind,
  nodeKind,
  persistentVolumeKind,
  persistentVolumeClaimKind,
  podKind,
  podTemplateKind,
  replicationControllerKind,
  daemonSetKind,
  deploymentKind,
  replicaSetKind,
  statefulSetKind,
  resourceQuotaKind,
  secretKind,
  serviceKind,
  serviceAccountKind,
  componentStatusKind,
  mutatingWebhookConfigurationKind,
  validatingWebhookConfigurationKind,
  validatingAdmissionPolicyKind,
  validatingAdmissionPolicyBindingKind,
  customResourceDefinitionKind,
  apiServiceKind,
  controllerRevisionKind,
  horizontalPodAutoscalerKind,
  horizontalPodAutoscalerV2Kind,
  cronJobKind,
  jobKind,
  certificateSigningRequestKind,
  leaseKind,
  flowSchemaKind,
  priorityLevelKind,
  ingressClassKind,
  ingressKind,
  networkPolicyKind,
  ipAddressKind,
  serviceCidrKind,
  runtimeClassKind,
  podDisruptionBudgetKind,
  clusterRoleKind,
  clusterRoleBindingKind,
  roleKind,
  roleBindingKind,
  priorityClassKind,
  csiDriverKind,
  csiNodeKind,
  csiStorageCapacityKind,
  storageClassKind,
  volumeAttachmentKind,
];

const byResource = new Map(allKinds.map((row) => [row.resource, row]));

/** Group in the `svc` dialect. A version may have a row of its own. Undefined for a kind that is like all others. */
export function kindRow(group: string, version: string, resource: string): KindRow | undefined {
  return byResource.get(`${group}/${version}/${resource}`) ?? byResource.get(`${group}/${resource}`);
}
