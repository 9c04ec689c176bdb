/** The flags of `config`: files that are explained without anything being started. */
import { object, or } from "@optique/core/constructs";
import { message } from "@optique/core/message";
import { multiple } from "@optique/core/modifiers";
import { argument, command, constant } from "@optique/core/primitives";
import { choice } from "@optique/core/valueparser";
import { path } from "@optique/run/valueparser";
import { json, profile } from "./common-flags.ts";

const check = object({
  command: constant("config"),
  action: constant("check"),
  files: multiple(
    argument(path({ metavar: "FILE", mustExist: true, type: "file" }), {
      description: message`Configuration files, in YAML or JSON; each says its kind itself.`,
    }),
    { min: 1 },
  ),
  profile,
  json,
});

/** Every kind of file that there is a schema of. */
const kinds = [
  "AuthenticationConfiguration",
  "AuthorizationConfiguration",
  "EgressSelectorConfiguration",
  "TracingConfiguration",
] as const;

const schema = object({
  command: constant("config"),
  action: constant("schema"),
  kind: argument(choice(kinds, { metavar: "KIND" }), { description: message`A kind of configuration file.` }),
  profile,
});

export const config = or(
  command("check", check, {
    brief: message`Explain configuration files: what they mean, what is wrong where.`,
  }),
  command("schema", schema, { brief: message`Print the JSON schema of a kind of file, for editors.` }),
);
