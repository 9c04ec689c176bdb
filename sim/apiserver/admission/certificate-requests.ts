/**
 * Who asks for a certificate is noted by the server; who approves needs the verb `approve` on the signer, and who signs
 * `sign`; each writes through a path of its own. Nobody is given the superusers' group by a signature.
 * Source: the published strategies and the admission plugins CertificateApproval, CertificateSigning and
 * CertificateSubjectRestriction.
 */
import { groupInDialect } from "../../../wire/dialect.ts";
import { formatTime } from "../../../wire/time.ts";
import type { Clock } from "../../kernel/types.ts";
import type { User } from "../access/authenticate.ts";
import type { Attributes, Authorizer } from "../access/authorize.ts";
import { type Ask, judged } from "../access/judgement.ts";
import { superuserGroup } from "../access/modes.ts";
import { parseCertificateRequest } from "../../kinds/certificates/request.ts";
import { signerName } from "../../kinds/certificates/signers.ts";
import { type ApiError, forbidden, invalid } from "../../contract/errors.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { forbiddenField } from "../../objects/causes.ts";
import { jsonEqual } from "../../objects/equality.ts";
import { conditionsOf, lastingTypes, statusOf } from "../../kinds/certificates/certificate-request.ts";
import type { Dialect } from "../../../wire/dialect.ts";
import type { AdmissionReview, AdmissionStep, AdmissionVerdict } from "./admission.ts";

export interface CertificateRequestPorts {
  readonly dialect: Dialect;
  readonly clock: Clock;
  readonly authorize: Authorizer;
}

export function certificateRequests(ports: CertificateRequestPorts): AdmissionStep {
  const group = groupInDialect(ports.dialect, "certificates.svc.io");
  return {
    name: "certificate requests",
    sideEffects: false,
    handles: ({ operation, place }) =>
      place.resourceName.group === group &&
      place.resourceName.resource === "certificatesigningrequests" &&
      (operation === "CREATE" || (operation === "UPDATE" && place.subresource !== undefined)),
    admit(review, done) {
      if (review.operation === "UPDATE") {
        return judged(
          ports.authorize,
          (ask) => decided(ports, ask, review),
          (judgement) => done(judgement()),
        );
      }
      done(asked(ports, review));
      return () => {};
    },
  };
}

/** A new request: whose it is, is what the credentials say. */
function asked(
  { dialect }: CertificateRequestPorts,
  { object = {}, user, place, name }: AdmissionReview,
): AdmissionVerdict {
  const spec = (object["spec"] ?? {}) as JsonObject;
  const read = parseCertificateRequest((spec["request"] ?? "") as string);
  const forServer = spec["signerName"] === signerName(dialect, "kube-apiserver-client");
  if (forServer && !("error" in read) && read.organizations.includes(superuserGroup)) {
    const why = `use of ${signerName(dialect, "kube-apiserver-client")} signer with ${superuserGroup} group is not allowed`;
    return forbidden(place.resourceName, name, why);
  }
  return { object: { ...object, spec: { ...withoutAsker(spec), ...askerOf(user) } } };
}

function withoutAsker(spec: JsonObject): JsonObject {
  const { username: _u, uid: _i, groups: _g, extra: _e, ...rest } = spec;
  return rest;
}

function askerOf({ name, uid, groups, extra }: User): JsonObject {
  return { username: name, ...(uid === "" ? {} : { uid }), groups, ...(extra === undefined ? {} : { extra }) };
}

/** Of an update through `approval` or `status`: may they, and is it the right path? */
function decided(ports: CertificateRequestPorts, ask: Ask, review: AdmissionReview): AdmissionVerdict {
  const { object = {}, oldObject = {}, place } = review;
  const approves = place.subresource?.subresource === "approval";
  if (!approves) {
    const wrong = decidesByStatus(review, oldObject);
    if (wrong !== undefined) return wrong;
  }
  const signs =
    !jsonEqual(statusOf(object)["certificate"], statusOf(oldObject)["certificate"]) ||
    conditionsOf(object, "Failed").length > conditionsOf(oldObject, "Failed").length;
  const verb = approves ? "approve" : signs ? "sign" : undefined;
  const refused = verb === undefined ? undefined : lacksVerb(ask, review, verb);
  return refused ?? { object: withTimes(ports, object, oldObject) };
}

/** Only the approval path adds a decision. */
function decidesByStatus({ object = {}, name, place }: AdmissionReview, old: JsonObject): ApiError | undefined {
  const causes = ["Approved", "Denied"]
    .filter((type) => conditionsOf(object, type).length > conditionsOf(old, type).length)
    .map((type) =>
      forbiddenField("status.conditions", `updates may not add a condition of type ${JSON.stringify(type)}`),
    );
  return causes.length === 0 ? undefined : invalid(place.row.kind, place.resourceName.group, name, causes);
}

/** The verb on the signer itself, or on all of its domain. */
function lacksVerb(ask: Ask, review: AdmissionReview, verb: string): ApiError | undefined {
  const { place, user, oldObject = {}, name } = review;
  const signer = ((oldObject["spec"] ?? {}) as JsonObject)["signerName"] as string;
  const names = [signer, `${signer.split("/")[0] as string}/*`];
  const isAllowed = names.some((each) => {
    const attributes: Attributes = {
      is: "resource",
      verb,
      resource: { group: place.resourceName.group, resource: "signers" },
      version: "*",
      subresource: "",
      namespace: "",
      name: each,
    };
    return ask(user, attributes).allowed;
  });
  if (isAllowed) return undefined;
  return forbidden(
    place.resourceName,
    name,
    `user not permitted to ${verb} requests with signerName ${JSON.stringify(signer)}`,
  );
}

/** When a condition was last written, and since when it has been as it is. */
function withTimes({ clock }: CertificateRequestPorts, object: JsonObject, old: JsonObject): JsonObject {
  const conditions = conditionsOf(object);
  if (conditions.length === 0) return object;
  const now = formatTime(Math.floor((clock.epochUnixMillis + clock.nowMicros() / 1000) / 1000));
  const timed = conditions.map((condition) => {
    const same = conditionsOf(old, condition["type"] as string).find(({ status }) => status === condition["status"]);
    const lasting = (lastingTypes as readonly unknown[]).includes(condition["type"]) ? same : undefined;
    return {
      ...condition,
      lastUpdateTime: condition["lastUpdateTime"] ?? lasting?.["lastUpdateTime"] ?? now,
      lastTransitionTime: condition["lastTransitionTime"] ?? same?.["lastTransitionTime"] ?? now,
    };
  });
  return { ...object, status: { ...statusOf(object), conditions: timed as unknown as Json } };
}
