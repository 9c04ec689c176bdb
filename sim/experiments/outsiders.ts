/**
 * Whom the servers of a scenario call: issuers of tokens, authorization webhooks, a collector of traces; and what the two
 * configuration files say of them. Each has a process of its own name, for its chance and its lane in the trace; what is
 * under way is the calling server's, and ends with it.
 */
import type { AccessSection, WebhookRow } from "../../scenarios/access.ts";
import type { Scenario } from "../../scenarios/schema.ts";
import type { ApiServerOptions } from "../apiserver/api-server-options.ts";
import { absentAuthorizers } from "../apiserver/access/modes.ts";
import { readPortableKey } from "../apiserver/access/tokens/portable-keys.ts";
import type { IssuerCaller } from "../apiserver/access/tokens/issuer-keys.ts";
import type { AuthorizerWebhookSettings } from "../configuration/authorization.ts";
import { problemText, readConfiguration, type Settings } from "../configuration/read.ts";
import { type ConfigurationRules, configurationRules, type ServerKind } from "../configuration/rules.ts";
import { bareSetting } from "../configuration/setting.ts";
import type { JsonObject } from "../contract/http-message.ts";
import type { FaultyOutsider } from "../faults/inject.ts";
import type { Kernel } from "../kernel/kernel.ts";
import type { Micros, Process } from "../kernel/types.ts";
import { type AuthorizerBehaviour, AuthorizerWebhook, type Opinion } from "../outside/authorizer-webhook.ts";
import { issuerCalls, TokenIssuer, type TokenIssuerBehaviour } from "../outside/token-issuer.ts";
import { TraceCollector, type TraceCollectorBehaviour } from "../outside/trace-collector.ts";
import { profiles } from "../contract/profile.ts";

/** Whose behaviour can be set, and who is counted. */
interface Member extends FaultyOutsider {
  heard(): number;
}

type Behaviour = TokenIssuerBehaviour | AuthorizerBehaviour | TraceCollectorBehaviour;

export class Outsiders {
  private readonly section: AccessSection;
  private readonly rules: ConfigurationRules;
  private readonly issuers = new Map<string, TokenIssuer>();
  private readonly webhooks = new Map<string, AuthorizerWebhook>();
  private collector: TraceCollector | undefined;
  private readonly members = new Map<string, Member>();
  private readonly files: Pick<Settings, never> & {
    readonly authentication?: Settings["AuthenticationConfiguration"];
    readonly authorizers?: Settings["AuthorizationConfiguration"];
  };

  /** `refuse` is thrown at for files that are not valid. */
  constructor(kernel: Kernel, { access, profile }: Scenario, refuse: (why: string) => never) {
    this.section = access;
    this.rules = configurationRules[profiles[profile].dialect.name];
    for (const { name, url, delay } of access.issuers) {
      const process = kernel.process(name);
      const issuer = new TokenIssuer(url, process.prng);
      this.issuers.set(name, issuer);
      this.enter(
        name,
        delay,
        issuer,
        () => issuer.callCount,
        () => {
          issuer.rotate();
          process.trace("issuer.rotated", url);
        },
      );
    }
    for (const row of access.webhooks) {
      const process = kernel.process(row.name);
      const webhook = new AuthorizerWebhook(process, opinionOf(row, process));
      this.webhooks.set(row.name, webhook);
      this.enter(row.name, row.delay, webhook, () => webhook.reviews.length);
    }
    if (access.collector !== undefined) {
      const { name, delay } = access.collector;
      const collector = new TraceCollector(kernel.process(name));
      this.collector = collector;
      this.enter(name, delay, collector, () => collector.spans.length);
    }
    this.files = this.readFiles(refuse);
  }

  /** What a server that runs in this process is started with. */
  optionsFor(process: Process): Pick<ApiServerOptions, "access" | "tracing"> {
    const { collector, files, rules, section } = this;
    const issuers = [...this.issuers.values()];
    const isConfigured = files.authentication !== undefined || files.authorizers !== undefined;
    return {
      ...(isConfigured
        ? {
            access: {
              rules,
              ...files,
              readKey: readPortableKey,
              callIssuer: traced(process, issuerCalls(process, issuers)),
              reviews: (settings) => (this.webhooks.get(nameOf(settings)) as AuthorizerWebhook).callFrom(process),
            },
          }
        : {}),
      ...(collector === undefined
        ? {}
        : {
            tracing: {
              samplesPerMillion: section.collector?.samplingRatePerMillion,
              send: collector.sendFrom(process),
            },
          }),
    };
  }

  member(name: string): Member | undefined {
    return this.members.get(name);
  }

  /** A token of that issuer, made now. */
  token(issuer: string, claims: JsonObject, lastsMicros: Micros, { clock }: Process): string {
    const nowSeconds = Math.floor((clock.epochUnixMillis + clock.nowMicros() / 1_000) / 1_000);
    const times = { iat: nowSeconds, exp: nowSeconds + Math.floor(lastsMicros / 1_000_000) };
    return (this.issuers.get(issuer) as TokenIssuer).token({ ...times, ...claims });
  }

  private enter(
    name: string,
    usualMicros: Micros,
    component: { behaviour: Behaviour },
    heard: () => number,
    rotate = (): void => {},
  ): void {
    component.behaviour = { delayMicros: usualMicros, mood: "well" };
    this.members.set(name, {
      heard,
      rotate,
      // Which moods there are is checked where the scenario is read.
      misbehave: (how = "well" as never) => {
        component.behaviour = { ...component.behaviour, mood: how } as Behaviour;
      },
      delay: (byMicros) => {
        component.behaviour = { ...component.behaviour, delayMicros: usualMicros + byMicros };
      },
    });
  }

  private readFiles(refuse: (why: string) => never): Outsiders["files"] {
    const { authentication, authorization } = this.section;
    const read = <Kind extends ServerKind>(kind: Kind, section: string, fields: object): Settings[Kind] => {
      const file = { apiVersion: this.rules.apiVersions[kind][0], kind, ...fields };
      const outcome = readConfiguration(kind, JSON.stringify(file), bareSetting(this.rules));
      if (outcome.ok) return outcome.value;
      return refuse(outcome.problems.map((problem) => `access.${section}: ${problemText(problem)}`).join("\n"));
    };
    const authorizers =
      authorization === undefined
        ? undefined
        : read("AuthorizationConfiguration", "authorization", connected(authorization, this.rules));
    for (const { type, name, webhook } of authorizers ?? []) {
      const absent = absentAuthorizers[type];
      if (absent !== undefined) refuse(`access.authorization: ${name}: ${type} is not simulated: ${absent}`);
      if (webhook === undefined || this.webhooks.has(nameOf(webhook))) continue;
      const there = this.webhooks.size === 0 ? "there is none" : `there are ${[...this.webhooks.keys()].join(", ")}`;
      refuse(`access.authorization: ${name}: no webhook is called ${nameOf(webhook) || "so"}; ${there}`);
    }
    return {
      ...(authentication === undefined
        ? {}
        : { authentication: read("AuthenticationConfiguration", "authentication", authentication) }),
      ...(authorizers === undefined ? {} : { authorizers }),
    };
  }
}

/** The connection file's last part: `/gate` is the webhook `gate`. */
const nameOf = ({ connectionFile = "" }: AuthorizerWebhookSettings): string =>
  connectionFile.slice(connectionFile.lastIndexOf("/") + 1);

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The file with a connection for each webhook that says none: the component of the authorizer's name. */
function connected(file: Fields, { dialect }: ConfigurationRules): Fields {
  const [type, field] =
    dialect.name === "svc" ? ["SvcConfigFile", "svcConfigFile"] : ["KubeConfigFile", "kubeConfigFile"];
  const { authorizers } = file;
  if (!Array.isArray(authorizers)) return file;
  const rows = (authorizers as readonly unknown[]).map((row) => {
    if (!isFields(row) || !isFields(row["webhook"]) || row["webhook"]["connectionInfo"] !== undefined) return row;
    const connectionInfo = { type, [field as string]: `/${String(row["name"])}` };
    return { ...row, webhook: { ...row["webhook"], connectionInfo } };
  });
  return { ...file, authorizers: rows };
}

interface Spec {
  readonly user?: string;
  readonly groups?: readonly string[];
  readonly resourceAttributes?: Readonly<Record<string, string>>;
  readonly nonResourceAttributes?: Readonly<Record<string, string>>;
}

function opinionOf({ says }: WebhookRow, { clock }: Process): Opinion {
  return (spec) => {
    const now = clock.nowMicros();
    for (const { allow, deny, from, until = Infinity } of says) {
      if (now < from || now >= until) continue;
      if (allow !== undefined && fits(allow, spec as Spec)) return "allow";
      if (deny !== undefined && fits(deny, spec as Spec)) return "deny";
    }
    return "none";
  };
}

function fits(wanted: NonNullable<WebhookRow["says"][number]["allow"]>, spec: Spec): boolean {
  const { user, group, verb, resource, namespace, path } = wanted;
  const asked = spec.resourceAttributes ?? spec.nonResourceAttributes ?? {};
  const is = (want: string | undefined, given: string | undefined): boolean => want === undefined || want === given;
  return (
    is(user, spec.user) &&
    (group === undefined || spec.groups?.includes(group) === true) &&
    is(verb, asked["verb"]) &&
    is(resource, asked["resource"]) &&
    is(namespace, asked["namespace"]) &&
    is(path, asked["path"])
  );
}

function traced(process: Process, call: IssuerCaller): IssuerCaller {
  return (wanted, done) => {
    process.trace("issuer.called", wanted.url);
    return call(wanted, done);
  };
}
