/** A served API server that is attacked over HTTP. */
import { writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import type { AttackRequest } from "../sim/apiserver/attack-requests.fixture.ts";
import { scratchFolder } from "./scratch.ts";
import { Victim } from "./victim.ts";

const tokens = join(scratchFolder(), "tokens.csv");
writeFileSync(tokens, `admin,admin,1,"system:masters"\nnobody,nobody,2,""\n`);

export class ServerTarget {
  readonly url: URL;
  readonly victim: Victim;
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 256 });

  constructor(victim: Victim) {
    this.victim = victim;
    this.url = new URL(victim.address);
  }

  send({ method = "GET", path, headers = {}, body, as = "admin" }: AttackRequest): Promise<number> {
    return new Promise((resolve) => {
      const credentials = as === "" ? {} : { authorization: `Bearer ${as}` };
      const sent = request(
        {
          host: this.url.hostname,
          port: this.url.port,
          agent: this.agent,
          method,
          path,
          headers: { ...credentials, ...headers },
        },
        (answer) => {
          answer.on("data", () => {});
          answer.on("close", () => resolve(answer.statusCode ?? 0));
        },
      );
      sent.on("error", () => resolve(0));
      sent.end(body);
    });
  }

  stop(): void {
    this.agent.destroy();
    this.victim.stop();
  }
}

export async function startedServer(more: readonly string[] = []): Promise<ServerTarget> {
  const access = ["--authorization-mode", "RBAC", "--token-auth-file", tokens];
  const gates = ["--feature-gates", "CBORServingAndStorage=true"];
  const victim = await Victim.started([
    "serve",
    "--profile",
    "kubernetes",
    "--port",
    "0",
    ...access,
    ...gates,
    ...more,
  ]);
  return new ServerTarget(victim);
}
