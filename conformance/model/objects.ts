/**
 * The sequential model of a collection without finalizers: objects by key, written by one writer at a time. It holds
 * what the server answered last for each key and says whether the next answer can be right. What only the server can
 * know (versions, uids, times) is taken from its answers and held to what must not repeat.
 */
import type { WriteStep } from "./write-step.ts";
import type { Answer } from "../client/exchange.ts";
import { type ApiObject, isApiObject, keyOf, versionOf } from "../client/types.ts";
import type { Violation } from "../client/findings.ts";
import { sameContent } from "./history.ts";

export interface Model {
  readonly living: ReadonlyMap<string, ApiObject>;
  /** Uids that were given out, to living and to deleted objects. */
  readonly uids: ReadonlySet<string>;
}

export const emptyModel: Model = { living: new Map(), uids: new Set() };

export interface Prediction {
  readonly requirement: string;
  readonly violation: Violation | undefined;
  readonly next: Model;
}

/** `base` is the version that the step named, if any. */
export function predict(model: Model, step: WriteStep, base: string | undefined, answer: Answer): Prediction {
  const existing = [...model.living.values()].find((object) => object.metadata.name === step.name);
  switch (step.do) {
    case "create":
      return existing === undefined
        ? created(model, answer)
        : refusal(
            model,
            "objects.verbs",
            answer,
            "a refusal of a taken name",
            (status) => status >= 400 && status < 500,
          );
    case "put":
      if (existing === undefined) return putOnAbsent(model, base, answer);
      return written(model, "writes.current-put", existing, base, answer);
    case "merge-patch":
      return existing === undefined ? absent(model, answer) : written(model, "objects.verbs", existing, base, answer);
    case "json-patch":
      return existing === undefined
        ? absent(model, answer)
        : written(model, "objects.verbs", existing, undefined, answer);
    case "delete":
      return existing === undefined ? absent(model, answer) : deleted(model, existing, answer);
    case "get":
      return existing === undefined ? absent(model, answer) : read(model, existing, answer);
  }
}

function created(model: Model, answer: Answer): Prediction {
  const object = answer.json;
  if (answer.status >= 300 || !isApiObject(object)) return wrong(model, "objects.verbs", answer, "the object, created");
  const uid = object.metadata.uid ?? "";
  if (uid === "" || model.uids.has(uid))
    return wrong(model, "objects.name-reuse", answer, "a uid that no earlier object had");
  const next = { living: withObject(model, object), uids: new Set([...model.uids, uid]) };
  // Nothing was there before: the name was never used, or was free again.
  return { requirement: "objects.name-reuse", violation: undefined, next };
}

/** Whether a PUT creates is a requirement of its own; here either will do. From a version that is no more it may not. */
function putOnAbsent(model: Model, base: string | undefined, answer: Answer): Prediction {
  if (base === undefined) return answer.status < 300 ? created(model, answer) : absent(model, answer);
  const expected = "404 or 409, for the object of that version is no more";
  return refusal(model, "writes.current-put", answer, expected, (status) => status === 404 || status === 409);
}

function written(
  model: Model,
  requirement: string,
  existing: ApiObject,
  base: string | undefined,
  answer: Answer,
): Prediction {
  if (base !== undefined && base !== versionOf(existing)) {
    return refusal(
      model,
      requirement,
      answer,
      `409, for the version is ${versionOf(existing)} and not ${base}`,
      (status) => status === 409,
    );
  }
  const object = answer.json;
  if (answer.status !== 200 || !isApiObject(object)) return wrong(model, requirement, answer, "200 and the object");
  if (object.metadata.uid !== existing.metadata.uid)
    return wrong(model, requirement, answer, `the object with uid ${existing.metadata.uid}`);
  return { requirement, violation: undefined, next: { ...model, living: withObject(model, object) } };
}

function deleted(model: Model, existing: ApiObject, answer: Answer): Prediction {
  if (answer.status !== 200 && answer.status !== 202)
    return wrong(model, "deletion.at-once", answer, "200, the object deleted");
  const living = new Map(model.living);
  living.delete(keyOf(existing));
  return { requirement: "deletion.at-once", violation: undefined, next: { ...model, living } };
}

function read(model: Model, existing: ApiObject, answer: Answer): Prediction {
  const same = answer.status === 200 && isApiObject(answer.json) && sameContent(answer.json, existing);
  return same
    ? { requirement: "objects.verbs", violation: undefined, next: model }
    : wrong(model, "objects.verbs", answer, `the object as last written: ${JSON.stringify(existing).slice(0, 400)}`);
}

function absent(model: Model, answer: Answer): Prediction {
  return refusal(model, "errors.not-found", answer, "404, for the object does not exist", (status) => status === 404);
}

function refusal(
  model: Model,
  requirement: string,
  answer: Answer,
  expected: string,
  lawful: (status: number) => boolean,
): Prediction {
  return lawful(answer.status)
    ? { requirement, violation: undefined, next: model }
    : wrong(model, requirement, answer, expected);
}

function wrong(model: Model, requirement: string, answer: Answer, expected: string): Prediction {
  const { method, path } = answer.exchange.request;
  const violation = {
    expected: `${method} ${path}: ${expected}`,
    actual: `${answer.status} ${answer.text.slice(0, 300)}`,
  };
  return { requirement, violation, next: model };
}

function withObject(model: Model, object: ApiObject): Map<string, ApiObject> {
  return new Map(model.living).set(keyOf(object), object);
}
