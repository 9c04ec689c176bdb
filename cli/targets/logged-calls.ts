/** What an agent asks its server and its runtime, as lines of its log: by whom the levels are the published agent's. */
import type { CriRuntime } from "../../sim/cri/cri-port.ts";
import type { ApiHandler } from "../../sim/contract/http-message.ts";
import type { AgentLog } from "../output/agent-log.ts";

const requestLevel = 6;
const callLevel = 5;
const answerLevel = 10;

/** `round_trippers`: each request with the status of its answer. */
export function loggedServer(server: ApiHandler, log: AgentLog): ApiHandler {
  const file = "round_trippers";
  return {
    start(request, responder) {
      if (!log.isOn(file, requestLevel)) return server.start(request, responder);
      const { method, path, query } = request;
      const said = (outcome: string): void =>
        log.info(file, requestLevel, `${method} ${path}${query === "" ? "" : `?${query}`} ${outcome}`);
      return server.start(request, {
        respond: (status, headers, payload) => {
          said(String(status));
          responder.respond(status, headers, payload);
        },
        open: (status, headers) => {
          said(`${status}, a stream`);
          responder.open(status, headers);
        },
        frame: (payload) => responder.frame(payload),
        close: () => responder.close(),
        failed: (failure) => {
          said(failure);
          responder.failed?.(failure);
        },
      });
    },
  };
}

/** `remote_runtime`: each call by its method; its answer where that is an error, or at a level of its own. */
export function loggedRuntime(runtime: CriRuntime, log: AgentLog): CriRuntime {
  const file = "remote_runtime";
  return {
    start(request, done, fail) {
      log.info(file, callLevel, request.method);
      return runtime.start(
        request,
        (answer) => {
          if (!answer.ok) log.info(file, callLevel, `${request.method} failed: ${answer.code} ${answer.text}`);
          else log.info(file, answerLevel, `${request.method} answered`);
          done(answer);
        },
        fail,
      );
    },
    events: (reader, sink) => runtime.events(reader, sink),
  };
}
