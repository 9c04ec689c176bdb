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
  const storing: Storing = { writer, run, resource, sentVersion, options };
  const storeAdmitted = (object: Draft): void => {
    // Every name begins with what was admitted, without what came of the last one.
    if (generatesName(object)) seal(object);
    if (resource.custom !== undefined || (run.isLarge && !generatesName(object))) storeInTurns(object, 1);
    else counted(object, () => storeAtOnce(storing, object));
  };
  /** What takes its time to be judged. */
  const storeInTurns = (object: Draft, attempt: number): void => {
    const draft = prepared(storing, object);
    const settle = (causes: readonly Cause[]): void => {
      if (counted(draft, () => storeJudged(storing, draft, causes))) return;
      requireAnotherName(storing, object, draft, attempt);
      storeInTurns(object, attempt + 1);
    };
    run.judge(
      () => law.validateCreate(draft, resource.strategy),
      (causes) => run.next(() => settle(causes)),
    );
  };
  /** Whether it is stored: `store` gives undefined where it is not. */
  const counted = (object: Draft, store: () => JsonObject | undefined): boolean => {
    const hasQuotas = resource.row.namespaced && requireQuota(writer, resource, object);
    const made = store();
    if (made === undefined) return false;
    // The first quota of a namespace is counted as well.
    if (!options.dryRun && (hasQuotas || resource === writer.quotas))
      refreshQuotas(writer, namespace, resource, metadataOf(made).name ?? "");
    done(made);
    return true;
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

/** What is stored, and how. */
interface Storing {
  readonly writer: Writer;
  readonly run: Run;
  readonly resource: ServedResource;
  readonly sentVersion: string;
  readonly options: WriteOptions;
}

/** What was admitted, ready for the store but for a judgement; where a name is generated, a copy with one. */
function prepared({ writer, resource }: Storing, admittedDraft: Draft): Draft {
  const draft = generatesName(admittedDraft) ? { ...admittedDraft } : admittedDraft;
  writer.law.prepareForCreate(draft, resource.strategy, writer.createContext());
  writer.sharedSpecs.share(resource, draft);
  return draft;
}

/** Prepares, validates and stores; a generated name that is taken is drawn again. */
function storeAtOnce(storing: Storing, admittedDraft: Draft): JsonObject {
  const { writer, resource } = storing;
  for (let attempt = 1; ; attempt++) {
    const draft = prepared(storing, admittedDraft);
    const made = storeJudged(storing, draft, writer.law.validateCreate(draft, resource.strategy));
    if (made !== undefined) return made;
    requireAnotherName(storing, admittedDraft, draft, attempt);
  }
}

/** Throws where a draft whose name is taken cannot have another one. */
function requireAnotherName({ writer, resource }: Storing, admittedDraft: Draft, draft: Draft, attempt: number): void {
  const { name = "", namespace = "" } = metadataOf(draft);
  if (!generatesName(admittedDraft)) throw exists(writer, resource, name, namespace);
  if (attempt === nameAttemptsMax) throw generateNameExhausted(resource.name, name);
}

/** Stores a draft unless there are causes against it. Undefined: its name is taken. */
function storeJudged(
  { writer, run, resource, sentVersion, options }: Storing,
  draft: Draft,
  causes: readonly Cause[],
): JsonObject | undefined {
  const { context } = writer;
  const { name = "", namespace = "" } = metadataOf(draft);
  if (causes.length > 0) throw invalidObject(resource, name, causes);
  if (sentVersion !== "" && sentVersion !== "0") {
    const text = "resourceVersion should not be set on objects to be created";
    throw context.profile.createWithVersionStatus === 400 ? badRequest(text) : unmapped(text);
  }
  if (run.isLarge) requireRoomForStatus(writer, resource, draft);
  // A name that is taken is what is wrong first, whatever else is.
  if (resource.strategy.allocatesAddresses && !writer.isTaken(resource, namespace, name))
    allocateAddresses(writer, resource, draft, undefined, options.dryRun);
  return writer.create(resource, draft, options.dryRun, run.isLarge);
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
