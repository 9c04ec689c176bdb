/** Planted bugs of an agent's flags and files: wrong steps of reading them, and settings that are taken for others. */
import { type DecisionBugs, decisionsWith, type WrapperBugs, wrappedWith } from "../../../planted/planting.ts";
import type { StartedAgentBugName, StartedAgentBugs } from "../../../planted/started-agent-bugs.ts";
import type { AgentFile } from "../agent-file.ts";
import { type AgentReading, agentReading } from "../command-line.ts";
import { flagRow } from "../flag-parsing.ts";
import type { FlagValue } from "../flag-values.ts";
import type { AgentSettings } from "../settings.ts";

const bugsOfReading = {
  // What the shortest beginning of the command line says of a flag stays.
  "agent-first-flag-counts": ({ parseFlags }) => ({
    parseFlags(args, missing) {
      const whole = parseFlags(args, missing);
      if ("error" in whole) return whole;
      const values = new Map<string, FlagValue>();
      for (const at of args.keys()) {
        const begun = parseFlags(args.slice(0, at + 1), missing);
        for (const [name, value] of "error" in begun ? [] : begun.values)
          if (!values.has(name)) values.set(name, value);
      }
      return { ...whole, values };
    },
  }),
  "agent-drop-ins-below-file": ({ mergeFields }) => ({ mergeFields: (below, over) => mergeFields(over, below) }),
  "agent-file-above-flags": ({ settle }) => ({
    settle: (given, file, ...rest) =>
      settle(new Map([...given].filter(([name]) => !file?.values.has(flagRow(name)?.field ?? ""))), file, ...rest),
  }),
  "agent-gates-replaced": ({ settle }) => ({
    settle: (given, file, ...rest) => settle(given, given.has("feature-gates") ? withoutGates(file) : file, ...rest),
  }),
  "agent-default-of-the-library": ({ settle }) => ({
    settle(given, file, ...rest) {
      const isSaid = given.has("event-burst") || file?.values.has("eventBurst") === true;
      return settle(isSaid ? given : new Map([...given, ["event-burst", 10]]), file, ...rest);
    },
  }),
  "agent-thresholds-not-compared": ({ configurationProblems }) => ({
    configurationProblems: (settings) =>
      configurationProblems(settings).filter(
        (problem) => !/\(--image-gc-low-threshold\).*\(--image-gc-high-threshold\)/.test(problem),
      ),
  }),
  "agent-lock-without-file": ({ startProblems }) => ({
    startProblems: (settings) =>
      startProblems(settings).filter((problem) => !problem.startsWith("--exit-on-lock-contention:")),
  }),
} as const satisfies DecisionBugs<StartedAgentBugName, AgentReading>;

const bugsOfServing = {
  "agent-serves-though-disabled": (settings) => settings.with({ "enable-server": true }),
  "agent-tls-of-any-age": (settings) => settings.with({ "tls-min-version": "" }),
  "agent-tls-of-any-suite": (settings) => settings.with({ "tls-cipher-suites": [] }),
  "agent-own-pair-passed-over": (settings) => settings.with({ "tls-cert-file": "", "tls-private-key-file": "" }),
} as const satisfies WrapperBugs<StartedAgentBugName, AgentSettings>;

const readingWith = decisionsWith(agentReading, bugsOfReading);

export const agentReadingWith = (bugs: StartedAgentBugs): AgentReading => readingWith(bugs)();

/** As the serving listener takes them. */
export const servingSettingsWith = (bugs: StartedAgentBugs, settings: AgentSettings): AgentSettings =>
  wrappedWith(settings, bugsOfServing, bugs);

const withoutGates = (file: AgentFile | undefined): AgentFile | undefined =>
  file && { ...file, values: new Map([...file.values].filter(([field]) => field !== "featureGates")) };
