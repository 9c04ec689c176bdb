/**
 * TracingConfiguration: where traces of requests go, and how many.
 * Source: document 2, TracingConfiguration; the facts, section 7 (texts of errors).
 */
import type { z } from "zod";
import { parseUrl } from "../../wire/urls.ts";
import type { Cause } from "../contract/errors.ts";
import { invalidValue } from "../objects/causes.ts";
import type { Setting } from "./setting.ts";
import { fieldsOf, header, int32, text } from "./shapes.ts";

export const tracingShape = fieldsOf(
  { ...header, endpoint: text.optional(), samplingRatePerMillion: int32.optional() },
  ["apiVersion", "kind"],
);

export interface TracingSettings {
  /** The collector, as gRPC names it. */
  readonly endpoint: string;
  /** Of spans without a sampled parent; undefined: none of them. */
  readonly samplesPerMillion: number | undefined;
}

export const defaultEndpoint = "localhost:4317";

const schemes = ["dns", "unix", "unix-abstract"];
const million = 1_000_000;

export function checkTracing(
  { endpoint, samplingRatePerMillion: rate }: z.infer<typeof tracingShape>,
  _setting: Setting,
  problems: Cause[],
): TracingSettings {
  if (rate !== undefined && rate < 0) {
    problems.push(invalidValue("samplingRatePerMillion", rate, "sampling rate must be positive"));
  }
  if (rate !== undefined && rate > million) {
    const why = "sampling rate per million must be less than or equal to one million";
    problems.push(invalidValue("samplingRatePerMillion", rate, why));
  }
  if (endpoint !== undefined) checkEndpoint(endpoint, problems);
  return { endpoint: endpoint ?? defaultEndpoint, samplesPerMillion: rate };
}

function checkEndpoint(endpoint: string, problems: Cause[]): void {
  const address = endpoint.includes("//") ? endpoint : `dns://${endpoint}`;
  const url = parseUrl(address);
  if ("error" in url) problems.push(invalidValue("endpoint", address, url.error));
  else if (!schemes.includes(url.scheme)) {
    const why = `unsupported scheme: ${url.scheme}.  Options are none, dns, unix, or unix-abstract`;
    problems.push(invalidValue("endpoint", address, why));
  }
}
