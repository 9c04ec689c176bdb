/** Flags that several commands have. */
import { statSync } from "node:fs";
import { message, text } from "@optique/core/message";
import { multiple, optional, withDefault } from "@optique/core/modifiers";
import { flag, option } from "@optique/core/primitives";
import { choice, integer, type ValueParser } from "@optique/core/valueparser";
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
      description: message`${text(`Plant this bug in the ${where}, with the feature gate on that it needs; may be given more than once.`)}`,
    }),
  );

export const rarity = optional(
  option("--rarity", integer({ min: 2, max: 10_000, metavar: "N" }), {
    description: message`Each planted bug shows in one request of N, drawn from the seed. Default: in every request.`,
  }),
);

export const gates = optional(
  option("--feature-gates", featureGates(), {
    description: message`Gates that differ from the defaults, as A=true,B=false.`,
  }),
);

/** One to read: a pipe such as `/dev/stdin` is one as well. */
export function file(metavar: "FILE" | "SCENARIO"): ValueParser<"sync", string> {
  const any = path({ metavar, mustExist: true });
  return {
    ...any,
    parse(input) {
      const parsed = any.parse(input);
      if (!parsed.success || !statSync(parsed.value).isDirectory()) return parsed;
      return { success: false, error: message`Expected a file, but ${text(input)} is a folder.` };
    },
  };
}

/** One to write into: it is made, and so are those above it. */
export const newFolder = path({ metavar: "DIR", type: "directory" });
