/**
 * Published bugs that a URL can show and that are not among the planted ones, each with the reason. Together with the
 * rows of `server-bugs.ts` these are all that were found: `docs/faults.md` is made of both.
 */
export interface UnplantedBug {
  /** What is wrong, in one sentence. */
  readonly symptom: string;
  /** Published report. */
  readonly source: string;
  /** Why the embedded server cannot have it. */
  readonly why: string;
}

const files =
  "Only a file that is loaded shows it: a test of reloads plants it, and finds it (`sim/configuration/planted-clash.test.ts`).";
const agents =
  "It is a bug of node agents, and the server is none: tests of the agent plant it, and find it (`sim/planted/agent-bugs.ts`).";

export const unplantedBugs: readonly UnplantedBug[] = [
  {
    symptom: "Which of two authenticators with one issuer decides depends on their order.",
    source: "kubernetes/kubernetes#123561",
    why: files,
  },
  {
    symptom: "A mirror pod that was deleted through the API is being deleted for ever.",
    source: "kubernetes/kubernetes#22625, #22626",
    why: agents,
  },
  {
    symptom: "A mirror pod that was deleted once is made and deleted several times before it stays.",
    source: "kubernetes/kubernetes#79147",
    why: agents,
  },
  {
    symptom: "A pod that has ended gets another phase.",
    source: "kubernetes/kubernetes#54499, #58711, #125410, #111646",
    why: agents,
  },
  {
    symptom: "An agent makes its lease without an owner when its node is gone.",
    source: "kubernetes/kubernetes#109777, #119660, #84981; kubernetes/kops#13259",
    why: agents,
  },
  {
    symptom: "An agent renews the lease of a node that was deleted, and never registers again.",
    source: "kubernetes/kubernetes#116485, #115761, #71398",
    why: agents,
  },
  {
    symptom: "After a partition a node stays not ready: its agent sends only what it thinks has changed.",
    source: "kubernetes/kubernetes#80968, #88255, #83455",
    why: agents,
  },
  {
    symptom: "An immutable object that was deleted and made again is still the old one to pods.",
    source: "kubernetes/kubernetes#132046",
    why: agents,
  },
];
