/** What the parts of one API server share: its ports, its rules and its small services. */
import type { Clock, Process } from "../kernel/types.ts";
import type { Store } from "../store/types.ts";
import type { AdmissionStep } from "./admission/admission.ts";
import type { TokenLookup } from "./auth/authenticate.ts";
import type { Authorizer } from "./auth/authorize.ts";
import type { ServiceAccountTokens } from "./auth/service-account-tokens.ts";
import type { RulesOf } from "./auth/modes.ts";
import type { Faults } from "../faults/server-faults.ts";
import type { ServerMetrics } from "./metrics/server-metrics.ts";
import type { Negotiator } from "./pipeline/negotiate.ts";
import type { Profile } from "./profile.ts";
import type { Forward } from "./proxy/forward.ts";
import type { Encoders } from "./representations/encode.ts";
import type { CustomResources } from "./custom/custom-resources.ts";
import type { Unreadable } from "./unreadable.ts";
import type { Encodings } from "./representations/encodings.ts";

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
