/**
 * What configuration files may say, where the documents and the observed server part. Each rule names its source: a
 * clause of document 2 for `svc`, a divergence `D…` of the facts for `kubernetes`.
 */
import { type Dialect, kubernetesDialect, svcDialect } from "../../wire/dialect.ts";

/** The kinds of files that configure the server. */
export const serverKinds = [
  "AuthenticationConfiguration",
  "AuthorizationConfiguration",
  "EgressSelectorConfiguration",
  "TracingConfiguration",
] as const;
export type ServerKind = (typeof serverKinds)[number];

export interface ConfigurationRules {
  readonly dialect: Dialect;
  /** The `apiVersion`s under which each kind is read, the usual one first. Document 2, Configuration types; D25. */
  readonly apiVersions: Readonly<Record<ServerKind, readonly string[]>>;
  /** What the documents' tables call required has to be there, even where it has a default. D26, D28. */
  readonly requiredAsDocumented: boolean;
  /** An authorizer's name. Document 2, AuthorizerConfiguration, name; D28. */
  readonly authorizerName: "label" | "subdomain";
  /** When the rules about claims are looked at. Document 2, Authentication 2; D27. */
  readonly claimRules: "before-mappings" | "after-mappings";
  /** A rule's message is told to the caller whom it refuses. Document 2, ClaimValidationRule, message; D27. */
  readonly refusalsSayWhy: boolean;
  /** How an expression reads a claim, for the rule about emails. Document 2, ClaimMappings, username; the published check. */
  readonly emailForms: "dots" | "dots-and-brackets";
  /** gRPC beside TCP is refused even where a socket is named too. Document 2, Transport, tcp; the published check. */
  readonly grpcRefusesTcp: boolean;
  /** `master` and `controlplane` are one name. Document 2, EgressSelection, name; the published check compares what is written. */
  readonly masterIsControlPlane: boolean;
  /** Paths in errors: of the fields, or those that the observed server prints. The facts, section 7. */
  readonly errorPaths: "fields" | "observed";
}

const oneGroup = ["apiserver.svc.io/v1beta1"] as const;

/** Every version that is registered has the same fields. */
const observedGroup = "apiserver.config.k8s.io";
const observedVersions = [`${observedGroup}/v1beta1`, `${observedGroup}/v1alpha1`] as const;

export const svcRules: ConfigurationRules = {
  dialect: svcDialect,
  apiVersions: {
    AuthenticationConfiguration: oneGroup,
    AuthorizationConfiguration: oneGroup,
    EgressSelectorConfiguration: oneGroup,
    TracingConfiguration: oneGroup,
  },
  requiredAsDocumented: true,
  authorizerName: "label",
  claimRules: "before-mappings",
  refusalsSayWhy: true,
  emailForms: "dots-and-brackets",
  grpcRefusesTcp: true,
  masterIsControlPlane: true,
  errorPaths: "fields",
};

export const kubernetesRules: ConfigurationRules = {
  dialect: kubernetesDialect,
  apiVersions: {
    AuthenticationConfiguration: observedVersions,
    AuthorizationConfiguration: [`${observedGroup}/v1`, ...observedVersions],
    EgressSelectorConfiguration: ["apiserver.k8s.io/v1beta1", "apiserver.k8s.io/v1alpha1"],
    TracingConfiguration: observedVersions,
  },
  requiredAsDocumented: false,
  authorizerName: "subdomain",
  claimRules: "after-mappings",
  refusalsSayWhy: false,
  emailForms: "dots",
  grpcRefusesTcp: false,
  masterIsControlPlane: false,
  errorPaths: "observed",
};

export const configurationRules: Readonly<Record<Dialect["name"], ConfigurationRules>> = {
  svc: svcRules,
  kubernetes: kubernetesRules,
};
