/** Reads what a refusal says of itself. What is absent reads as empty. */
import type { Answer } from "./exchange.ts";
import { mediaTypeOf } from "./client.ts";
import { isJsonObject, type JsonObject, objectsIn } from "./types.ts";

const text = (object: JsonObject | undefined, field: string): string => {
  const value = object?.[field];
  return typeof value === "string" ? value : "";
};

export const reasonOf = ({ json }: Answer): string => text(isJsonObject(json) ? json : undefined, "reason");
export const messageOf = ({ json }: Answer): string => text(isJsonObject(json) ? json : undefined, "message");

export function detailsOf({ json }: Answer): JsonObject {
  const details = isJsonObject(json) ? json["details"] : undefined;
  return isJsonObject(details) ? details : {};
}

/** The causes' reasons and fields, in the order given. */
export function causesOf(
  answer: Answer,
): { readonly reason: string; readonly field: string; readonly message: string }[] {
  return objectsIn(detailsOf(answer), "causes").map((cause) => ({
    reason: text(cause, "reason"),
    field: text(cause, "field"),
    message: text(cause, "message"),
  }));
}

/** `409 Conflict`, or the status alone. */
export function shownStatus(answer: Answer): string {
  return `${answer.status} ${reasonOf(answer)}`.trim();
}

/** `shownStatus` with the message, for a person. */
export function shownAnswer(answer: Answer): string {
  return `${shownStatus(answer)}: ${(messageOf(answer) || answer.text).slice(0, 300)}`;
}

/** Whether the body is a Status of a failure with the code of the answer. */
export function isFailureStatus(answer: Answer): boolean {
  const { json, status } = answer;
  return (
    mediaTypeOf(answer.headers) === "application/json" &&
    isJsonObject(json) &&
    json["kind"] === "Status" &&
    json["status"] === "Failure" &&
    json["code"] === status
  );
}
