/**
 * How long admission takes, under the real server's names of its plugins. Writes that no step has anything to say of are
 * not counted: nothing is asked about them here.
 * Source: the published server's admission metrics.
 */
import type { Micros } from "../../kernel/types.ts";
import { type Family, labelText } from "./exposition.ts";
import { admissionSeconds, Histogram } from "../../contract/histogram.ts";

/** By the names of steps; a step that is given from outside is counted by its own. */
const plugins: Readonly<Record<string, readonly [name: string, type: "admit" | "validate"]>> = {
  "pod priority": ["Priority", "admit"],
  "mutating webhooks": ["MutatingAdmissionWebhook", "admit"],
  "certificate requests": ["CertificateApproval", "validate"],
  "validating policies": ["ValidatingAdmissionPolicy", "validate"],
  "validating webhooks": ["ValidatingAdmissionWebhook", "validate"],
};

export class AdmissionMetrics {
  private readonly durations = new Map<string, Histogram>();
  /** The same by what is cheaper to make than labels. */
  private readonly known = new Map<string, Histogram>();

  passed(step: string, operation: string, tookMicros: Micros, isRejected: boolean): void {
    const key = `${operation} ${isRejected ? "refused" : "passed"} ${step}`;
    let durations = this.known.get(key);
    if (durations === undefined) this.known.set(key, (durations = this.begun(step, operation, isRejected)));
    durations.observe(tookMicros / 1_000_000);
  }

  private begun(step: string, operation: string, isRejected: boolean): Histogram {
    const [name, type] = plugins[step] ?? [step, "admit"];
    const made = new Histogram(admissionSeconds);
    this.durations.set(labelText({ name, type, operation, rejected: String(isRejected) }), made);
    return made;
  }

  families(): readonly Family[] {
    return [
      {
        name: "apiserver_admission_controller_admission_duration_seconds",
        type: "histogram",
        stability: "STABLE",
        help: "Seconds that a step of admission took, by its name, by operation and by whether it refused.",
        samples: [...this.durations],
      },
    ];
  }
}
