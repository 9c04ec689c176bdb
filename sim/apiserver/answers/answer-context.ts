/** What answers are made with. */
import type { Clock } from "../../kernel/types.ts";
import type { Profile } from "../../contract/profile.ts";
import type { CustomResources } from "../catalogue/custom-resources.ts";
import type { Encoders } from "../encodings/encode.ts";
import type { Encodings } from "../encodings/encodings.ts";
import type { Negotiator } from "./negotiate.ts";

export interface AnswerContext {
  readonly clock: Clock;
  /** With the gates in force. */
  readonly profile: Profile;
  readonly negotiator: Negotiator;
  readonly encoders: Encoders;
  readonly encodings: Encodings;
  readonly custom: CustomResources;
}
