/**
 * What a started agent shows of its flags, by requirement: that its help has them, what holds by default, what a good value
 * changes in what it tells of itself, and which values it refuses. Source: document 3, Options; where the published agent
 * has another default, the profile decides.
 */
import type { Json } from "../client/types.ts";

export interface FlagTrial {
  readonly flag: string;
  /** Where `/configz` shows it, by dots. Undefined: it does not. */
  readonly field?: string;
  /** By default, in `/configz`. */
  readonly standard?: Json | { readonly svc: Json; readonly kubernetes: Json };
  /** By default, in the help, where `/configz` does not show it. */
  readonly helped?: string;
  /** A value that is taken, and how `/configz` shows it; what else has to be given with it. */
  readonly good?: readonly [text: string, shown?: Json];
  readonly along?: readonly string[];
  /** Values that are refused, `{brand}` being what its labels end with; with what the error names beside flag and field. */
  readonly bad?: readonly string[];
  readonly names?: RegExp;
  /** The published agent does not have it. */
  readonly onlyIn?: "svc";
}

const flag = (name: string, more: Omit<FlagTrial, "flag"> = {}): FlagTrial => ({ flag: name, ...more });
const field = (
  name: string,
  where: string,
  standard: FlagTrial["standard"],
  more: Omit<FlagTrial, "flag"> = {},
): FlagTrial => ({
  flag: name,
  field: where,
  ...(standard === undefined ? {} : { standard }),
  ...more,
});
/** A duration, shown as it is written. */
const time = (name: string, where: string, standard: string, good: string, bad = "41"): FlagTrial =>
  field(name, where, standard, { good: [good, good], bad: [bad] });
const count = (
  name: string,
  where: string,
  standard: number,
  good: number,
  bad: readonly string[] = ["-1"],
): FlagTrial => field(name, where, standard, { good: [String(good), good], bad });
const is = (name: string, where: string, standard: boolean, more: Omit<FlagTrial, "flag"> = {}): FlagTrial =>
  field(name, where, standard, { good: [String(!standard), !standard], bad: ["maybe"], ...more });

export const flagTrials: Readonly<Record<string, readonly FlagTrial[]>> = {
  "agent-configuration.invocation": [flag("no-such-flag", { bad: ["1"] }), count("max-pods", "maxPods", 110, 7)],
  "agent-configuration.deprecated": [
    count("registry-burst", "registryBurst", 10, 11),
    count("event-burst", "eventBurst", 100, 120),
  ],
  "agent-configuration.stages": [
    field("log-text-split-stream", "logging.options.text.splitStream", false, { bad: ["true"] }),
    field("cpu-cfs-quota-period", "cpuCFSQuotaPeriod", "100ms", { bad: ["50ms"] }),
  ],
  "agent-configuration.feature-gates": [
    flag("feature-gates", {
      good: ["APIResponseCompression=false"],
      bad: ["NoSuchGate=true", "APIResponseCompression"],
      names: /gate/i,
    }),
  ],
  "agent-configuration.lock-file": [flag("lock-file", { helped: "" })],
  "agent-configuration.lock-contention": [
    flag("exit-on-lock-contention", { helped: "", bad: ["true"], names: /lock/i }),
  ],
  "agent-configuration.root-dir": [flag("root-dir", { helped: "/var/lib/", bad: [""] })],
  "agent-configuration.fail-cgroup": [
    field(
      "fail-cgroupv1",
      "failCgroupV1",
      { svc: true, kubernetes: false },
      { good: ["false", false], bad: ["maybe"] },
    ),
  ],
  "agent-configuration.fail-swap": [is("fail-swap-on", "failSwapOn", true)],
  "agent-configuration.kernel-defaults": [is("protect-kernel-defaults", "protectKernelDefaults", false)],
  "agent-configuration.run-once": [field("runonce", "runOnce", false, { bad: ["true"] })],
  "agent-configuration.oom-score": [
    field("oom-score-adj", "oomScoreAdj", -999, { good: ["-1000", -1000], bad: ["-1001", "1001"] }),
  ],
  "agent-configuration.max-open-files": [count("max-open-files", "maxOpenFiles", 1_000_000, 4096)],
  "agent-configuration.contention-profiling": [is("contention-profiling", "enableContentionProfiling", false)],
  "agent-configuration.own-cgroups": [
    field("nodeagent-cgroups", "kubeletCgroups", undefined, { good: ["/agent", "/agent"] }),
  ],
  "agent-configuration.iptables": [is("make-iptables-util-chains", "makeIPTablesUtilChains", true)],
  "agent-eviction.hard-defaults": [
    field("eviction-hard", "evictionHard", undefined, {
      good: ["memory.available<200Mi", { "memory.available": "200Mi" }],
      bad: ["memory.available<0", "no.signal<1Gi", "memory.available>1Gi"],
      names: /evict|threshold/i,
    }),
  ],
  "agent-eviction.memcg": [is("kernel-memcg-notification", "kernelMemcgNotification", false)],
  "agent-eviction.allocatable-ignore": [
    flag("experimental-allocatable-ignore-eviction", { good: ["true"], bad: ["maybe"] }),
  ],
  "agent-images.high-threshold": [
    count("image-gc-high-threshold", "imageGCHighThresholdPercent", 85, 90, ["101", "-1"]),
  ],
  "agent-images.low-threshold": [
    count("image-gc-low-threshold", "imageGCLowThresholdPercent", 80, 70, ["101", "-1", "95"]),
  ],
  "agent-images.minimum-age": [time("minimum-image-ttl-duration", "imageMinimumGCAge", "2m0s", "3m0s")],
  "agent-images.container-age": [flag("minimum-container-ttl-duration", { good: ["1m0s"], bad: ["41"] })],
  "agent-images.dead-containers": [flag("maximum-dead-containers", { helped: "-1", good: ["5"], bad: ["many"] })],
  "agent-images.dead-per-container": [
    flag("maximum-dead-containers-per-container", { helped: "1", good: ["2"], bad: ["many"] }),
  ],
  "agent-images.infra-image": [flag("pod-infra-container-image", { good: ["registry.example/pause:1"] })],
  "agent-images.pull-qps": [count("registry-qps", "registryPullQPS", 5, 6)],
  "agent-images.pull-burst": [count("registry-burst", "registryBurst", 10, 11)],
  "agent-images.serial-pulls": [is("serialize-image-pulls", "serializeImagePulls", true)],
  "agent-images.credential-config": [flag("image-credential-provider-config", { helped: "" })],
  "agent-images.credential-bin": [flag("image-credential-provider-bin-dir", { helped: "" })],
  "agent-images.service-endpoint": [flag("image-service-endpoint", { helped: "" })],
  "agent-images.runtime-endpoint": [flag("container-runtime-endpoint", { bad: [""], names: /endpoint/i })],
  "agent-images.runtime-timeout": [time("runtime-request-timeout", "runtimeRequestTimeout", "2m0s", "1m30s")],
  "agent-logging.format": [field("logging-format", "logging.format", "text", { bad: ["xml"] })],
  "agent-logging.flush": [time("log-flush-frequency", "logging.flushFrequency", "5s", "7s")],
  "agent-logging.json-buffer": [flag("log-json-info-buffer-size", { bad: ["1Gi", "much"], onlyIn: "svc" })],
  "agent-logging.json-split": [flag("log-json-split-stream", { bad: ["true", "maybe"], onlyIn: "svc" })],
  "agent-logging.text-buffer": [flag("log-text-info-buffer-size", { bad: ["1Gi", "much"] })],
  "agent-logging.text-split": [flag("log-text-split-stream", { bad: ["true", "maybe"] })],
  "agent-logging.verbosity": [field("v", "logging.verbosity", 0, { good: ["3", 3], bad: ["high"] })],
  "agent-logging.by-file": [flag("vmodule", { good: ["server=2"], bad: ["server"] })],
  "agent-logging.container-files": [count("container-log-max-files", "containerLogMaxFiles", 5, 6, ["1", "0"])],
  "agent-logging.container-size": [
    field("container-log-max-size", "containerLogMaxSize", "10Mi", { good: ["20Mi", "20Mi"], bad: ["large"] }),
  ],
  "agent-node.registers": [is("register-node", "registerNode", true)],
  "agent-node.cloud-provider": [flag("cloud-provider", { good: ["external"], bad: ["aws"], names: /cloud/i })],
  "agent-node.cloud-config": [flag("cloud-config", { helped: "" })],
  "agent-node.schedulable": [flag("register-schedulable", { helped: "true", good: ["false"], bad: ["maybe"] })],
  "agent-node.taints": [flag("register-with-taints", { good: ["a=b:NoSchedule"], bad: ["a=b:Never", "a=b"] })],
  "agent-node.labels": [flag("node-labels", { good: ["tier=front"], bad: ["-a=b"], names: /label/i })],
  "agent-node.reserved-labels": [
    flag("node-labels", { bad: ["{brand}/mine=1", "sub.{brand}/mine=1"], names: /label/i }),
  ],
  "agent-node.ip": [flag("node-ip", { good: ["127.0.0.1"] })],
  "agent-node.provider-id": [field("provider-id", "providerID", undefined, { good: ["cloud://1", "cloud://1"] })],
  "agent-node.status-frequency": [time("node-status-update-frequency", "nodeStatusUpdateFrequency", "10s", "20s")],
  "agent-node.status-images": [count("node-status-max-images", "nodeStatusMaxImages", 50, -1, ["-2"])],
  "agent-node.api-qps": [count("svc-api-qps", "kubeAPIQPS", 50, 60)],
  "agent-node.api-burst": [count("svc-api-burst", "kubeAPIBurst", 100, 120)],
  "agent-node.api-content-type": [flag("svc-api-content-type", { good: ["application/json"] })],
  "agent-node.event-qps": [count("event-qps", "eventRecordQPS", 50, 60)],
  "agent-node.event-burst": [count("event-burst", "eventBurst", 100, 120)],
  "agent-pods.file-frequency": [time("file-check-frequency", "fileCheckFrequency", "20s", "2s")],
  "agent-pods.url-frequency": [time("http-check-frequency", "httpCheckFrequency", "20s", "2s")],
  "agent-pods.sync-frequency": [time("sync-frequency", "syncFrequency", "1m0s", "30s", "0s")],
  "agent-pods.max-pods": [count("max-pods", "maxPods", 110, 7)],
  "agent-pods.pods-per-core": [count("pods-per-core", "podsPerCore", 0, 4)],
  "agent-pods.max-pids": [count("pod-max-pids", "podPidsLimit", -1, 1000, ["1.5"])],
  "agent-pods.cluster-dns": [
    field("cluster-dns", "clusterDNS", undefined, { good: ["10.96.0.10,10.96.0.11", ["10.96.0.10", "10.96.0.11"]] }),
  ],
  "agent-pods.cluster-domain": [
    field("cluster-domain", "clusterDomain", undefined, { good: ["cluster.local", "cluster.local"] }),
  ],
  "agent-pods.resolv-conf": [
    field("resolv-conf", "resolvConf", "/etc/resolv.conf", { good: ["/dev/null", "/dev/null"] }),
  ],
  "agent-pods.cidr": [field("pod-cidr", "podCIDR", undefined, { good: ["10.1.0.0/24", "10.1.0.0/24"] })],
  "agent-pods.hairpin": [
    field("hairpin-mode", "hairpinMode", "promiscuous-bridge", {
      good: ["hairpin-veth", "hairpin-veth"],
      bad: ["some"],
    }),
  ],
  "agent-pods.unsafe-sysctls": [
    field("allowed-unsafe-sysctls", "allowedUnsafeSysctls", undefined, {
      good: ["kernel.msg*,net.core.somaxconn", ["kernel.msg*", "net.core.somaxconn"]],
      bad: ["vm.swappiness"],
      names: /sysctl/i,
    }),
  ],
  "agent-pods.seccomp": [is("seccomp-default", "seccompDefault", false)],
  "agent-pods.attach-detach": [is("enable-controller-attach-detach", "enableControllerAttachDetach", true)],
  "agent-pods.volume-plugins": [
    field("volume-plugin-dir", "volumePluginDir", undefined, { good: ["/plugins/", "/plugins/"] }),
  ],
  "agent-pods.volume-stats": [time("volume-stats-agg-period", "volumeStatsAggPeriod", "1m0s", "2m0s")],
  "agent-pods.mounter": [flag("experimental-mounter-path", { helped: "mount" })],
  "agent-resources.cgroup-driver": [
    field("cgroup-driver", "cgroupDriver", "cgroupfs", { good: ["systemd", "systemd"] }),
  ],
  "agent-resources.cgroups-per-qos": [field("cgroups-per-qos", "cgroupsPerQOS", true, { bad: ["false", "maybe"] })],
  "agent-resources.cpu-quota": [is("cpu-cfs-quota", "cpuCFSQuota", true)],
  "agent-resources.cpu-quota-period": [
    field("cpu-cfs-quota-period", "cpuCFSQuotaPeriod", "100ms", { bad: ["50ms", "1h"] }),
  ],
  "agent-resources.cpu-manager": [
    field("cpu-manager-policy", "cpuManagerPolicy", "none", { bad: ["magic", "static"], names: /policy|cpu/i }),
  ],
  "agent-resources.cpu-manager-options": [
    flag("cpu-manager-policy-options", { bad: ["a", "full-pcpus-only=true"], names: /option/i }),
  ],
  "agent-resources.cpu-manager-period": [
    time("cpu-manager-reconcile-period", "cpuManagerReconcilePeriod", "10s", "20s"),
  ],
  "agent-resources.memory-manager": [
    field("memory-manager-policy", "memoryManagerPolicy", "None", { bad: ["magic"], names: /policy/i }),
  ],
  "agent-resources.topology": [
    field("topology-manager-policy", "topologyManagerPolicy", "none", { bad: ["sometimes"] }),
  ],
  "agent-resources.topology-options": [
    flag("topology-manager-policy-options", { bad: ["a", "no-such-option=true"], names: /option/i }),
  ],
  "agent-resources.topology-scope": [
    field("topology-manager-scope", "topologyManagerScope", "container", { good: ["pod", "pod"], bad: ["node"] }),
  ],
  "agent-resources.enforce": [
    field("enforce-node-allocatable", "enforceNodeAllocatable", ["pods"], {
      bad: ["some", "none,pods", "system-reserved", "pods,pods"],
    }),
  ],
  "agent-resources.reserved": [
    field("svc-reserved", "kubeReserved", undefined, {
      good: [
        "cpu=100m,memory=64Mi,ephemeral-storage=1Gi,pid=10",
        { cpu: "100m", memory: "64Mi", "ephemeral-storage": "1Gi", pid: "10" },
      ],
      bad: ["gpu=1", "cpu=-1", "cpu"],
    }),
  ],
  "agent-resources.reserved-cgroup": [
    field("svc-reserved-cgroup", "kubeReservedCgroup", undefined, { good: ["/service", "/service"] }),
  ],
  "agent-resources.system-reserved": [
    field("system-reserved", "systemReserved", undefined, {
      good: ["cpu=100m,memory=64Mi", { cpu: "100m", memory: "64Mi" }],
      bad: ["gpu=1", "memory=-1"],
    }),
  ],
  "agent-resources.system-reserved-cgroup": [
    field("system-reserved-cgroup", "systemReservedCgroup", undefined, { good: ["/system", "/system"] }),
  ],
  "agent-resources.reserved-cpus": [flag("reserved-cpus", { bad: ["3-1", "a"] })],
  "agent-resources.reserved-memory": [flag("reserved-memory", { bad: ["0", "0:cpu=1", "0:memory=0"] })],
  "agent-resources.qos-reserved": [flag("qos-reserved", { bad: ["memory=50%", "cpu=50%"], names: /qos/i })],
  "agent-resources.local-storage": [is("local-storage-capacity-isolation", "localStorageCapacityIsolation", true)],
  "agent-resources.system-cgroups": [field("system-cgroups", "systemCgroups", undefined, { bad: ["/system"] })],
  "agent-resources.runtime-cgroups": [flag("runtime-cgroups", { good: ["/runtime"] })],
  "agent-server.address": [
    field("address", "address", undefined, { helped: "0.0.0.0", bad: ["localhost", "300.1.1.1"] }),
  ],
  "agent-server.port": [flag("port", { helped: "10250", bad: ["0", "65536", "-1"] })],
  "agent-server.enabled": [flag("enable-server", { helped: "true", bad: ["maybe"] })],
  "agent-server.debugging-handlers": [flag("enable-debugging-handlers", { helped: "true", bad: ["maybe"] })],
  "agent-server.read-only-port": [flag("read-only-port", { helped: "10255", bad: ["-1", "65536"] })],
  "agent-server.healthz-port": [flag("healthz-port", { helped: "10248", bad: ["-1", "65536"] })],
  "agent-server.healthz-address": [
    field("healthz-bind-address", "healthzBindAddress", "127.0.0.1", { bad: ["localhost"] }),
  ],
  "agent-server.tls-cert": [flag("tls-cert-file", { bad: ["/nowhere/a.pem"], names: /tls|cert/i })],
  "agent-server.tls-key": [flag("tls-private-key-file", { bad: ["/nowhere/a.key"], names: /tls|key/i })],
  "agent-server.cert-dir": [flag("cert-dir", { helped: "/pki" })],
  "agent-server.tls-min-version": [
    field("tls-min-version", "tlsMinVersion", undefined, {
      good: ["VersionTLS12", "VersionTLS12"],
      bad: ["VersionTLS9", "TLS12"],
      names: /tls/i,
    }),
  ],
  "agent-server.cipher-suites": [
    field("tls-cipher-suites", "tlsCipherSuites", undefined, {
      good: [
        "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
        ["TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"],
      ],
      bad: ["NO_SUCH_SUITE"],
      names: /cipher|suite/i,
    }),
  ],
  "agent-server.rotate-certificates": [
    is("rotate-certificates", "rotateCertificates", false, { good: ["false", false] }),
  ],
  "agent-server.rotate-server-certificates": [
    field("rotate-server-certificates", "serverTLSBootstrap", false, { bad: ["maybe"] }),
  ],
  "agent-server.anonymous": [field("anonymous-auth", "authentication.anonymous.enabled", true, { bad: ["maybe"] })],
  "agent-server.client-ca": [flag("client-ca-file", { bad: ["/nowhere/ca.pem"], names: /ca/i })],
  "agent-server.token-webhook": [
    field("authentication-token-webhook", "authentication.webhook.enabled", false, {
      bad: ["true"],
      names: /webhook/i,
    }),
  ],
  "agent-server.token-cache": [
    time("authentication-token-webhook-cache-ttl", "authentication.webhook.cacheTTL", "2m0s", "1m0s"),
  ],
  "agent-server.authorization-mode": [
    field("authorization-mode", "authorization.mode", "AlwaysAllow", {
      bad: ["Maybe", "Webhook"],
      names: /authorization/i,
    }),
  ],
  "agent-server.authorized-cache": [
    time("authorization-webhook-cache-authorized-ttl", "authorization.webhook.cacheAuthorizedTTL", "5m0s", "1m0s"),
  ],
  "agent-server.unauthorized-cache": [
    time("authorization-webhook-cache-unauthorized-ttl", "authorization.webhook.cacheUnauthorizedTTL", "30s", "10s"),
  ],
  "agent-server.streaming-idle": [
    time("streaming-connection-idle-timeout", "streamingConnectionIdleTimeout", "4h0m0s", "1h0m0s"),
  ],
  "agent-server.bootstrap": [flag("bootstrap-svcconfig", { helped: "" })],
};
