/**
 * `serviceaccounts/x/token`: a token for a service account, for an audience and a time, bound to an object if one is
 * named. Source: the published storage of the subresource and its validation.
 */
import type { BoundResource, Reference, TokenGrant } from "../access/service-account-tokens.ts";
import { badRequest, type Cause, conflict, invalid, notFound } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { invalidValue } from "../../objects/causes.ts";
import { seal } from "../../objects/seal.ts";
import { randomUid } from "../../objects/system-fields.ts";
import { type Draft, metadataOf, ownChild } from "../../contract/objects.ts";
import { offerOf } from "../answers/negotiate.ts";
import { respondObject } from "../answers/respond.ts";
import { formatTime } from "../../../wire/time.ts";
import { groupInDialect } from "../../../wire/dialect.ts";
import { subresourceTarget } from "./binding.ts";
import { decodeInSteps, requireFewDecoded } from "./body.ts";
import { requireBodySize } from "../requests/body-size.ts";
import { type WriteOptions, writeOptions } from "./options.ts";
import { admitted, settleNamespace } from "./steps.ts";
import type { SubresourceCall } from "./resource-calls.ts";

const secondsDefault = 3600;
const secondsMin = 600;
const secondsMax = 4_294_967_296;

export function requestToken(call: SubresourceCall): void {
  const { run, resource, writer } = call;
  const { context } = writer;
  context.negotiator.negotiate(run.request.headers["accept"], offerOf(run));
  requireBodySize(run);
  const options = writeOptions(context, "CreateOptions", run.query);
  const target = subresourceTarget(run, resource);
  decodeInSteps({ context, run, resource: { target }, level: options.fieldValidation }, (draft) => {
    requireFewDecoded(run, draft);
    grantTo(call, draft, options);
  });
}

function grantTo(call: SubresourceCall, draft: Draft, options: WriteOptions): void {
  const { run, writer } = call;
  const { context } = writer;
  const { namespace, name } = run.resourcePlace;
  settleNamespace(draft, namespace);
  const { name: sent = "" } = metadataOf(draft);
  if (sent !== "" && sent !== name) {
    const cause = invalidValue("metadata.name", sent, "must match the service account name if specified");
    throw invalid("TokenRequest", groupInDialect(context.profile.dialect, "authentication.svc.io"), name, [cause]);
  }
  const admission = { operation: "CREATE", namespace, name, object: draft, oldObject: undefined, options } as const;
  const { signer } = context.tokens.ports;
  admitted(writer, run, admission, (object) =>
    run.await<undefined>(
      (done) => signer.prepare(() => done(undefined)),
      () => run.steps(granting(call, object), (made) => respondObject(context, run, 201, made)),
    ),
  );
}

function* granting(call: SubresourceCall, draft: Draft): Generator<void, JsonObject> {
  const { run, resource, writer } = call;
  const { context } = writer;
  const { namespace, name } = run.resourcePlace;
  const spec = settledSpec(call, draft);
  const account = writer.live(resource, namespace, name);
  if (account === undefined) throw notFound(resource.name, name);
  const { uid = "" } = metadataOf(account.object);
  const { nowSeconds } = context.tokens.ports;
  const expirationSeconds = spec["expirationSeconds"] as number;
  const grant: TokenGrant = {
    namespace,
    account: { name, uid },
    audiences: spec["audiences"] as readonly string[],
    expirationSeconds,
    bound: boundTo(call, spec["boundObjectRef"] as JsonObject | null),
    id: randomUid(writer.tokenPrng),
  };
  draft["metadata"] = { name, namespace, creationTimestamp: writer.times.now() };
  draft["status"] = {
    expirationTimestamp: formatTime(nowSeconds() + expirationSeconds),
    token: yield* context.tokens.issuing(grant),
  };
  yield;
  return seal(draft) as JsonObject;
}

/** Defaults and rules. Throws 422. */
function settledSpec({ writer }: SubresourceCall, draft: Draft): Draft {
  const { tokens, profile } = writer.context;
  const spec = ownChild(draft, "spec");
  const audiences = (spec["audiences"] ?? []) as readonly string[];
  if (audiences.length === 0) spec["audiences"] = tokens.ports.audiences;
  spec["expirationSeconds"] ??= secondsDefault;
  spec["boundObjectRef"] ??= null;
  const seconds = spec["expirationSeconds"] as number;
  const causes: Cause[] = [];
  const refuse = (why: string): number => causes.push(invalidValue("spec.expirationSeconds", seconds, why));
  if (seconds < secondsMin) refuse("may not specify a duration less than 10 minutes");
  if (seconds > secondsMax) refuse("may not specify a duration larger than 2^32 seconds");
  if (causes.length > 0) {
    throw invalid("TokenRequest", groupInDialect(profile.dialect, "authentication.svc.io"), "", causes);
  }
  return spec;
}

const bindable: Readonly<Record<string, BoundResource>> = { Pod: "pods", Secret: "secrets", Node: "nodes" };

/** The objects by whose end the token ends. Throws 400, 404 or 409. */
function boundTo({ run, writer }: SubresourceCall, ref: JsonObject | null): TokenGrant["bound"] {
  if (ref === null) return {};
  const { namespace, name: account } = run.resourcePlace;
  const { kind = "", apiVersion = "", name = "", uid: wanted = "" } = ref as Readonly<Record<string, string>>;
  const resource = apiVersion === "v1" && Object.hasOwn(bindable, kind) ? bindable[kind] : undefined;
  if (resource === undefined) throw badRequest(`cannot bind token to object of type ${apiVersion}, Kind=${kind}`);
  const served = writer.resources.named("", "v1", resource);
  const found = writer.live(served, resource === "nodes" ? "" : namespace, name);
  if (found === undefined) throw notFound(served.name, name);
  const { uid = "" } = metadataOf(found.object);
  if (wanted !== "" && wanted !== uid) {
    const why = `the UID in the bound object reference (${wanted}) does not match the UID in record. The object might have been deleted and then recreated`;
    throw conflict({ group: "", resource: kind }, name, why);
  }
  const own = { [resource]: { name, uid } };
  if (resource !== "pods") return own;
  const { serviceAccountName = "default", nodeName = "" } = (found.object["spec"] ?? {}) as Record<string, string>;
  if (serviceAccountName !== account) {
    throw badRequest(
      `cannot bind token for serviceaccount ${JSON.stringify(account)} to pod running with different serviceaccount name.`,
    );
  }
  return nodeName === "" ? own : { ...own, nodes: nodeOf(writer, nodeName) };
}

function nodeOf(writer: SubresourceCall["writer"], name: string): Reference {
  const node = writer.live(writer.resources.named("", "v1", "nodes"), "", name);
  return { name, uid: node === undefined ? "" : (metadataOf(node.object).uid ?? "") };
}
