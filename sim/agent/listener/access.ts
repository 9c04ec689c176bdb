/**
 * Who may call an agent: whom a certificate or a token names, and whether the cluster allows it. Answers of the API server
 * are believed for as long as the settings say.
 * Source: document 3, Authentication; the facts, HTTP.
 */
import type { Dialect } from "../../../wire/dialect.ts";
import type { ApiRequest, JsonObject } from "../../contract/http-message.ts";
import type { Micros, Process } from "../../kernel/types.ts";
import type { ApiAnswer, ApiCaller } from "../ports.ts";
import { KeptAnswers } from "./kept-answers.ts";

export interface AccessSettings {
  readonly anonymous: boolean;
  /** Bearer tokens are reviewed by the API server; otherwise they are passed over. */
  readonly reviewsTokens: boolean;
  readonly tokenMicros: Micros;
  readonly mode: "AlwaysAllow" | "Webhook";
  readonly allowedMicros: Micros;
  readonly deniedMicros: Micros;
}

export interface AgentAccessPorts {
  readonly process: Process;
  readonly dialect: Dialect;
  readonly nodeName: string;
  /** Undefined in standalone mode: nobody can be asked. */
  readonly api: ApiCaller | undefined;
}

export interface AgentUser {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: JsonObject;
}

export type AccessOutcome = { readonly user: AgentUser } | { readonly status: 401 | 403 | 500; readonly text: string };

/** What is decided about callers: each for itself, so that a wrong one can be put in its place (`sim/agent/planted/`). */
export interface AccessLaw {
  /** Whether what was answered to a review is believed for a while. */
  readonly isKept: (review: ApiAnswer) => boolean;
  /** Parts of the node that a path is of: whoever may use one of them may come in. */
  readonly subresourcesOf: (path: string) => readonly string[];
  /** Questions with one key have one answer. */
  readonly permissionKey: (user: AgentUser, verb: string, subresource: string) => string;
}

export const accessLaw: AccessLaw = {
  /** Only answers: who could not be asked may be asked again at once. */
  isKept: ({ object }) => object !== undefined,
  subresourcesOf,
  permissionKey: ({ username, uid, groups, extra }, verb, subresource) =>
    JSON.stringify([username, uid, groups, extra, verb, subresource]),
};

const anonymousUser: AgentUser = { username: "system:anonymous", groups: ["system:unauthenticated"] };
const unauthorized = { status: 401, text: "Unauthorized" } as const;

/** Tries of a review, and the wait before the second, which then grows by half each time. */
const triesMax = 5;
const retryMicros: Micros = 500_000;

export class AgentAccess {
  private readonly ports: AgentAccessPorts;
  private readonly settings: AccessSettings;
  private readonly law: () => AccessLaw;
  private readonly tokens: KeptAnswers<AgentUser | undefined>;
  private readonly permissions: KeptAnswers<boolean>;

  /** `law` is asked anew at each decision. */
  constructor(ports: AgentAccessPorts, settings: AccessSettings, law = (): AccessLaw => accessLaw) {
    this.ports = ports;
    this.settings = settings;
    this.law = law;
    const now = (): Micros => ports.process.clock.nowMicros();
    this.tokens = new KeptAnswers(now);
    this.permissions = new KeptAnswers(now);
  }

  /** `done` is called once, at once or later. */
  check(request: ApiRequest, done: (outcome: AccessOutcome) => void): void {
    this.authenticate(request, (user) => {
      if (user === undefined) done(unauthorized);
      else if (this.settings.mode === "AlwaysAllow") done({ user });
      else this.authorize(request, user, done);
    });
  }

  private authenticate({ clientCertificate, headers }: ApiRequest, done: (user: AgentUser | undefined) => void): void {
    const anonymous = this.settings.anonymous ? anonymousUser : undefined;
    if (clientCertificate === "invalid") {
      done(undefined);
      return;
    }
    if (clientCertificate !== undefined) {
      const { commonName, organizations } = clientCertificate;
      done({ username: commonName, groups: [...organizations, "system:authenticated"] });
      return;
    }
    const [, token] = /^bearer\s+(\S+)\s*$/i.exec(headers["authorization"] ?? "") ?? [];
    if (token === undefined || !this.settings.reviewsTokens) done(anonymous);
    else this.review(token, done);
  }

  /** A token that is not believed is no anonymous caller. */
  private review(token: string, done: (user: AgentUser | undefined) => void): void {
    const known = this.tokens.get(token);
    if (known !== undefined) {
      done(known.value);
      return;
    }
    const { groupSuffix } = this.ports.dialect;
    const group = `authentication.${groupSuffix}`;
    const body = { apiVersion: `${group}/v1`, kind: "TokenReview", spec: { token } };
    this.ask(`/apis/${group}/v1/tokenreviews`, body, (review) => {
      const { authenticated, user } = (review.object?.["status"] ?? {}) as {
        authenticated?: boolean;
        user?: AgentUser;
      };
      const found = authenticated === true && user !== undefined ? { ...user, groups: user.groups ?? [] } : undefined;
      if (this.law().isKept(review)) this.tokens.keep(token, found, this.settings.tokenMicros);
      done(found);
    });
  }

  private authorize(request: ApiRequest, user: AgentUser, done: (outcome: AccessOutcome) => void): void {
    const verb = verbs[request.method] ?? "";
    const wanted = this.law().subresourcesOf(request.path);
    const shown = `(user=${user.username}, verb=${verb}, resource=nodes, subresource(s)=[${wanted.join(" ")}])`;
    const next = (at: number): void => {
      const subresource = wanted[at];
      if (subresource === undefined) {
        done({ status: 403, text: `Forbidden ${shown}` });
        return;
      }
      this.isAllowed(user, verb, subresource, (isAllowed) => {
        if (isAllowed === true) done({ user });
        else if (isAllowed === undefined) done({ status: 500, text: `Authorization error ${shown}` });
        else next(at + 1);
      });
    };
    next(0);
  }

  /** Undefined: nobody could say. */
  private isAllowed(
    user: AgentUser,
    verb: string,
    subresource: string,
    done: (isAllowed: boolean | undefined) => void,
  ): void {
    const key = this.law().permissionKey(user, verb, subresource);
    const known = this.permissions.get(key);
    if (known !== undefined) {
      done(known.value);
      return;
    }
    const { dialect, nodeName } = this.ports;
    const group = `authorization.${dialect.groupSuffix}`;
    const { username, uid, groups, extra } = user;
    const resourceAttributes = { verb, version: "v1", resource: "nodes", subresource, name: nodeName };
    const who = {
      user: username,
      groups,
      ...(uid === undefined ? {} : { uid }),
      ...(extra === undefined ? {} : { extra }),
    };
    const body = { apiVersion: `${group}/v1`, kind: "SubjectAccessReview", spec: { resourceAttributes, ...who } };
    this.ask(`/apis/${group}/v1/subjectaccessreviews`, body, ({ object }) => {
      const { allowed } = (object?.["status"] ?? {}) as { readonly allowed?: boolean };
      if (allowed !== undefined) {
        this.permissions.keep(key, allowed, allowed ? this.settings.allowedMicros : this.settings.deniedMicros);
      }
      done(allowed);
    });
  }

  private ask(path: string, body: JsonObject, done: (answer: ApiAnswer) => void, tries = 1): void {
    const { api, process } = this.ports;
    const nobody = { status: 0, object: undefined };
    if (api === undefined) {
      done(nobody);
      return;
    }
    api.call({ method: "POST", path, body }, (answer) => {
      const isGood = answer.status >= 200 && answer.status < 300;
      if (isGood) done(answer);
      else if (tries >= triesMax || (answer.status >= 400 && answer.status < 500 && answer.status !== 429))
        done(nobody);
      else {
        const [numerator, denominator] = [
          [1, 1],
          [3, 2],
          [9, 4],
          [27, 8],
        ][tries - 1] as [number, number];
        const waitMicros = Math.floor((retryMicros * numerator) / denominator);
        process.clock.after(waitMicros, () => this.ask(path, body, done, tries + 1));
      }
    });
  }
}

const verbs: Readonly<Record<string, string>> = {
  GET: "get",
  HEAD: "get",
  POST: "create",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
};

/** Source: the facts, HTTP, fine-grained authorization. */
function subresourcesOf(path: string): readonly string[] {
  const below = (prefix: string): boolean => path === prefix || path.startsWith(`${prefix}/`);
  if (below("/stats")) return ["stats"];
  if (below("/metrics")) return ["metrics"];
  if (below("/logs")) return ["log"];
  if (below("/checkpoint")) return ["checkpoint"];
  if (below("/pods") || below("/runningpods")) return ["pods", "proxy"];
  if (below("/healthz")) return ["healthz", "proxy"];
  if (below("/configz")) return ["configz", "proxy"];
  return ["proxy"];
}
