/**
 * The flags of `agent`, which `nodeagent` takes as well. Source: document 3, Options: names, meanings and defaults.
 * A flag that is not here is not supported yet, and is refused.
 */
import { object } from "@optique/core/constructs";
import { message, text } from "@optique/core/message";
import { multiple, optional, withDefault } from "@optique/core/modifiers";
import { constant, option } from "@optique/core/primitives";
import { integer, string, type ValueParser } from "@optique/core/valueparser";
import { file, profile } from "./common-flags.ts";
import { boolean, duration } from "./flag-values.ts";

const told = (description: string) => ({ description: message`${text(description)}` });

type Metavar = ValueParser["metavar"];

const second = 1_000_000;

const every = (name: `--${string}`, seconds: number, description: string) =>
  withDefault(option(name, duration(), told(description)), seconds * second);

const count = (name: `--${string}`, standard: number, description: string, min = 0) =>
  withDefault(option(name, integer({ min, metavar: "N" }), told(description)), standard);

const switched = (name: `--${string}`, standard: boolean, description: string) =>
  withDefault(option(name, boolean(), told(description)), standard);

/** May be given more than once; each takes several, joined by commas. */
const lists = (name: `--${string}`, metavar: Metavar, description: string) =>
  multiple(option(name, string({ metavar }), told(description)));

const words = (name: `--${string}`, metavar: Metavar, description: string) =>
  withDefault(option(name, string({ metavar }), told(description)), "");

export const agent = object({
  command: constant("agent"),
  profile,
  svcconfig: optional(
    option("--svcconfig", file("FILE"), told("Connection file of the API server. Without it the agent stands alone.")),
  ),
  context: optional(option("--context", string({ metavar: "NAME" }), told("Context of the connection file."))),
  contentType: optional(
    option(
      "--svc-api-content-type",
      string({ metavar: "TYPE" }),
      told("Content type of requests to the API server: protobuf by default, or application/json."),
    ),
  ),
  runtimeEndpoint: withDefault(
    option(
      "--container-runtime-endpoint",
      string({ metavar: "ENDPOINT" }),
      told("Of the container runtime: unix:///PATH, or HOST:PORT."),
    ),
    "unix:///run/containerd/containerd.sock",
  ),
  hostnameOverride: words("--hostname-override", "NAME", "The node's name instead of the hostname."),
  nodeIp: words("--node-ip", "IP", "The node's address, or one of each family, joined by a comma."),
  nodeLabels: lists("--node-labels", "KEY=VALUE", "Labels at registration, joined by commas."),
  failSwapOn: switched("--fail-swap-on", true, "Refuse to start on a machine with swap."),
  registerNode: switched("--register-node", true, "Register with the API server."),
  registerSchedulable: switched("--register-schedulable", true, "Register as schedulable."),
  registerWithTaints: lists("--register-with-taints", "KEY=VALUE:EFFECT", "Taints at registration, joined by commas."),
  providerId: words("--provider-id", "ID", "The node's id in a machine database."),
  manifestPath: words("--pod-manifest-path", "PATH", "A file or directory of static pods; dot-files are ignored."),
  manifestUrl: words("--manifest-url", "URL", "URL of static pods."),
  manifestUrlHeaders: lists("--manifest-url-header", "NAME:VALUE", "Headers for --manifest-url, in order."),
  fileCheckFrequency: every("--file-check-frequency", 20, "How often --pod-manifest-path is looked at."),
  httpCheckFrequency: every("--http-check-frequency", 20, "How often --manifest-url is asked."),
  syncFrequency: every("--sync-frequency", 60, "The longest time between two looks at a pod."),
  runtimeRequestTimeout: every(
    "--runtime-request-timeout",
    120,
    "Of requests to the runtime, pulls and commands aside.",
  ),
  nodeStatusUpdateFrequency: every("--node-status-update-frequency", 10, "How often the node's status is computed."),
  maxPods: count("--max-pods", 110, "Pods that the node takes."),
  podsPerCore: count("--pods-per-core", 0, "Pods for each core, up to --max-pods; 0 does not bound them."),
  nodeStatusMaxImages: count("--node-status-max-images", 50, "Images that the node's status names; -1 names all.", -1),
  systemReserved: lists("--system-reserved", "RESOURCE=QUANTITY", "Kept for the machine, joined by commas."),
  serviceReserved: lists("--svc-reserved", "RESOURCE=QUANTITY", "Kept for the service, joined by commas."),
  evictionHard: lists("--eviction-hard", "SIGNAL<VALUE", "Thresholds that evict, joined by commas."),
  evictionSoft: lists("--eviction-soft", "SIGNAL<VALUE", "Thresholds that evict after a grace period."),
  evictionSoftGracePeriod: lists(
    "--eviction-soft-grace-period",
    "SIGNAL=DURATION",
    "Grace periods of soft thresholds.",
  ),
  evictionMinimumReclaim: lists("--eviction-minimum-reclaim", "SIGNAL=VALUE", "What an eviction frees at the least."),
  evictionPressureTransitionPeriod: every(
    "--eviction-pressure-transition-period",
    300,
    "How long a pressure condition outlasts the pressure.",
  ),
  evictionMaxPodGracePeriod: withDefault(
    option(
      "--eviction-max-pod-grace-period",
      integer({ metavar: "SECONDS" }),
      told("Longest grace of soft evictions."),
    ),
    0,
  ),
  imageGcHigh: count("--image-gc-high-threshold", 85, "Percent of the disk at which images are collected."),
  imageGcLow: count("--image-gc-low-threshold", 80, "Percent of the disk down to which images are collected."),
  minimumImageTtl: every(
    "--minimum-image-ttl-duration",
    120,
    "The least age of an unused image before it is collected.",
  ),
  serializeImagePulls: switched("--serialize-image-pulls", true, "Pull one image at a time."),
  registryQps: count("--registry-qps", 5, "Pulls a second; 0 does not bound them."),
  registryBurst: count("--registry-burst", 10, "Pulls at once."),
  apiQps: count("--svc-api-qps", 50, "Requests a second to the API server; 0 means the default of the profile."),
  apiBurst: count("--svc-api-burst", 100, "Requests at once."),
  eventQps: count("--event-qps", 50, "Events a second."),
  eventBurst: count("--event-burst", 100, "Events at once."),
  maxDeadContainers: withDefault(
    option(
      "--maximum-dead-containers",
      integer({ metavar: "N" }),
      told("Dead containers kept; negative does not bound them."),
    ),
    -1,
  ),
  maxDeadContainersEach: withDefault(
    option(
      "--maximum-dead-containers-per-container",
      integer({ metavar: "N" }),
      told("Dead instances kept of each container."),
    ),
    1,
  ),
  clusterDns: lists("--cluster-dns", "IP", "DNS servers of pods, joined by commas."),
  clusterDomain: words("--cluster-domain", "DOMAIN", "Search domain of pods."),
  rootDir: withDefault(
    option("--root-dir", string({ metavar: "DIR" }), told("Where the runtime's machine keeps the agent's files.")),
    "/var/lib/nodeagent",
  ),
});
