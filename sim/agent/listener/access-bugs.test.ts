import { expect, it } from "vitest";
import { startedAgentBugs, type StartedAgentBugName, type StartedAgentBugs } from "../../planted/started-agent-bugs.ts";
import { bearer, Reviewer } from "./reviewer.fixture.ts";

/** What holds of access, by the bug that breaks it. */
const laws: Readonly<Partial<Record<StartedAgentBugName, (bugs: StartedAgentBugs) => boolean>>> = {
  "agent-bad-token-is-anonymous": (bugs) => {
    const world = new Reviewer({ mode: "AlwaysAllow", anonymous: true, bugs });
    return "status" in (world.ask(bearer("bad")) ?? {});
  },
  "agent-no-kept-like-yes": (bugs) => {
    const world = new Reviewer({ bugs });
    world.allows = () => false;
    world.ask({ ...bearer("good"), path: "/stats/summary" });
    world.allows = () => true;
    world.pass(31);
    return "user" in (world.ask({ ...bearer("good"), path: "/stats/summary" }) ?? {});
  },
  "agent-answers-of-any-user": (bugs) => {
    const world = new Reviewer({ bugs });
    const as = (commonName: string) => ({
      clientCertificate: { commonName, organizations: [] },
      path: "/stats/summary",
    });
    world.allows = () => true;
    world.ask(as("admin"));
    world.allows = () => false;
    return "status" in (world.ask(as("guest")) ?? {});
  },
  "agent-answers-for-ever": (bugs) => {
    const world = new Reviewer({ mode: "AlwaysAllow", bugs });
    world.ask(bearer("good"));
    world.pass(121);
    world.ask(bearer("good"));
    return world.asked.length === 2;
  },
  "agent-first-part-decides": (bugs) => {
    const world = new Reviewer({ bugs });
    world.allows = ({ subresource }) => subresource === "proxy";
    return "user" in (world.ask(bearer("good")) ?? {});
  },
  "agent-failed-review-is-no": (bugs) => {
    const world = new Reviewer({ mode: "AlwaysAllow", bugs });
    world.failures = 5;
    world.ask(bearer("good"));
    world.pass(20);
    return "user" in (world.ask(bearer("good")) ?? {});
  },
};

const here = Object.entries(startedAgentBugs).filter(([, { foundBy }]) => foundBy.endsWith("access-bugs.test.ts"));

it.each(here.map(([name]) => name as StartedAgentBugName))("%s is found, and nothing without it", (name) => {
  expect([laws[name]?.({}), laws[name]?.({ [name]: true })]).toEqual([true, false]);
});
