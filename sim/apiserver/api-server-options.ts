/** What a simulated API server is made of. */
import type { ServerBugName, ServerBugs } from "../planted/server-bugs.ts";
import type { Micros, Process } from "../kernel/types.ts";
import type { Store } from "../store/types.ts";
import type { AdmissionStep } from "./admission/admission.ts";
import type { WebhookCaller } from "./admission/webhooks.ts";
import type { TokenRow } from "./access/authenticate.ts";
import type { TokenSigner } from "./access/token-signer.ts";
import type { AccessConfiguration } from "./access/access.ts";
import type { Authorizer } from "./access/authorize.ts";
import type { AuthorizationMode } from "./access/modes.ts";
import type { ProcessFigures } from "./metrics/server-metrics.ts";
import type { RequestMeter } from "./requests/request-meter.ts";
import type { Run } from "./requests/run.ts";
import type { InFlightLimits } from "./requests/seats.ts";
import type { Payload } from "../contract/http-message.ts";
import type { SpanSender } from "../contract/tracing.ts";
import type { FeatureGates, Profile } from "../contract/profile.ts";
import type { Forward } from "./proxy/forward.ts";
import type { ServiceNetwork } from "./verbs/service-network.ts";

/** How long requests take. Zero by default: an unloaded server answers in the event in which it is asked. */
export interface CostModel {
  /** Microseconds ≥ 0 that a request holds its seat before it is carried out. */
  seatMicros(verb: string, resource: string): Micros;
  /** Microseconds ≥ 0 between a request's effect and its answer; a write is then committed and cannot be undone. */
  answerMicros(verb: string, resource: string, run: Run, payload: Payload): Micros;
}

export interface ApiServerOptions {
  /** The process that the server runs in: its clock, its chance, its crash. */
  readonly process: Process;
  /** Shared with every other front-end. A server that starts on a used store goes on from there. */
  readonly store: Store;
  /** Default: `svcProfile`. */
  readonly profile?: Profile;
  /** Bugs to have. Default: none. */
  readonly bugs?: ServerBugs | readonly ServerBugName[];
  /** Each bug shows in one request of so many, drawn from the seed. Default 1: in all. */
  readonly bugRarity?: number | undefined;
  /** How long old versions stay readable, in microseconds > 0. Default 5 minutes. */
  readonly historyWindowMicros?: Micros;
  /** What old versions may take, about as JSON; beyond, the oldest go before their time. Default: no bound. */
  readonly historyBytesMax?: number;
  /** How long an event is kept after its last write, in microseconds > 0. Default 1 hour. */
  readonly eventTtlMicros?: Micros;
  /** Static bearer tokens. Default: none. */
  readonly tokens?: readonly TokenRow[];
  /** Requests without credentials are `system:anonymous` instead of 401. Default: by profile. */
  readonly anonymousAuth?: boolean;
  /** Gates that differ from the profile's. */
  readonly featureGates?: Partial<FeatureGates>;
  /** Further admission steps, in order, after the server's own. Default: none. */
  readonly admission?: readonly AdmissionStep[];
  /** Calls webhooks. Default: none can be reached, and each one's failure policy decides. */
  readonly webhooks?: WebhookCaller;
  /** Hands requests on to services, pods and nodes. Default: none can be reached (503). */
  readonly forward?: Forward;
  /** Whose addresses services are given. Default: 10.0.0.0/24. */
  readonly serviceNetwork?: ServiceNetwork | undefined;
  /** Types of addresses at which agents of nodes are asked, best first. Default: the real server's order. */
  readonly agentAddressTypes?: readonly string[] | undefined;
  /** Who decides, in this order: the first that has an opinion. Default: `AlwaysAllow`. */
  readonly authorizationModes?: readonly AuthorizationMode[];
  /** What configuration files of authentication and authorization say. Default: there are none. */
  readonly access?: AccessConfiguration;
  /** Which requests are traced, and who is told. Default: none, and nobody. */
  readonly tracing?: { readonly samplesPerMillion: number | undefined; readonly send: SpanSender };
  /** Hears why a token was refused, an issuer did not answer, a file was not taken. Default: nobody. */
  readonly log?: (line: string) => void;
  /** Decides instead of the modes. Default: none. */
  readonly authorizer?: Authorizer;
  /** Whom tokens are for, as token reviews say it. Default: for the issuer alone. */
  readonly audiences?: readonly string[];
  /** Who issues the tokens of service accounts, a URL. Default `https://` and the dialect's `.default.svc`. */
  readonly serviceAccountIssuer?: string;
  /** Signs the tokens of service accounts. Default: by HMAC with a key from the run's seed. */
  readonly tokenSigner?: TokenSigner;
  /** Default: everything is free. */
  readonly costs?: CostModel;
  /** Hears what each request came to. Default: nobody. */
  readonly meter?: RequestMeter;
  /** Requests in flight. Default: 400 reads and 200 writes, no queue. */
  readonly limits?: Partial<InFlightLimits>;
  /** The longest that a request may take, in microseconds > 0; watches are excepted. Default 60 s. */
  readonly requestTimeoutMicros?: Micros;
  /** How far this front-end's caches are behind the store, in microseconds ≥ 0. Default 0. */
  readonly cacheLagMicros?: Micros;
  /** Make the namespaces that every cluster has, when they are absent. Default true. */
  readonly bootstrap?: boolean;
  /** Paths of objects that cannot be read from the store: see `makeUnreadable`. Default: none. */
  readonly unreadable?: readonly string[];
  /** Definitions of custom resources are established and taken away: part of the API itself. Default true. */
  readonly customResources?: boolean;
  /** Bytes of encoded objects kept for reuse, ≥ 0. Default 64 MiB. */
  readonly encodingBudgetBytes?: number;
  /** What the metrics tell of the operating system's process. Default: nothing, there is none. */
  readonly processFigures?: () => ProcessFigures;
  /** Where clients are told to go, once somebody asks: scheme, host and port. Default `https://127.0.0.1:6443`. */
  readonly advertisedUrl?: () => string;
}
