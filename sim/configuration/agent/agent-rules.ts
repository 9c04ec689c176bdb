/** Where document 3 and the published agent part on flags: one object a dialect, read where it matters. */
import type { Dialect } from "../../../wire/dialect.ts";
import type { EvictionSettings } from "../../../wire/eviction-thresholds.ts";

type ThresholdMap = Readonly<Record<string, string>>;

export interface AgentRules {
  readonly dialect: Dialect["name"];
  /** Which of two defaults a flag has. */
  readonly defaults: "documented" | "observed";
  /** Of a file of configuration that does not say: callers have to say who they are, and are asked about. */
  readonly fileDefaults: Readonly<Record<string, boolean | number | string>>;
  /** Hard thresholds of a file that sets none, and what --eviction-hard's defaults are filled up with. */
  readonly fileEvictionHard: ThresholdMap;
  /** Zero in a file is no number but the default. */
  readonly zeroIsDefault: boolean;
  /** The low threshold of images may be as high as the high one. */
  readonly equalImageThresholds: boolean;
  /** --runonce may be set at all. */
  readonly runOnce: boolean;
  /** A negative greatest grace of soft evictions leaves pods their own. */
  readonly negativeGraceIsPods: boolean;
  /** What 0 means for the rates towards the API server. */
  readonly zeroRates: {
    readonly apiQps: number;
    readonly apiBurst: number;
    readonly eventQps: number;
    readonly eventBurst: number;
  };
  /** Files of pods are read when they change, and not only every so often. */
  readonly watchesManifests: boolean;
  /** Flags of the table that the agent does not have. */
  readonly missingFlags: ReadonlySet<string>;
  /** A serving certificate without its key is passed over, and the agent makes a pair of its own. */
  readonly makesPairWithoutKey: boolean;
  /** The environment variable that --config-dir needs, and that names a directory by itself; undefined: there is none. */
  readonly dropInVariable: string | undefined;
}

const documentedHard: ThresholdMap = {
  "imagefs.available": "15%",
  "memory.available": "100Mi",
  "nodefs.available": "10%",
  "nodefs.inodesFree": "5%",
};

export const agentRules: Readonly<Record<Dialect["name"], AgentRules>> = {
  svc: {
    dialect: "svc",
    defaults: "documented",
    fileDefaults: {},
    fileEvictionHard: documentedHard,
    zeroIsDefault: false,
    equalImageThresholds: true,
    runOnce: true,
    negativeGraceIsPods: true,
    zeroRates: { apiQps: 50, apiBurst: 100, eventQps: 50, eventBurst: 100 },
    watchesManifests: false,
    missingFlags: new Set(),
    makesPairWithoutKey: true,
    dropInVariable: "NODEAGENT_CONFIG_DROPIN_DIR_ALPHA",
  },
  kubernetes: {
    dialect: "kubernetes",
    defaults: "observed",
    fileDefaults: {
      "authentication.anonymous.enabled": false,
      "authentication.webhook.enabled": true,
      "authorization.mode": "Webhook",
      readOnlyPort: 0,
    },
    fileEvictionHard: { ...documentedHard, "imagefs.inodesFree": "5%" },
    zeroIsDefault: true,
    equalImageThresholds: false,
    runOnce: false,
    negativeGraceIsPods: false,
    zeroRates: { apiQps: 5, apiBurst: 10, eventQps: 5, eventBurst: 10 },
    watchesManifests: true,
    makesPairWithoutKey: false,
    missingFlags: new Set(["log-json-info-buffer-size", "log-json-split-stream"]),
    dropInVariable: undefined,
  },
};

/** A file that sets any hard threshold replaces the whole set, unless it asks to have the missing ones filled in. */
export function hardOfFile(
  given: ThresholdMap | undefined,
  mergeDefaults: boolean,
  { fileEvictionHard }: AgentRules,
): NonNullable<EvictionSettings["evictionHard"]> {
  if (given === undefined) return fileEvictionHard;
  return mergeDefaults ? { ...fileEvictionHard, ...given } : given;
}
