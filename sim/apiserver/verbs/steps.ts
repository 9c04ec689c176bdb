/** Steps that several kinds of write take alike. */
import {
  admit,
  type AdmissionOutcome,
  type AdmissionReview,
  type AdmissionStep,
  concerns,
} from "../admission/admission.ts";
import { type Decision, refusal } from "../access/authorize.ts";
import { badRequest } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { digestParts } from "../../objects/digest.ts";
import { largeLeafSteps } from "../../objects/large-leaves.ts";
import { seal } from "../../objects/seal.ts";
import { requireFewOwned } from "../../objects/value-limit.ts";
import { type Draft, metadataOf, ownMetadata } from "../../contract/objects.ts";
import type { Run } from "../requests/run.ts";
import type { ServedResource } from "../catalogue/served-resource.ts";
import { warn } from "./body.ts";
import { type DeleteOptions, deleteOptionsSent, type WriteOptions, writeOptionsSent } from "./options.ts";
import type { Writer } from "./writer.ts";

/** The object's namespace becomes the request's; another one is refused. */
export function settleNamespace(draft: Draft, namespace: string): void {
  const { namespace: sent = "" } = metadataOf(draft);
  if (sent === namespace) return;
  if (sent !== "" && namespace !== "") {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  const metadata = ownMetadata(draft);
  if (namespace === "") delete metadata.namespace;
  else metadata.namespace = namespace;
}

/** A PUT or PATCH cannot rename. Throws 400. */
export function requireName(draft: Draft, name: string): void {
  const { name: sent = "" } = metadataOf(draft);
  if (sent === name) return;
  if (sent === "") {
    throw badRequest("the name of the object (based on URL) was undeterminable: name must be provided");
  }
  throw badRequest(`the name of the object (${sent}) does not match the name on the URL (${name})`);
}

/** Who makes an object by a PUT or a PATCH must be allowed to create it as well; else the run ends with 403. */
export function requireCreate({ context }: Writer, run: Run, resource: ServedResource, proceed: () => void): void {
  const { namespace, name } = run.resourcePlace;
  const attributes = {
    is: "resource",
    verb: "create",
    resource: resource.name,
    version: resource.row.version,
    subresource: "",
    namespace,
    name,
  } as const;
  run.await<Decision>(
    (done) => context.authorizer(run.user, attributes, done),
    (decision) => {
      if (!decision.allowed) throw refusal(run.user, attributes, decision.reason);
      proceed();
    },
  );
}

/** Notes who wrote which fields. Of a large object `requireFewTracked` is to follow. */
function track(
  writer: Writer,
  run: Run,
  resource: ServedResource,
  draft: Draft,
  live: JsonObject | undefined,
  options: WriteOptions,
  subresource: string,
): void {
  writer.law.track(draft, live, resource.strategy, {
    manager: options.fieldManager === "" ? writer.managerOf(run.request.headers["user-agent"]) : options.fieldManager,
    apiVersion: resource.apiVersion,
    subresource,
    now: writer.times.now(),
  });
}

/** As `track`, where a large object may be new or have grown: what takes long of it is done before, in parts. Then goes on. */
export function trackInSteps(...of: [...Parameters<typeof track>, proceed: () => void]): void {
  const [writer, run, resource, draft, live, options, subresource, proceed] = of;
  const tracked = (): void => track(writer, run, resource, draft, live, options, subresource);
  if (run.isLarge) {
    run.steps(largeLeafSteps(live, draft, true), () => run.next(() => run.judge(tracked, proceed)));
    return;
  }
  tracked();
  proceed();
}

/** Throws 413 for a large object whose owned fields have become too many; then goes on, in an event of its own. */
export function requireFewTracked(run: Run, draft: Draft, proceed: () => void): void {
  if (!run.isLarge) {
    proceed();
    return;
  }
  run.next(() => {
    requireFewOwned(metadataOf(draft).managedFields);
    run.next(proceed);
  });
}

/**
 * A draft on its way to the store: what is large is sealed and digested before, each in an event of its own, so that the write
 * finds that done.
 */
export function readied(run: Run, draft: Draft, proceed: (draft: Draft) => void): void {
  if (!run.isLarge) {
    proceed(draft);
    return;
  }
  run.next(() => {
    seal(draft);
    run.next(() => {
      run.steps(digestParts(draft as JsonObject), () => run.next(() => proceed({ ...draft })));
    });
  });
}

export interface Admission {
  readonly operation: AdmissionReview["operation"];
  readonly namespace: string;
  readonly name: string;
  readonly object: Draft | undefined;
  readonly oldObject: JsonObject | undefined;
  /** Undefined for a connection: it has none beside its object, which is made of options. */
  readonly options: { readonly dryRun: boolean } | DeleteOptions | undefined;
}

/** Passes a draft through the admission steps; the run is parked while one of them takes its time. */
export function admitted(writer: Writer, run: Run, admission: Admission, done: (object: Draft) => void): void {
  const { admission: steps } = writer.context;
  const { operation, namespace, name, object, oldObject, options } = admission;
  const review: AdmissionReview = {
    operation,
    place: run.resourcePlace,
    namespace,
    name,
    user: run.user,
    object: object as JsonObject | undefined,
    oldObject,
    dryRun: options?.dryRun ?? false,
    options: unsaid,
    turn: run,
  };
  if (!concerns(steps, review)) {
    done(object ?? {});
    return;
  }
  pass(writer, run, { ...review, options: optionsSent(options, run) }, done);
}

function optionsSent(options: Admission["options"], { query }: Run): JsonObject {
  if (options === undefined) return unsaid;
  return "propagation" in options ? deleteOptionsSent(options) : writeOptionsSent(options.dryRun, query);
}

const unsaid: JsonObject = {};

function pass(writer: Writer, run: Run, review: AdmissionReview, done: (object: Draft) => void): void {
  const { admission: steps, metrics, clock } = writer.context;
  let start = clock.nowMicros(); // a step begins when the one before it has answered
  const observed = ({ name }: AdmissionStep, isRefused: boolean): void => {
    const end = clock.nowMicros();
    metrics.admission.passed(name, review.operation, end - start, isRefused);
    start = end;
  };
  const span = run.span?.child("admission", "internal", { operation: review.operation });
  const traced = span === undefined ? review : { ...review, span };
  const proceed = (outcome: AdmissionOutcome): void => {
    span?.end({}, "refused" in outcome ? outcome.refused.message : undefined);
    warn(run, outcome.warnings);
    if ("refused" in outcome) throw outcome.refused;
    done((outcome.object ?? {}) as Draft);
  };
  run.await<AdmissionOutcome>((ended) => admit(steps, traced, ended, observed), proceed);
}
