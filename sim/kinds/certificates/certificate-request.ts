/**
 * Requests for certificates: who may write which part, and conditions that stand once they are set. Who approves and
 * signs is judged in `admission/certificate-requests.ts`.
 * Source: the published strategies and validation.
 */
import { dns1123SubdomainErrors } from "../../../wire/names.ts";
import { decodeBase64 } from "../../../wire/base64.ts";
import { extendedKeyUsages, signingUsage, keyUsages } from "./signers.ts";
import { parseCertificateRequest } from "./request.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { forbiddenField } from "../../objects/causes.ts";
import { jsonEqual } from "../../objects/equality.ts";
import { type Draft, ownChild } from "../../contract/objects.ts";
import type { KindRules } from "../../objects/kind-rules.ts";
import { printer, nameColumn, ageColumn, column, at, none, listAt, textAt } from "../shared/printer.ts";
import { text } from "../shared/columns.ts";
import { humanDuration } from "../../../wire/human-duration.ts";
import type { KindRow } from "../kind-row.ts";
import { plainFields } from "../shared/field-labels.ts";
import type { Place } from "../../objects/place.ts";
import {
  required,
  oneOf,
  fieldRules,
  always,
  struct,
  format,
  each,
  all,
  distinct,
  atLeast,
  unlessEmpty,
} from "../../objects/rules.ts";

/** Conditions that stay as they are. */
export const lastingTypes = ["Approved", "Denied", "Failed"] as const;

export const statusOf = (object: JsonObject | Draft): JsonObject => (object["status"] ?? {}) as JsonObject;

export function conditionsOf(object: JsonObject | Draft, type?: string): readonly JsonObject[] {
  const all = (statusOf(object)["conditions"] ?? []) as readonly JsonObject[];
  return type === undefined ? all : all.filter((condition) => condition["type"] === type);
}

const usageNames = [...new Set([...keyUsages, ...Object.keys(extendedKeyUsages), signingUsage])].sort();
const secondsMin = 600;

function requestErrors(request: string): readonly string[] {
  const read = parseCertificateRequest(request);
  return "error" in read ? [read.error] : [];
}

function signerName(name: string, at: Place): void {
  const [domain = "", path = "", ...more] = name.split("/");
  if (path === "" || more.length > 0) {
    at.invalid(name, "must be a fully qualified domain and path of the form 'example.com/signer-name'");
    return;
  }
  if (path === "legacy-unknown") at.invalid(name, "this signer is not allowed in v1");
  at.invalidFor(name, dns1123SubdomainErrors(domain));
  at.invalidFor(name, dns1123SubdomainErrors(path));
  if (!domain.includes(".")) at.invalid(name, "should be a domain with at least two segments separated by dots");
}

const lasting = required(oneOf(["True"]));
const passing = required(oneOf(["True", "False", "Unknown"]));

function conditions(list: readonly JsonObject[], at: Place): void {
  const seen = new Set<string>();
  at.eachItem(list, (condition: JsonObject) => {
    const { type = "", status } = condition as Readonly<Record<string, string>>;
    at.judge("type", type, required());
    at.judge("status", status, (lastingTypes as readonly string[]).includes(type) ? lasting : passing);
    const other = type === "Approved" ? "Denied" : type === "Denied" ? "Approved" : undefined;
    if (other !== undefined && seen.has(other)) {
      at.of("type").invalid(type, "Approved and Denied conditions are mutually exclusive");
    }
    if (seen.has(type)) at.of("type").duplicate(type);
    seen.add(type);
  });
}

function certificate(base64: string, at: Place): void {
  const pem = decodeBase64(base64);
  const text = pem instanceof Uint8Array ? new TextDecoder("latin1").decode(pem) : "";
  const labels = [...text.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----/g)].map(([, label]) => label as string);
  const wrong = labels.find((label) => label !== "CERTIFICATE");
  const refuse = (why: string): void => at.invalid("<certificate data>", why);
  if (wrong !== undefined) refuse(`only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(wrong)}`);
  else if (labels.length === 0) refuse("must contain at least one CERTIFICATE PEM block");
}

const certificateRequestRules: KindRules = {
  prepareForUpdate(draft, live, subresource) {
    if (live["spec"] !== undefined) draft["spec"] = live["spec"]; // a request stays what it was
    if (subresource !== "approval") return;
    const { certificate: issued } = statusOf(live);
    const { conditions: decided } = (draft["status"] ?? {}) as JsonObject;
    const status = ownChild(draft, "status");
    for (const field of Object.keys(status)) delete status[field];
    if (issued !== undefined) status["certificate"] = issued;
    if (decided !== undefined) status["conditions"] = decided;
  },
  validate: fieldRules({
    spec: always(
      struct({
        request: always(format(requestErrors)),
        usages: required(each(all(distinct, oneOf(usageNames)))),
        signerName: required(signerName),
        expirationSeconds: atLeast(
          secondsMin,
          `may not specify a duration less than ${secondsMin} seconds (10 minutes)`,
        ),
      }),
    ),
    "status.conditions": conditions,
    "status.certificate": unlessEmpty(certificate),
  }),
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
    const { certificate: issued } = statusOf(live);
    if (issued === undefined || jsonEqual(statusOf(object)["certificate"], issued)) return;
    causes.push(forbiddenField("status.certificate", "updates may not modify existing certificate content"));
  },
};

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
