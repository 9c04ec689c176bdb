/** How a server in the same run reaches the agents of the cluster's nodes: their listeners are asked without a socket. */
import type { Forward, ForwardedFlow } from "../apiserver/proxy/forward.ts";
import type { Headers } from "../apiserver/proxy/headers.ts";
import type { ApiHandler, Responder } from "../contract/http-message.ts";
import type { Cancel } from "../kernel/types.ts";

export interface NodeForwardOptions {
  /** What is served there; undefined: no node of the cluster has that address. */
  readonly at: (host: string, port: string) => ApiHandler | undefined;
  /** Runs an answer as an event of the server. */
  readonly turn: (work: () => void) => void;
  /** Of everything else. */
  readonly elsewhere: Forward;
}

export function nodeForward({ at, turn, elsewhere }: NodeForwardOptions): Forward {
  return (request, done, flow) => {
    const handler = at(request.host, request.port);
    if (handler === undefined) return elsewhere(request, done, flow);
    const { method, target, headers, body } = request;
    const [path, query] = split(target);
    let isOver = false;
    const tell = (work: () => void): void => {
      if (!isOver) turn(work);
    };
    const cancel = handler.start(
      { method, path, query, headers, body },
      answering((answer) => tell(() => done(answer)), flow, tell),
    );
    return () => {
      isOver = true;
      cancel();
    };
  };
}

/** More than any listener lets wait. */
const tooMany = Number.MAX_SAFE_INTEGER;

function answering(
  done: Parameters<Forward>[1],
  flow: ForwardedFlow | undefined,
  tell: (work: () => void) => void,
): Responder {
  let opened: { readonly status: number; readonly headers: Headers } | undefined;
  const chunks: Uint8Array[] = [];
  let taken: () => void = () => {};
  return {
    respond(status, headers, payload) {
      done({ status, headers: { "content-type": payload.contentType, ...plain(headers) }, body: payload.bytes() });
    },
    open(status, headers) {
      opened = { status, headers: plain(headers) };
      if (flow !== undefined) tell(() => flow.open(status, plain(headers)));
    },
    frame(payload) {
      const bytes = payload.bytes();
      if (flow === undefined) {
        chunks.push(bytes);
        return 0;
      }
      let goesOn = true;
      tell(() => (goesOn = flow.chunk(bytes, () => taken())));
      return goesOn ? 0 : tooMany;
    },
    whenTaken(resume) {
      taken = resume;
    },
    close() {
      if (flow !== undefined) tell(() => flow.end());
      else done({ status: opened?.status ?? 200, headers: opened?.headers ?? {}, body: joined(chunks) });
    },
  };
}

const plain = (headers: object): Headers => headers as Headers;

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

function split(target: string): readonly [path: string, query: string] {
  const at = target.indexOf("?");
  return at < 0 ? [target, ""] : [target.slice(0, at), target.slice(at + 1)];
}

/** Connections that are handed on to such a node are its listener's to hand on. */
export function tunnelsToNodes(responder: Responder, at: NodeForwardOptions["at"]): Responder {
  const { tunnel } = responder;
  if (tunnel === undefined) return responder;
  return {
    respond: (...given) => responder.respond(...given),
    open: (...given) => responder.open(...given),
    frame: (...given) => responder.frame(...given),
    ...(responder.whenTaken === undefined ? {} : { whenTaken: (resume) => responder.whenTaken?.(resume) }),
    close: () => responder.close(),
    ...(responder.failed === undefined ? {} : { failed: (failure) => responder.failed?.(failure) }),
    tunnel(to, done): Cancel {
      const handler = at(to.host, to.port);
      if (handler === undefined) return tunnel.call(responder, to, done);
      const [path, query] = split(to.target);
      return handler.start(
        { method: to.method, path, query, headers: to.headers, body: undefined },
        {
          respond: (status, headers, payload) => {
            responder.respond(status, headers, payload);
            done({ status });
          },
          open: (...given) => responder.open(...given),
          frame: (...given) => responder.frame(...given),
          close: () => responder.close(),
          tunnel: (inner, told) =>
            tunnel.call(responder, inner, (outcome) => {
              if ("status" in outcome) done(outcome);
              told(outcome);
            }),
        },
      );
    },
  };
}
