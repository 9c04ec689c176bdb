/** The rules of every kind that has some, by `group/version/kind` in the `svc` dialect. */
import { definitionRules } from "./custom/definition-rules.ts";
import { admissionPolicyBindingRules, admissionPolicyRules } from "./admission/admission-policy.ts";
import { autoscalerRules } from "./autoscaling/autoscaler.ts";
import { certificateRequestRules } from "./certificates/certificate-request.ts";
import { apiServiceRules } from "./apiregistration/api-service.ts";
import { configMapRules } from "./core/config-map.ts";
import { cronJobRules } from "./batch/cron-job.ts";
import { disruptionBudgetRules } from "./policy/disruption-budget.ts";
import { endpointSliceRules, endpointsRules } from "./core/endpoints.ts";
import { coreEventRules, eventRules } from "./core/event.ts";
import { jobRules } from "./batch/job.ts";
import type { KindRules } from "../objects/kind-rules.ts";
import { leaseRules } from "./coordination/lease.ts";
import { limitRangeRules } from "./core/limit-range.ts";
import { namespaceRules } from "./core/namespace.ts";
import { nodeRules } from "./core/node.ts";
import { podRules } from "./core/pod.ts";
import { podTemplateRules } from "./core/pod-template.ts";
import { priorityClassRules } from "./scheduling/priority-class.ts";
import { clusterRoleBindingRules, clusterRoleRules, roleBindingRules, roleRules } from "./rbac/rbac.ts";
import { resourceQuotaRules } from "./core/resource-quota.ts";
import { secretRules } from "./core/secret.ts";
import { serviceRules } from "./core/service.ts";
import { controllerRevisionRules, runtimeClassRules, volumeAttachmentRules } from "./shared/settled.ts";
import { storageClassRules } from "./storage/storage-class.ts";
import { volumeClaimRules, volumeRules } from "./core/volume-claim.ts";
import { mutatingWebhookRules, validatingWebhookRules } from "./admission/webhook-configuration.ts";
import {
  daemonSetRules,
  deploymentRules,
  replicaSetRules,
  replicationControllerRules,
  statefulSetRules,
} from "./apps/workloads.ts";

export type { KindRules } from "../objects/kind-rules.ts";

const rules: Readonly<Record<string, KindRules>> = {
  "/v1/ConfigMap": configMapRules,
  "/v1/Endpoints": endpointsRules,
  "/v1/Event": coreEventRules,
  "/v1/LimitRange": limitRangeRules,
  "/v1/Namespace": namespaceRules,
  "/v1/Node": nodeRules,
  "/v1/PersistentVolume": volumeRules,
  "/v1/PersistentVolumeClaim": volumeClaimRules,
  "/v1/Pod": podRules,
  "/v1/PodTemplate": podTemplateRules,
  "/v1/ReplicationController": replicationControllerRules,
  "/v1/ResourceQuota": resourceQuotaRules,
  "/v1/Secret": secretRules,
  "/v1/Service": serviceRules,
  "admissionregistration.svc.io/v1/MutatingWebhookConfiguration": mutatingWebhookRules,
  "admissionregistration.svc.io/v1/ValidatingAdmissionPolicy": admissionPolicyRules,
  "admissionregistration.svc.io/v1/ValidatingAdmissionPolicyBinding": admissionPolicyBindingRules,
  "admissionregistration.svc.io/v1/ValidatingWebhookConfiguration": validatingWebhookRules,
  "apiextensions.svc.io/v1/CustomResourceDefinition": definitionRules,
  "apiregistration.svc.io/v1/APIService": apiServiceRules,
  "apps/v1/ControllerRevision": controllerRevisionRules,
  "apps/v1/DaemonSet": daemonSetRules,
  "apps/v1/Deployment": deploymentRules,
  "apps/v1/ReplicaSet": replicaSetRules,
  "apps/v1/StatefulSet": statefulSetRules,
  "autoscaling/v1/HorizontalPodAutoscaler": autoscalerRules,
  "batch/v1/CronJob": cronJobRules,
  "batch/v1/Job": jobRules,
  "certificates.svc.io/v1/CertificateSigningRequest": certificateRequestRules,
  "coordination.svc.io/v1/Lease": leaseRules,
  "discovery.svc.io/v1/EndpointSlice": endpointSliceRules,
  "events.svc.io/v1/Event": eventRules,
  "node.svc.io/v1/RuntimeClass": runtimeClassRules,
  "policy/v1/PodDisruptionBudget": disruptionBudgetRules,
  "rbac.authorization.svc.io/v1/ClusterRole": clusterRoleRules,
  "rbac.authorization.svc.io/v1/ClusterRoleBinding": clusterRoleBindingRules,
  "rbac.authorization.svc.io/v1/Role": roleRules,
  "rbac.authorization.svc.io/v1/RoleBinding": roleBindingRules,
  "scheduling.svc.io/v1/PriorityClass": priorityClassRules,
  "storage.svc.io/v1/StorageClass": storageClassRules,
  "storage.svc.io/v1/VolumeAttachment": volumeAttachmentRules,
};

const none: KindRules = {};

/** Never undefined: a kind without rules of its own has empty ones. */
export function kindRules(group: string, version: string, kind: string): KindRules {
  return rules[`${group}/${version}/${kind}`] ?? none;
}
