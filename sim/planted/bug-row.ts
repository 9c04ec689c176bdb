/** What is told of a planted bug. */
export interface BugRow {
  readonly area:
    | "lists"
    | "watches"
    | "writes"
    | "deletion"
    | "dry-run"
    | "access"
    | "content"
    | "tables"
    | "compression"
    | "eviction"
    | "pods";
  /** The check of the suite that sees it soonest: the one to try first, embedded and by URL. */
  readonly foundBy: string;
  /** What a client sees, in one sentence. */
  readonly symptom: string;
  /** Published report that it is modelled on, or that there is none. */
  readonly source: string;
  /** A URL shows it now and then: it takes a lagging cache, a race or an old version. Default: whenever it is asked for. */
  readonly byLuck?: true;
  /** The feature that has the bug is off by default. Nothing shows without its gate. */
  readonly gate?: "WatchList" | "AllowUnsafeMalformedObjectDeletion";
  /** The only profile whose law it breaks: the documents leave room for what it does. Default: both. */
  readonly profile?: "kubernetes";
}

/** The source where no single report tells it: what a server of this kind easily gets wrong. */
export const commonMistake = "a common mistake, of no one report";
