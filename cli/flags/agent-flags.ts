/**
 * The flags of `agent`, for `touchstone --help` and completion, made of the table that the agent itself reads them by
 * (`sim/configuration/agent`). The command is given its arguments as they are: see `agent-arguments.ts`.
 */
import { object } from "@optique/core/constructs";
import { message, text } from "@optique/core/message";
import { multiple, optional } from "@optique/core/modifiers";
import { constant, option } from "@optique/core/primitives";
import { string } from "@optique/core/valueparser";
import { mayStandAlone } from "../../sim/configuration/agent/flag-values.ts";
import { flagTable } from "../../sim/configuration/agent/flag-table.ts";
import { profile } from "./common-flags.ts";

const flags = Object.fromEntries(
  flagTable.map(({ name, shorthand, type, help }) => {
    const names: [`--${string}`, ...`-${string}`[]] = [`--${name}`];
    if (shorthand !== undefined && shorthand !== name) names.push(`-${shorthand}`);
    const told = { description: message`${text(help)}` };
    const value = string({ metavar: "VALUE" });
    return [name, mayStandAlone(type) ? optional(option(...names, told)) : multiple(option(...names, value, told))];
  }),
);

export const agent = object({
  ...flags,
  command: constant("agent"),
  profile,
  context: optional(
    option("--context", string({ metavar: "NAME" }), {
      description: message`${text("Context of the connection file --svcconfig.")}`,
    }),
  ),
  fault: multiple(
    option("--fault", string({ metavar: "NAME" }), {
      description: message`${text("Planted bugs of an agent, by name.")}`,
    }),
  ),
});
