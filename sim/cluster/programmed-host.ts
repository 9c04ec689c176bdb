/**
 * Nodes of known usage that join a cluster, each an agent and its simulated runtime in processes of one kernel: the
 * suite's port for them. Whether the kernel's time is virtual or real is its caller's, and so is the way to the server.
 */
import type { Dialect } from "../../wire/dialect.ts";
import type { JoinedNode, NodeDeclaration, NodeHost } from "../../wire/node-host.ts";
import type { ApiHandler, JsonObject } from "../contract/http-message.ts";
import type { Kernel } from "../kernel/kernel.ts";
import type { Process } from "../kernel/types.ts";
import type { AgentBugs } from "../planted/agent-bugs.ts";
import { ProgrammedNode } from "./programmed-node.ts";

export interface ProgrammedHostOptions {
  readonly kernel: Kernel;
  /** Runs `work` as an event of the process. */
  readonly enter: <T>(process: Process, work: () => T) => T;
  /** Asks for nodes and removes them. */
  readonly process: Process;
  /** As one of the processes reaches it. */
  readonly server: (process: Process) => ApiHandler;
  /** Who the agents say that they are. */
  readonly headers: Readonly<Record<string, string>>;
  readonly dialect: Dialect;
  readonly bugs: AgentBugs;
  /** Before the first node joins. */
  readonly beforeFirst?: () => void;
}

const pollMicros = 200_000;
const readyMicrosMax = 60_000_000;

export class ProgrammedHost implements NodeHost {
  private readonly options: ProgrammedHostOptions;
  /** By their names, which are their host names, too: servers prefer those to addresses. */
  private readonly nodes = new Map<string, ProgrammedNode>();
  private count = 0;
  /** What the last agent of each name was answered that wanted to make its node, unless it was made. */
  private readonly refusals = new Map<string, number>();

  constructor(options: ProgrammedHostOptions) {
    this.options = options;
  }

  /** The node of that name that has joined and has not left. */
  node(name: string): ProgrammedNode | undefined {
    return this.nodes.get(name);
  }

  async join(declaration: NodeDeclaration): Promise<JoinedNode> {
    const { options, count } = this;
    this.count += 1;
    if (count === 0) options.beforeFirst?.();
    const { name } = declaration;
    const node = this.inside(() => {
      const address = `10.99.${Math.floor(this.count / 250)}.${1 + (this.count % 250)}`;
      const server = (agent: Process): ApiHandler => this.heard(options.server(agent), name);
      const made = new ProgrammedNode({ ...options, server, declaration, address });
      made.startAgent();
      return made;
    });
    this.nodes.set(name, node);
    const joined: JoinedNode = {
      name,
      use: (usage) => this.inside(() => node.usage.use(usage)),
      usePod: (pod, usage) => this.inside(() => node.usage.usePod(pod, usage)),
      readings: () => node.readings(),
      restart: async (away) => {
        this.inside(() => node.stopAgent());
        await away();
        if (this.nodes.get(name) === node) this.inside(() => node.startAgent());
      },
      leave: () => this.leave(name),
    };
    try {
      await this.ready(name);
    } catch (error) {
      await this.leave(name);
      throw error;
    }
    return joined;
  }

  async close(): Promise<void> {
    for (const name of [...this.nodes.keys()]) await this.leave(name);
  }

  private async leave(name: string): Promise<void> {
    const node = this.nodes.get(name);
    if (node === undefined) return;
    this.nodes.delete(name);
    this.inside(() => node.stop());
    await this.ask("DELETE", name);
  }

  private ready(name: string): Promise<void> {
    const { process } = this.options;
    return new Promise((resolve, reject) => {
      const began = process.clock.nowMicros();
      const look = async (): Promise<void> => {
        const { status, object } = await this.ask("GET", name);
        const refusal = this.refusals.get(name);
        if (status === 200 && isReady(object)) resolve();
        else if (refusal === 401 || refusal === 403) {
          reject(new Error(`an agent that makes the node ${name} is answered ${refusal}`));
        } else if (process.clock.nowMicros() - began > readyMicrosMax) {
          const why =
            status === 404 && refusal !== undefined ? `making it is answered ${refusal}` : `it is answered ${status}`;
          reject(new Error(`the node ${name} is not ready after ${readyMicrosMax / 1_000_000} s: ${why}`));
        } else this.inside(() => process.clock.after(pollMicros, () => void look()));
      };
      void look();
    });
  }

  /** The same server; what it says to the making of the node is kept. */
  private heard(server: ApiHandler, name: string): ApiHandler {
    return {
      start: (request, responder) => {
        if (request.method !== "POST" || request.path !== "/api/v1/nodes") return server.start(request, responder);
        return server.start(request, {
          respond: (status, headers, payload) => {
            if (status >= 300 && status !== 409) this.refusals.set(name, status);
            else this.refusals.delete(name);
            responder.respond(status, headers, payload);
          },
          open: (status, headers) => responder.open(status, headers),
          frame: (payload) => responder.frame(payload),
          close: () => responder.close(),
          failed: (failure) => responder.failed?.(failure),
        });
      },
    };
  }

  /** Status 0: there was no answer. */
  private ask(method: string, node: string): Promise<{ readonly status: number; readonly object?: JsonObject }> {
    const { process, server, headers } = this.options;
    return new Promise((resolve) => {
      this.inside(() =>
        server(process).start(
          { method, path: `/api/v1/nodes/${node}`, query: "", headers: { ...headers, accept: "application/json" } },
          {
            respond: (status, _headers, { object }) =>
              process.clock.after(0, () => resolve({ status, ...(object === undefined ? {} : { object }) })),
            open: () => {},
            frame: () => 0,
            close: () => {},
            failed: () => resolve({ status: 0 }),
          },
        ),
      );
    });
  }

  private inside<T>(work: () => T): T {
    return this.options.enter(this.options.process, work);
  }
}

function isReady(node: JsonObject | undefined): boolean {
  const status = node?.["status"] as JsonObject | undefined;
  const conditions = (status?.["conditions"] ?? []) as readonly JsonObject[];
  return conditions.some(({ type, status: is }) => type === "Ready" && is === "True");
}
