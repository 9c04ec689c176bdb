/**
 * Nodes of the suite in the embedded cluster: agents with simulated runtimes in processes of the same kernel. What the
 * server hands on to their addresses they answer without a socket.
 */
import type { Dialect } from "../../wire/dialect.ts";
import type { NodeHost } from "../../wire/node-host.ts";
import { concatenated } from "../apiserver/encodings/encodings.ts";
import type { Forward, ForwardedAnswer, ForwardedRequest } from "../apiserver/proxy/forward.ts";
import { ProgrammedHost } from "../cluster/programmed-host.ts";
import type { ApiHandler, ApiRequest, Responder } from "../contract/http-message.ts";
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

/** An agent takes a moment to answer. */
const answerMicros = 500;

export function embeddedNodes(options: EmbeddedNodesOptions): EmbeddedNodes {
  const { kernel, dialect } = options;
  let server: ApiHandler | undefined;
  /** Conditions become taints by a controller of the cluster's. */
  const startControllers = (): void => {
    const controllers = kernel.process("controllers of nodes");
    if (server !== undefined) startClusterControllers({ process: controllers, server, dialect });
  };
  const host = new ProgrammedHost({
    ...options,
    process: kernel.process("nodes of the suite"),
    enter: (process, work) => kernel.enter(process, work),
    server: () => server as ApiHandler,
    beforeFirst: startControllers,
  });
  return {
    host,
    serve(target) {
      server = target;
    },
    reachedBy(reaching) {
      const elsewhere = options.elsewhere(reaching);
      return (request, done) => {
        const node = host.node(request.host);
        if (node === undefined) return elsewhere(request, done);
        return reaching.clock.after(answerMicros, () => {
          const { serving } = node;
          const told = (answer: ForwardedAnswer): void => void reaching.clock.after(0, () => done(answer));
          if (serving === undefined) told({ error: "connection refused" });
          else kernel.enter(serving.process, () => serving.handler.start(requestOf(request), collecting(told)));
        });
      };
    },
  };
}

function requestOf({ method, target, headers, body }: ForwardedRequest): ApiRequest {
  const at = target.indexOf("?");
  const [path, query] = at < 0 ? [target, ""] : [target.slice(0, at), target.slice(at + 1)];
  return { method, path, query, headers, body };
}

/** The whole answer, once it has come to its end; nothing of the suite's follows one that has none. */
function collecting(done: (answer: ForwardedAnswer) => void): Responder {
  const bodies: Uint8Array[] = [];
  let head: Pick<Extract<ForwardedAnswer, { status: number }>, "status" | "headers"> | undefined;
  return {
    respond: (status, headers, payload) =>
      done({ status, headers: { "content-type": payload.contentType, ...headers }, body: payload.bytes() }),
    open(status, headers) {
      head = { status, headers };
    },
    frame(payload) {
      bodies.push(payload.bytes());
      return 0;
    },
    close: () => done(head === undefined ? { error: "EOF" } : { ...head, body: concatenated(bodies) }),
  };
}
