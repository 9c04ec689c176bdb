/** What every refusal is like, whoever asked for whatever. */
import { isJsonObject, type Json, type JsonObject } from "../../client/types.ts";
import { type Breach, breach } from "./breach.ts";

/**
 * The reasons that a status may have. Statuses that are not here are said for many reasons, or for none: a 500 is
 * whatever went wrong. Source: the published API's list of reasons and their codes.
 */
const reasons: Readonly<Record<number, readonly string[]>> = {
  400: ["BadRequest"],
  401: ["Unauthorized"],
  403: ["Forbidden"],
  404: ["NotFound"],
  405: ["MethodNotAllowed"],
  406: ["NotAcceptable"],
  409: ["Conflict", "AlreadyExists"],
  410: ["Expired", "Gone"],
  413: ["RequestEntityTooLarge"],
  415: ["UnsupportedMediaType"],
  422: ["Invalid"],
};

/** A refusal in JSON is a Status that agrees with its response. `retryAfter`: the header of that name. */
export function judgeRefusal(
  status: number,
  document: Json | undefined,
  retryAfter: string | undefined,
): Breach | undefined {
  const object = document as JsonObject;
  return judgeStatus(document, status) ?? judgeRetryAfter(object, retryAfter) ?? judgeName(object);
}

/** Of what is not there, taken or changed by somebody else meanwhile, a refusal tells the name beside the kind. */
const named: ReadonlySet<Json | undefined> = new Set(["NotFound", "AlreadyExists", "Conflict"]);

function judgeName({ reason, details }: JsonObject): Breach | undefined {
  if (!named.has(reason) || !isJsonObject(details)) return undefined;
  const { kind = "", name = "" } = details;
  if (kind === "" || (typeof name === "string" && name !== "")) return undefined;
  const expected = `details.name: that of the ${String(kind)} that the refusal is about`;
  return breach("errors.details", expected, JSON.stringify(details).slice(0, 400));
}

/** A Status of a failure. `code`: what it must say; undefined: any that is an error's. */
export function judgeStatus(document: Json | undefined, code: number | undefined): Breach | undefined {
  const wrong = (expected: string): Breach =>
    breach("errors.status", expected, JSON.stringify(document ?? null).slice(0, 400));
  if (!isJsonObject(document)) return wrong("a Status object");
  const { kind, apiVersion, metadata, status, message, reason, details } = document;
  if (kind !== "Status") return wrong("kind: Status");
  if (apiVersion !== "v1") return wrong("apiVersion: v1");
  if (!isJsonObject(metadata)) return wrong("metadata: an object");
  if (status !== "Failure") return wrong("status: Failure");
  const said = document["code"];
  if (typeof said !== "number" || said < 400) return wrong("code: that of an error");
  if (code !== undefined && said !== code) return wrong(`code: ${code}, as the response has it`);
  if (typeof message !== "string" || message === "") return wrong("message: a text");
  const known = reasons[said];
  if (known !== undefined && !saysOthersWords.test(message) && !known.includes(String(reason))) {
    return wrong(`reason: ${known.join(" or ")}`);
  }
  if (details === undefined) return undefined;
  if (!isJsonObject(details)) return wrong("details: an object");
  const namesReasons = said === 422 && !saysOthersWords.test(message);
  return areCauses(details["causes"], namesReasons)
    ? undefined
    : wrong("details.causes: objects with a reason and a message");
}

/** A webhook that refuses says why in words of its own, and so does a policy. */
const saysOthersWords = /admission webhook|AdmissionPolicy/;

function areCauses(causes: Json | undefined, namesReasons: boolean): boolean {
  if (causes === undefined || causes === null) return true;
  if (!Array.isArray(causes)) return false;
  return (causes as readonly Json[]).every((cause) => {
    if (!isJsonObject(cause)) return false;
    const { reason, message, field } = cause;
    // What went wrong inside the server, or in a webhook, need not have a name.
    const isNamed = !namesReasons || (typeof reason === "string" && reason !== "");
    return (
      isNamed &&
      (message === undefined || typeof message === "string") &&
      (field === undefined || typeof field === "string")
    );
  });
}

/** What the body says of when to come again, the header says too. */
function judgeRetryAfter({ details }: JsonObject, header: string | undefined): Breach | undefined {
  const seconds = isJsonObject(details) ? details["retryAfterSeconds"] : undefined;
  if (typeof seconds !== "number" || seconds <= 0 || header === String(seconds)) return undefined;
  return breach("errors.status", `Retry-After: ${seconds}, as details.retryAfterSeconds`, header ?? "no such header");
}
