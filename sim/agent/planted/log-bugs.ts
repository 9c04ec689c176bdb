/** Planted bugs of how logs are told, around what an agent answers. */
import type { ApiHandler, ApiRequest } from "../../contract/http-message.ts";
import type { AgentBugName, AgentBugs } from "../../planted/agent-bugs.ts";
import { type WrapperBugs, wrappedWith } from "../../planted/planting.ts";

const bugsOfLogs = {
  "since-unheeded": asked((query) => query.filter(([name]) => name !== "sinceTime" && name !== "sinceSeconds")),
  "previous-is-current": asked((query) => query.filter(([name]) => name !== "previous")),
  "limit-unheeded": asked((query) => query.filter(([name]) => name !== "limitBytes")),
} as const satisfies WrapperBugs<AgentBugName, ApiHandler>;

export const logsWith = (bugs: AgentBugs, serving: ApiHandler): ApiHandler => wrappedWith(serving, bugsOfLogs, bugs);

type Query = readonly (readonly [name: string, value: string])[];

/** A request for a log is taken for another. */
function asked(reading: (query: Query) => Query) {
  return (inner: ApiHandler, shows: () => boolean): ApiHandler => ({
    start: (request, responder) => inner.start(isOfLog(request) && shows() ? misread(request) : request, responder),
  });

  function misread(request: ApiRequest): ApiRequest {
    const query = reading(
      request.query.split("&").map((pair) => {
        const at = pair.indexOf("=");
        return at < 0 ? ([pair, ""] as const) : ([pair.slice(0, at), pair.slice(at + 1)] as const);
      }),
    );
    return { ...request, query: query.map(([name, value]) => `${name}=${value}`).join("&") };
  }
}

const isOfLog = ({ path }: ApiRequest): boolean => path.startsWith("/containerLogs/");
