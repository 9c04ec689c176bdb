/** What the parts of one API server share: its ports, its rules and its small services. */
import type { Cancel, Process } from "../../kernel/types.ts";
import type { Store } from "../../store/types.ts";
import type { AdmissionStep } from "../admission/admission.ts";
import type { TokenLookup } from "../access/authenticate.ts";
import type { Authorizer } from "../access/authorize.ts";
import type { AnswerContext } from "../answers/answer-context.ts";
import type { ServiceAccountTokens } from "../access/service-account-tokens.ts";
import type { RulesOf } from "../access/modes.ts";
import type { RequestMeter } from "../requests/request-meter.ts";
import type { ServerMetrics } from "../metrics/server-metrics.ts";
import type { ReadSeams } from "../reads/seams.ts";
import type { Forward } from "../proxy/forward.ts";
import type { ServiceNetwork } from "./service-network.ts";
import type { Unreadable } from "../../contract/unreadable.ts";

export interface ServerContext extends AnswerContext {
  readonly process: Process;
  readonly store: Store;
  /** What of it cannot be read. */
  readonly unreadable: Unreadable;
  readonly metrics: ServerMetrics;
  readonly meter: RequestMeter | undefined;
  readonly authorizer: Authorizer;
  /** All that a user may do, for reviews. */
  readonly rulesOf: RulesOf;
  /** Calls the function once `rulesOf` takes no long preparing. */
  readonly prepareRules: (namespace: string, ready: () => void) => Cancel;
  readonly lookupToken: TokenLookup;
  /** Issues the tokens of service accounts. */
  readonly tokens: ServiceAccountTokens;
  readonly admission: readonly AdmissionStep[];
  readonly readSeams: ReadSeams | undefined;
  readonly forward: Forward;
  readonly agentAddressTypes: readonly string[];
  /** Of the addresses of services. */
  readonly serviceNetwork: ServiceNetwork;
  /** Namespaces that cannot be deleted. */
  readonly protectedNamespaces: ReadonlySet<string>;
}
