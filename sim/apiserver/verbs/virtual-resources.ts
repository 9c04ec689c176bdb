/**
 * Types that are questions, not objects: posted, answered, never stored.
 * Source: document 1, terminology; recorded answers to token and access reviews.
 */
import { append } from "../../../wire/lists.ts";
import type { Cancel } from "../../kernel/types.ts";
import type { Proven, Unproven, User } from "../access/authenticate.ts";
import type { Attributes } from "../access/authorize.ts";
import type { HeldRules } from "../access/modes.ts";
import type { PolicyRule } from "../access/rbac/rules.ts";
import { groupInDialect } from "../../../wire/dialect.ts";
import { goQuote } from "../../../wire/go-strings.ts";
import { badRequest, type Cause, invalid, toldCharactersMax } from "../../contract/errors.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { invalidText, invalidValue, requiredValue } from "../../objects/causes.ts";
import { seal } from "../../objects/seal.ts";
import { type Draft, isObject, ownMetadata } from "../../contract/objects.ts";
import { untimed } from "../../objects/null-times.ts";
import { respondObject } from "../answers/respond.ts";
import type { VirtualCall } from "./resource-calls.ts";
import { bindNamed } from "./binding.ts";
import { decodeInSteps, requireFewDecoded } from "./body.ts";
import { requireBodySize } from "../requests/body-size.ts";
import { writeOptions } from "./options.ts";
import { admitted, settleNamespace, trackInSteps } from "./steps.ts";

/** Gives the status that answers a question's object, now or later, unless it is cancelled. Throws what refuses it. */
type Answer = (call: VirtualCall, spec: JsonObject, done: (status: JsonObject) => void) => Cancel;

const nothing: Cancel = () => {};

/** An answer that needs nobody else. */
function atOnce(answer: (call: VirtualCall, spec: JsonObject) => JsonObject): Answer {
  return (call, spec, done) => {
    done(answer(call, spec));
    return nothing;
  };
}

export const virtualResources: Readonly<Record<string, (call: VirtualCall) => void>> = {
  bindings: bindNamed,
  tokenreviews: answering(reviewToken),
  selfsubjectreviews: answering(
    atOnce(({ run }) => ({ userInfo: userInfo(run.user) })),
    true,
  ),
  subjectaccessreviews: answering((call, spec, done) => reviewAccess(call, spec, subjectOf(spec), done)),
  localsubjectaccessreviews: answering(reviewLocalAccess),
  selfsubjectrulesreviews: answering(reviewRules),
  selfsubjectaccessreviews: answering((call, spec, done) => reviewAccess(call, spec, call.run.user, done)),
};

/** `isTimed`: the answer says when it was made. */
function answering(answer: Answer, isTimed = false): (call: VirtualCall) => void {
  return (call) => {
    const { run, resource, writer } = call;
    const { context } = writer;
    const { nullCreationTimes } = context.profile;
    context.negotiator.negotiate(run.request.headers["accept"]);
    requireBodySize(run);
    const options = writeOptions(context, "CreateOptions", run.query);
    const answered = (object: Draft): void =>
      run.await<JsonObject>(
        (done) => answer(call, (object["spec"] ?? {}) as JsonObject, done),
        (status) => {
          if (isTimed) ownMetadata(object).creationTimestamp = writer.times.now();
          const whole = { ...object, status } as JsonObject;
          run.next(() =>
            respondObject(context, run, 201, seal(nullCreationTimes ? whole : untimed(whole)) as JsonObject),
          );
        },
      );
    decodeInSteps({ context, run, resource, level: options.fieldValidation }, (draft) => {
      requireFewDecoded(run, draft);
      const { namespace } = run.resourcePlace;
      settleNamespace(draft, namespace);
      const admission = {
        operation: "CREATE",
        namespace,
        name: "",
        object: draft,
        oldObject: undefined,
        options,
      } as const;
      trackInSteps(writer, run, resource, draft, undefined, options, "", () =>
        admitted(writer, run, admission, (object) => run.next(() => answered(object))),
      );
    });
  };
}

function reviewToken({ writer }: VirtualCall, spec: JsonObject, done: (status: JsonObject) => void): Cancel {
  const token = (spec["token"] ?? "") as string;
  if (token === "") throw badRequest("token is required for TokenReview in authentication");
  const asked = (spec["audiences"] ?? []) as readonly string[];
  return writer.context.lookupToken(token, asked, (proven) => done(tokenStatus(proven)));
}

function tokenStatus(proven: Proven | Unproven): JsonObject {
  if (!("user" in proven)) return { user: {}, error: "invalid bearer token" };
  const { user, audiences } = proven;
  return { authenticated: true, user: userInfo(user), ...(audiences.length === 0 ? {} : { audiences }) };
}

/** All that the asker may do in a namespace. */
function reviewRules(
  { run, writer: { context } }: VirtualCall,
  spec: JsonObject,
  done: (status: JsonObject) => void,
): Cancel {
  const namespace = (spec["namespace"] ?? "") as string;
  if (namespace === "") throw badRequest("no namespace on request");
  return context.prepareRules(namespace, () => done(rulesStatus(context.rulesOf(run.user, namespace))));
}

function rulesStatus(held: HeldRules): JsonObject {
  const { rules, problem } = told(held);
  return {
    resourceRules: rules.filter((rule) => rule.nonResourceURLs === undefined).map(copied),
    nonResourceRules: rules.flatMap(({ nonResourceURLs, verbs }) =>
      nonResourceURLs === undefined ? [] : [{ verbs, nonResourceURLs }],
    ),
    incomplete: problem !== "",
    ...(problem === "" ? {} : { evaluationError: problem }),
  };
}

/** Texts in rules that are told; one rule more may be told. */
const ruleTextsMax = 100_000;

function told(held: HeldRules): HeldRules {
  let [textsLeft, charactersLeft] = [ruleTextsMax, toldCharactersMax];
  const last = held.rules.findIndex(({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }) => {
    for (const list of [verbs, apiGroups, resources, resourceNames, nonResourceURLs]) {
      textsLeft -= list?.length ?? 0;
      for (const text of list ?? []) charactersLeft -= text.length;
    }
    return textsLeft < 0 || charactersLeft < 0;
  });
  if (last < 0 || last === held.rules.length - 1) return held;
  const cut = `only the first ${last + 1} rules are told`;
  return { rules: held.rules.slice(0, last + 1), problem: held.problem === "" ? cut : `${held.problem}, ${cut}` };
}

const copied = ({ verbs, apiGroups, resources, resourceNames }: PolicyRule): JsonObject => ({
  verbs,
  ...(apiGroups === undefined ? {} : { apiGroups }),
  ...(resources === undefined ? {} : { resources }),
  ...(resourceNames === undefined ? {} : { resourceNames }),
});

function userInfo({ name, uid, groups, extra }: User): JsonObject {
  return { username: name, ...(uid === "" ? {} : { uid }), groups, ...(extra === undefined ? {} : { extra }) };
}

function subjectOf(spec: JsonObject): User {
  return {
    name: (spec["user"] ?? "") as string,
    uid: (spec["uid"] ?? "") as string,
    groups: (spec["groups"] ?? []) as readonly string[],
  };
}

/** About a namespace alone, and nothing but what lies in it. */
function reviewLocalAccess(call: VirtualCall, spec: JsonObject, done: (status: JsonObject) => void): Cancel {
  const { namespace } = call.run.resourcePlace;
  const resource = spec["resourceAttributes"] as JsonObject | undefined;
  const path = spec["nonResourceAttributes"];
  const causes: Cause[] = [];
  const asked = resource?.["namespace"] ?? "";
  if (resource !== undefined && asked !== namespace) {
    causes.push(invalidValue("spec.resourceAttributes.namespace", asked, "must match metadata.namespace"));
  }
  if (path !== undefined) {
    causes.push(invalidText("spec.nonResourceAttributes", goPath(path), "disallowed on this kind of request"));
  }
  return reviewAccess(call, spec, subjectOf(spec), done, causes);
}

function reviewAccess(
  call: VirtualCall,
  spec: JsonObject,
  user: User,
  done: (status: JsonObject) => void,
  more: readonly Cause[] = [],
): Cancel {
  const resource = spec["resourceAttributes"] as JsonObject | undefined;
  const path = spec["nonResourceAttributes"] as JsonObject | undefined;
  const causes: Cause[] = [];
  if (resource !== undefined && path !== undefined) {
    const both = "cannot be specified in combination with resourceAttributes";
    causes.push(invalidText("spec.nonResourceAttributes", goPath(path), both));
  } else if (resource === undefined && path === undefined) {
    const none = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
    causes.push(invalidText("spec.resourceAttributes", '"null"', none));
  }
  const isSelf = call.resource.row.resource === "selfsubjectaccessreviews";
  if (!isSelf && user.name === "" && user.groups.length === 0) {
    causes.push(invalidValue("spec.user", "", "at least one of user or group must be specified"));
  }
  selectorCauses(resource ?? {}, causes);
  append(causes, more);
  if (causes.length > 0) throw refused(call, causes);
  return call.writer.context.authorizer(user, attributesOf(resource, path ?? {}), (decision) =>
    done({
      allowed: decision.allowed,
      ...(!decision.allowed && decision.denied ? { denied: true } : {}),
      ...(decision.reason === "" ? {} : { reason: decision.reason }),
      ...(decision.allowed || decision.error === undefined ? {} : { evaluationError: decision.error }),
    }),
  );
}

/** As Go prints the attributes of a path. */
function goPath(attributes: Json): string {
  const { path = "", verb = "" } = attributes as JsonObject;
  return `authorization.NonResourceAttributes{Path:${goQuote(String(path))}, Verb:${goQuote(String(verb))}}`;
}

/** Selectors are given as a text or in parts. */
function selectorCauses(resource: JsonObject, causes: Cause[]): void {
  for (const field of ["fieldSelector", "labelSelector"]) {
    const selector = resource[field];
    if (!isObject(selector)) continue;
    const at = `spec.resourceAttributes.${field}`;
    const raw = (selector["rawSelector"] ?? "") as string;
    const hasParts = ((selector["requirements"] ?? []) as readonly Json[]).length > 0;
    if (raw !== "" && hasParts) {
      causes.push(invalidValue(`${at}.rawSelector`, raw, "may not specified at the same time as requirements"));
    } else if (raw === "" && !hasParts) {
      const text = `when ${at} is specified, requirements or rawSelector is required`;
      causes.push(requiredValue(`${at}.requirements`, text));
    }
  }
}

function attributesOf(resource: JsonObject | undefined, path: JsonObject): Attributes {
  const text = (from: JsonObject, field: string): string => (from[field] ?? "") as string;
  if (resource === undefined) return { is: "path", verb: text(path, "verb"), path: text(path, "path") };
  return {
    is: "resource",
    verb: text(resource, "verb"),
    resource: { group: text(resource, "group"), resource: text(resource, "resource") },
    version: text(resource, "version"),
    subresource: text(resource, "subresource"),
    namespace: text(resource, "namespace"),
    name: text(resource, "name"),
  };
}

/** Here the real server names no kind. */
function refused({ writer }: VirtualCall, causes: readonly Cause[]): Error {
  return invalid("", groupInDialect(writer.context.profile.dialect, "authorization.svc.io"), "", causes);
}
