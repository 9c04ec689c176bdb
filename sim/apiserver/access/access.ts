/**
 * Who comes in and what they may, put together: tables of tokens, issuers of others, anonymous callers, and the
 * authorizers in their order. Configuration files say much of it, and may say something else while the server runs.
 * Source: document 2, Authentication.
 */
import type { AnonymousSettings, AuthenticationSettings } from "../../configuration/authentication.ts";
import type { AuthorizerSettings, AuthorizerWebhookSettings } from "../../configuration/authorization.ts";
import type { ConfigurationRules } from "../../configuration/rules.ts";
import type { Cancel, Clock } from "../../kernel/types.ts";
import {
  type Authenticator,
  createAuthenticator,
  type IssuedTokens,
  type TokenLookup,
  tokenLookup,
  type TokenTable,
} from "./authenticate.ts";
import { alwaysAllow, type Authorizer } from "./authorize.ts";
import { type Authorization, authorizationBy, type RulesOf } from "./modes.ts";
import type { RbacPolicy } from "./rbac/policy.ts";
import type { IssuerCaller } from "./tokens/issuer-keys.ts";
import { type ReadClaims, TokenAuthenticators } from "./tokens/token-authenticators.ts";
import type { KeyReader } from "./tokens/verification-keys.ts";
import { type ReviewCaller, WebhookAuthorizer, type WebhookCounts } from "./webhooks/webhook-authorizer.ts";

/** What configuration files say, and how those that they name are reached. */
export interface AccessConfiguration {
  readonly rules: ConfigurationRules;
  /** Default: no issuer of tokens is trusted, and anonymous access is as the server's option says. */
  readonly authentication?: AuthenticationSettings;
  /** Decide instead of the modes. Types that `absentAuthorizers` names cannot be had. */
  readonly authorizers?: readonly AuthorizerSettings[];
  readonly callIssuer: IssuerCaller;
  readonly readKey: KeyReader;
  /** How the webhook of an authorizer is called. */
  readonly reviews: (settings: AuthorizerWebhookSettings) => ReviewCaller;
}

/** Where it is counted who has decided. */
export interface AccessCounts {
  decided(authorizer: AuthorizerSettings, decision: "allowed" | "denied"): void;
  /** Of the webhook with this name. */
  webhook(name: string): WebhookCounts;
}

export interface AccessParts {
  readonly clock: Clock;
  readonly counts: AccessCounts;
  readonly policy: RbacPolicy;
  readonly tables: readonly TokenTable[];
  /** Those of service accounts. */
  readonly issued: IssuedTokens;
  /** Whom tokens of others are for. */
  readonly audiences: readonly string[];
  readonly anonymousAuth: boolean;
  /** Where no configuration names others. */
  readonly modes: readonly AuthorizerSettings[];
  readonly log: (line: string) => void;
  /** In the place of claims as they are. */
  readonly readClaims: ReadClaims | undefined;
}

export class Access {
  readonly lookupToken: TokenLookup;
  readonly authenticate: Authenticator;
  /** `alwaysAllow` itself when that is what it comes to, now and for good. */
  readonly authorize: Authorizer;
  readonly rulesOf: RulesOf;
  /** Calls `ready` once `rulesOf` takes no long preparing. */
  readonly prepareRules: (namespace: string, ready: () => void) => Cancel;
  readonly hasRoles: boolean;
  private readonly parts: AccessParts;
  private readonly configuration: AccessConfiguration | undefined;
  private readonly tokens: TokenAuthenticators | undefined;
  private anonymous: AnonymousSettings | undefined;
  private authorization: Authorization;

  constructor(parts: AccessParts, configuration: AccessConfiguration | undefined) {
    const { clock, policy, log, audiences, tables, issued, anonymousAuth, modes, readClaims } = parts;
    this.parts = parts;
    this.configuration = configuration;
    if (configuration?.authentication !== undefined) {
      const { rules, callIssuer: call, readKey, authentication } = configuration;
      this.tokens = new TokenAuthenticators(authentication.authenticators, {
        clock,
        rules,
        call,
        readKey,
        log,
        readClaims,
      });
      this.anonymous = authentication.anonymous;
    }
    this.lookupToken = tokenLookup(tables, this.tokens, audiences, issued);
    const isOpen = (path: string): boolean => {
      const { anonymous } = this;
      if (anonymous === undefined) return anonymousAuth;
      return anonymous.enabled && (anonymous.paths?.includes(path) ?? true);
    };
    this.authenticate = createAuthenticator(this.lookupToken, isOpen);
    const rows = configuration?.authorizers ?? modes;
    this.authorization = this.authorizationOf(rows);
    this.hasRoles = rows.some(({ type }) => type === "RBAC");
    const isOpenToAll = configuration?.authorizers === undefined && rows[0]?.type === "AlwaysAllow";
    const decide: Authorizer = (user, asked, done) => this.authorization.decide(user, asked, done);
    this.authorize = isOpenToAll ? alwaysAllow : decide;
    this.rulesOf = (user, namespace) => this.authorization.rulesOf(user, namespace);
    this.prepareRules = (namespace, ready) => {
      if (this.hasRoles) return policy.prepare(clock, namespace, ready);
      ready();
      return () => {};
    };
  }

  /** Another file while the server runs; only for a server that was started with one. */
  configureAuthentication({ authenticators, anonymous }: AuthenticationSettings): void {
    this.tokens?.reload(authenticators);
    this.anonymous = anonymous;
  }

  /** Answers that the old ones have given are forgotten. */
  configureAuthorizers(rows: readonly AuthorizerSettings[]): void {
    this.authorization = this.authorizationOf(rows);
  }

  private authorizationOf(rows: readonly AuthorizerSettings[]): Authorization {
    const { clock, counts, policy } = this.parts;
    const { configuration } = this;
    return authorizationBy(rows, {
      clock,
      policy,
      decided: (row, decision) => counts.decided(row, decision),
      webhook: (name, settings) => {
        const { dialect } = (configuration as AccessConfiguration).rules;
        const call = (configuration as AccessConfiguration).reviews(settings);
        const authorizer = new WebhookAuthorizer(settings, {
          clock,
          dialect,
          call,
          counts: counts.webhook(name),
        });
        return (user, asked, done) => authorizer.decide(user, asked, done);
      },
    });
  }
}
