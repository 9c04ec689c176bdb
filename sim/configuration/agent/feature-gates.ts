/**
 * Feature gates that an agent of release 1.33 knows, and which of them cannot be changed any more. Source: the published
 * list of gates; the facts, flags and configuration.
 */

const on = `APIResponseCompression AppArmorFields AnonymousAuthConfigurableEndpoints ContextualLogging
  CPUManagerPolicyBetaOptions CPUManagerPolicyOptions CRDValidationRatcheting CronJobsScheduledAnnotation
  DevicePluginCDIDevices DisableCPUQuotaWithExclusiveCPUs DisableNodeKubeProxyVersion ExecProbeTimeout GracefulNodeShutdown
  GracefulNodeShutdownBasedOnPodPriority HonorPVReclaimPolicy ImageMaximumGCAge ImageVolume InPlacePodVerticalScaling
  JobBackoffLimitPerIndex KubeletCgroupDriverFromCRI KubeletFineGrainedAuthz KubeletPodResourcesDynamicResources
  KubeletPSI KubeletSeparateDiskGC KubeletServiceAccountTokenForCredentialProviders LoggingBetaOptions
  KubeletTracing LoadBalancerIPMode MatchLabelKeysInPodAffinity MemoryManager NodeInclusionPolicyInPodTopologySpread
  NodeSwap OpenAPIEnums PodDisruptionConditions PodHostIPs PodLifecycleSleepAction PodLifecycleSleepActionAllowZero
  PodObservedGenerationTracking PodReadyToStartContainersCondition PodSchedulingReadiness ProcMountType
  RecursiveReadOnlyMounts RelaxedDNSSearchValidation RelaxedEnvironmentVariableValidation ResilientWatchCacheInitialization
  RotateNodeAgentServerCertificate RotateKubeletServerCertificate RuntimeClassInImageCriApi ServiceAccountTokenJTI
  ServiceAccountTokenNodeBinding ServiceAccountTokenNodeBindingValidation ServiceAccountTokenPodNodeInfo SidecarContainers
  SizeMemoryBackedVolumes SupplementalGroupsPolicy SystemdWatchdog TopologyAwareHints TopologyManagerPolicyBetaOptions
  TopologyManagerPolicyOptions TranslateStreamCloseWebsocketRequests UserNamespacesSupport WatchBookmark
  WinDSR WinOverlay WindowsHostNetwork`;

const off = `AllAlpha AllBeta ClusterTrustBundle ClusterTrustBundleProjection ContainerCheckpoint ContainerStopSignals
  CPUManagerPolicyAlphaOptions CSIVolumeHealth CustomCPUCFSQuotaPeriod DRAAdminAccess DRADeviceTaints DRAPartitionableDevices
  DRAPrioritizedList DRAResourceClaimDeviceStatus DynamicResourceAllocation EventedPLEG GitRepoVolumeDriver
  HPAScaleToZero ImageGCMaximumAge InPlacePodVerticalScalingAllocatedStatus InPlacePodVerticalScalingExclusiveCPUs
  InformerResourceVersion KubeletCrashLoopBackOffMax KubeletEnsureSecretPulledImages KubeletInUserNamespace
  KubeletPodResourcesGet KubeletRegistrationGetOnExistsOnly LocalStorageCapacityIsolationFSQuotaMonitoring
  LoggingAlphaOptions MemoryQoS NodeLogQuery PodLevelResources PodLogsQuerySplitStreams PodTopologyLabelsAdmission
  PortForwardWebsockets PreferAlignCpusByUncoreCache QOSReserved ReduceDefaultCrashLoopBackOffDecay
  ResourceHealthStatus SELinuxMount SELinuxMountReadWriteOncePod SELinuxChangePolicy SchedulerAsyncPreemption
  TopologyManagerPolicyAlphaOptions UserNamespacesPodSecurityStandards WindowsCPUAndMemoryAffinity
  WindowsGracefulNodeShutdown`;

const lockedOn = `AppArmor CPUManager CloudDualStackNodeIPs DisableCloudProviders DisableKubeletCloudCredentialProviders
  KubeProxyDrainingTerminatingNodes LegacyServiceAccountTokenCleanUp NewVolumeManagerReconstruction ProbeTerminationGracePeriod
  StableLoadBalancerNodeSet ThreadSafeFeatures ValidatingAdmissionPolicy`;

const names = (text: string): readonly string[] => text.split(/\s+/);

const standards: ReadonlyMap<string, boolean> = new Map([
  ...names(on).map((name) => [name, true] as const),
  ...names(off).map((name) => [name, false] as const),
  ...names(lockedOn).map((name) => [name, true] as const),
]);
const locked = new Set(names(lockedOn));

export type Gates = Readonly<Record<string, boolean>>;

export function isOn(gates: Gates, name: string): boolean {
  return gates[name] ?? standards.get(name) ?? false;
}

/** The first that cannot be set so, in words. */
export function gateProblem(gates: Gates): string | undefined {
  for (const [name, value] of Object.entries(gates)) {
    const standard = standards.get(name);
    if (standard === undefined) return `unrecognized feature gate: ${name}`;
    if (locked.has(name) && value !== standard) {
      return `cannot set feature gate ${name} to ${value}, feature is locked to ${standard}`;
    }
  }
  return undefined;
}
