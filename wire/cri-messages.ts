/**
 * The messages of the container runtime interface and of the machine's, written out of the tables by the test beside.
 *
 * What can be sent (messages that a request holds) has only optional fields: absent is the zero value of its type.
 * What is only answered always has its plain fields, lists and maps, and messages where they were set. Integers of 64
 * bits are numbers: above 2^53, where nanoseconds since 1970 are, they are rounded, by less than a microsecond.
 * Variables are no list where containers share most of them, but layered.
 */

interface Call<Request, Response> {
  readonly request: Request;
  readonly response: Response;
}

export interface CriMethods {
  readonly Version: Call<VersionRequest, VersionResponse>;
  readonly RunPodSandbox: Call<RunPodSandboxRequest, RunPodSandboxResponse>;
  readonly StopPodSandbox: Call<StopPodSandboxRequest, StopPodSandboxResponse>;
  readonly RemovePodSandbox: Call<RemovePodSandboxRequest, RemovePodSandboxResponse>;
  readonly PodSandboxStatus: Call<PodSandboxStatusRequest, PodSandboxStatusResponse>;
  readonly ListPodSandbox: Call<ListPodSandboxRequest, ListPodSandboxResponse>;
  readonly CreateContainer: Call<CreateContainerRequest, CreateContainerResponse>;
  readonly StartContainer: Call<StartContainerRequest, StartContainerResponse>;
  readonly StopContainer: Call<StopContainerRequest, StopContainerResponse>;
  readonly RemoveContainer: Call<RemoveContainerRequest, RemoveContainerResponse>;
  readonly ListContainers: Call<ListContainersRequest, ListContainersResponse>;
  readonly ContainerStatus: Call<ContainerStatusRequest, ContainerStatusResponse>;
  readonly UpdateContainerResources: Call<UpdateContainerResourcesRequest, UpdateContainerResourcesResponse>;
  readonly ReopenContainerLog: Call<ReopenContainerLogRequest, ReopenContainerLogResponse>;
  readonly ExecSync: Call<ExecSyncRequest, ExecSyncResponse>;
  readonly Exec: Call<ExecRequest, ExecResponse>;
  readonly Attach: Call<AttachRequest, AttachResponse>;
  readonly PortForward: Call<PortForwardRequest, PortForwardResponse>;
  readonly ContainerStats: Call<ContainerStatsRequest, ContainerStatsResponse>;
  readonly ListContainerStats: Call<ListContainerStatsRequest, ListContainerStatsResponse>;
  readonly PodSandboxStats: Call<PodSandboxStatsRequest, PodSandboxStatsResponse>;
  readonly ListPodSandboxStats: Call<ListPodSandboxStatsRequest, ListPodSandboxStatsResponse>;
  readonly UpdateRuntimeConfig: Call<UpdateRuntimeConfigRequest, UpdateRuntimeConfigResponse>;
  readonly Status: Call<StatusRequest, StatusResponse>;
  readonly CheckpointContainer: Call<CheckpointContainerRequest, CheckpointContainerResponse>;
  readonly ListMetricDescriptors: Call<ListMetricDescriptorsRequest, ListMetricDescriptorsResponse>;
  readonly ListPodSandboxMetrics: Call<ListPodSandboxMetricsRequest, ListPodSandboxMetricsResponse>;
  readonly RuntimeConfig: Call<RuntimeConfigRequest, RuntimeConfigResponse>;
  readonly UpdatePodSandboxResources: Call<UpdatePodSandboxResourcesRequest, UpdatePodSandboxResourcesResponse>;
  readonly ListImages: Call<ListImagesRequest, ListImagesResponse>;
  readonly ImageStatus: Call<ImageStatusRequest, ImageStatusResponse>;
  readonly PullImage: Call<PullImageRequest, PullImageResponse>;
  readonly RemoveImage: Call<RemoveImageRequest, RemoveImageResponse>;
  readonly ImageFsInfo: Call<ImageFsInfoRequest, ImageFsInfoResponse>;
  readonly MachineInfo: Call<MachineInfoRequest, MachineInfoResponse>;
  readonly MachineReading: Call<MachineReadingRequest, MachineReadingResponse>;
  readonly PathUsage: Call<PathUsageRequest, PathUsageResponse>;
  readonly ReadPath: Call<ReadPathRequest, ReadPathResponse>;
  readonly WritePath: Call<WritePathRequest, WritePathResponse>;
  readonly MakePath: Call<MakePathRequest, MakePathResponse>;
  readonly RenamePath: Call<RenamePathRequest, RenamePathResponse>;
  readonly RemovePath: Call<RemovePathRequest, RemovePathResponse>;
  readonly ListPath: Call<ListPathRequest, ListPathResponse>;
  readonly Connect: Call<ConnectRequest, ConnectResponse>;
}

/** Methods that answer a request with a stream. */
export interface CriStreams {
  readonly GetContainerEvents: Call<GetEventsRequest, ContainerEventResponse>;
}

export type Protocol = "TCP" | "UDP" | "SCTP";

export type MountPropagation = "PROPAGATION_PRIVATE" | "PROPAGATION_HOST_TO_CONTAINER" | "PROPAGATION_BIDIRECTIONAL";

export type NamespaceMode = "POD" | "CONTAINER" | "NODE" | "TARGET";

export type SupplementalGroupsPolicy = "Merge" | "Strict";

export type ProfileType = "RuntimeDefault" | "Unconfined" | "Localhost";

export type PodSandboxState = "SANDBOX_READY" | "SANDBOX_NOTREADY";

export type Signal =
  | "RUNTIME_DEFAULT"
  | "SIGABRT"
  | "SIGALRM"
  | "SIGBUS"
  | "SIGCHLD"
  | "SIGCLD"
  | "SIGCONT"
  | "SIGFPE"
  | "SIGHUP"
  | "SIGILL"
  | "SIGINT"
  | "SIGIO"
  | "SIGIOT"
  | "SIGKILL"
  | "SIGPIPE"
  | "SIGPOLL"
  | "SIGPROF"
  | "SIGPWR"
  | "SIGQUIT"
  | "SIGSEGV"
  | "SIGSTKFLT"
  | "SIGSTOP"
  | "SIGSYS"
  | "SIGTERM"
  | "SIGTRAP"
  | "SIGTSTP"
  | "SIGTTIN"
  | "SIGTTOU"
  | "SIGURG"
  | "SIGUSR1"
  | "SIGUSR2"
  | "SIGVTALRM"
  | "SIGWINCH"
  | "SIGXCPU"
  | "SIGXFSZ"
  | "SIGRTMIN"
  | "SIGRTMINPLUS1"
  | "SIGRTMINPLUS2"
  | "SIGRTMINPLUS3"
  | "SIGRTMINPLUS4"
  | "SIGRTMINPLUS5"
  | "SIGRTMINPLUS6"
  | "SIGRTMINPLUS7"
  | "SIGRTMINPLUS8"
  | "SIGRTMINPLUS9"
  | "SIGRTMINPLUS10"
  | "SIGRTMINPLUS11"
  | "SIGRTMINPLUS12"
  | "SIGRTMINPLUS13"
  | "SIGRTMINPLUS14"
  | "SIGRTMINPLUS15"
  | "SIGRTMAXMINUS14"
  | "SIGRTMAXMINUS13"
  | "SIGRTMAXMINUS12"
  | "SIGRTMAXMINUS11"
  | "SIGRTMAXMINUS10"
  | "SIGRTMAXMINUS9"
  | "SIGRTMAXMINUS8"
  | "SIGRTMAXMINUS7"
  | "SIGRTMAXMINUS6"
  | "SIGRTMAXMINUS5"
  | "SIGRTMAXMINUS4"
  | "SIGRTMAXMINUS3"
  | "SIGRTMAXMINUS2"
  | "SIGRTMAXMINUS1"
  | "SIGRTMAX";

export type ContainerState = "CONTAINER_CREATED" | "CONTAINER_RUNNING" | "CONTAINER_EXITED" | "CONTAINER_UNKNOWN";

export type ContainerEventType =
  | "CONTAINER_CREATED_EVENT"
  | "CONTAINER_STARTED_EVENT"
  | "CONTAINER_STOPPED_EVENT"
  | "CONTAINER_DELETED_EVENT";

export type MetricType = "COUNTER" | "GAUGE";

export type CgroupDriver = "SYSTEMD" | "CGROUPFS";

export type ConnectOutcome = "OPEN" | "REFUSED" | "SILENT";

export interface VersionRequest {
  readonly version?: string;
}

export interface VersionResponse {
  readonly version: string;
  readonly runtimeName: string;
  readonly runtimeVersion: string;
  readonly runtimeApiVersion: string;
}

export interface DNSConfig {
  readonly servers?: readonly string[];
  readonly searches?: readonly string[];
  readonly options?: readonly string[];
}

export interface PortMapping {
  readonly protocol?: Protocol;
  readonly containerPort?: number;
  readonly hostPort?: number;
  readonly hostIp?: string;
}

export interface Mount {
  readonly containerPath?: string;
  readonly hostPath?: string;
  readonly readonly?: boolean;
  readonly selinuxRelabel?: boolean;
  readonly propagation?: MountPropagation;
  readonly uidMappings?: readonly IDMapping[];
  readonly gidMappings?: readonly IDMapping[];
  readonly recursiveReadOnly?: boolean;
  readonly image?: ImageSpec;
  readonly imageSubPath?: string;
}

export interface IDMapping {
  readonly hostId?: number;
  readonly containerId?: number;
  readonly length?: number;
}

export interface UserNamespace {
  readonly mode?: NamespaceMode;
  readonly uids?: readonly IDMapping[];
  readonly gids?: readonly IDMapping[];
}

export interface NamespaceOption {
  readonly network?: NamespaceMode;
  readonly pid?: NamespaceMode;
  readonly ipc?: NamespaceMode;
  readonly targetId?: string;
  readonly usernsOptions?: UserNamespace;
}

export interface Int64Value {
  readonly value?: number;
}

export interface LinuxSandboxSecurityContext {
  readonly namespaceOptions?: NamespaceOption;
  readonly selinuxOptions?: SELinuxOption;
  readonly runAsUser?: Int64Value;
  readonly runAsGroup?: Int64Value;
  readonly readonlyRootfs?: boolean;
  readonly supplementalGroups?: readonly number[];
  readonly supplementalGroupsPolicy?: SupplementalGroupsPolicy;
  readonly privileged?: boolean;
  readonly seccomp?: SecurityProfile;
  readonly apparmor?: SecurityProfile;
  readonly seccompProfilePath?: string;
}

export interface SecurityProfile {
  readonly profileType?: ProfileType;
  readonly localhostRef?: string;
}

export interface LinuxPodSandboxConfig {
  readonly cgroupParent?: string;
  readonly securityContext?: LinuxSandboxSecurityContext;
  readonly sysctls?: Readonly<Record<string, string>>;
  readonly overhead?: LinuxContainerResources;
  readonly resources?: LinuxContainerResources;
}

export interface PodSandboxMetadata {
  readonly name?: string;
  readonly uid?: string;
  readonly namespace?: string;
  readonly attempt?: number;
}

export interface PodSandboxConfig {
  readonly metadata?: PodSandboxMetadata;
  readonly hostname?: string;
  readonly logDirectory?: string;
  readonly dnsConfig?: DNSConfig;
  readonly portMappings?: readonly PortMapping[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly linux?: LinuxPodSandboxConfig;
  readonly windows?: WindowsPodSandboxConfig;
}

export interface RunPodSandboxRequest {
  readonly config?: PodSandboxConfig;
  readonly runtimeHandler?: string;
}

export interface RunPodSandboxResponse {
  readonly podSandboxId: string;
}

export interface StopPodSandboxRequest {
  readonly podSandboxId?: string;
}

export type StopPodSandboxResponse = Readonly<Record<string, never>>;

export interface RemovePodSandboxRequest {
  readonly podSandboxId?: string;
}

export type RemovePodSandboxResponse = Readonly<Record<string, never>>;

export interface PodSandboxStatusRequest {
  readonly podSandboxId?: string;
  readonly verbose?: boolean;
}

export interface PodIP {
  readonly ip: string;
}

export interface PodSandboxNetworkStatus {
  readonly ip: string;
  readonly additionalIps: readonly PodIP[];
}

export interface Namespace {
  readonly options?: NamespaceOption;
}

export interface LinuxPodSandboxStatus {
  readonly namespaces?: Namespace;
}

export interface PodSandboxStatus {
  readonly id: string;
  readonly metadata?: PodSandboxMetadata;
  readonly state: PodSandboxState;
  readonly createdAt: number;
  readonly network?: PodSandboxNetworkStatus;
  readonly linux?: LinuxPodSandboxStatus;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly runtimeHandler: string;
}

export interface PodSandboxStatusResponse {
  readonly status?: PodSandboxStatus;
  readonly info: Readonly<Record<string, string>>;
  readonly containersStatuses: readonly ContainerStatus[];
  readonly timestamp: number;
}

export interface PodSandboxStateValue {
  readonly state?: PodSandboxState;
}

export interface PodSandboxFilter {
  readonly id?: string;
  readonly state?: PodSandboxStateValue;
  readonly labelSelector?: Readonly<Record<string, string>>;
}

export interface ListPodSandboxRequest {
  readonly filter?: PodSandboxFilter;
}

export interface PodSandbox {
  readonly id: string;
  readonly metadata?: PodSandboxMetadata;
  readonly state: PodSandboxState;
  readonly createdAt: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly runtimeHandler: string;
}

export interface ListPodSandboxResponse {
  readonly items: readonly PodSandbox[];
}

export interface PodSandboxStatsRequest {
  readonly podSandboxId?: string;
}

export interface PodSandboxStatsResponse {
  readonly stats?: PodSandboxStats;
}

export interface PodSandboxStatsFilter {
  readonly id?: string;
  readonly labelSelector?: Readonly<Record<string, string>>;
}

export interface ListPodSandboxStatsRequest {
  readonly filter?: PodSandboxStatsFilter;
}

export interface ListPodSandboxStatsResponse {
  readonly stats: readonly PodSandboxStats[];
}

export interface PodSandboxAttributes {
  readonly id: string;
  readonly metadata?: PodSandboxMetadata;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface PodSandboxStats {
  readonly attributes?: PodSandboxAttributes;
  readonly linux?: LinuxPodSandboxStats;
  readonly windows?: WindowsPodSandboxStats;
}

export interface LinuxPodSandboxStats {
  readonly cpu?: CpuUsage;
  readonly memory?: MemoryUsage;
  readonly network?: NetworkUsage;
  readonly process?: ProcessUsage;
  readonly containers: readonly ContainerStats[];
  readonly io?: IoUsage;
}

export interface WindowsPodSandboxStats {
  readonly cpu?: WindowsCpuUsage;
  readonly memory?: WindowsMemoryUsage;
  readonly network?: WindowsNetworkUsage;
  readonly process?: WindowsProcessUsage;
  readonly containers: readonly WindowsContainerStats[];
}

export interface NetworkUsage {
  readonly timestamp: number;
  readonly defaultInterface?: NetworkInterfaceUsage;
  readonly interfaces: readonly NetworkInterfaceUsage[];
}

export interface WindowsNetworkUsage {
  readonly timestamp: number;
  readonly defaultInterface?: WindowsNetworkInterfaceUsage;
  readonly interfaces: readonly WindowsNetworkInterfaceUsage[];
}

export interface NetworkInterfaceUsage {
  readonly name: string;
  readonly rxBytes?: UInt64Value;
  readonly rxErrors?: UInt64Value;
  readonly txBytes?: UInt64Value;
  readonly txErrors?: UInt64Value;
}

export interface WindowsNetworkInterfaceUsage {
  readonly name: string;
  readonly rxBytes?: UInt64Value;
  readonly rxPacketsDropped?: UInt64Value;
  readonly txBytes?: UInt64Value;
  readonly txPacketsDropped?: UInt64Value;
}

export interface ProcessUsage {
  readonly timestamp: number;
  readonly processCount?: UInt64Value;
}

export interface WindowsProcessUsage {
  readonly timestamp: number;
  readonly processCount?: UInt64Value;
}

export interface ImageSpec {
  readonly image?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly userSpecifiedImage?: string;
  readonly runtimeHandler?: string;
}

export interface KeyValue {
  readonly key?: string;
  readonly value?: string;
}

export interface LinuxContainerResources {
  readonly cpuPeriod?: number;
  readonly cpuQuota?: number;
  readonly cpuShares?: number;
  readonly memoryLimitInBytes?: number;
  readonly oomScoreAdj?: number;
  readonly cpusetCpus?: string;
  readonly cpusetMems?: string;
  readonly hugepageLimits?: readonly HugepageLimit[];
  readonly unified?: Readonly<Record<string, string>>;
  readonly memorySwapLimitInBytes?: number;
}

export interface HugepageLimit {
  readonly pageSize?: string;
  readonly limit?: number;
}

export interface SELinuxOption {
  readonly user?: string;
  readonly role?: string;
  readonly type?: string;
  readonly level?: string;
}

export interface Capability {
  readonly addCapabilities?: readonly string[];
  readonly dropCapabilities?: readonly string[];
  readonly addAmbientCapabilities?: readonly string[];
}

export interface LinuxContainerSecurityContext {
  readonly capabilities?: Capability;
  readonly privileged?: boolean;
  readonly namespaceOptions?: NamespaceOption;
  readonly selinuxOptions?: SELinuxOption;
  readonly runAsUser?: Int64Value;
  readonly runAsGroup?: Int64Value;
  readonly runAsUsername?: string;
  readonly readonlyRootfs?: boolean;
  readonly supplementalGroups?: readonly number[];
  readonly supplementalGroupsPolicy?: SupplementalGroupsPolicy;
  readonly noNewPrivs?: boolean;
  readonly maskedPaths?: readonly string[];
  readonly readonlyPaths?: readonly string[];
  readonly seccomp?: SecurityProfile;
  readonly apparmor?: SecurityProfile;
  readonly apparmorProfile?: string;
  readonly seccompProfilePath?: string;
}

export interface LinuxContainerConfig {
  readonly resources?: LinuxContainerResources;
  readonly securityContext?: LinuxContainerSecurityContext;
}

export interface LinuxContainerUser {
  readonly uid: number;
  readonly gid: number;
  readonly supplementalGroups: readonly number[];
}

export interface WindowsNamespaceOption {
  readonly network?: NamespaceMode;
}

export interface WindowsSandboxSecurityContext {
  readonly runAsUsername?: string;
  readonly credentialSpec?: string;
  readonly hostProcess?: boolean;
  readonly namespaceOptions?: WindowsNamespaceOption;
}

export interface WindowsPodSandboxConfig {
  readonly securityContext?: WindowsSandboxSecurityContext;
}

export interface WindowsContainerSecurityContext {
  readonly runAsUsername?: string;
  readonly credentialSpec?: string;
  readonly hostProcess?: boolean;
}

export interface WindowsContainerConfig {
  readonly resources?: WindowsContainerResources;
  readonly securityContext?: WindowsContainerSecurityContext;
}

export interface WindowsContainerResources {
  readonly cpuShares?: number;
  readonly cpuCount?: number;
  readonly cpuMaximum?: number;
  readonly memoryLimitInBytes?: number;
  readonly rootfsSizeInBytes?: number;
  readonly affinityCpus?: readonly WindowsCpuGroupAffinity[];
}

export interface WindowsCpuGroupAffinity {
  readonly cpuMask?: number;
  readonly cpuGroup?: number;
}

export interface ContainerMetadata {
  readonly name?: string;
  readonly attempt?: number;
}

export interface Device {
  readonly containerPath?: string;
  readonly hostPath?: string;
  readonly permissions?: string;
}

export interface CDIDevice {
  readonly name?: string;
}

export interface ContainerConfig {
  readonly metadata?: ContainerMetadata;
  readonly image?: ImageSpec;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly workingDir?: string;
  readonly envs?: Iterable<KeyValue>;
  readonly mounts?: readonly Mount[];
  readonly devices?: readonly Device[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly logPath?: string;
  readonly stdin?: boolean;
  readonly stdinOnce?: boolean;
  readonly tty?: boolean;
  readonly linux?: LinuxContainerConfig;
  readonly windows?: WindowsContainerConfig;
  readonly CDIDevices?: readonly CDIDevice[];
  readonly stopSignal?: Signal;
}

export interface CreateContainerRequest {
  readonly podSandboxId?: string;
  readonly config?: ContainerConfig;
  readonly sandboxConfig?: PodSandboxConfig;
}

export interface CreateContainerResponse {
  readonly containerId: string;
}

export interface StartContainerRequest {
  readonly containerId?: string;
}

export type StartContainerResponse = Readonly<Record<string, never>>;

export interface StopContainerRequest {
  readonly containerId?: string;
  readonly timeout?: number;
}

export type StopContainerResponse = Readonly<Record<string, never>>;

export interface RemoveContainerRequest {
  readonly containerId?: string;
}

export type RemoveContainerResponse = Readonly<Record<string, never>>;

export interface ContainerStateValue {
  readonly state?: ContainerState;
}

export interface ContainerFilter {
  readonly id?: string;
  readonly state?: ContainerStateValue;
  readonly podSandboxId?: string;
  readonly labelSelector?: Readonly<Record<string, string>>;
}

export interface ListContainersRequest {
  readonly filter?: ContainerFilter;
}

export interface Container {
  readonly id: string;
  readonly podSandboxId: string;
  readonly metadata?: ContainerMetadata;
  readonly image?: ImageSpec;
  readonly imageRef: string;
  readonly state: ContainerState;
  readonly createdAt: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly imageId: string;
}

export interface ListContainersResponse {
  readonly containers: readonly Container[];
}

export interface ContainerStatusRequest {
  readonly containerId?: string;
  readonly verbose?: boolean;
}

export interface ContainerStatus {
  readonly id: string;
  readonly metadata?: ContainerMetadata;
  readonly state: ContainerState;
  readonly createdAt: number;
  readonly startedAt: number;
  readonly finishedAt: number;
  readonly exitCode: number;
  readonly image?: ImageSpec;
  readonly imageRef: string;
  readonly reason: string;
  readonly message: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly mounts: readonly Mount[];
  readonly logPath: string;
  readonly resources?: ContainerResources;
  readonly imageId: string;
  readonly user?: ContainerUser;
  readonly stopSignal: Signal;
}

export interface ContainerStatusResponse {
  readonly status?: ContainerStatus;
  readonly info: Readonly<Record<string, string>>;
}

export interface ContainerResources {
  readonly linux?: LinuxContainerResources;
  readonly windows?: WindowsContainerResources;
}

export interface ContainerUser {
  readonly linux?: LinuxContainerUser;
}

export interface UpdateContainerResourcesRequest {
  readonly containerId?: string;
  readonly linux?: LinuxContainerResources;
  readonly windows?: WindowsContainerResources;
  readonly annotations?: Readonly<Record<string, string>>;
}

export type UpdateContainerResourcesResponse = Readonly<Record<string, never>>;

export interface ExecSyncRequest {
  readonly containerId?: string;
  readonly cmd?: readonly string[];
  readonly timeout?: number;
}

export interface ExecSyncResponse {
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
  readonly exitCode: number;
}

export interface ExecRequest {
  readonly containerId?: string;
  readonly cmd?: readonly string[];
  readonly tty?: boolean;
  readonly stdin?: boolean;
  readonly stdout?: boolean;
  readonly stderr?: boolean;
}

export interface ExecResponse {
  readonly url: string;
}

export interface AttachRequest {
  readonly containerId?: string;
  readonly stdin?: boolean;
  readonly tty?: boolean;
  readonly stdout?: boolean;
  readonly stderr?: boolean;
}

export interface AttachResponse {
  readonly url: string;
}

export interface PortForwardRequest {
  readonly podSandboxId?: string;
  readonly port?: readonly number[];
}

export interface PortForwardResponse {
  readonly url: string;
}

export interface ImageFilter {
  readonly image?: ImageSpec;
}

export interface ListImagesRequest {
  readonly filter?: ImageFilter;
}

export interface Image {
  readonly id: string;
  readonly repoTags: readonly string[];
  readonly repoDigests: readonly string[];
  readonly size: number;
  readonly uid?: Int64Value;
  readonly username: string;
  readonly spec?: ImageSpec;
  readonly pinned: boolean;
}

export interface ListImagesResponse {
  readonly images: readonly Image[];
}

export interface ImageStatusRequest {
  readonly image?: ImageSpec;
  readonly verbose?: boolean;
}

export interface ImageStatusResponse {
  readonly image?: Image;
  readonly info: Readonly<Record<string, string>>;
}

export interface AuthConfig {
  readonly username?: string;
  readonly password?: string;
  readonly auth?: string;
  readonly serverAddress?: string;
  readonly identityToken?: string;
  readonly registryToken?: string;
}

export interface PullImageRequest {
  readonly image?: ImageSpec;
  readonly auth?: AuthConfig;
  readonly sandboxConfig?: PodSandboxConfig;
}

export interface PullImageResponse {
  readonly imageRef: string;
}

export interface RemoveImageRequest {
  readonly image?: ImageSpec;
}

export type RemoveImageResponse = Readonly<Record<string, never>>;

export interface NetworkConfig {
  readonly podCidr?: string;
}

export interface RuntimeConfig {
  readonly networkConfig?: NetworkConfig;
}

export interface UpdateRuntimeConfigRequest {
  readonly runtimeConfig?: RuntimeConfig;
}

export type UpdateRuntimeConfigResponse = Readonly<Record<string, never>>;

export interface RuntimeCondition {
  readonly type: string;
  readonly status: boolean;
  readonly reason: string;
  readonly message: string;
}

export interface RuntimeStatus {
  readonly conditions: readonly RuntimeCondition[];
}

export interface StatusRequest {
  readonly verbose?: boolean;
}

export interface RuntimeHandlerFeatures {
  readonly recursiveReadOnlyMounts: boolean;
  readonly userNamespaces: boolean;
}

export interface RuntimeHandler {
  readonly name: string;
  readonly features?: RuntimeHandlerFeatures;
}

export interface RuntimeFeatures {
  readonly supplementalGroupsPolicy: boolean;
}

export interface StatusResponse {
  readonly status?: RuntimeStatus;
  readonly info: Readonly<Record<string, string>>;
  readonly runtimeHandlers: readonly RuntimeHandler[];
  readonly features?: RuntimeFeatures;
}

export type ImageFsInfoRequest = Readonly<Record<string, never>>;

export interface UInt64Value {
  readonly value: number;
}

export interface FilesystemIdentifier {
  readonly mountpoint: string;
}

export interface FilesystemUsage {
  readonly timestamp: number;
  readonly fsId?: FilesystemIdentifier;
  readonly usedBytes?: UInt64Value;
  readonly inodesUsed?: UInt64Value;
}

export interface WindowsFilesystemUsage {
  readonly timestamp: number;
  readonly fsId?: FilesystemIdentifier;
  readonly usedBytes?: UInt64Value;
}

export interface ImageFsInfoResponse {
  readonly imageFilesystems: readonly FilesystemUsage[];
  readonly containerFilesystems: readonly FilesystemUsage[];
}

export interface ContainerStatsRequest {
  readonly containerId?: string;
}

export interface ContainerStatsResponse {
  readonly stats?: ContainerStats;
}

export interface ListContainerStatsRequest {
  readonly filter?: ContainerStatsFilter;
}

export interface ContainerStatsFilter {
  readonly id?: string;
  readonly podSandboxId?: string;
  readonly labelSelector?: Readonly<Record<string, string>>;
}

export interface ListContainerStatsResponse {
  readonly stats: readonly ContainerStats[];
}

export interface ContainerAttributes {
  readonly id: string;
  readonly metadata?: ContainerMetadata;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface ContainerStats {
  readonly attributes?: ContainerAttributes;
  readonly cpu?: CpuUsage;
  readonly memory?: MemoryUsage;
  readonly writableLayer?: FilesystemUsage;
  readonly swap?: SwapUsage;
  readonly io?: IoUsage;
}

export interface WindowsContainerStats {
  readonly attributes?: ContainerAttributes;
  readonly cpu?: WindowsCpuUsage;
  readonly memory?: WindowsMemoryUsage;
  readonly writableLayer?: WindowsFilesystemUsage;
}

export interface PsiStats {
  readonly Full?: PsiData;
  readonly Some?: PsiData;
}

export interface PsiData {
  readonly Total: number;
  readonly Avg10: number;
  readonly Avg60: number;
  readonly Avg300: number;
}

export interface CpuUsage {
  readonly timestamp: number;
  readonly usageCoreNanoSeconds?: UInt64Value;
  readonly usageNanoCores?: UInt64Value;
  readonly psi?: PsiStats;
}

export interface WindowsCpuUsage {
  readonly timestamp: number;
  readonly usageCoreNanoSeconds?: UInt64Value;
  readonly usageNanoCores?: UInt64Value;
}

export interface MemoryUsage {
  readonly timestamp: number;
  readonly workingSetBytes?: UInt64Value;
  readonly availableBytes?: UInt64Value;
  readonly usageBytes?: UInt64Value;
  readonly rssBytes?: UInt64Value;
  readonly pageFaults?: UInt64Value;
  readonly majorPageFaults?: UInt64Value;
  readonly psi?: PsiStats;
}

export interface IoUsage {
  readonly timestamp: number;
  readonly psi?: PsiStats;
}

export interface SwapUsage {
  readonly timestamp: number;
  readonly swapAvailableBytes?: UInt64Value;
  readonly swapUsageBytes?: UInt64Value;
}

export interface WindowsMemoryUsage {
  readonly timestamp: number;
  readonly workingSetBytes?: UInt64Value;
  readonly availableBytes?: UInt64Value;
  readonly pageFaults?: UInt64Value;
  readonly commitMemoryBytes?: UInt64Value;
}

export interface ReopenContainerLogRequest {
  readonly containerId?: string;
}

export type ReopenContainerLogResponse = Readonly<Record<string, never>>;

export interface CheckpointContainerRequest {
  readonly containerId?: string;
  readonly location?: string;
  readonly timeout?: number;
}

export type CheckpointContainerResponse = Readonly<Record<string, never>>;

export type GetEventsRequest = Readonly<Record<string, never>>;

export interface ContainerEventResponse {
  readonly containerId: string;
  readonly containerEventType: ContainerEventType;
  readonly createdAt: number;
  readonly podSandboxStatus?: PodSandboxStatus;
  readonly containersStatuses: readonly ContainerStatus[];
}

export type ListMetricDescriptorsRequest = Readonly<Record<string, never>>;

export interface ListMetricDescriptorsResponse {
  readonly descriptors: readonly MetricDescriptor[];
}

export interface MetricDescriptor {
  readonly name: string;
  readonly help: string;
  readonly labelKeys: readonly string[];
}

export type ListPodSandboxMetricsRequest = Readonly<Record<string, never>>;

export interface ListPodSandboxMetricsResponse {
  readonly podMetrics: readonly PodSandboxMetrics[];
}

export interface PodSandboxMetrics {
  readonly podSandboxId: string;
  readonly metrics: readonly Metric[];
  readonly containerMetrics: readonly ContainerMetrics[];
}

export interface ContainerMetrics {
  readonly containerId: string;
  readonly metrics: readonly Metric[];
}

export interface Metric {
  readonly name: string;
  readonly timestamp: number;
  readonly metricType: MetricType;
  readonly labelValues: readonly string[];
  readonly value?: UInt64Value;
}

export type RuntimeConfigRequest = Readonly<Record<string, never>>;

export interface RuntimeConfigResponse {
  readonly linux?: LinuxRuntimeConfiguration;
}

export interface LinuxRuntimeConfiguration {
  readonly cgroupDriver: CgroupDriver;
}

export interface UpdatePodSandboxResourcesRequest {
  readonly podSandboxId?: string;
  readonly overhead?: LinuxContainerResources;
  readonly resources?: LinuxContainerResources;
}

export type UpdatePodSandboxResourcesResponse = Readonly<Record<string, never>>;

export type MachineInfoRequest = Readonly<Record<string, never>>;

export interface MachineInfoResponse {
  readonly machineId: string;
  readonly systemUuid: string;
  readonly bootId: string;
  readonly kernelVersion: string;
  readonly osImage: string;
  readonly operatingSystem: string;
  readonly architecture: string;
  readonly milliCpu: number;
  readonly memoryBytes: number;
  readonly swapBytes: number;
  readonly pids: number;
  readonly cgroupVersion: number;
  readonly tunables: Readonly<Record<string, string>>;
  readonly numaNodes: number;
  readonly threadsPerCore: number;
  readonly sockets: number;
}

export type MachineReadingRequest = Readonly<Record<string, never>>;

export interface MachineReadingResponse {
  readonly timestamp: number;
  readonly memory?: MemoryReading;
  readonly podsMemory?: MemoryReading;
  readonly swap?: SwapUsage;
  readonly cpu?: CpuUsage;
  readonly rootFilesystem?: FilesystemReading;
  readonly imageFilesystem?: FilesystemReading;
  readonly pids?: PidReading;
}

export interface MemoryReading {
  readonly usageBytes: number;
  readonly workingSetBytes: number;
  readonly rssBytes: number;
  readonly availableBytes: number;
  readonly pageFaults: number;
  readonly majorPageFaults: number;
}

export interface FilesystemReading {
  readonly mountpoint: string;
  readonly capacityBytes: number;
  readonly availableBytes: number;
  readonly usedBytes: number;
  readonly inodes: number;
  readonly inodesFree: number;
  readonly inodesUsed: number;
}

export interface PidReading {
  readonly max: number;
  readonly running: number;
}

export interface PathUsageRequest {
  readonly paths?: readonly string[];
}

export interface PathUsageResponse {
  readonly usages: readonly PathUse[];
}

export interface PathUse {
  readonly path: string;
  readonly found: boolean;
  readonly usedBytes: number;
  readonly inodesUsed: number;
}

export interface ReadPathRequest {
  readonly path?: string;
  readonly offset?: number;
  readonly limit?: number;
}

export interface ReadPathResponse {
  readonly size: number;
  readonly content: Uint8Array;
  readonly file: number;
}

export interface WritePathRequest {
  readonly path?: string;
  readonly content?: Uint8Array;
  readonly append?: boolean;
}

export type WritePathResponse = Readonly<Record<string, never>>;

export interface MakePathRequest {
  readonly path?: string;
  readonly inMemory?: boolean;
  readonly limitBytes?: number;
}

export type MakePathResponse = Readonly<Record<string, never>>;

export interface RenamePathRequest {
  readonly from?: string;
  readonly to?: string;
  readonly exchange?: boolean;
}

export type RenamePathResponse = Readonly<Record<string, never>>;

export interface RemovePathRequest {
  readonly path?: string;
}

export type RemovePathResponse = Readonly<Record<string, never>>;

export interface ListPathRequest {
  readonly path?: string;
}

export interface ListPathResponse {
  readonly entries: readonly PathEntry[];
}

export interface PathEntry {
  readonly name: string;
  readonly directory: boolean;
  readonly size: number;
  readonly modifiedAt: number;
}

export interface ConnectRequest {
  readonly ip?: string;
  readonly port?: number;
  readonly http?: HttpProbe;
  readonly grpcService?: string;
  readonly grpc?: boolean;
}

export interface HttpProbe {
  readonly scheme?: string;
  readonly method?: string;
  readonly path?: string;
  readonly host?: string;
  readonly headers?: readonly KeyValue[];
}

export interface ConnectResponse {
  readonly outcome: ConnectOutcome;
  readonly status: number;
  readonly body: Uint8Array;
}
