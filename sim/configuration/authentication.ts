/**
 * AuthenticationConfiguration: who issues tokens, what they must say, and which users they become.
 * Source: document 2, AuthenticationConfiguration; the facts, section 7 (order and texts of errors), D26.
 */
import type { z } from "zod";
import { domainPrefixedPathErrors } from "../../wire/names.ts";
import { parseUrl } from "../../wire/urls.ts";
import type { Cause } from "../contract/errors.ts";
import type { Expression } from "../expressions/expression.ts";
import {
  duplicateValue,
  forbiddenField,
  invalidText,
  invalidValue,
  pushInvalid,
  requiredValue,
  tooManyItems,
} from "../objects/causes.ts";
import { claimVariables, compiled, userVariables } from "./expressions.ts";
import type { Setting } from "./setting.ts";
import { fieldsOf, flag, header, listOf, text, texts } from "./shapes.ts";

const prefixed = fieldsOf({ claim: text.optional(), prefix: text.optional(), expression: text.optional() });

const authenticator = fieldsOf(
  {
    issuer: fieldsOf(
      {
        url: text.optional(),
        discoveryURL: text.optional(),
        certificateAuthority: text.optional(),
        audiences: texts.optional(),
        audienceMatchPolicy: text.optional(),
      },
      ["url", "audiences"],
    ).optional(),
    claimValidationRules: listOf(
      fieldsOf({
        claim: text.optional(),
        requiredValue: text.optional(),
        expression: text.optional(),
        message: text.optional(),
      }),
    ).optional(),
    claimMappings: fieldsOf(
      {
        username: prefixed.optional(),
        groups: prefixed.optional(),
        uid: fieldsOf({ claim: text.optional(), expression: text.optional() }).optional(),
        extra: listOf(
          fieldsOf({ key: text.optional(), valueExpression: text.optional() }, ["key", "valueExpression"]),
        ).optional(),
      },
      ["username"],
    ).optional(),
    userValidationRules: listOf(
      fieldsOf({ expression: text.optional(), message: text.optional() }, ["expression"]),
    ).optional(),
  },
  ["issuer", "claimMappings"],
);

export const authenticationShape = fieldsOf(
  {
    ...header,
    jwt: listOf(authenticator).optional(),
    anonymous: fieldsOf(
      { enabled: flag.optional(), conditions: listOf(fieldsOf({ path: text.optional() }, ["path"])).optional() },
      ["enabled"],
    ).optional(),
  },
  ["apiVersion", "kind"],
);

type Authenticator = z.infer<typeof authenticator>;
type Prefixed = z.infer<typeof prefixed>;

export interface AuthenticationSettings {
  /** In the order in which they are tried. */
  readonly authenticators: readonly TokenAuthenticatorSettings[];
  /** Undefined: the file does not say. */
  readonly anonymous: AnonymousSettings | undefined;
}

export interface AnonymousSettings {
  readonly enabled: boolean;
  /** The only paths at which nobody in particular is let in; undefined: at all of them. */
  readonly paths: readonly string[] | undefined;
}

export interface TokenAuthenticatorSettings {
  readonly issuer: IssuerSettings;
  /** In the order in which they are looked at: those by value first. */
  readonly claimRules: readonly ClaimRule[];
  readonly username: Mapping;
  readonly groups: Mapping | undefined;
  readonly uid: Mapping | undefined;
  readonly extra: readonly { readonly key: string; readonly value: Expression }[];
  readonly userRules: readonly { readonly expression: Expression; readonly message: string }[];
}

export interface IssuerSettings {
  readonly url: string;
  /** Where discovery is asked, when it is not below `url`. */
  readonly discoveryUrl: string | undefined;
  /** PEM; undefined: those that the machine trusts. */
  readonly certificateAuthority: string | undefined;
  /** One of them must be among a token's. */
  readonly audiences: readonly string[];
}

export type ClaimRule =
  | { readonly is: "claim"; readonly claim: string; readonly value: string }
  | { readonly is: "expression"; readonly expression: Expression; readonly message: string };

export type Mapping =
  | { readonly is: "claim"; readonly claim: string; readonly prefix: string }
  | { readonly is: "expression"; readonly expression: Expression };

const authenticatorsMax = 64;

/** Settings are whole only when nothing was added to `problems`. */
export function checkAuthentication(
  file: z.infer<typeof authenticationShape>,
  setting: Setting,
  problems: Cause[],
): AuthenticationSettings {
  const { jwt, anonymous } = file;
  if (jwt === undefined && setting.rules.requiredAsDocumented) {
    problems.push(requiredValue("jwt", "it may be an empty list"));
  }
  if ((jwt ?? []).length > authenticatorsMax) {
    problems.push(tooManyItems("jwt", (jwt ?? []).length, authenticatorsMax));
    return { authenticators: [], anonymous: undefined };
  }
  const urls = new Set<string>();
  const discoveryUrls = new Set<string>();
  const authenticators = (jwt ?? []).map((row, index) => {
    const at = `jwt[${index}]`;
    const checked = new AuthenticatorCheck(at, setting, problems).check(row);
    const { url, discoveryUrl } = checked.issuer;
    if (setting.issuersMayClash !== true) unique(url, `${at}.issuer.url`, urls, problems);
    if (discoveryUrl !== undefined) unique(discoveryUrl, `${at}.issuer.discoveryURL`, discoveryUrls, problems);
    return checked;
  });
  return { authenticators, anonymous: checkAnonymous(anonymous, setting, problems) };
}

function unique(value: string, field: string, seen: Set<string>, problems: Cause[]): void {
  if (value !== "" && seen.has(value)) problems.push(duplicateValue(field, value));
  seen.add(value);
}

function checkAnonymous(
  anonymous: z.infer<typeof authenticationShape>["anonymous"],
  { rules, anonymousFlag }: Setting,
  problems: Cause[],
): AnonymousSettings | undefined {
  if (anonymous === undefined) return undefined;
  if (anonymousFlag)
    problems.push(forbiddenField("anonymous", "--anonymous-auth flag cannot be set when anonymous is"));
  const { enabled, conditions } = anonymous;
  if (enabled === undefined && rules.requiredAsDocumented) problems.push(requiredValue("anonymous.enabled"));
  const paths = conditions?.map(({ path }) => path ?? "");
  if (enabled !== true && paths !== undefined && paths.length > 0) {
    const shown = `[${paths.map((path) => JSON.stringify({ path })).join(" ")}]`;
    const why = "enabled should be set to true when conditions are defined";
    problems.push(invalidText("anonymous.conditions", shown, why));
  }
  if (rules.requiredAsDocumented) {
    paths?.forEach((path, index) => {
      if (path === "") problems.push(requiredValue(`anonymous.conditions[${index}].path`));
    });
  }
  return { enabled: enabled === true, paths: paths === undefined || paths.length === 0 ? undefined : paths };
}

const neverUsed: Mapping = { is: "claim", claim: "", prefix: "" };

/** One authenticator, its fields in the order in which the observed server tells their errors. */
class AuthenticatorCheck {
  private readonly at: string;
  private readonly setting: Setting;
  private readonly problems: Cause[];

  constructor(at: string, setting: Setting, problems: Cause[]) {
    this.at = at;
    this.setting = setting;
    this.problems = problems;
  }

  check({ issuer = {}, claimValidationRules = [], claimMappings = {}, userValidationRules = [] }: Authenticator) {
    const checkedIssuer = this.issuer(issuer);
    const claimRules = this.claimRules(claimValidationRules);
    const mappings = this.mappings(claimMappings, claimRules);
    return { issuer: checkedIssuer, claimRules, ...mappings, userRules: this.userRules(userValidationRules) };
  }

  private issuer({
    url = "",
    discoveryURL = "",
    certificateAuthority = "",
    audiences = [],
    audienceMatchPolicy = "",
  }: NonNullable<Authenticator["issuer"]>): IssuerSettings {
    const at = `${this.at}.issuer`;
    this.issuerUrl(url, `${at}.url`);
    if (discoveryURL !== "") this.discoveryUrl(discoveryURL, url, `${at}.discoveryURL`);
    this.audiences(audiences, audienceMatchPolicy, at);
    if (certificateAuthority !== "") {
      const wrong = this.setting.certificateProblem(certificateAuthority);
      // Nobody's certificates are printed.
      if (wrong !== undefined) this.problems.push(invalidText(`${at}.certificateAuthority`, "<omitted>", wrong));
    }
    return {
      url,
      discoveryUrl: discoveryURL === "" ? undefined : discoveryURL,
      certificateAuthority: certificateAuthority === "" ? undefined : certificateAuthority,
      audiences,
    };
  }

  private issuerUrl(url: string, field: string): void {
    const { problems, setting } = this;
    if (url === "") {
      problems.push(requiredValue(field, "URL is required"));
      return;
    }
    const { ownIssuers, issuersMayClash } = setting;
    if (ownIssuers.includes(url) && issuersMayClash !== true) {
      problems.push(
        invalidValue(field, url, `URL must not overlap with disallowed issuers: [${ownIssuers.join(" ")}]`),
      );
    }
    this.httpsUrl(url, field);
  }

  private discoveryUrl(discoveryUrl: string, url: string, field: string): void {
    const bare = (address: string): string => address.replace(/\/+$/, "");
    if (url !== "" && bare(url) === bare(discoveryUrl)) {
      this.problems.push(invalidValue(field, discoveryUrl, "discoveryURL must be different from URL"));
    }
    this.httpsUrl(discoveryUrl, field);
  }

  private httpsUrl(url: string, field: string): void {
    const parsed = parseUrl(url);
    const wrong: string[] = [];
    if ("error" in parsed) wrong.push(parsed.error);
    else {
      if (parsed.scheme !== "https") wrong.push("URL scheme must be https");
      if (parsed.user !== undefined) wrong.push("URL must not contain a username or password");
      if (parsed.query !== undefined && parsed.query !== "") wrong.push("URL must not contain a query");
      if (parsed.fragment !== undefined && parsed.fragment !== "") wrong.push("URL must not contain a fragment");
      if (this.setting.rules.requiredAsDocumented && parsed.scheme === "https" && parsed.host === "") {
        wrong.push("URL must contain a host");
      }
    }
    pushInvalid(field, url, wrong, this.problems);
  }

  private audiences(audiences: readonly string[], policy: string, at: string): void {
    const { problems } = this;
    const field = `${at}.audiences`;
    if (audiences.length === 0) {
      problems.push(requiredValue(field, `at least one ${field} is required`));
      return;
    }
    const seen = new Set<string>();
    audiences.forEach((audience, index) => {
      if (audience === "") problems.push(requiredValue(`${field}[${index}]`, "audience can't be empty"));
      unique(audience, `${field}[${index}]`, seen, problems);
    });
    const policyField = `${at}.audienceMatchPolicy`;
    if (audiences.length > 1 && policy !== "MatchAny") {
      const why = "audienceMatchPolicy must be MatchAny for multiple audiences";
      problems.push(invalidValue(policyField, policy, why));
    } else if (audiences.length === 1 && policy !== "" && policy !== "MatchAny") {
      const why = "audienceMatchPolicy must be empty or MatchAny for single audience";
      problems.push(invalidValue(policyField, policy, why));
    }
  }

  private claimRules(rows: NonNullable<Authenticator["claimValidationRules"]>): readonly ClaimRule[] {
    const { problems } = this;
    const claims = new Set<string>();
    const expressions = new Set<string>();
    const rules = rows.flatMap<ClaimRule>(
      ({ claim = "", requiredValue: value = "", expression = "", message = "" }, index) => {
        const at = `${this.at}.claimValidationRules[${index}]`;
        if (claim !== "" && expression !== "") {
          problems.push(invalidValue(at, claim, "claim and expression can't both be set"));
          return [];
        }
        if (claim === "" && expression === "") {
          problems.push(requiredValue(at, "claim or expression is required"));
          return [];
        }
        if (claim !== "") {
          if (message !== "") {
            problems.push(invalidValue(`${at}.message`, message, "message can't be set when claim is set"));
          }
          unique(claim, `${at}.claim`, claims, problems);
          return [{ is: "claim", claim, value }];
        }
        if (value !== "") {
          const why = "requiredValue can't be set when expression is set";
          problems.push(invalidValue(`${at}.requiredValue`, value, why));
        }
        unique(expression, `${at}.expression`, expressions, problems);
        const rule = compiled(expression, `${at}.expression`, claimVariables, "bool", problems);
        return rule === undefined ? [] : [{ is: "expression", expression: rule, message }];
      },
    );
    return [...rules.filter(({ is }) => is === "claim"), ...rules.filter(({ is }) => is === "expression")];
  }

  private mappings(
    { username = {}, groups, uid, extra = [] }: NonNullable<Authenticator["claimMappings"]>,
    claimRules: readonly ClaimRule[],
  ) {
    const at = `${this.at}.claimMappings`;
    const name = this.prefixed(username, `${at}.username`, true);
    const checked = {
      username: name ?? neverUsed,
      groups: groups === undefined ? undefined : this.prefixed(groups, `${at}.groups`, false),
      uid: uid === undefined ? undefined : this.uid(uid, `${at}.uid`),
      extra: this.extra(extra, `${at}.extra`),
    };
    this.verifiedEmail(checked, claimRules, `${at}.username.expression`);
    return checked;
  }

  private prefixed(
    { claim = "", prefix, expression = "" }: Prefixed,
    at: string,
    isRequired: boolean,
  ): Mapping | undefined {
    const { problems } = this;
    if (claim !== "" && expression !== "") {
      problems.push(invalidValue(at, "", "claim and expression can't both be set"));
      return undefined;
    }
    if (expression !== "") {
      if (prefix !== undefined) {
        problems.push(invalidValue(`${at}.prefix`, prefix, "prefix can't be set when expression is set"));
      }
      const made = compiled(expression, `${at}.expression`, claimVariables, "any", problems);
      return made === undefined ? undefined : { is: "expression", expression: made };
    }
    if (claim !== "") {
      if (prefix === undefined) {
        const why = "prefix is required when claim is set. It can be set to an empty string to disable prefixing";
        problems.push(requiredValue(`${at}.prefix`, why));
      }
      return { is: "claim", claim, prefix: prefix ?? "" };
    }
    // A prefix of nothing is nothing: the published check says no word of it.
    if (isRequired) problems.push(requiredValue(at, "claim or expression is required"));
    return undefined;
  }

  private uid(
    { claim = "", expression = "" }: { claim?: string | undefined; expression?: string | undefined },
    at: string,
  ) {
    const { problems, setting } = this;
    if (claim !== "" && expression !== "") {
      problems.push(invalidValue(at, "", "claim and expression can't both be set"));
      return undefined;
    }
    if (claim !== "") return { is: "claim", claim, prefix: "" } as const;
    if (expression === "") {
      if (setting.rules.requiredAsDocumented) problems.push(requiredValue(at, "claim or expression is required"));
      return undefined;
    }
    const made = compiled(expression, `${at}.expression`, claimVariables, "any", problems);
    return made === undefined ? undefined : ({ is: "expression", expression: made } as const);
  }

  private extra(
    rows: readonly { key?: string | undefined; valueExpression?: string | undefined }[],
    at: string,
  ): TokenAuthenticatorSettings["extra"] {
    const { problems } = this;
    const keys = new Set<string>();
    return rows.flatMap(({ key = "", valueExpression = "" }, index) => {
      const field = `${at}[${index}].key`;
      if (key === "") problems.push(requiredValue(field));
      else {
        for (const { value, why } of domainPrefixedPathErrors(key)) problems.push(invalidValue(field, value, why));
        if (this.isReserved(key)) {
          problems.push(invalidValue(field, key, this.reservedText()));
        }
        if (/[A-Z]/.test(key) || key !== key.toLowerCase()) {
          problems.push(invalidValue(field, key, "key must be lowercase"));
        }
        unique(key, field, keys, problems);
      }
      const expressionField = `${at}[${index}].valueExpression`;
      if (valueExpression === "") {
        problems.push(requiredValue(expressionField, "valueExpression is required"));
        return [];
      }
      const value = compiled(valueExpression, expressionField, claimVariables, "any", problems);
      return value === undefined ? [] : [{ key, value }];
    });
  }

  private isReserved(key: string): boolean {
    const { groupSuffix, labelSuffix } = this.setting.rules.dialect;
    const domain = key.split("/", 1)[0] as string;
    return [groupSuffix, labelSuffix].some((suffix) => domain === suffix || domain.endsWith(`.${suffix}`));
  }

  private reservedText(): string {
    const { groupSuffix, labelSuffix, name } = this.setting.rules.dialect;
    if (name === "svc") return `${groupSuffix} and its subdomains are reserved`;
    return `${groupSuffix}, ${labelSuffix} and their subdomains are reserved for Kubernetes use`;
  }

  /** Whoever may write any address into a token must not become that user. */
  private verifiedEmail(
    { username, extra }: { readonly username: Mapping; readonly extra: TokenAuthenticatorSettings["extra"] },
    claimRules: readonly ClaimRule[],
    field: string,
  ): void {
    const forms = this.setting.rules.emailForms;
    if (username.is !== "expression" || !username.expression.selects("claims", "email", forms)) return;
    const lookedAt = [
      username.expression,
      ...extra.map(({ value }) => value),
      ...claimRules.flatMap((rule) => (rule.is === "expression" ? [rule.expression] : [])),
    ];
    if (lookedAt.some((expression) => expression.selects("claims", "email_verified", forms))) return;
    const why =
      "claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression";
    this.problems.push(invalidValue(field, username.expression.source, why));
  }

  private userRules(rows: NonNullable<Authenticator["userValidationRules"]>): TokenAuthenticatorSettings["userRules"] {
    const { problems } = this;
    const seen = new Set<string>();
    return rows.flatMap(({ expression = "", message = "" }, index) => {
      const field = `${this.at}.userValidationRules[${index}].expression`;
      if (expression === "") {
        problems.push(requiredValue(field, "expression is required"));
        return [];
      }
      unique(expression, field, seen, problems);
      const rule = compiled(expression, field, userVariables, "bool", problems);
      return rule === undefined ? [] : [{ expression: rule, message }];
    });
  }
}
