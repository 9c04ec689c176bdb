/** For tests: a server, its controllers and nodes that live, in one simulation, and one user who may do anything. */
import { nodeFileSchema } from "../../scenarios/node-file.ts";
import { type ClientAnswer, ApiClient } from "../client/api-client.ts";
import type { JsonObject } from "../contract/http-message.ts";
import { kubernetesProfile } from "../contract/profile.ts";
import type { Pod } from "../control/shared/stored.ts";
import { Kernel } from "../kernel/kernel.ts";
import { Cluster } from "./cluster.ts";
import { addLiving, type LivingNodes } from "./living.ts";
import { nodeForward } from "./node-forward.ts";
import { nodesOf } from "./node-pools.ts";
import { seed, type SeedObject, type SeedResult } from "./seed.ts";

const { dialect } = kubernetesProfile;
export const core = "/api/v1/namespaces/default";

export class Living {
  readonly kernel = new Kernel({ seed: "living" });
  readonly cluster = new Cluster({ kernel: this.kernel });
  readonly nodes: LivingNodes | undefined;
  private readonly user;

  constructor(pools: unknown = { pools: [{ name: "node", count: 3, zones: ["a", "b"] }] }) {
    const { cluster } = this;
    const tokens = [{ token: "admin", user: "admin", uid: "1", groups: ["system:masters"] }];
    cluster.addServer("apiserver", () => ({
      tokens,
      profile: kubernetesProfile,
      forward: nodeForward({
        at: (host, port) => this.nodes?.at(host, port),
        turn: (work) => work(),
        elsewhere: (_request, done) => {
          done({ error: "no route" });
          return () => {};
        },
      }),
    }));
    this.nodes = addLiving(cluster, {
      dialect,
      nodes: nodesOf(nodeFileSchema.parse(pools).pools, dialect),
      hasRealRates: true,
    });
    this.user = cluster.add("user", (process) => new ApiClient(process, cluster.api(process), "admin"));
    this.advance(5);
  }

  advance(seconds: number): void {
    this.kernel.run(this.kernel.nowMicros() + seconds * 1_000_000);
  }

  ask(method: string, path: string, body?: object, contentType?: string): Extract<ClientAnswer, { ok: true }> {
    let heard: ClientAnswer | undefined;
    const [place = "", query = ""] = path.split("?");
    const request = {
      method,
      path: place,
      query,
      ...(body === undefined ? {} : { body: body as JsonObject }),
      ...(contentType === undefined ? {} : { contentType }),
    };
    this.kernel.enter(this.user.process, () => this.user.made.call(request, 5_000_000, (answer) => (heard = answer)));
    for (let tries = 0; tries < 100 && heard === undefined; tries++) this.advance(0.01);
    if (heard?.ok !== true) throw new Error(`${method} ${path}: no answer`);
    return heard;
  }

  pod(name: string, spec: object): void {
    this.ask("POST", `${core}/pods`, {
      metadata: { name },
      spec: { containers: [{ name: "c", image: "i", ...spec }], ...(spec as { pod?: object }).pod },
    });
  }

  statusOf(name: string): NonNullable<Pod["status"]> {
    return (this.ask("GET", `${core}/pods/${name}`).object as unknown as Pod).status ?? {};
  }

  seed(objects: readonly SeedObject[]): SeedResult {
    const process = this.kernel.process("seed");
    let found: SeedResult | undefined;
    this.kernel.enter(process, () =>
      seed(process, this.cluster.api(process), dialect, objects, (result) => (found = result)),
    );
    this.advance(20);
    return found as SeedResult;
  }
}
