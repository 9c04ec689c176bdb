/**
 * Which fields the wire shows when they hold nothing, and which it leaves out.
 *
 * The real server's types are Go structs. A field without `omitempty` is always written; a struct held by value is
 * always written, too; a pointer is written when it is set, whatever it points at; every other optional field is
 * written unless it holds its zero value. The type tables say which fields are required or have a default, but not
 * which optional fields are pointers; the exceptions to a rule of thumb are listed here.
 * Source: recorded bodies, and knowledge of the published Go types; checked against every recorded object by a test.
 */
import type { FieldRow, Shape, TypeRow } from "../../wire/schema.ts";
import type { Json, JsonObject } from "../contract/http-message.ts";
import { seal } from "./seal.ts";

/**
 * - `always`: written even when empty.
 * - `set`: written when the client set it, be it to zero (a pointer).
 * - `filled`: written unless it is empty, zero or false.
 */
export type Presence = "always" | "set" | "filled";

const timeTypes = new Set(["~apimachinery.pkg.apis.meta.v1.Time", "~apimachinery.pkg.apis.meta.v1.MicroTime"]);

/** Times are held by value, and an unset one shows as null, but for these. */
const pointerTimes = words(`acquireTime completionTime deletionTimestamp lastPhaseTransitionTime lastScaleTime
  lastScheduleTime lastSuccessfulTime renewTime startTime ManagedFieldsEntry.time timeAdded`);

/** Optional structs held by value: shown as `{}` (or with their own zero fields) when unset. */
const valueStructs = words(`metadata spec status
  Container.resources EphemeralContainer.resources ContainerStatus.state ContainerStatus.lastState
  NodeStatus.daemonEndpoints NodeStatus.nodeInfo NodeDaemonEndpoints.kubeletEndpoint ServiceStatus.loadBalancer
  IngressStatus.loadBalancer Event.source Event.deprecatedSource Event.regarding DeploymentSpec.strategy
  DaemonSetSpec.updateStrategy StatefulSetSpec.updateStrategy ReplicaSetSpec.template PodTemplate.template
  PersistentVolumeClaimSpec.resources Endpoint.conditions NetworkPolicySpec.podSelector TokenReviewStatus.user
  SelfSubjectReviewStatus.userInfo CustomResourceDefinitionStatus.acceptedNames`);

/** Required structs that are pointers all the same: unset shows as null. */
const pointerStructs = words(`DaemonSetSpec.selector DeploymentSpec.selector ReplicaSetSpec.selector
  StatefulSetSpec.selector`);

/** Optional strings that are pointers: an empty one is kept. */
const pointerStrings = words(`LeaseSpec.holderIdentity LeaseSpec.preferredHolder LeaseSpec.strategy
  PersistentVolumeClaimSpec.storageClassName PersistentVolumeClaimSpec.volumeMode
  PersistentVolumeClaimSpec.volumeAttributesClassName PersistentVolumeClaimStatus.currentVolumeAttributesClassName
  PersistentVolumeSpec.volumeMode PersistentVolumeSpec.volumeAttributesClassName ServiceSpec.loadBalancerClass
  ServiceSpec.internalTrafficPolicy ServiceSpec.ipFamilyPolicy ServiceSpec.trafficDistribution ServicePort.appProtocol
  EndpointPort.name EndpointPort.protocol EndpointPort.appProtocol Endpoint.hostname Endpoint.nodeName Endpoint.zone
  EndpointAddress.nodeName IngressSpec.ingressClassName HTTPIngressPath.pathType PodSpec.runtimeClassName
  PodSpec.preemptionPolicy PodSecurityContext.supplementalGroupsPolicy PodSecurityContext.fsGroupChangePolicy
  PodSecurityContext.seLinuxChangePolicy SeccompProfile.localhostProfile AppArmorProfile.localhostProfile
  WindowsSecurityContextOptions.gmsaCredentialSpec WindowsSecurityContextOptions.gmsaCredentialSpecName
  WindowsSecurityContextOptions.runAsUserName SecurityContext.procMount VolumeMount.mountPropagation
  VolumeMount.recursiveReadOnly VolumeMountStatus.recursiveReadOnly Container.restartPolicy
  EphemeralContainer.restartPolicy Lifecycle.stopSignal ContainerStatus.stopSignal GRPCAction.service
  HostPathVolumeSource.type StorageClass.reclaimPolicy StorageClass.volumeBindingMode CSIDriverSpec.fsGroupPolicy
  CSIVolumeSource.fsType LocalVolumeSource.fsType ClusterTrustBundleProjection.name
  ClusterTrustBundleProjection.signerName TypedObjectReference.apiGroup TypedObjectReference.namespace
  TypedLocalObjectReference.apiGroup PodDisruptionBudgetSpec.unhealthyPodEvictionPolicy NetworkPolicyPort.protocol
  PortStatus.error LoadBalancerIngress.ipMode MutatingWebhook.failurePolicy MutatingWebhook.matchPolicy
  MutatingWebhook.sideEffects MutatingWebhook.reinvocationPolicy ValidatingWebhook.failurePolicy
  ValidatingWebhook.matchPolicy ValidatingWebhook.sideEffects ValidatingAdmissionPolicySpec.failurePolicy
  MatchResources.matchPolicy Validation.reason RuleWithOperations.scope NamedRuleWithOperations.scope
  ServiceReference.path WebhookClientConfig.url ParamRef.parameterNotFoundAction JobSpec.completionMode
  JobSpec.podReplacementPolicy JobSpec.managedBy CronJobSpec.timeZone JobStatus.failedIndexes
  PodFailurePolicyOnExitCodesRequirement.containerName SuccessPolicyRule.succeededIndexes
  TopologySpreadConstraint.nodeAffinityPolicy TopologySpreadConstraint.nodeTaintsPolicy
  IngressClassParametersReference.apiGroup IngressClassParametersReference.scope
  IngressClassParametersReference.namespace PriorityClass.preemptionPolicy Preconditions.uid
  Preconditions.resourceVersion DeleteOptions.propagationPolicy VolumeAttachmentSource.persistentVolumeName
  CustomResourceDefinitionVersion.deprecationWarning CustomResourceSubresourceScale.labelSelectorPath
  JSONSchemaProps.x-svc-list-type JSONSchemaProps.x-svc-map-type JSONSchemaProps.x-kubernetes-list-type
  JSONSchemaProps.x-kubernetes-map-type ValidationRule.reason NodeRuntimeHandler.name`);

/** Optional numbers held by value: a zero is left out. All other optional numbers are pointers. */
const valueNumbers = words(`active availableReplicas code count currentReplicas deprecatedCount
  failed failureThreshold fullyLabeledReplicas generation healthCheckNodePort hostPort initialDelaySeconds
  minReadySeconds nodePort numberAvailable numberUnavailable observedGeneration Container.partition
  AWSElasticBlockStoreVolumeSource.partition GCEPersistentDiskVolumeSource.partition periodSeconds
  CustomResourceColumnDefinition.priority readyReplicas DeploymentStatus.replicas ScaleSpec.replicas
  ReplicationControllerStatus.replicas retryAfterSeconds signal sizeBytes succeeded successThreshold
  Probe.timeoutSeconds unavailableReplicas updatedNumberScheduled updatedReplicas`);

/** Optional booleans that are pointers: a false is kept. All other optional booleans are held by value. */
const pointerBooleans =
  words(`allocateLoadBalancerNodePorts allowPrivilegeEscalation allowVolumeExpansion attachRequired
  automountServiceAccountToken blockOwnerDeletion controller enableServiceLinks EndpointConditions.ready
  EndpointConditions.serving EndpointConditions.terminating hostProcess hostUsers
  ignoreStoreReadErrorWithClusterBreakingPotential immutable manualSelector optional optionalOldSelf orphanDependents
  podInfoOnMount privileged AzureDiskVolumeSource.readOnly CSIVolumeSource.readOnly readOnlyRootFilesystem
  recursiveReadOnlyMounts requiresRepublish runAsNonRoot seLinuxMount setHostnameAsFQDN shareProcessNamespace started
  storageCapacity supplementalGroupsPolicy suspend userNamespaces x-kubernetes-preserve-unknown-fields
  x-svc-preserve-unknown-fields`);

/** Optional quantities held by value: an unset one shows as "0". */
const valueQuantities = words("ResourceFieldSelector.divisor");

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/));
}

/** `core.v1.Container` → `Container`: the exceptions name types without their package. */
export function shortTypeName(type: TypeRow): string {
  return type.name.slice(type.name.lastIndexOf(".") + 1);
}

function listed(set: ReadonlySet<string>, type: TypeRow, field: FieldRow): boolean {
  return set.has(field.name) || set.has(`${shortTypeName(type)}.${field.name}`);
}

/** How `field` of `type` behaves when it holds nothing. */
export function presenceOf(type: TypeRow, field: FieldRow): Presence {
  if (field.name === "kind" || field.name === "apiVersion") return isReference(type) ? "filled" : "set";
  if (field.required && !listed(pointerStrings, type, field)) return "always";
  const { shape } = field;
  if (field.typeName !== undefined && timeTypes.has(field.typeName)) {
    return listed(pointerTimes, type, field) ? "set" : "always";
  }
  switch (shape.is) {
    case "struct":
      return listed(valueStructs, type, field) ? "always" : "set";
    case "list":
    case "map":
      return field.name === "managedFields" ? "set" : "filled"; // an empty list there is an order to forget
    case "either":
      return shortTypeName(type) === "ServicePort" || listed(valueQuantities, type, field) ? "always" : "set";
    case "opaque":
      return "set";
    default:
      return scalarPresence(type, field);
  }
}

function scalarPresence(type: TypeRow, field: FieldRow): Presence {
  const { shape } = field;
  const scalar = shape.is === "scalar" ? shape.type : "string";
  if (isZero(field.default)) return "always"; // the generator writes a zero default where omitempty is missing
  if (scalar === "boolean") return listed(pointerBooleans, type, field) ? "set" : "filled";
  if (scalar === "string") return listed(pointerStrings, type, field) ? "set" : "filled";
  return listed(valueNumbers, type, field) ? "filled" : "set";
}

/** In an object, `kind` and `apiVersion` are its own type; in a reference they are plain optional strings. */
function isReference(type: TypeRow): boolean {
  return !type.fields.has("metadata") && !type.fields.has("items");
}

const isZero = (value: unknown): boolean => value === "" || value === 0 || value === false;

const zeros = new Map<TypeRow, JsonObject>();

/**
 * The object that a kind is before anybody has set anything: what managed fields are compared with at creation, and
 * what a bookmark's object holds. Frozen. Types that contain themselves only do so in optional fields.
 */
export function zeroStruct(type: TypeRow): JsonObject {
  const known = zeros.get(type);
  if (known !== undefined) return known;
  const zero: Record<string, Json> = {};
  if (type.custom) return zero;
  for (const field of orderedRows(type)) {
    if (presenceOf(type, field) === "always") zero[field.name] = zeroOfField(type, field);
  }
  zeros.set(type, seal(zero));
  return zero;
}

/** What an `always` field shows when nothing is set. */
export function zeroOfField(type: TypeRow, field: FieldRow): Json {
  if (field.shape.is === "struct" && listed(pointerStructs, type, field)) return null;
  if (field.typeName !== undefined && timeTypes.has(field.typeName)) return null;
  if (field.shape.is === "either") return listed(valueQuantities, type, field) ? "0" : 0;
  return zeroOfShape(field.shape);
}

/** The zero value of a shape held by value: also what a null element of a list or map becomes. */
export function zeroOfShape(shape: Shape): Json {
  switch (shape.is) {
    case "struct":
      return zeroStruct(shape.type);
    case "scalar":
      if (shape.type === "string") return "";
      return shape.type === "boolean" ? false : 0;
    case "either":
      return shape.types.includes("integer") ? 0 : "0";
    default:
      return null;
  }
}

const ordered = new Map<TypeRow, readonly FieldRow[]>();

/** Fields in the order of the wire: kind and apiVersion, metadata, then by protobuf number, which follows the Go struct. */
export function orderedRows(type: TypeRow): readonly FieldRow[] {
  const known = ordered.get(type);
  if (known !== undefined) return known;
  const rows = type.rows
    .map((field, at) => ({ field, at, rank: isReference(type) ? protobufRank(field) : rankOf(field) }))
    .sort((left, right) => left.rank - right.rank || left.at - right.at)
    .map(({ field }) => field);
  ordered.set(type, rows);
  return rows;
}

const headRanks: Readonly<Record<string, number>> = { kind: -3, apiVersion: -2, metadata: -1 };

/** A nested message's fields stand where it stands. */
function protobufRank({ protobuf }: FieldRow): number {
  if (protobuf === undefined) return 1_000_000;
  const { within, number } = protobuf;
  return [...within, number].reduceRight((below, part) => part + below / 1_000, 0);
}

const rankOf = (field: FieldRow): number => headRanks[field.name] ?? protobufRank(field);
