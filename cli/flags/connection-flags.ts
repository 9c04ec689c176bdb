/**
 * How to reach and to trust a server, as flags: of the one server of a command, or of one side of a comparison, whose
 * flags begin with its letter.
 */
import { message, text } from "@optique/core/message";
import { multiple, optional, withDefault } from "@optique/core/modifiers";
import { flag, option } from "@optique/core/primitives";
import { choice, string } from "@optique/core/valueparser";
import { file } from "./common-flags.ts";
import { fault, featureGates } from "./flag-values.ts";

/** Of a command that judges one server. */
export const connectionFlags = () => ({
  ...reachFlags(""),
  svcconfig: optional(
    option("--svcconfig", file("FILE"), {
      description: message`A connection file in the form of kubeconfig, instead of a URL and of every flag above but --http and --context.`,
    }),
  ),
});

/** Of one side of a comparison. Connection files are named by its address. */
export const sideFlags = (side: "a" | "b") => ({
  ...reachFlags(`${side}-`),
  faults: multiple(
    option(`--${side}-fault`, fault(), {
      description: message`${text(`Plant this bug in the embedded server of side ${side.toUpperCase()}; may be given more than once.`)}`,
    }),
  ),
  featureGates: optional(
    option(`--${side}-feature-gates`, featureGates(), {
      description: message`${text(`Gates of the embedded server of side ${side.toUpperCase()} that differ from the defaults, as A=true,B=false.`)}`,
    }),
  ),
});

const reachFlags = (prefix: "" | "a-" | "b-") => ({
  token: optional(
    option(`--${prefix}token`, string({ metavar: "TOKEN" }), {
      description: message`Bearer token. A file keeps it out of the process list.`,
    }),
  ),
  tokenFile: optional(
    option(`--${prefix}token-file`, file("FILE"), { description: message`File that holds the bearer token.` }),
  ),
  caFile: optional(
    option(`--${prefix}ca-file`, file("FILE"), {
      description: message`PEM file of the authorities to trust instead of the system's.`,
    }),
  ),
  clientCert: optional(
    option(`--${prefix}client-cert`, file("FILE"), { description: message`PEM certificate to show to the server.` }),
  ),
  clientKey: optional(
    option(`--${prefix}client-key`, file("FILE"), {
      description: message`The PEM key that goes with the certificate.`,
    }),
  ),
  http: optional(
    option(`--${prefix}http`, choice(["1.1", "2"], { metavar: "VERSION" }), {
      description: message`${text("1.1 or 2 and nothing else. Default: under TLS what both sides agree on, HTTP/2 first; in the clear 1.1.")}`,
    }),
  ),
  insecureSkipTlsVerify: withDefault(
    flag(`--${prefix}insecure-skip-tls-verify`, {
      description: message`Trust any certificate. For servers on your own machine.`,
    }),
    false,
  ),
  context: optional(
    option(`--${prefix}context`, string({ metavar: "NAME" }), {
      description: message`The context of the connection file to use. Default: its current one.`,
    }),
  ),
});
