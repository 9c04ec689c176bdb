/** Flags that several commands have. */
import { message, text } from "@optique/core/message";
import { multiple, optional, withDefault } from "@optique/core/modifiers";
import { flag, option } from "@optique/core/primitives";
import { choice, integer } from "@optique/core/valueparser";
import { path } from "@optique/run/valueparser";
import { fault, featureGates } from "./flag-values.ts";

export const profile = withDefault(
  option("--profile", choice(["svc", "kubernetes"], { metavar: "PROFILE" }), {
    description: message`Whose law holds: ${text("svc, the documents to the letter, or kubernetes, the observed server.")}`,
  }),
  "svc" as const,
);

export const seed = (what: string) =>
  withDefault(
    option("--seed", integer({ min: 0, max: 4_294_967_295, metavar: "N" }), { description: message`${text(what)}` }),
    1,
  );

export const json = withDefault(flag("--json", { description: message`Print JSON for machines.` }), false);

export const faults = (where: string) =>
  multiple(
    option("--fault", fault(), {
      description: message`${text(`Plant this bug in the ${where}; may be given more than once.`)}`,
    }),
  );

export const gates = optional(
  option("--feature-gates", featureGates(), {
    description: message`Gates that differ from the defaults, as A=true,B=false.`,
  }),
);

export const file = (metavar: "FILE" | "SCENARIO") => path({ metavar, type: "file", mustExist: true });
