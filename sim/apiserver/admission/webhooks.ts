/**
 * Admission by webhooks: programs elsewhere that are asked about a write, may change it and may refuse it. Which ones
 * there are says what is stored as Mutating- and ValidatingWebhookConfigurations.
 *
 * Mutating ones are asked one after the other, in the order of their configurations' names, each with what the ones
 * before it made of the object; once more those that want it, when a later one changed something. Validating ones are
 * asked all at once. The request is parked meanwhile, on the server's clock.
 * Source: document 1, Admission and Dry-run 3; the published dispatchers.
 */
import { append } from "../../../wire/lists.ts";
import type { Cancel, Clock, Micros, Prng } from "../../kernel/types.ts";
import { ApiError, badRequest, forbidden } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import type { WebhookMetrics, WebhookOutcome } from "../metrics/webhook-metrics.ts";
import { jsonEqual } from "../../objects/equality.ts";
import { randomUid } from "../../objects/system-fields.ts";
import type { ResourcePlace } from "../requests/route.ts";
import { tellable } from "../requests/warnings.ts";
import type { Dialect } from "../../../wire/dialect.ts";
import type { Authorizer } from "../access/authorize.ts";
import { type Ask, judged } from "../access/judgement.ts";
import type { AdmissionReview, AdmissionStep, AdmissionVerdict } from "./admission.ts";
import { requestValues } from "./expression-variables.ts";
import { requestVariables } from "../../kinds/admission/request-variables.ts";
import { matchConditions } from "../../kinds/admission/match-conditions.ts";
import { type Lookups, lookedUpOnce, wantedForm, type Webhook } from "./webhooks-match.ts";
import { shownAs } from "./equivalents.ts";
import {
  denial,
  failedCall,
  failureText,
  isLongReply,
  patchedSteps,
  replySteps,
  reviewBody,
} from "./webhooks-review.ts";

/** One call, as the port that carries it out sees it. */
export interface WebhookCall {
  /** With the timeout as a parameter; a service's is `https://name.namespace.svc:port/path`. */
  readonly url: string;
  /** The service, when the configuration names one instead of a URL. */
  readonly service: { readonly namespace: string; readonly name: string } | undefined;
  /** Certificates to trust, PEM; undefined for those of the system. */
  readonly caBundle: string | undefined;
  /** An AdmissionReview. The objects in it are the request's own, and not to be changed. */
  readonly body: JsonObject;
  /** Common to calls about the same objects: for as long as there are any of them these stay as they are. Default: one by itself. */
  readonly round?: object;
  /** That say which trace it belongs to. Default: none. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** What came back: a body with its status code, or why there is none. */
export type WebhookAnswer = { readonly status: number; readonly body: unknown } | { readonly error: string };

/**
 * Carries out calls. In simulation a function that answers by itself or by a process on the virtual clock. Calls
 * `done` at most once, at once or later in an event of the server; never after the returned cancel.
 */
export type WebhookCaller = (call: WebhookCall, done: (answer: WebhookAnswer) => void) => Cancel;

/** What is asked of a request at one time. */
interface Round extends WebhookPorts {
  readonly round: object;
}

export interface WebhookPorts extends Lookups {
  readonly dialect: Dialect;
  readonly authorizer: Authorizer;
  readonly clock: Clock;
  readonly prng: Prng;
  readonly call: WebhookCaller;
  readonly metrics: WebhookMetrics;
  /** Stored configurations in the order of their names. */
  readonly configurations: (kind: "mutating" | "validating") => readonly JsonObject[];
  /** A patched object read again as one of the kind that bodies have at a place, with its defaults. */
  readonly decodeSteps: (place: ResourcePlace, object: JsonObject, isLarge: boolean) => Generator<void, JsonObject>;
}

export function mutatingWebhooks(ports: WebhookPorts): AdmissionStep {
  return step(ports, "mutating", mutate);
}

export function validatingWebhooks(ports: WebhookPorts): AdmissionStep {
  return step(ports, "validating", validate);
}

type Dispatch = (
  ports: Round,
  review: AdmissionReview,
  webhooks: readonly Webhook[],
  done: (verdict: AdmissionVerdict) => void,
) => Cancel;

function step(ports: WebhookPorts, kind: "mutating" | "validating", dispatch: Dispatch): AdmissionStep {
  return {
    name: `${kind} webhooks`,
    sideEffects: false, // each webhook says so for itself
    handles: (review) => ports.configurations(kind).length > 0 && !isConfiguration(review),
    admit(review, done) {
      const webhooks = ports.configurations(kind).flatMap(({ webhooks: list }) => (list ?? []) as unknown as Webhook[]);
      return dispatch({ ...ports, ...lookedUpOnce(ports), round: {} }, review, webhooks, done);
    },
  };
}

/** Nothing may keep a configuration, or a policy, from being mended. */
function isConfiguration({ place }: AdmissionReview): boolean {
  return place.row.group === "admissionregistration.svc.io";
}

/** One after the other; then those again that had their say before something changed, if they want to. */
function mutate(
  ports: Round,
  review: AdmissionReview,
  webhooks: readonly Webhook[],
  done: (verdict: AdmissionVerdict) => void,
): Cancel {
  let current = review;
  let warnings: readonly string[] = [];
  /** Asked, and interested in what changes afterwards. */
  let settled: Webhook[] = [];
  const again: Webhook[] = [];
  let cancel: Cancel = () => {};

  const ask = (queue: readonly Webhook[], at: number, isFirst: boolean): void => {
    let isJudged = false;
    const cancelJudgement = judged(
      ports.authorizer,
      (asker) => firstWanted(ports, asker, queue, at, current),
      (judgement) => {
        isJudged = true;
        const found = judgement();
        if (found instanceof ApiError) done({ refused: found, warnings });
        else if (found !== undefined) call(queue, isFirst, found);
        else if (isFirst && again.length > 0) ask([...again], 0, false);
        else done({ object: current.object, warnings });
      },
      { clock: ports.clock, budget: current.turn.budget },
    );
    if (!isJudged) cancel = cancelJudgement;
  };

  const call = (queue: readonly Webhook[], isFirst: boolean, { webhook, at, wanted }: Found): void => {
    let answered = false;
    const cancelCall = callWebhook(ports, webhook, wanted.review, true, (verdict) => {
      answered = true;
      warnings = tellable([...warnings, ...verdict.warnings]);
      if ("refused" in verdict) {
        done({ refused: verdict.refused, warnings });
        return;
      }
      if (verdict.object !== undefined && !jsonEqual(verdict.object, wanted.review.object)) {
        current = { ...current, object: wanted.taken(verdict.object) };
        append(again, settled);
        settled = [];
      }
      if (isFirst && webhook.reinvocationPolicy === "IfNeeded") settled.push(webhook);
      ask(queue, at + 1, isFirst);
    });
    // One that answered at once may have led to another call, which is the one to cancel.
    if (!answered) cancel = cancelCall;
  };
  ask(webhooks, 0, true);
  return () => cancel();
}

/** All at once. When all have answered, the first refusal in the order of their answers counts. */
function validate(
  ports: Round,
  review: AdmissionReview,
  webhooks: readonly Webhook[],
  done: (verdict: AdmissionVerdict) => void,
): Cancel {
  let cancel: Cancel = () => {};
  const cancelJudgement = judged(
    ports.authorizer,
    (ask) => wantedOf(ports, ask, webhooks, review),
    (judgement) => {
      const wanted = judgement();
      if (wanted instanceof ApiError) done(wanted);
      else cancel = callAll(ports, wanted, done);
    },
    { clock: ports.clock, budget: review.turn.budget },
  );
  return () => {
    cancelJudgement();
    cancel();
  };
}

interface Found {
  readonly webhook: Webhook;
  /** Its place in the queue. */
  readonly at: number;
  readonly wanted: Wanted;
}

/** The first of a queue from `from` on that is to be asked. */
function firstWanted(
  ports: WebhookPorts,
  ask: Ask,
  queue: readonly Webhook[],
  from: number,
  review: AdmissionReview,
): Found | undefined | ApiError {
  for (let at = from; at < queue.length; at++) {
    const webhook = queue[at] as Webhook;
    const wanted = wants(ports, ask, webhook, review);
    if (wanted instanceof ApiError) return wanted;
    if (wanted !== undefined) return { webhook, at, wanted };
  }
  return undefined;
}

/** A webhook that is to be asked, and the request as it is shown to it. */
interface Asked {
  readonly webhook: Webhook;
  readonly shown: AdmissionReview;
}

function wantedOf(
  ports: WebhookPorts,
  ask: Ask,
  webhooks: readonly Webhook[],
  review: AdmissionReview,
): readonly Asked[] | ApiError {
  const wanted: Asked[] = [];
  for (const webhook of webhooks) {
    const found = wants(ports, ask, webhook, review);
    if (found instanceof ApiError) return found;
    if (found !== undefined) wanted.push({ webhook, shown: found.review });
  }
  return wanted;
}

function callAll(ports: Round, wanted: readonly Asked[], done: (verdict: AdmissionVerdict) => void): Cancel {
  let warnings: readonly string[] = [];
  let refused: ApiError | undefined;
  let openCount = wanted.length;
  if (openCount === 0) {
    done({});
    return () => {};
  }
  const cancels = wanted.map(({ webhook, shown }) =>
    callWebhook(ports, webhook, shown, false, (verdict) => {
      if ("refused" in verdict) refused ??= verdict.refused;
      warnings = tellable([...warnings, ...verdict.warnings]);
      if (--openCount === 0) done(refused === undefined ? { warnings } : { refused, warnings });
    }),
  );
  return () => {
    for (const cancel of cancels) cancel();
  };
}

interface Wanted {
  /** As the webhook sees it. */
  readonly review: AdmissionReview;
  /** What the webhook makes of the object, in the version of the request. */
  readonly taken: (object: JsonObject) => JsonObject;
}

/** How a webhook is to be asked, if at all; a condition that cannot be evaluated decides by the failure policy. */
function wants(
  ports: WebhookPorts,
  ask: Ask,
  webhook: Webhook,
  review: AdmissionReview,
): Wanted | undefined | ApiError {
  const form = wantedForm(webhook, review, ports.namespaceOf, ports.equivalentsOf);
  if (form === undefined) return undefined;
  const wanted =
    form === "as asked"
      ? { review, taken: (object: JsonObject) => object }
      : { review: shownAs(form, review), taken: form.taken };
  const values = () => requestValues(ports.dialect, ask, wanted.review);
  const found = matchConditions(webhook.matchConditions ?? [], requestVariables, values);
  if (typeof found === "string") return found === "matches" ? wanted : undefined;
  if (webhook.failurePolicy === "Ignore") return undefined;
  return forbidden(review.place.resourceName, review.name, found.error);
}

/** What one webhook comes to. */
type Outcome =
  | { readonly refused: ApiError; readonly warnings: readonly string[] }
  | { readonly object?: JsonObject; readonly warnings: readonly string[] };

const defaultTimeoutSeconds = 10;

/** Asks one webhook and judges what it says, or that it says nothing in time. */
function callWebhook(
  ports: Round,
  webhook: Webhook,
  review: AdmissionReview,
  mutating: boolean,
  done: (outcome: Outcome) => void,
): Cancel {
  const { clock, prng, dialect } = ports;
  if (review.dryRun && webhook.sideEffects !== "None" && webhook.sideEffects !== "NoneOnDryRun") {
    done(refusal(badRequest(`admission webhook ${JSON.stringify(webhook.name)} does not support dry run`)));
    return () => {};
  }
  const timeoutSeconds = webhook.timeoutSeconds ?? defaultTimeoutSeconds;
  const uid = randomUid(prng);
  const plain = { ...callOf(webhook, timeoutSeconds, reviewBody(review, uid, dialect)), round: ports.round };
  const span = review.span?.child(`webhook ${webhook.name}`, "client", { "url.full": plain.url });
  const call = span === undefined ? plain : { ...plain, headers: span.headers };
  const calledMicros = clock.nowMicros();
  let isOver = false;
  let cancelWork: Cancel = () => {};
  const ended = ({ verdict, how, code }: Judgement): void => {
    span?.end({ "http.response.status_code": code }, how === "allowed" ? undefined : how);
    ports.metrics.ended({
      name: webhook.name,
      type: mutating ? "admit" : "validating",
      operation: review.operation,
      tookMicros: clock.nowMicros() - calledMicros,
      how,
      code,
      isIgnored: how !== "allowed" && !("refused" in verdict),
    });
    done(verdict);
  };
  const cancelTimer = clock.after((timeoutSeconds * 1_000_000) as Micros, () => {
    cancelWork();
    if (isOver) return;
    isOver = true;
    ended(unreachable(webhook, `Post "${call.url}": context deadline exceeded`));
  });
  const cancelCall = ports.call(call, (answer) => {
    if (isOver) return;
    isOver = true;
    cancelTimer();
    cancelWork = inEvents(clock, review.turn, judgement(ports, webhook, review, uid, answer, mutating), ended);
  });
  // One that answered at once may be judged already.
  if (!isOver) cancelWork = cancelCall;
  return () => {
    isOver = true;
    cancelTimer();
    cancelWork();
  };
}

function callOf(webhook: Webhook, timeoutSeconds: number, body: JsonObject): WebhookCall {
  const { url, service, caBundle } = webhook.clientConfig;
  const { namespace = "", name = "", port = 443, path = "" } = service ?? {};
  const base = url ?? `https://${String(name)}.${String(namespace)}.svc:${String(port)}${String(path)}`;
  return {
    url: `${base}${base.includes("?") ? "&" : "?"}timeout=${timeoutSeconds}s`,
    service: service === undefined ? undefined : { namespace: String(namespace), name: String(name) },
    caBundle: caBundle === undefined || caBundle === "" ? undefined : atob(caBundle),
    body,
  };
}

/** As `judging`, also of what cannot be carried out. */
function* judgement(...of: Parameters<typeof judging>): Generator<void, Judgement> {
  try {
    return yield* judging(...of);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { verdict: refusal(error), how: "undoable", code: 0 };
  }
}

function* judging(
  ports: WebhookPorts,
  webhook: Webhook,
  review: AdmissionReview,
  uid: string,
  answer: WebhookAnswer,
  mutating: boolean,
): Generator<void, Judgement> {
  if ("error" in answer) return unreachable(webhook, answer.error);
  if (answer.status < 200 || answer.status > 299) {
    return unreachable(webhook, refusedBy(answer.status, answer.body), answer.status);
  }
  const { turn, object } = review;
  if (isLongReply(answer.body)) turn.isLarge = true;
  const reply = yield* replySteps(answer.body, uid, ports.dialect, mutating);
  if (typeof reply === "string") return { verdict: failed(webhook, reply), how: "unreachable", code: outOfService };
  const { warnings } = reply;
  if (!reply.allowed) {
    const refused = denial(webhook, reply.status);
    return { verdict: { refused, warnings }, how: "denied", code: refused.code };
  }
  if (reply.patch === undefined || object === undefined) return { verdict: { warnings }, how: "allowed", code: 200 };
  const decode = (made: JsonObject) => ports.decodeSteps(review.place, made, turn.isLarge);
  const patched = yield* patchedSteps(object, reply.patch, decode, turn);
  return { verdict: { object: patched, warnings }, how: "allowed", code: 200 };
}

/** Carries out steps: at once, or where the request is large each in an event of its own. Never calls `done` after the returned cancel. */
function inEvents<Result>(
  clock: Clock,
  turn: AdmissionReview["turn"],
  steps: Generator<void, Result>,
  done: (result: Result) => void,
): Cancel {
  let cancel: Cancel = () => {};
  const goOn = (): void => {
    for (;;) {
      const step = steps.next();
      if (step.done === true) {
        done(step.value);
        return;
      }
      if (turn.isLarge) {
        cancel = clock.after(0, goOn);
        return;
      }
    }
  };
  goOn();
  return () => cancel();
}

/** What a call came to, and how it is counted. */
interface Judgement extends Pick<WebhookOutcome, "how" | "code"> {
  readonly verdict: Outcome;
}

/** What a webhook counts as that cannot be asked, or makes no sense. */
const outOfService = 503;

const unreachable = (webhook: Webhook, why: string, code = outOfService): Judgement => ({
  verdict: failed(webhook, `failed to call webhook: ${why}`),
  how: "unreachable",
  code,
});

/** A webhook that cannot be asked decides by its failure policy. */
const failed = (webhook: Webhook, why: string): Outcome =>
  webhook.failurePolicy === "Ignore" ? { warnings: [] } : refusal(failedCall(webhook, why));

const refusal = (refused: ApiError): Outcome => ({ refused, warnings: [] });

function refusedBy(status: number, body: unknown): string {
  if (status === 404) return "the server could not find the requested resource";
  const text = failureText(body);
  return `an error on the server (${JSON.stringify(text === "" ? "unknown" : text)}) has prevented the request from succeeding`;
}
