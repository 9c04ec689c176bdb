/** What the parts of one API server share: its ports, its rules and its small services. */
import type { Clock, Process } from "../../kernel/types.ts";
import type { Store } from "../../store/types.ts";
import type { AdmissionStep } from "../admission/admission.ts";
import type { TokenLookup } from "../access/authenticate.ts";
import type { Authorizer } from "../access/authorize.ts";
import type { ServiceAccountTokens } from "../access/service-account-tokens.ts";
import type { RulesOf } from "../access/modes.ts";
import type { Faults } from "../../planted/server-faults.ts";
import type { ServerMetrics } from "../metrics/server-metrics.ts";
import type { Negotiator } from "../answers/negotiate.ts";
import type { Profile } from "../../contract/profile.ts";
import type { Forward } from "../proxy/forward.ts";
import type { Encoders } from "../encodings/encode.ts";
import type { CustomResources } from "../catalogue/custom-resources.ts";
import type { Unreadable } from "../../contract/unreadable.ts";
import type { Encodings } from "../encodings/encodings.ts";

export interface ServerContext {
  readonly process: Process;
  readonly clock: Clock;
  readonly store: Store;
  /** What of it cannot be read. */
  readonly unreadable: Unreadable;
  /** With the gates in force. */
  readonly profile: Profile;
  readonly faults: Faults;
  readonly negotiator: Negotiator;
  readonly encoders: Encoders;
  readonly encodings: Encodings;
  readonly metrics: ServerMetrics;
  readonly custom: CustomResources;
  readonly authorizer: Authorizer;
  /** All that a user may do, for reviews. */
  readonly rulesOf: RulesOf;
  readonly lookupToken: TokenLookup;
  /** Issues the tokens of service accounts. */
  readonly tokens: ServiceAccountTokens;
  readonly admission: readonly AdmissionStep[];
  readonly forward: Forward;
  /** Namespaces that cannot be deleted. */
  readonly protectedNamespaces: ReadonlySet<string>;
}
