/** Planted bugs of what an agent serves and of whom it lets in: decisions, and what stands around its listeners. */
import type { StartedAgentBugName, StartedAgentBugs } from "../../planted/started-agent-bugs.ts";
import { type DecisionBugs, decisionsWith, type WrapperBugs, wrappedWith } from "../../planted/planting.ts";
import {
  type AccessLaw,
  accessLaw,
  type AccessSettings,
  AgentAccess,
  type AgentAccessPorts,
} from "../listener/access.ts";
import { AgentListener, type AgentListenerOptions } from "../listener/agent-listener.ts";

type Access = Pick<AgentAccess, "check">;
type ListenerMaker = (options: AgentListenerOptions) => Pick<AgentListener, "start">;

const bugsOfDecisions = {
  "agent-failed-review-is-no": () => ({ isKept: () => true }),
  "agent-first-part-decides": ({ subresourcesOf }) => ({ subresourcesOf: (path) => subresourcesOf(path).slice(0, 1) }),
  "agent-answers-of-any-user": () => ({
    permissionKey: (_user, verb, subresource) => JSON.stringify([verb, subresource]),
  }),
} as const satisfies DecisionBugs<StartedAgentBugName, AccessLaw>;

const bugsOfSettings = {
  "agent-answers-for-ever": (settings) => ({ ...settings, tokenMicros: Infinity }),
  "agent-no-kept-like-yes": (settings) => ({ ...settings, deniedMicros: settings.allowedMicros }),
} as const satisfies WrapperBugs<StartedAgentBugName, AccessSettings>;

const bugsOfChecks = {
  "agent-bad-token-is-anonymous": (inner, shows) => ({
    check: (request, done) =>
      inner.check(request, (outcome) => {
        const { authorization: token, ...headers } = request.headers;
        const isBad = "status" in outcome && outcome.status === 401 && token !== undefined;
        if (isBad && shows()) inner.check({ ...request, headers }, done);
        else done(outcome);
      }),
  }),
} as const satisfies WrapperBugs<StartedAgentBugName, Access>;

const bugsOfListeners = (access: Access) =>
  ({
    "agent-read-only-asks": (make) => (options) => make(options.kind === "readOnly" ? { ...options, access } : options),
    "agent-configz-always": (make, shows) => (options) => {
      const listener = make(options);
      if (options.kind === "health") return listener;
      const open = make({ ...options, kind: "serving", hasDebugging: true });
      return {
        start: (request, responder) =>
          (/^\/configz(\/|$)/.test(request.path) && shows() ? open : listener).start(request, responder),
      };
    },
  }) as const satisfies WrapperBugs<StartedAgentBugName, ListenerMaker>;

const accessLawWith = decisionsWith(accessLaw, bugsOfDecisions);

export function accessWith(bugs: StartedAgentBugs, ports: AgentAccessPorts, settings: AccessSettings): Access {
  const access = new AgentAccess(ports, wrappedWith(settings, bugsOfSettings, bugs), accessLawWith(bugs));
  return wrappedWith<StartedAgentBugName, Access>(access, bugsOfChecks, bugs);
}

/** `access` is that of the listener which asks who calls. */
export const listenerWith = (bugs: StartedAgentBugs, access: Access): ListenerMaker =>
  wrappedWith<StartedAgentBugName, ListenerMaker>(
    (options) => new AgentListener(options),
    bugsOfListeners(access),
    bugs,
  );
