/** The flags of `serve`, under the names that the real server has for them where it has one. */
import { object } from "@optique/core/constructs";
import { message, text } from "@optique/core/message";
import { multiple, optional, withDefault } from "@optique/core/modifiers";
import { constant, flag, option } from "@optique/core/primitives";
import { choice, integer, string } from "@optique/core/valueparser";
import { profileNames } from "../../sim/contract/profile.ts";
import { defaultAddressTypes } from "../../sim/apiserver/proxy/address-types.ts";
import { defaultServiceNetwork } from "../../sim/apiserver/verbs/service-network.ts";
import { faults, file, gates, json, rarity, seed } from "./common-flags.ts";
import {
  addressTypeList,
  authorizationModeList,
  boolean,
  byteCount,
  serviceNetwork,
  typedBytes,
  commaList,
  duration,
  serverUrl,
} from "./flag-values.ts";

export const serve = object({
  command: constant("serve"),
  port: withDefault(
    option("--port", integer({ min: 0, max: 65_535, metavar: "PORT" }), {
      description: message`Port to listen on; 0 takes any free one.`,
    }),
    8001,
  ),
  bindAddress: withDefault(
    option("--bind-address", string({ metavar: "ADDRESS" }), { description: message`Address to listen on.` }),
    "127.0.0.1",
  ),
  profile: withDefault(
    option("--profile", choice(profileNames, { metavar: "PROFILE" }), {
      description: message`${text("Whom to be: svc, the documents to the letter; kubernetes-1.33 or kubernetes-1.36, the observed servers; kubernetes is the newest of them.")}`,
    }),
    "svc" as const,
  ),
  tls: withDefault(
    flag("--tls", { description: message`Speak TLS with a certificate made for this run; it is printed to stderr.` }),
    false,
  ),
  tlsCertFile: optional(
    option("--tls-cert-file", file("FILE"), { description: message`Speak TLS with this PEM certificate.` }),
  ),
  tlsPrivateKeyFile: optional(
    option("--tls-private-key-file", file("FILE"), {
      description: message`The PEM key that goes with --tls-cert-file.`,
    }),
  ),
  clientCaFile: optional(
    option("--client-ca-file", file("FILE"), {
      description: message`PEM authorities of client certificates, over TLS: the common name is the user, the organizations its groups.`,
    }),
  ),
  tokenAuthFile: optional(
    option("--token-auth-file", file("FILE"), { description: message`CSV of token,user,uid,"group1,group2".` }),
  ),
  anonymousAuth: optional(
    option("--anonymous-auth", boolean(), {
      description: message`Requests without credentials are anonymous instead of 401. Default: false in svc, true in kubernetes.`,
    }),
  ),
  authenticationConfig: optional(
    option("--authentication-config", file("FILE"), {
      description: message`An AuthenticationConfiguration: issuers of tokens, anonymous access. Read again when it changes.`,
    }),
  ),
  authorizationConfig: optional(
    option("--authorization-config", file("FILE"), {
      description: message`An AuthorizationConfiguration: who decides, webhooks among them. Read again when it changes; instead of --authorization-mode.`,
    }),
  ),
  authorizationWebhookConfigFile: optional(
    option("--authorization-webhook-config-file", file("FILE"), {
      description: message`A connection file, in kubeconfig's form, for the mode Webhook.`,
    }),
  ),
  authorizationWebhookVersion: withDefault(
    option("--authorization-webhook-version", choice(["v1", "v1beta1"], { metavar: "VERSION" }), {
      description: message`Of the reviews that the mode Webhook sends.`,
    }),
    "v1beta1" as const,
  ),
  authorizationWebhookCacheAuthorizedTtl: withDefault(
    option("--authorization-webhook-cache-authorized-ttl", duration(), {
      description: message`How long the mode Webhook keeps a yes.`,
    }),
    300_000_000,
  ),
  authorizationWebhookCacheUnauthorizedTtl: withDefault(
    option("--authorization-webhook-cache-unauthorized-ttl", duration(), {
      description: message`How long the mode Webhook keeps a no.`,
    }),
    30_000_000,
  ),
  egressSelectorConfigFile: optional(
    option("--egress-selector-config-file", file("FILE"), {
      description: message`An EgressSelectorConfiguration: through which proxies webhooks and nodes are reached.`,
    }),
  ),
  tracingConfigFile: optional(
    option("--tracing-config-file", file("FILE"), {
      description: message`A TracingConfiguration: which requests are traced, and the collector that is told, by OTLP over gRPC.`,
    }),
  ),
  authorizationMode: optional(
    option("--authorization-mode", authorizationModeList(), {
      description: message`${text("Who decides, in this order: AlwaysAllow (the default), AlwaysDeny, RBAC (stored roles and bindings), Webhook.")}`,
    }),
  ),
  serviceClusterIpRange: withDefault(
    option("--service-cluster-ip-range", serviceNetwork(), {
      description: message`The block of IPv4 addresses that services are given, with a prefix of 12 to 29 bits.`,
    }),
    defaultServiceNetwork,
    { message: message`${text(defaultServiceNetwork.text)}` },
  ),
  kubeletPreferredAddressTypes: withDefault(
    option("--kubelet-preferred-address-types", addressTypeList(), {
      description: message`At which of their addresses agents of nodes are asked, best first, joined by commas.`,
    }),
    defaultAddressTypes,
    { message: message`${text(defaultAddressTypes.join(","))}` },
  ),
  kubeletClientCertificate: optional(
    option("--kubelet-client-certificate", file("FILE"), {
      description: message`What agents of nodes are shown of who this server is, in PEM.`,
    }),
  ),
  kubeletClientKey: optional(
    option("--kubelet-client-key", file("FILE"), { description: message`The key of that certificate, in PEM.` }),
  ),
  kubeletCertificateAuthority: optional(
    option("--kubelet-certificate-authority", file("FILE"), {
      description: message`Authorities of agents' serving certificates, in PEM. Default: any certificate is taken.`,
    }),
  ),
  clusterSigningCertFile: optional(
    option("--cluster-signing-cert-file", file("FILE"), {
      description: message`The authority that signs approved requests for certificates, in PEM. Default: one made for this run.`,
    }),
  ),
  clusterSigningKeyFile: optional(
    option("--cluster-signing-key-file", file("FILE"), { description: message`The key of that authority, in PEM.` }),
  ),
  clusterSigningDuration: withDefault(
    option("--cluster-signing-duration", duration(), {
      description: message`How long certificates are good that are signed so, unless their request asks for less.`,
    }),
    31_536_000_000_000,
    { message: message`8760h` },
  ),
  metricsApi: withDefault(
    flag("--metrics-api", {
      description: message`${text("Serve usage of nodes and pods, as their agents tell it: what `kubectl top` asks for.")}`,
    }),
    false,
  ),
  apiAudiences: withDefault(
    option("--api-audiences", commaList("NAMES"), {
      description: message`Whom tokens are for, as token reviews say it, joined by commas.`,
    }),
    [],
    { message: message`the issuer` },
  ),
  serviceAccountIssuer: optional(
    option("--service-account-issuer", serverUrl(), {
      description: message`Who issues the tokens of service accounts. Default: https://svc.default.svc, in kubernetes https://kubernetes.default.svc.`,
    }),
  ),
  maxRequestsInflight: withDefault(
    option("--max-requests-inflight", integer({ min: 0, max: 1_000_000, metavar: "N" }), {
      description: message`Reads in flight before 429; 0 sets no limit.`,
    }),
    400,
  ),
  maxMutatingRequestsInflight: withDefault(
    option("--max-mutating-requests-inflight", integer({ min: 0, max: 1_000_000, metavar: "N" }), {
      description: message`Writes in flight before 429; 0 sets no limit.`,
    }),
    200,
  ),
  requestTimeout: withDefault(
    option("--request-timeout", duration(), {
      description: message`The longest that a request may take; watches are excepted.`,
    }),
    60_000_000,
  ),
  controllers: withDefault(
    option("--controllers", boolean(), {
      description: message`Run the controllers that live in the server: namespaces, garbage collection, disruption budgets, aggregated roles, certificates.`,
    }),
    true,
  ),
  historyWindow: withDefault(
    option("--history-window", duration(), { description: message`How long old versions stay readable.` }),
    300_000_000,
  ),
  historyBytesMax: withDefault(
    option("--history-bytes-max", byteCount(), {
      description: message`What old versions may take in memory; beyond, the oldest go before their time, and who asks for them gets 410.`,
    }),
    268_435_456,
  ),
  memoryMax: optional(
    option("--memory-max", typedBytes(), {
      description: message`Memory of the engine's heap and of buffers: near it, requests are refused with 429, and at it with 503. Default: half of what the engine's heap may have, 3Gi on a machine of 12 GiB or more.`,
    }),
  ),
  eventTtl: withDefault(
    option("--event-ttl", duration(), { description: message`How long an event is kept after its last write.` }),
    3_600_000_000,
  ),
  unreadable: multiple(
    option("--unreadable", string({ metavar: "PATH" }), {
      description: message`The object at this path, once it is stored, cannot be read back; only an unsafe deletion removes it. May be given more than once.`,
    }),
  ),
  nodes: optional(
    option("--nodes", string({ metavar: "N|FILE" }), {
      description: message`A living cluster with so many nodes, or with those that a YAML file describes: controllers, a scheduler, and pods that start, log and end.`,
    }),
  ),
  objects: multiple(
    option("--objects", file("FILE"), {
      description: message`Make the objects of this YAML file before anybody is served, in whatever order they come; what is there already stays. May be given more than once.`,
    }),
  ),
  dataDir: optional(
    option("--data-dir", string({ metavar: "DIR" }), {
      description: message`Keep what is stored in this directory, and begin with what is there. Each write is on the disk before it is answered.`,
    }),
  ),
  chaos: optional(
    option("--chaos", file("FILE"), {
      description: message`What goes wrong for whoever comes in, by a plan (YAML): late and cut answers, watches that end early, 410, 409, 429, front-ends that lag. Drawn from --seed.`,
    }),
  ),
  chaosLog: optional(
    option("--chaos-log", string({ metavar: "FILE" }), {
      description: message`Where to write what --chaos did, a line of JSON each. Default: to stderr.`,
    }),
  ),
  speed: withDefault(
    option("--speed", integer({ min: 1, max: 1000, metavar: "N" }), {
      description: message`Seconds of the cluster in one of the world.`,
    }),
    1,
  ),
  clientRates: withDefault(
    option("--client-rates", choice(["real", "unlimited"], { metavar: "RATES" }), {
      description: message`${text("real: with --nodes, each controller makes 20 requests a second and the scheduler 50, as by default the real ones do. unlimited: as many as there are.")}`,
    }),
    "real" as const,
  ),
  featureGates: gates,
  seed: seed("Seed of generated names and uids."),
  faults: faults("server"),
  rarity,
  accessLog: withDefault(
    flag("--access-log", { description: message`Write one JSON line to stderr for each request that has ended.` }),
    false,
  ),
  json,
});
