/** Planted bugs of how long what has failed waits. */
import type { AgentBugName, AgentBugs } from "../../planted/agent-bugs.ts";
import { type WrapperBugs, wrappedWith } from "../../planted/planting.ts";
import type { BackOffTimes } from "../runtime/back-off.ts";

const bugsOfTimes = {
  "restart-waits-stay-short": (inner, shows) => ({
    ...inner,
    get mostMicros() {
      return shows() ? inner.firstMicros : inner.mostMicros;
    },
  }),
} as const satisfies WrapperBugs<AgentBugName, BackOffTimes>;

export const backOffTimesWith = (bugs: AgentBugs, times: BackOffTimes): BackOffTimes =>
  wrappedWith(times, bugsOfTimes, bugs);
