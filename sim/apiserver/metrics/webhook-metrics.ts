/** Calls of admission webhooks, counted under the real server's names. Source: the published server's admission metrics. */
import type { Micros } from "../../kernel/types.ts";
import { type Family, labelText, type Labels } from "./exposition.ts";
import { Histogram, webhookSeconds } from "../../contract/histogram.ts";

export interface WebhookOutcome {
  readonly name: string;
  readonly type: "admit" | "validating";
  readonly operation: string;
  readonly tookMicros: Micros;
  /** What became of the call: the webhook said yes or no, said nothing that makes sense, or said yes and what it wants cannot be done. */
  readonly how: "allowed" | "denied" | "unreachable" | "undoable";
  /** What the webhook answered with, or stands for it. */
  readonly code: number;
  /** The write went on all the same, by the failure policy. */
  readonly isIgnored: boolean;
}

const errorTypes = {
  denied: "no_error",
  unreachable: "calling_webhook_error",
  undoable: "apiserver_internal_error",
} as const;

export class WebhookMetrics {
  private readonly requests = new Map<string, number>();
  private readonly rejections = new Map<string, number>();
  private readonly failedOpen = new Map<string, number>();
  private readonly durations = new Map<string, Histogram>();

  ended({ name, type, operation, tookMicros, how, code: answered, isIgnored }: WebhookOutcome): void {
    const isRejected = how !== "allowed" && !isIgnored;
    const code = String(Math.min(answered, 600));
    const rejected = String(isRejected);
    add(this.requests, { name, type, operation, code, rejected });
    const labels = labelText({ name, type, operation, rejected });
    const durations = this.durations.get(labels) ?? new Histogram(webhookSeconds);
    this.durations.set(labels, durations);
    durations.observe(tookMicros / 1_000_000);
    if (isIgnored) add(this.failedOpen, { name, type });
    if (isRejected) {
      add(this.rejections, { name, type, operation, error_type: errorTypes[how], rejection_code: code });
    }
  }

  families(): readonly Family[] {
    return [
      {
        name: "apiserver_admission_webhook_admission_duration_seconds",
        type: "histogram",
        stability: "STABLE",
        help: "Seconds that webhooks took, by name, operation and whether they refused.",
        samples: [...this.durations],
      },
      {
        name: "apiserver_admission_webhook_request_total",
        type: "counter",
        stability: "ALPHA",
        help: "Calls of webhooks, by name, operation, status and whether they refused.",
        samples: [...this.requests],
      },
      {
        name: "apiserver_admission_webhook_rejection_count",
        type: "counter",
        stability: "ALPHA",
        help: "Writes that a webhook, or the lack of its answer, has refused.",
        samples: [...this.rejections],
      },
      {
        name: "apiserver_admission_webhook_fail_open_count",
        type: "counter",
        stability: "ALPHA",
        help: "Writes that went on although a webhook could not be asked.",
        samples: [...this.failedOpen],
      },
    ];
  }
}

function add(counts: Map<string, number>, values: Labels): void {
  const labels = labelText(values);
  counts.set(labels, (counts.get(labels) ?? 0) + 1);
}
