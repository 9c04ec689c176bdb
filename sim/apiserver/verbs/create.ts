/**
 * POST on a collection, and the creation that a PUT may turn into.
 * Source: document 1, verbs and generated values; the facts, section 4, Create.
 */
import { refreshQuotas, requireQuota, requireRoomForStatus } from "./resource-quota.ts";
import { finalizerWarnings } from "../../kinds/custom/finalizer-warnings.ts";
import {
  alreadyExists,
  type ApiError,
  type Cause,
  badRequest,
  generateNameExhausted,
  unmapped,
} from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { seal } from "../../objects/seal.ts";
import { type Draft, metadataOf } from "../../contract/objects.ts";
import { offerOf } from "../answers/negotiate.ts";
import { respondObject } from "../answers/respond.ts";
import type { Run } from "../requests/run.ts";
import { type ServedResource, storageKey } from "../catalogue/served-resource.ts";
import { bodyReader, requireFewDecoded, warn } from "./body.ts";
import { requireBodySize } from "../requests/body-size.ts";
import { type WriteOptions, writeOptions } from "./options.ts";
import { allocateAddresses } from "./service-addresses.ts";
import { admitted, readied, settleNamespace, requireFewTracked, trackInSteps } from "./steps.ts";
import { invalidObject, type Writer } from "./writer.ts";

/** Attempts at a generated name before the server gives up. */
const nameAttemptsMax = 8;

export function create(writer: Writer, run: Run, resource: ServedResource): void {
  const { context } = writer;
  context.negotiator.negotiate(run.request.headers["accept"], offerOf(run)); // a 406 must not leave an object behind
  requireBodySize(run);
  const options = writeOptions(context, "CreateOptions", run.query);
  const decoded = bodyReader(context, run, resource, options.fieldValidation);
  run.next(() => {
    const draft = decoded();
    settleNamespace(draft, run.resourcePlace.namespace);
    run.next(() => {
      requireFewDecoded(run, draft);
      run.next(() =>
        createDraft(writer, run, resource, draft, options, (made) => respondObject(context, run, 201, made)),
      );
    });
  });
}

/**
 * Creates what a request wants created, from its decoded body on. Errors go to the run. An application has `owned` its
 * fields already.
 */
export function createDraft(
  writer: Writer,
  run: Run,
  resource: ServedResource,
  draft: Draft,
  options: WriteOptions,
  answer: (made: JsonObject) => void,
  owned = false,
): void {
  const done = (made: JsonObject): void => {
    warn(run, resource.strategy.rules.warnings?.(made, undefined) ?? []);
    answer(made);
  };
  const { law } = writer;
  const sentVersion = metadataOf(draft).resourceVersion ?? "";
  law.wipe(draft);
  const { namespace = "", name = "" } = metadataOf(draft);
  const storeAdmitted = (object: Draft): void => {
    if (!run.isLarge || generatesName(object)) {
      storeJudged(object);
      return;
    }
    const causes = judged(writer, resource, object);
    run.next(() => storeJudged(object, causes));
  };
  const storeJudged = (object: Draft, causes?: readonly Cause[]): void => {
    if (!resource.row.namespaced) {
      done(store(writer, run, resource, object, sentVersion, options, causes));
      return;
    }
    const hasQuotas = requireQuota(writer, resource, object);
    const made = store(writer, run, resource, object, sentVersion, options, causes);
    // The first quota of a namespace is counted as well.
    if (!options.dryRun && (hasQuotas || resource === writer.quotas))
      refreshQuotas(writer, namespace, resource, metadataOf(made).name ?? "");
    done(made);
  };
  const admit = (): void => {
    if (resource.row.namespaced) {
      const refused = law.refusesCreation(writer.namespace(namespace), namespace, resource.name, name);
      if (refused !== undefined) throw refused;
    }
    const admission = { operation: "CREATE", namespace, name, object: draft, oldObject: undefined, options } as const;
    admitted(writer, run, admission, (object) => {
      settleNamespace(object, namespace); // nobody on the way may move it
      if (resource.custom !== undefined) warn(run, finalizerWarnings(object as JsonObject, undefined));
      readied(run, object, storeAdmitted);
    });
  };
  if (owned) run.next(admit);
  else trackInSteps(writer, run, resource, draft, undefined, options, "", () => requireFewTracked(run, draft, admit));
}

function generatesName(draft: Draft): boolean {
  const { name = "", generateName = "" } = metadataOf(draft);
  return name === "" && generateName !== "";
}

/** What is wrong with a draft, which is ready for the store afterwards. */
function judged(writer: Writer, resource: ServedResource, draft: Draft): readonly Cause[] {
  const { law } = writer;
  law.prepareForCreate(draft, resource.strategy, writer.createContext());
  writer.sharedSpecs.share(resource, draft);
  return law.validateCreate(draft, resource.strategy);
}

/** Prepares, validates and stores; a generated name that is taken is drawn again. `known`: a draft with a name is judged already. */
function store(
  writer: Writer,
  { isLarge }: Run,
  resource: ServedResource,
  admittedDraft: Draft,
  sentVersion: string,
  options: WriteOptions,
  known?: readonly Cause[],
): JsonObject {
  const { context } = writer;
  const generates = known === undefined && generatesName(admittedDraft);
  if (generates) seal(admittedDraft); // every name begins with what was admitted, without what came of the last one
  for (let attempt = 1; ; attempt++) {
    const draft = generates ? { ...admittedDraft } : admittedDraft;
    const causes = known ?? judged(writer, resource, draft);
    const name = metadataOf(draft).name ?? "";
    if (causes.length > 0) throw invalidObject(resource, name, causes);
    if (sentVersion !== "" && sentVersion !== "0") {
      const text = "resourceVersion should not be set on objects to be created";
      throw context.profile.createWithVersionStatus === 400 ? badRequest(text) : unmapped(text);
    }
    if (isLarge) requireRoomForStatus(writer, resource, draft);
    // A name that is taken is what is wrong first, whatever else is.
    if (resource.strategy.allocatesAddresses && !writer.isTaken(resource, metadataOf(draft).namespace ?? "", name))
      allocateAddresses(writer, resource, draft, undefined, options.dryRun);
    const made = writer.create(resource, draft, options.dryRun, isLarge);
    if (made !== undefined) return made;
    if (!generates) throw exists(writer, resource, name, metadataOf(draft).namespace ?? "");
    if (attempt === nameAttemptsMax) throw generateNameExhausted(resource.name, name);
  }
}

function exists(writer: Writer, resource: ServedResource, name: string, namespace: string): ApiError {
  const isUnreadable = writer.context.unreadable.has(storageKey(resource, namespace, name));
  const live = isUnreadable ? undefined : writer.live(resource, namespace, name);
  return alreadyExists(
    resource.name,
    name,
    live !== undefined && metadataOf(live.object).deletionTimestamp !== undefined,
  );
}
