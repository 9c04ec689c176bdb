import { expect, it } from "vitest";
import { certificateMaker } from "../../http/certificates/certificate-maker.ts";
import { startedAgentBugs, type StartedAgentBugName, type StartedAgentBugs } from "../../planted/started-agent-bugs.ts";
import { lifetimeSeconds, world } from "./keeper-world.fixture.ts";

/** What holds of certificates, by the bug that breaks it. */
const laws: Readonly<Partial<Record<StartedAgentBugName, (bugs: StartedAgentBugs) => boolean>>> = {
  "agent-renews-at-the-end": (bugs) => {
    const { bed, keep, made } = world({ bugs });
    keep();
    bed.advance(0.95 * lifetimeSeconds);
    return made.length === 2;
  },
  "agent-certificate-of-any-key": (bugs) => {
    const other = certificateMaker.request({ commonName: "x", organizations: [], hosts: [] }).privateKey;
    const maker = { ...certificateMaker, read: (pem: string) => certificateMaker.read(pem, other) };
    const { bed, keep, made } = world({ maker, bugs });
    keep();
    bed.advance(30);
    return made.length === 0;
  },
  "agent-denied-is-the-end": (bugs) => {
    const own = world({ purpose: "serving", bugs });
    own.keep();
    own.bed.advance(1);
    own.decide("Denied");
    own.bed.advance(10);
    return own.requests().length === 2;
  },
};

const here = Object.entries(startedAgentBugs).filter(([, { foundBy }]) => foundBy.endsWith("certificate-bugs.test.ts"));

it.each(here.map(([name]) => name as StartedAgentBugName))("%s is found, and nothing without it", (name) => {
  expect([laws[name]?.({}), laws[name]?.({ [name]: true })]).toEqual([true, false]);
});
