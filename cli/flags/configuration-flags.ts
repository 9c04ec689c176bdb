/** The flags of `config`: files that are explained without anything being started. */
import { object, or } from "@optique/core/constructs";
import { message, text } from "@optique/core/message";
import { multiple, optional } from "@optique/core/modifiers";
import { argument, command, constant, option } from "@optique/core/primitives";
import { choice, string } from "@optique/core/valueparser";
import { path } from "@optique/run/valueparser";
import { file, json, profile } from "./common-flags.ts";

const check = object({
  command: constant("config"),
  action: constant("check"),
  files: multiple(
    argument(path({ metavar: "FILE", mustExist: true, type: "file" }), {
      description: message`Configuration files, in YAML or JSON; each says its kind itself.`,
    }),
    { min: 0 },
  ),
  profile,
  token: optional(
    option("--token", file("FILE"), {
      description: message`${text("What would this token come to, by the AuthenticationConfiguration among the files?")}`,
    }),
  ),
  as: optional(
    option("--as", string({ metavar: "USER" }), {
      description: message`${text("Who would be asked about a request of this user, by the AuthorizationConfiguration among the files?")}`,
    }),
  ),
  asGroup: multiple(
    option("--as-group", string({ metavar: "GROUP" }), { description: message`A group of that user.` }),
  ),
  verb: optional(option("--verb", string({ metavar: "VERB" }), { description: message`The verb of that request.` })),
  resource: optional(
    option("--resource", string({ metavar: "NAME" }), {
      description: message`Its resource, as pods, pods/log or deployments.apps.`,
    }),
  ),
  namespace: optional(
    option("--namespace", string({ metavar: "NAME" }), { description: message`The namespace that it is about.` }),
  ),
  name: optional(option("--name", string({ metavar: "NAME" }), { description: message`The object that it is about.` })),
  urlPath: optional(
    option("--path", string({ metavar: "PATH" }), {
      description: message`Its path, instead of a resource, as /healthz.`,
    }),
  ),
  agentFlags: optional(
    option("--agent-flags", string({ metavar: "FLAGS" }), {
      description: message`${text("What would a node agent do that is started with these flags, and with the agent's file if one is there?")}`,
    }),
  ),
  cpu: optional(
    option("--cpu", string({ metavar: "QUANTITY" }), {
      description: message`${text("Processors of the machine that the agent would run on; default 4.")}`,
    }),
  ),
  memory: optional(
    option("--memory", string({ metavar: "QUANTITY" }), { description: message`${text("Its memory; default 16Gi.")}` }),
  ),
  disk: optional(
    option("--disk", string({ metavar: "QUANTITY" }), { description: message`${text("Its disk; default 100Gi.")}` }),
  ),
  imageDisk: optional(
    option("--image-disk", string({ metavar: "QUANTITY" }), {
      description: message`${text("A disk of its own for images; default none.")}`,
    }),
  ),
  inodes: optional(
    option("--inodes", string({ metavar: "QUANTITY" }), {
      description: message`${text("Inodes of a disk; default 6553600.")}`,
    }),
  ),
  pids: optional(
    option("--pids", string({ metavar: "QUANTITY" }), {
      description: message`${text("Processes that it can have; default 32768.")}`,
    }),
  ),
  json,
});

/** Every kind of file that there is a schema of. */
const kinds = [
  "AuthenticationConfiguration",
  "AuthorizationConfiguration",
  "EgressSelectorConfiguration",
  "TracingConfiguration",
  "NodeAgentConfiguration",
  "KubeletConfiguration",
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
