/** A whole simulated API server on virtual time, with the suite's ports to it: what `conform` judges without a URL. */
import type { NodeDeclaration, NodeHost } from "../../wire/node-host.ts";
import type { DocumentHost, SuiteClock, Transport, WebhookHost } from "../../wire/ports.ts";
import type { AccessConfiguration } from "../apiserver/access/access.ts";
import { Cluster, type ServerSettings } from "../cluster/cluster.ts";
import { kubernetesProfile } from "../contract/profile.ts";
import { Kernel } from "../kernel/kernel.ts";
import { installTrap } from "../kernel/trap.ts";
import type { Micros, Process } from "../kernel/types.ts";
import { prngStream } from "../kernel/prng.ts";
import { agentBugsOn } from "../planted/agent-bugs.ts";
import { RareBugs } from "../planted/rare-bugs.ts";
import { runVirtual } from "../kernel/virtual-driver.ts";
import { embeddedNodes } from "./embedded-nodes.ts";
import { embeddedDocuments } from "./embedded-documents.ts";
import { embeddedTransport, virtualClock } from "./embedded-transport.ts";
import { embeddedWebhooks } from "./embedded-webhooks.ts";
import { readKey } from "./verification-keys.ts";

export interface EmbeddedServerOptions extends Omit<ServerSettings, "tokens" | "webhooks" | "forward" | "access"> {
  readonly seed: string;
  /** As `EmbeddedOptions.latencyMicros`. Default 0. */
  readonly latencyMicros?: { readonly min: Micros; readonly max: Micros };
  /** An agent lives in the cluster, on a node with nothing else on it. Default false. */
  readonly hasAgent?: boolean;
  /** What configuration files say. The connection file of a webhook is the path below the authorizer. Default: there are none. */
  readonly files?: Pick<AccessConfiguration, "rules" | "authentication" | "authorizers">;
}

export interface EmbeddedTarget {
  readonly transport: Transport;
  readonly clock: SuiteClock;
  readonly webhooks: WebhookHost;
  readonly nodes: NodeHost;
  /** At `issuerUrl`; called by a server that is given `files`, and by nobody else. */
  readonly issuer: DocumentHost;
  readonly authorizer: DocumentHost;
}

/** Addresses that examples are made of. */
export const issuerUrl = "https://203.0.113.8:443";
const authorizerUrl = "https://203.0.113.9:443";

/** The one user of the embedded server, with every right. */
const embeddedToken = "embedded";

/** Long enough for thousands of expiries of five minutes; a run that wants more is stuck. */
const virtualYearMicros = 365 * 86_400_000_000;

/** Runs `use` against a fresh server on virtual time, and answers as it does. Real time and chance are trapped meanwhile. */
export async function withEmbeddedServer<T>(
  options: EmbeddedServerOptions,
  use: (target: EmbeddedTarget) => Promise<T>,
): Promise<T> {
  const { seed, latencyMicros, hasAgent = false, files, ...serverOptions } = options;
  const removeTrap = installTrap();
  try {
    const kernel = new Kernel({ seed });
    const client = kernel.process("suite");
    const webhooks = embeddedWebhooks();
    const issuer = embeddedDocuments(issuerUrl);
    const authorizer = embeddedDocuments(authorizerUrl);
    const accessOf = (process: Process, said: NonNullable<typeof files>): AccessConfiguration => ({
      ...said,
      readKey,
      callIssuer: issuer.issuerCaller(process),
      reviews: ({ connectionFile = "" }) => authorizer.reviewCaller(process, connectionFile),
    });
    const headers = { authorization: `Bearer ${embeddedToken}` };
    const agentBugsPlanted = agentBugsOn(namesOn(serverOptions.bugs));
    const { bugRarity = 1 } = serverOptions;
    const agentBugs =
      bugRarity === 1
        ? agentBugsPlanted
        : new RareBugs(agentBugsPlanted, bugRarity, prngStream(seed, "rare bugs of agents")).switches;
    const { dialect } = serverOptions.profile ?? kubernetesProfile;
    const nodes = embeddedNodes({
      kernel,
      dialect,
      headers,
      bugs: agentBugs,
      elsewhere: (process) => webhooks.reachedBy(process).forward,
    });
    const { made: server } = new Cluster({ kernel }).addServer("apiserver-1", (process) => ({
      ...serverOptions,
      webhooks: webhooks.reachedBy(process).webhooks,
      forward: nodes.reachedBy(process),
      ...(files === undefined ? {} : { access: accessOf(process, files) }),
      tokens: [{ token: embeddedToken, user: "suite", uid: "suite", groups: ["system:masters"] }],
    }));
    nodes.serve(server);
    const main = async (driver: Parameters<Parameters<typeof runVirtual>[1]>[0]): Promise<T> => {
      if (hasAgent) await nodes.host.join(livingNode);
      return use({
        transport: embeddedTransport({
          driver,
          handler: server,
          client,
          headers,
          compress: (request, status, bodyBytes) => server.packingOf(request, status, bodyBytes),
          ...(latencyMicros === undefined ? {} : { latencyMicros }),
        }),
        clock: virtualClock(client),
        webhooks: webhooks.host,
        nodes: nodes.host,
        issuer: issuer.host,
        authorizer: authorizer.host,
      });
    };
    return await runVirtual(kernel, main, { maxVirtualMicros: virtualYearMicros });
  } finally {
    removeTrap();
  }
}

const gibibyte = 2 ** 30;

/** As large as a small machine, and as busy as one that nobody uses. */
const livingNode: NodeDeclaration = {
  name: "embedded-node",
  labels: {},
  taints: [],
  capacity: {
    milliCpu: 4000,
    memoryBytes: 8 * gibibyte,
    pids: 32_768,
    nodefs: { bytes: 100 * gibibyte, inodes: 6_553_600 },
    imagefs: undefined,
  },
  eviction: { evictionHard: { "memory.available": "100Mi", "nodefs.available": "10%", "nodefs.inodesFree": "5%" } },
  monitoringMillis: 10_000,
  figuresMillis: 1000,
  usage: {
    memoryBytes: gibibyte,
    pids: 200,
    nodefs: { bytes: 10 * gibibyte, inodes: 60_000 },
    imagefs: undefined,
  },
};

function namesOn(bugs: EmbeddedServerOptions["bugs"] = []): readonly string[] {
  if (Array.isArray(bugs)) return bugs;
  return Object.entries(bugs as Readonly<Record<string, boolean>>).flatMap(([name, isOn]) => (isOn ? [name] : []));
}
