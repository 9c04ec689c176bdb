/**
 * Bugs of an agent that is started by a command line: of its flags and files, its listeners, who may call it, its
 * certificates. `touchstone agent --fault NAME` has them; with every switch off there are none.
 */
import { commonMistake } from "./bug-row.ts";

interface StartedAgentBug {
  /** What is wrong, in one sentence. */
  readonly symptom: string;
  /** Published report that it is modelled on, or that there is none. */
  readonly source: string;
  /** The requirement that `conform --agent` says is broken, or the test that sees it. */
  readonly foundBy: string;
}

const access = "sim/agent/listener/access-bugs.test.ts";
const certificates = "sim/agent/certificates/certificate-bugs.test.ts";

export const startedAgentBugs = {
  "agent-file-above-flags": {
    symptom: "What the file says comes before what the command line says.",
    source: commonMistake,
    foundBy: "agent-configuration.precedence",
  },
  "agent-first-flag-counts": {
    symptom: "Of a flag that is given twice the first counts.",
    source: commonMistake,
    foundBy: "agent-configuration.invocation",
  },
  "agent-default-of-the-library": {
    symptom:
      "Without a flag, as many events are sent at once as the client library has it, and not as the agent documents.",
    source: commonMistake,
    foundBy: "agent-node.event-burst",
  },
  "agent-thresholds-not-compared": {
    symptom: "A low threshold of image collection above the high one is taken.",
    source: commonMistake,
    foundBy: "agent-images.low-threshold",
  },
  "agent-lock-without-file": {
    symptom: "An agent that is to end when somebody wants its lock file starts without one.",
    source: commonMistake,
    foundBy: "agent-configuration.lock-contention",
  },
  "agent-drop-ins-below-file": {
    symptom: "Files of the directory are laid below the first file, and not over it.",
    source: commonMistake,
    foundBy: "agent-configuration.drop-ins",
  },
  "agent-gates-replaced": {
    symptom: "Gates on the command line take the place of all that the file says of gates.",
    source: commonMistake,
    foundBy: "sim/configuration/agent/command-line.test.ts",
  },
  "agent-serves-though-disabled": {
    symptom: "The serving listener is open though it is disabled.",
    source: commonMistake,
    foundBy: "agent-server.enabled",
  },
  "agent-read-only-asks": {
    symptom: "The read-only listener asks who is calling.",
    source: commonMistake,
    foundBy: "agent-server.read-only-port",
  },
  "agent-configz-always": {
    symptom: "The configuration is told though debugging handlers are off.",
    source: commonMistake,
    foundBy: "agent-server.debugging-handlers",
  },
  "agent-tls-of-any-age": {
    symptom: "Handshakes older than the oldest version that flags name succeed.",
    source: commonMistake,
    foundBy: "agent-server.tls-min-version",
  },
  "agent-tls-of-any-suite": {
    symptom: "Cipher suites are agreed on that flags do not name.",
    source: commonMistake,
    foundBy: "agent-server.cipher-suites",
  },
  "agent-own-pair-passed-over": {
    symptom: "The self-signed certificate of the directory is shown, though flags name another.",
    source: commonMistake,
    foundBy: "agent-server.tls-cert",
  },
  "agent-bad-token-is-anonymous": {
    symptom: "Whoever shows a token that nobody believes is let in as one who shows none.",
    source: commonMistake,
    foundBy: access,
  },
  "agent-no-kept-like-yes": {
    symptom: "A refusal is believed for as long as a permission.",
    source: commonMistake,
    foundBy: access,
  },
  "agent-answers-of-any-user": {
    symptom: "What one caller may is believed of every other.",
    source: commonMistake,
    foundBy: access,
  },
  "agent-answers-for-ever": {
    symptom: "What a token was once found to be is never asked again.",
    source: commonMistake,
    foundBy: access,
  },
  "agent-first-part-decides": {
    symptom: "A caller who may use the proxy is refused pods, since the narrower part of the node is asked for alone.",
    source: commonMistake,
    foundBy: access,
  },
  "agent-failed-review-is-no": {
    symptom: "When nobody could be asked about a token, it is not believed for as long as if it had been refused.",
    source: commonMistake,
    foundBy: access,
  },
  "agent-renews-at-the-end": {
    symptom: "A certificate is replaced when it has ended.",
    source: commonMistake,
    foundBy: certificates,
  },
  "agent-certificate-of-any-key": {
    symptom: "A signed certificate is taken that is not for the key of its request.",
    source: commonMistake,
    foundBy: certificates,
  },
  "agent-denied-is-the-end": {
    symptom: "A request for a certificate that was denied is never made again.",
    source: commonMistake,
    foundBy: certificates,
  },
} as const satisfies Record<string, StartedAgentBug>;

export type StartedAgentBugName = keyof typeof startedAgentBugs;
export type StartedAgentBugs = Readonly<Partial<Record<StartedAgentBugName, boolean>>>;

export const startedAgentBugNames = Object.keys(startedAgentBugs) as readonly StartedAgentBugName[];

/** Those of the named that a started agent has. */
export function startedAgentBugsOn(names: readonly string[]): StartedAgentBugs {
  return Object.fromEntries(startedAgentBugNames.filter((name) => names.includes(name)).map((name) => [name, true]));
}
