/** Good files of each kind under the profile `kubernetes`, to be spoiled one field at a time. */
import type { ServerKind } from "./rules.ts";

type Fields = Record<string, unknown>;

const group = "apiserver.config.k8s.io/v1beta1";

export const authenticator = (changes: Fields = {}): Fields => ({
  issuer: { url: "https://issuer.test", audiences: ["touchstone"] },
  claimMappings: { username: { claim: "sub", prefix: "" } },
  ...changes,
});

export const authentication = (changes: Fields = {}): Fields => ({
  apiVersion: group,
  kind: "AuthenticationConfiguration",
  jwt: [authenticator()],
  ...changes,
});

export const withIssuer = (issuer: Fields): Fields =>
  authentication({ jwt: [authenticator({ issuer: { url: "https://issuer.test", audiences: ["a"], ...issuer } })] });

export const withMappings = (mappings: Fields): Fields =>
  authentication({
    jwt: [authenticator({ claimMappings: { username: { claim: "sub", prefix: "" }, ...mappings } })],
  });

export const withClaimRule = (...rules: readonly Fields[]): Fields =>
  authentication({ jwt: [authenticator({ claimValidationRules: rules })] });

export const withUserRule = (...rules: readonly Fields[]): Fields =>
  authentication({ jwt: [authenticator({ userValidationRules: rules })] });

const webhook: Fields = {
  timeout: "3s",
  authorizedTTL: "30s",
  unauthorizedTTL: "10s",
  subjectAccessReviewVersion: "v1",
  matchConditionSubjectAccessReviewVersion: "v1",
  failurePolicy: "Deny",
  connectionInfo: { type: "KubeConfigFile", kubeConfigFile: "/etc/here" },
};

export const authorizer = (changes: Fields = {}, names: Fields = {}): Fields => ({
  type: "Webhook",
  name: "hook",
  webhook: { ...webhook, ...changes },
  ...names,
});

export const authorization = (...authorizers: readonly Fields[]): Fields => ({
  apiVersion: group,
  kind: "AuthorizationConfiguration",
  authorizers,
});

export const egress = (...egressSelections: readonly Fields[]): Fields => ({
  apiVersion: "apiserver.k8s.io/v1beta1",
  kind: "EgressSelectorConfiguration",
  egressSelections,
});

export const selection = (proxyProtocol: string | undefined, transport?: Fields, name = "cluster"): Fields => ({
  name,
  connection: { ...(proxyProtocol && { proxyProtocol }), ...(transport && { transport }) },
});

export const tracing = (changes: Fields = {}): Fields => ({
  apiVersion: group,
  kind: "TracingConfiguration",
  ...changes,
});

export const kindOf = (file: Fields): ServerKind => file["kind"] as ServerKind;
