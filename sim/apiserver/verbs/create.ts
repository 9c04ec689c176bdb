/**
 * POST on a collection, and the creation that a PUT may turn into.
 * Source: document 1, verbs and generated values; the facts, section 4, Create.
 */
import { refreshQuotas, requireQuota, requireRoomForStatus, whenCounted } from "./resource-quota.ts";
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
import { decodeInSteps, requireFewDecoded, warn } from "./body.ts";
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
  decodeInSteps({ context, run, resource, level: options.fieldValidation }, (draft) => {
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
  const { law } = writer;
  const sentVersion = metadataOf(draft).resourceVersion ?? "";
  law.wipe(draft);
  const { namespace = "", name = "" } = metadataOf(draft);
  const creation: Creation = { writer, run, resource, sentVersion, options, answer };
  const admit = (): void => {
    if (resource.row.namespaced) {
      const refused = law.refusesCreation(writer.namespace(namespace), namespace, resource.name, name);
      if (refused !== undefined) throw refused;
    }
    const admission = { operation: "CREATE", namespace, name, object: draft, oldObject: undefined, options } as const;
    admitted(writer, run, admission, (object) => {
      settleNamespace(object, namespace); // nobody on the way may move it
      if (resource.custom !== undefined) warn(run, finalizerWarnings(object as JsonObject, undefined));
      readied(run, object, (ready) =>
        whenCounted(writer, run, resource, namespace, () => storeAdmitted(creation, ready)),
      );
    });
  };
  if (owned) run.next(admit);
  else trackInSteps(writer, run, resource, draft, undefined, options, "", () => requireFewTracked(run, draft, admit));
}

function generatesName(draft: Draft): boolean {
  const { name = "", generateName = "" } = metadataOf(draft);
  return name === "" && generateName !== "";
}

/** What is stored, how, and who is told. */
interface Creation {
  readonly writer: Writer;
  readonly run: Run;
  readonly resource: ServedResource;
  readonly sentVersion: string;
  readonly options: WriteOptions;
  readonly answer: (made: JsonObject) => void;
}

function storeAdmitted(creation: Creation, object: Draft): void {
  const { resource, run } = creation;
  const generates = generatesName(object);
  // Every name begins with what was admitted, without what came of the last one.
  if (generates) seal(object);
  if (resource.custom !== undefined || run.isLarge) storeInTurns(creation, object, 1);
  else {
    const hasQuotas = hasQuotasWithRoom(creation, object);
    stored(creation, storeAtOnce(creation, object), hasQuotas);
  }
}

/** What takes its time to be judged. */
function storeInTurns(creation: Creation, object: Draft, attempt: number): void {
  const { writer, run, resource } = creation;
  const draft = prepared(creation, object);
  const settle = (causes: readonly Cause[]): void => {
    const hasQuotas = hasQuotasWithRoom(creation, draft);
    const made = storeJudged(creation, draft, causes);
    if (made !== undefined) stored(creation, made, hasQuotas);
    else {
      requireAnotherName(creation, object, draft, attempt);
      storeInTurns(creation, object, attempt + 1);
    }
  };
  run.judge(
    () => writer.law.validateCreate(draft, resource.strategy),
    (causes) => run.next(() => settle(causes)),
  );
}

const hasQuotasWithRoom = ({ writer, resource }: Creation, object: Draft): boolean =>
  resource.row.namespaced && requireQuota(writer, resource, object);

/** The first quota of a namespace is counted as well. */
function stored({ writer, run, resource, options, answer }: Creation, made: JsonObject, hasQuotas: boolean): void {
  if (!options.dryRun && (hasQuotas || resource === writer.quotas)) {
    const { namespace = "", name = "" } = metadataOf(made);
    refreshQuotas(writer, namespace, resource, name);
  }
  warn(run, resource.strategy.rules.warnings?.(made, undefined) ?? []);
  answer(made);
}

/** What was admitted, ready for the store but for a judgement; where a name is generated, a copy with one. */
function prepared({ writer, resource }: Creation, admittedDraft: Draft): Draft {
  const draft = generatesName(admittedDraft) ? { ...admittedDraft } : admittedDraft;
  writer.law.prepareForCreate(draft, resource.strategy, writer.createContext());
  writer.sharedSpecs.share(resource, draft);
  return draft;
}

/** Prepares, validates and stores; a generated name that is taken is drawn again. */
function storeAtOnce(creation: Creation, admittedDraft: Draft): JsonObject {
  const { writer, resource } = creation;
  for (let attempt = 1; ; attempt++) {
    const draft = prepared(creation, admittedDraft);
    const made = storeJudged(creation, draft, writer.law.validateCreate(draft, resource.strategy));
    if (made !== undefined) return made;
    requireAnotherName(creation, admittedDraft, draft, attempt);
  }
}

/** Throws where a draft whose name is taken cannot have another one. */
function requireAnotherName({ writer, resource }: Creation, admittedDraft: Draft, draft: Draft, attempt: number): void {
  const { name = "", namespace = "" } = metadataOf(draft);
  if (!generatesName(admittedDraft)) throw exists(writer, resource, name, namespace);
  if (attempt === nameAttemptsMax) throw generateNameExhausted(resource.name, name);
}

/** Stores a draft unless there are causes against it. Undefined: its name is taken. */
function storeJudged(
  { writer, run, resource, sentVersion, options }: Creation,
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
