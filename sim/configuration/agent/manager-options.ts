/**
 * Options of the policies that give processors to containers: which there are, which need a gate, and which exclude each
 * other. Source: document 3, --cpu-manager-policy-options, --topology-manager-policy-options; the 1.33 agent's texts.
 */
import { goQuote } from "../../../wire/go-strings.ts";
import { isOn } from "./feature-gates.ts";
import { boolProblem, isTrue } from "./flag-values.ts";
import type { AgentSettings } from "./settings.ts";

type Level = "Alpha" | "Beta" | "Stable";

/** `prefer-align-cpus-by-uncorecache` is alpha in 1.33, and becomes beta after it. */
const cpuOptions: Readonly<Record<string, Level>> = {
  "align-by-socket": "Alpha",
  "distribute-cpus-across-cores": "Alpha",
  "distribute-cpus-across-numa": "Beta",
  "full-pcpus-only": "Stable",
  "prefer-align-cpus-by-uncorecache": "Alpha",
  "strict-cpu-reservation": "Beta",
};

const exclusive: readonly (readonly [one: string, other: string])[] = [
  ["full-pcpus-only", "distribute-cpus-across-cores"],
  ["distribute-cpus-across-numa", "distribute-cpus-across-cores"],
  ["prefer-align-cpus-by-uncorecache", "distribute-cpus-across-cores"],
  ["prefer-align-cpus-by-uncorecache", "distribute-cpus-across-numa"],
];

export function cpuOptionProblems(settings: AgentSettings): readonly string[] {
  const given = settings.map("cpu-manager-policy-options");
  const problem = (text: string): string => `--cpu-manager-policy-options: ${text}`;
  if (Object.keys(given).length === 0) return [];
  if (settings.text("cpu-manager-policy") !== "static")
    return [problem(`cpu-manager-policy ${settings.text("cpu-manager-policy")} takes no options`)];
  const problems = Object.entries(given).flatMap(([name, value]) => {
    const level = cpuOptions[name];
    if (level === undefined) return [problem(`unknown CPU Manager Policy option: ${goQuote(name)}`)];
    if (level !== "Stable" && !isOn(settings.gates(), `CPUManagerPolicy${level}Options`))
      return [problem(`CPU Manager Policy ${level}-level Options not enabled, but option ${goQuote(name)} provided`)];
    const wrong = boolProblem(value);
    return wrong === undefined ? [] : [problem(`bad value for option ${goQuote(name)}: ${wrong}`)];
  });
  const both = exclusive
    .filter(([one, other]) => isTrue(given[one]) && isTrue(given[other]))
    .map(([one, other]) => problem(`static policy options ${one} and ${other} can not be used at the same time`));
  const bySocket =
    isTrue(given["align-by-socket"]) && settings.text("topology-manager-policy") === "single-numa-node"
      ? [
          problem(
            "Topology manager single-numa-node policy is incompatible with CPUManager align-by-socket policy option",
          ),
        ]
      : [];
  return [...problems, ...both, ...bySocket];
}

const nodesMin = 8;

export function topologyOptionProblems(settings: AgentSettings): readonly string[] {
  const given = settings.map("topology-manager-policy-options");
  const problem = (text: string): string => `--topology-manager-policy-options: ${text}`;
  if (Object.keys(given).length === 0) return [];
  if (settings.text("topology-manager-policy") === "none")
    return [problem("topology-manager-policy none takes no options")];
  return Object.entries(given).flatMap(([name, value]) => {
    if (name === "prefer-closest-numa-nodes") {
      const wrong = boolProblem(value);
      return wrong === undefined ? [] : [problem(`bad value for option ${goQuote(name)}: ${wrong}`)];
    }
    if (name !== "max-allowable-numa-nodes")
      return [problem(`unknown Topology Manager Policy option: ${goQuote(name)}`)];
    if (!isOn(settings.gates(), "TopologyManagerPolicyBetaOptions"))
      return [problem(`Topology Manager Policy Beta-level Options not enabled, but option ${goQuote(name)} provided`)];
    if (!/^[+-]?\d{1,9}$/.test(value))
      return [
        problem(
          `unable to convert policy option to integer ${goQuote(name)}: strconv.Atoi: parsing ${goQuote(value)}: invalid syntax`,
        ),
      ];
    return Number(value) < nodesMin
      ? [problem(`the minimum value of ${name} should not be less than ${nodesMin}`)]
      : [];
  });
}
