/** Who was let in and what they may, counted under the real server's names. Source: the published server's access metrics. */
import { Histogram, webhookSeconds } from "../../contract/histogram.ts";
import type { AccessCounts } from "../access/access.ts";
import type { WebhookCounts } from "../access/webhooks/webhook-authorizer.ts";
import { type Family, labelText, type Labels } from "./exposition.ts";

export type ReloadedFile = "authentication" | "authorization";

interface Reloads {
  success: number;
  failure: number;
  /** Seconds since 1970; 0 for never. */
  readonly lastSeconds: { success: number; failure: number };
}

const never = (): Reloads => ({ success: 0, failure: 0, lastSeconds: { success: 0, failure: 0 } });

export class AccessMetrics implements AccessCounts {
  private readonly decisions = new Map<string, number>();
  private readonly evaluations = new Map<string, number>();
  private readonly durations = new Map<string, Histogram>();
  private readonly failedOpen = new Map<string, number>();
  private readonly exclusions = new Map<string, number>();
  private readonly conditionErrors = new Map<string, number>();
  private readonly reloads: Readonly<Record<ReloadedFile, Reloads>> = {
    authentication: never(),
    authorization: never(),
  };

  decided({ type, name }: { readonly type: string; readonly name: string }, decision: "allowed" | "denied"): void {
    add(this.decisions, { decision, name, type });
  }

  /** Of the webhook with this name. */
  webhook(name: string): WebhookCounts {
    return {
      called: (result, micros) => {
        add(this.evaluations, { name, result });
        const labels = labelText({ name, result });
        const durations = this.durations.get(labels) ?? new Histogram(webhookSeconds);
        this.durations.set(labels, durations);
        durations.observe(micros / 1_000_000);
      },
      excluded: () => add(this.exclusions, { name, type: "Webhook" }),
      conditionFailed: () => add(this.conditionErrors, { name, type: "Webhook" }),
      failedOpen: () => add(this.failedOpen, { name, result: "error" }),
    };
  }

  /** A file was read again while the server was running. */
  reloaded(file: ReloadedFile, result: "success" | "failure", unixSeconds: number): void {
    this.reloads[file][result]++;
    this.reloads[file].lastSeconds[result] = unixSeconds;
  }

  families(): readonly Family[] {
    const counter = (name: string, help: string, counts: ReadonlyMap<string, number>): Family => ({
      name: `apiserver_authorization_${name}`,
      type: "counter",
      stability: "ALPHA",
      help,
      samples: [...counts],
    });
    return [
      counter("decisions_total", "Decisions, by the authorizer that made them.", this.decisions),
      counter("webhook_evaluations_total", "Calls of authorization webhooks, by what came of them.", this.evaluations),
      {
        name: "apiserver_authorization_webhook_duration_seconds",
        type: "histogram",
        stability: "ALPHA",
        help: "Seconds that calls of authorization webhooks took.",
        samples: [...this.durations],
      },
      counter("webhook_evaluations_fail_open_total", "Calls that failed, and left it to the next.", this.failedOpen),
      counter("match_condition_exclusions_total", "Requests that no webhook was asked about.", this.exclusions),
      counter("match_condition_evaluation_errors_total", "Conditions without a result.", this.conditionErrors),
      ...this.reloadFamilies("authentication"),
      ...this.reloadFamilies("authorization"),
    ];
  }

  private reloadFamilies(file: ReloadedFile): readonly Family[] {
    const { lastSeconds, ...counts } = this.reloads[file];
    const samples = (of: { readonly success: number; readonly failure: number }): Family["samples"] =>
      (["failure", "success"] as const).flatMap((status) =>
        counts[status] === 0 ? [] : [[labelText({ status }), of[status]] as const],
      );
    const prefix = `apiserver_${file}_config_controller_automatic_reload`;
    return [
      {
        name: `${prefix}s_total`,
        type: "counter",
        stability: "ALPHA",
        help: `How often the ${file} file was read again, by what came of it.`,
        samples: samples(counts),
      },
      {
        name: `${prefix}_last_timestamp_seconds`,
        type: "gauge",
        stability: "ALPHA",
        help: `When the ${file} file was last read again, by what came of it.`,
        samples: samples(lastSeconds),
      },
    ];
  }
}

function add(counts: Map<string, number>, values: Labels): void {
  const labels = labelText(values);
  counts.set(labels, (counts.get(labels) ?? 0) + 1);
}
