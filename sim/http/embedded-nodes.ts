/**
 * Nodes of the suite in the embedded cluster: agents with simulated runtimes in processes of the same kernel. What the
 * server hands on to their addresses they answer without a socket.
 */
import type { Dialect } from "../../wire/dialect.ts";
import type { JoinedNode, NodeDeclaration, NodeHost } from "../../wire/node-host.ts";
import type { Forward, ForwardedAnswer } from "../apiserver/proxy/forward.ts";
import { ProgrammedNode } from "../cluster/programmed-node.ts";
import type { ApiHandler, JsonObject } from "../contract/http-message.ts";
import { startClusterControllers } from "../control/cluster-controllers.ts";
import type { Kernel } from "../kernel/kernel.ts";
import type { Process } from "../kernel/types.ts";
import type { AgentBugs } from "../planted/agent-bugs.ts";

export interface EmbeddedNodesOptions {
  readonly kernel: Kernel;
  readonly dialect: Dialect;
  readonly headers: Readonly<Record<string, string>>;
  readonly bugs: AgentBugs;
  /** Of everything that is not addressed to one of the nodes. */
  readonly elsewhere: (process: Process) => Forward;
}

export interface EmbeddedNodes {
  readonly host: NodeHost;
  /** How a server in `process` hands requests on. */
  reachedBy(process: Process): Forward;
  /** Before the first node can join. */
  serve(server: ApiHandler): void;
}

const pollMicros = 200_000;
const readyMicrosMax = 60_000_000;
/** An agent takes a moment to answer. */
const answerMicros = 500;

export function embeddedNodes(options: EmbeddedNodesOptions): EmbeddedNodes {
  const { kernel, headers, dialect } = options;
  const process = kernel.process("nodes of the suite");
  /** By their names, which are their host names, too: servers prefer those to addresses. */
  const nodes = new Map<string, { readonly node: ProgrammedNode; readonly leave: () => Promise<void> }>();
  let server: ApiHandler | undefined;
  let count = 0;

  const ask = (method: string, path: string, done: (status: number, object: JsonObject | undefined) => void): void => {
    kernel.enter(process, () => {
      server?.start(
        { method, path, query: "", headers: { ...headers, accept: "application/json" } },
        {
          respond: (status, _headers, { object }) => process.clock.after(0, () => done(status, object)),
          open: () => {},
          frame: () => 0,
          close: () => {},
        },
      );
    });
  };

  /** Conditions become taints by a controller of the cluster's. */
  const startControllers = (): void => {
    const controllers = kernel.process("controllers of nodes");
    if (server !== undefined) startClusterControllers({ process: controllers, server, dialect });
  };

  const join = (declaration: NodeDeclaration): Promise<JoinedNode> =>
    new Promise((resolve, reject) => {
      if (count++ === 0) startControllers();
      const address = `10.99.${Math.floor(count / 250)}.${1 + (count % 250)}`;
      const { name } = declaration;
      const node = new ProgrammedNode({ ...options, server: () => server as ApiHandler, declaration, address });
      const leave = (): Promise<void> =>
        new Promise((left) => {
          if (!nodes.delete(name)) {
            left();
            return;
          }
          node.stop();
          ask("DELETE", `/api/v1/nodes/${name}`, () => left());
        });
      nodes.set(name, { node, leave });
      node.start();
      const joined: JoinedNode = {
        name,
        use: (usage) => node.usage.use(usage),
        usePod: (pod, usage) => node.usage.usePod(pod, usage),
        readings: () => node.readings(),
        leave,
      };
      const began = process.clock.nowMicros();
      const poll = (): void =>
        ask("GET", `/api/v1/nodes/${name}`, (status, object) => {
          if (status === 200 && isReady(object)) resolve(joined);
          else if (process.clock.nowMicros() - began > readyMicrosMax) {
            reject(new Error(`the node ${name} is not ready after ${readyMicrosMax / 1_000_000} s: ${status}`));
          } else process.clock.after(pollMicros, poll);
        });
      poll();
    });

  return {
    host: {
      join,
      async close() {
        for (const { leave } of [...nodes.values()]) await leave();
      },
    },
    serve(target) {
      server = target;
    },
    reachedBy(reaching) {
      const elsewhere = options.elsewhere(reaching);
      return (request, done) => {
        const found = nodes.get(request.host);
        if (found === undefined) return elsewhere(request, done);
        return reaching.clock.after(answerMicros, () =>
          found.node.answer(request.target, (document) => reaching.clock.after(0, () => done(answerOf(document)))),
        );
      };
    },
  };
}

function isReady(node: JsonObject | undefined): boolean {
  const status = node?.["status"] as JsonObject | undefined;
  const conditions = (status?.["conditions"] ?? []) as readonly JsonObject[];
  return conditions.some(({ type, status: is }) => type === "Ready" && is === "True");
}

function answerOf(document: JsonObject | undefined): ForwardedAnswer {
  const body = new TextEncoder().encode(document === undefined ? "404 page not found\n" : JSON.stringify(document));
  const type = document === undefined ? "text/plain; charset=utf-8" : "application/json";
  return { status: document === undefined ? 404 : 200, headers: { "content-type": type }, body };
}
