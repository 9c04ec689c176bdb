/**
 * Requests for certificates: who may write which part, and conditions that stand once they are set. Who approves and
 * signs is judged in `admission/certificate-requests.ts`.
 * Source: the published strategies and validation.
 */
import { dns1123SubdomainErrors } from "../../../wire/names.ts";
import { decodeBase64 } from "../../../wire/base64.ts";
import { extendedKeyUsages, keyUsages, signingUsage } from "./signers.ts";
import { parseCertificateRequest } from "./request.ts";
import type { Cause } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import {
  duplicateValue,
  forbiddenField,
  invalidValue,
  pushInvalid,
  requiredValue,
  unsupportedValue,
} from "../../objects/causes.ts";
import { jsonEqual } from "../../objects/equality.ts";
import { type Draft, ownChild } from "../../contract/objects.ts";
import { repetition } from "../shared/fields.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import { printer, nameColumn, ageColumn, column, at, none, listAt, textAt } from "../shared/printer.ts";
import { text } from "../shared/columns.ts";
import { humanDuration } from "../../../wire/human-duration.ts";
import type { KindRow } from "../kind-row.ts";
import { plainFields } from "../shared/field-labels.ts";

const certificateRequestRules: KindRules = {
  prepareForUpdate(draft, live, subresource) {
    if (live["spec"] !== undefined) draft["spec"] = live["spec"]; // a request stays what it was
    if (subresource !== "approval") return;
    const { certificate } = statusOf(live);
    const { conditions } = (draft["status"] ?? {}) as JsonObject;
    const status = ownChild(draft, "status");
    for (const field of Object.keys(status)) delete status[field];
    if (certificate !== undefined) status["certificate"] = certificate;
    if (conditions !== undefined) status["conditions"] = conditions;
  },
  validate(object, causes) {
    specCauses((object["spec"] ?? {}) as JsonObject, causes);
    conditionCauses(object, causes);
    certificateCauses(statusOf(object)["certificate"] as string | undefined, causes);
  },
  validateUpdate(object, live, causes) {
    for (const type of lastingTypes) {
      const [after, before] = [conditionsOf(object, type), conditionsOf(live, type)];
      const refuse = (what: string): number =>
        causes.push(
          forbiddenField("status.conditions", `updates may not ${what} a condition of type ${JSON.stringify(type)}`),
        );
      if (after.length < before.length) refuse("remove");
      else if (after.length === before.length && !jsonEqual(after, before)) refuse("modify");
    }
    const { certificate } = statusOf(live);
    if (certificate === undefined || jsonEqual(statusOf(object)["certificate"], certificate)) return;
    causes.push(forbiddenField("status.certificate", "updates may not modify existing certificate content"));
  },
};

/** Conditions that stay as they are. */
export const lastingTypes = ["Approved", "Denied", "Failed"] as const;

export const statusOf = (object: JsonObject | Draft): JsonObject => (object["status"] ?? {}) as JsonObject;

export function conditionsOf(object: JsonObject | Draft, type?: string): readonly JsonObject[] {
  const all = (statusOf(object)["conditions"] ?? []) as readonly JsonObject[];
  return type === undefined ? all : all.filter((condition) => condition["type"] === type);
}

const usageNames = [...new Set([...keyUsages, ...Object.keys(extendedKeyUsages), signingUsage])].sort();
const secondsMin = 600;

function specCauses(spec: JsonObject, causes: Cause[]): void {
  const request = (spec["request"] ?? "") as string;
  const read = parseCertificateRequest(request);
  if ("error" in read) causes.push(invalidValue("spec.request", request, read.error));
  const usages = (spec["usages"] ?? []) as readonly string[];
  if (usages.length === 0) causes.push(requiredValue("spec.usages"));
  const isAgain = repetition();
  usages.forEach((usage, at) => {
    const path = `spec.usages[${at}]`;
    if (isAgain(usage)) causes.push(duplicateValue(path, usage));
    if (!usageNames.includes(usage)) causes.push(unsupportedValue(path, usage, usageNames));
  });
  signerNameCauses((spec["signerName"] ?? "") as string, causes);
  const seconds = spec["expirationSeconds"] as number | undefined;
  if (seconds !== undefined && seconds < secondsMin) {
    const detail = `may not specify a duration less than ${secondsMin} seconds (10 minutes)`;
    causes.push(invalidValue("spec.expirationSeconds", seconds, detail));
  }
}

function signerNameCauses(name: string, causes: Cause[]): void {
  const at = "spec.signerName";
  if (name === "") {
    causes.push(requiredValue(at));
    return;
  }
  const [domain = "", path = "", ...more] = name.split("/");
  if (path === "" || more.length > 0) {
    const detail = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
    causes.push(invalidValue(at, name, detail));
    return;
  }
  if (path === "legacy-unknown") causes.push(invalidValue(at, name, "this signer is not allowed in v1"));
  pushInvalid(at, name, dns1123SubdomainErrors(domain), causes);
  pushInvalid(at, name, dns1123SubdomainErrors(path), causes);
  if (!domain.includes(".")) {
    causes.push(invalidValue(at, name, "should be a domain with at least two segments separated by dots"));
  }
}

function conditionCauses(object: JsonObject, causes: Cause[]): void {
  const seen = new Set<string>();
  conditionsOf(object).forEach((condition, at) => {
    const path = `status.conditions[${at}]`;
    const { type = "", status = "" } = condition as Readonly<Record<string, string>>;
    if (type === "") causes.push(requiredValue(`${path}.type`));
    const supported = (lastingTypes as readonly string[]).includes(type) ? ["True"] : ["True", "False", "Unknown"];
    if (status === "") causes.push(requiredValue(`${path}.status`));
    else if (!supported.includes(status)) causes.push(unsupportedValue(`${path}.status`, status, supported));
    const other = type === "Approved" ? "Denied" : type === "Denied" ? "Approved" : undefined;
    if (other !== undefined && seen.has(other)) {
      causes.push(invalidValue(`${path}.type`, type, "Approved and Denied conditions are mutually exclusive"));
    }
    if (seen.has(type)) causes.push(duplicateValue(`${path}.type`, type));
    seen.add(type);
  });
}

function certificateCauses(base64: string | undefined, causes: Cause[]): void {
  if (base64 === undefined || base64 === "") return;
  const pem = decodeBase64(base64);
  const text = pem instanceof Uint8Array ? new TextDecoder("latin1").decode(pem) : "";
  const labels = [...text.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----/g)].map(([, label]) => label as string);
  const wrong = labels.find((label) => label !== "CERTIFICATE");
  const refuse = (why: string): number => causes.push(invalidValue("status.certificate", "<certificate data>", why));
  if (wrong !== undefined) refuse(`only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(wrong)}`);
  else if (labels.length === 0) refuse("must contain at least one CERTIFICATE PEM block");
}

export const certificateSigningRequestKind: KindRow = {
  resource: "certificates.svc.io/certificatesigningrequests",
  nameRule: "pathSegment",
  rules: certificateRequestRules,
  columns: printer(
    nameColumn,
    ageColumn,
    column("SignerName", "Who is asked to sign.", text("spec.signerName")),
    column("Requestor", "Who asks.", text("spec.username")),
    column("RequestedDuration", "How long the certificate should last.", (it) => {
      const seconds = at(it, "spec.expirationSeconds");
      return seconds === undefined ? none : humanDuration(seconds as number);
    }),
    column("Condition", "What has been decided.", decision),
  ),
  fieldLabels: plainFields("spec.signerName", "metadata.name"),
};

function decision(request: JsonObject): string {
  const types = listAt(request, "status.conditions").map((condition) => condition["type"]);
  const decided = types.includes("Denied") ? "Denied" : types.includes("Approved") ? "Approved" : "Pending";
  const failed = types.includes("Failed") ? ",Failed" : "";
  return decided + failed + (textAt(request, "status.certificate") === "" ? "" : ",Issued");
}
